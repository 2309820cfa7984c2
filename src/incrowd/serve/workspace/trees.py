"""Hierarchies as people look at them: a tree of labels, and how much of the column it covers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.hierarchies import Hierarchy, build
from incrowd.hierarchies.explicit import canonical, from_lines, lines_of
from incrowd.policy import AttributePolicy, HierarchyPolicy
from incrowd.table import Column, Weighted
from incrowd.table.coding import code_column
from incrowd.table.dictionary import ColumnDictionary


@dataclass(frozen=True)
class Coverage:
    """How many distinct values of a column a hierarchy knows, and how many records it does not."""

    values: int
    covered: int
    records: int
    records_missing: int

    @property
    def missing(self) -> int:
        """How many distinct values the hierarchy does not know."""
        return self.values - self.covered

    @property
    def complete(self) -> bool:
        """Whether a release can be made with it."""
        return self.covered == self.values


@dataclass(frozen=True)
class Node:
    """A label of a hierarchy with what lies under it; `more` children are not listed."""

    label: str
    values: int
    records: int
    children: tuple[Node, ...] = ()
    more: int = 0


@dataclass(frozen=True)
class Tree:
    """A hierarchy of a column: its kind, its levels, its nodes from the top, and its coverage."""

    attribute: str
    kind: str
    height: int
    coverage: Coverage
    root: Node | None = field(default=None)


def column_of(
    name: str, texts: Sequence[str | None], records: Sequence[int], asked: AttributePolicy | None
) -> Column:
    """The column of the distinct texts of a file, each a row that stands for its records.

    Raises
    ------
    SourceError
        A text does not fit the type that the policy gives the attribute.
    """
    import polars as pl

    series = pl.Series(name, texts, dtype=pl.String)
    weights = np.asarray(records, dtype=np.int64)
    dictionary = ColumnDictionary(series)
    dictionary.keep_distinct(dictionary.code(series), Weighted.unordered(weights))
    kind = asked.type if asked is not None else None
    order = asked.order if asked is not None else None
    written = asked.format if asked is not None else None
    return code_column(dictionary, role="quasi", kind=kind, order=order, date_format=written)


def look(
    column: Column, asked: HierarchyPolicy | None, base: Path, *, breadth: int = 12, depth: int = 4
) -> Tree:
    """The hierarchy that a policy asks for, as a tree.

    Parameters
    ----------
    column
        The values of the attribute.
    asked, base
        What the policy says of the hierarchy, and where its files lie.
    breadth, depth
        How many children of a node are listed, and how many levels below the top.

    Raises
    ------
    HierarchyError
        The hierarchy is not one. A file or tree that lacks values is shown for the others.
    """
    lines = lines_of(column.name, asked, base)
    whole = len(column.values)
    if lines is None:
        column, hierarchy = build(column, asked, base)
        return _tree(column, hierarchy, Coverage(whole, whole, _records(column), 0), breadth, depth)
    present = set(column.values)
    known = {
        line[0] if line[0] in present else canonical(column, line[0].strip()) for line in lines
    }
    covered = np.array([value in known for value in column.values], dtype=np.bool_)
    rows = np.append(covered, True)[column.codes]
    coverage = Coverage(
        whole, int(covered.sum()), _records(column), _records(column) - _records(column, rows)
    )
    if not covered.any():
        return Tree(column.name, _kind(asked), len(lines[0]) - 1, coverage)
    column, hierarchy = from_lines(
        column.take(rows) if not covered.all() else column, lines, _where(asked)
    )
    return _tree(column, hierarchy, coverage, breadth, depth)


def _kind(asked: HierarchyPolicy | None) -> str:
    return "file" if asked is not None and asked.file is not None else "tree"


def _where(asked: HierarchyPolicy | None) -> str:
    if asked is not None and asked.file is not None:
        return f"hierarchy file '{Path(asked.file).name}'"
    return "the tree of the policy"


def _records(column: Column, rows: BoolArray | None = None) -> int:
    return column.tally.records(np.ones(len(column.codes), np.bool_) if rows is None else rows)[0]


def _tree(
    column: Column, hierarchy: Hierarchy, coverage: Coverage, breadth: int, depth: int
) -> Tree:
    counts = np.concatenate([[0], np.cumsum(column.counts())])
    missing = column.missing_code

    def node(level: int, low: int, high: int, left: int) -> Node:
        """The node that covers the codes from `low` to below `high`."""
        label = hierarchy.labels[level][hierarchy.node_of[level, low]]
        if low == missing and high - low == 1:
            return Node("(missing)", 1, int(counts[high] - counts[low]))
        records = int(counts[high] - counts[low])
        below = level - 1
        while below > 0 and _same(hierarchy, below, low, high, label):
            below -= 1
        if level == 0 or (below == 0 and high - low == 1 and _same(hierarchy, 0, low, high, label)):
            return Node(label, high - low, records)
        starts = _starts(hierarchy.node_of[below, low:high]) + low
        if left == 0:
            return Node(label, high - low, records, more=len(starts))
        ends = np.append(starts[1:], high)
        listed = zip(starts[:breadth].tolist(), ends[:breadth].tolist(), strict=True)
        return Node(
            label,
            high - low,
            records,
            tuple(node(below, begin, end, left - 1) for begin, end in listed),
            max(0, len(starts) - breadth),
        )

    root = node(hierarchy.height, 0, column.cardinality, depth) if column.cardinality else None
    return Tree(column.name, hierarchy.kind, hierarchy.height, coverage, root)


def _same(hierarchy: Hierarchy, level: int, low: int, high: int, label: str) -> bool:
    """Whether all these codes have one node at a level, with this very label."""
    nodes: Any = hierarchy.node_of[level]
    return bool(nodes[low] == nodes[high - 1]) and hierarchy.labels[level][nodes[low]] == label


def _starts(nodes: IntArray) -> IntArray:
    """Where a new node begins."""
    return np.flatnonzero(np.append(True, nodes[1:] != nodes[:-1]))
