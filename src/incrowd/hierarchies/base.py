"""Hierarchy: a tree over the values of one column, and the lowest node that covers some of them.

The codes of a column are put in the order of its tree, so that every node covers a run of
neighbouring codes. The lowest node that covers a set of codes is then the lowest one that covers
its smallest and its largest code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd.errors import HierarchyError
from incrowd.table import Column, first_told

ROOT_LABEL = "*"


@dataclass(frozen=True)
class Hierarchy:
    """Nested levels over the codes of a column, from the values themselves to one root.

    `node_of[level, code]` is the node that covers a code, numbered from 0 along the codes;
    `labels[level][node]` its text; `weights[level][node]` how many values of the domain it stands
    for, values that the data lack included. Level 0 is the values, the last level one node.
    """

    kind: str
    node_of: IntArray = field(repr=False)
    labels: tuple[tuple[str, ...], ...] = field(repr=False)
    weights: tuple[IntArray, ...] = field(repr=False)
    total: int

    @property
    def height(self) -> int:
        """The number of levels above the values."""
        return len(self.labels) - 1

    def lowest_common(self, low: IntArray, high: IntArray) -> tuple[IntArray, IntArray]:
        """Level and node number of the lowest nodes that cover the runs of codes low..high."""
        level = np.full(low.shape, self.height, dtype=np.int64)
        for candidate in range(self.height - 1, -1, -1):
            covers = self.node_of[candidate][low] == self.node_of[candidate][high]
            level[covers] = candidate
        return level, self.node_of[level, low]

    def losses(self) -> FloatArray:
        """NCP of every node by [level, node]: the share of the domain it adds to the one value."""
        table = np.ones((self.height + 1, self.node_of.shape[1]))
        for level, weights in enumerate(self.weights):
            if self.total > 1:
                table[level, : len(weights)] = np.minimum(1.0, (weights - 1) / (self.total - 1))
            else:
                table[level, : len(weights)] = 0.0
        return table

    def ancestors(self, code: int) -> tuple[str, ...]:
        """The labels above a code, from level 1 to the root."""
        return tuple(
            self.labels[level][self.node_of[level, code]] for level in range(1, self.height + 1)
        )

    def meanings(self, column: Column) -> dict[str, list[str]]:
        """For every label above the values, the values of the column that it stands for."""
        found: dict[str, list[str]] = {}
        for level in range(1, self.height + 1):
            for code, value in enumerate(column.values):
                found.setdefault(self.labels[level][self.node_of[level, code]], []).append(value)
        return {label: list(dict.fromkeys(values)) for label, values in found.items()}


def assemble(
    column: Column,
    kind: str,
    paths: Sequence[Sequence[str]],
    *,
    order: Sequence[str] | None = None,
    weigh: Sequence[IntArray] | None = None,
    domain: int | None = None,
) -> tuple[Column, Hierarchy]:
    """The column in tree order and its hierarchy, from the labels above each of its values.

    `paths[i]` lists the labels of levels 1 to top above value i (all of one length, nested).
    `weigh[level]` optionally weighs each value at each level; by default a node weighs the number
    of the column's values under it. A root is added where the top level has several labels. The
    order of a numeric, ordered or date column is kept, that of categories follows `order`.
    """
    above = [list(path) for path in paths]
    if not above:
        return column, _without_values(kind)
    if len({path[-1] for path in above if path}) != 1 or not above[0]:
        above = [[*path, ROOT_LABEL] for path in above]
    values = list(column.values)
    if column.kind == "category":
        rank = {value: i for i, value in enumerate(order or values)}
        by_tree = _tree_order(values, above, rank)
        column = column.reordered([values[i] for i in by_tree])
        above = [above[i] for i in by_tree]
        if weigh is not None:
            weigh = [weights[by_tree] for weights in weigh]
    if column.missing:
        above.append([""] * (len(above[0]) - 1) + [above[0][-1]])
    return column, _from_paths(column, kind, above, weigh, domain)


def _without_values(kind: str) -> Hierarchy:
    """The hierarchy of a column whose cells are all missing."""
    one = np.ones(1, dtype=np.int64)
    return Hierarchy(kind, np.zeros((2, 1), dtype=np.int64), (("",), (ROOT_LABEL,)), (one, one), 1)


def _from_paths(
    column: Column,
    kind: str,
    paths: list[list[str]],
    weigh: Sequence[IntArray] | None,
    domain: int | None,
) -> Hierarchy:
    cardinality, height = column.cardinality, len(paths[0])
    leaves = [*column.values, *([""] if column.missing else [])]
    missing = 1 if column.missing else 0
    node_of = np.zeros((height + 1, cardinality), dtype=np.int64)
    node_of[0] = np.arange(cardinality)
    labels: list[tuple[str, ...]] = [tuple(leaves)]
    weights: list[IntArray] = [np.ones(cardinality, dtype=np.int64)]
    total = (domain if domain is not None else len(column.values)) + missing
    for level in range(1, height + 1):
        # A new node begins where the label, or any label above it, changes.
        above = [tuple(path[level - 1 :]) for path in paths]
        begins = np.array([True, *(a != b for a, b in zip(above[1:], above, strict=False))])
        node_of[level] = np.cumsum(begins) - 1
        labels.append(tuple(paths[i][level - 1] for i in np.flatnonzero(begins)))
        one = np.ones(cardinality, dtype=np.int64)
        if weigh is not None:
            one[: cardinality - missing] = weigh[level - 1] if level <= len(weigh) else 0
            node_weights = np.zeros(len(labels[-1]), dtype=np.int64)
            np.maximum.at(node_weights, node_of[level], one)
        else:
            node_weights = np.bincount(node_of[level], weights=one).astype(np.int64)
        if level == height:
            node_weights = np.array([total], dtype=np.int64)
        weights.append(node_weights)
    _refuse_torn_nodes(column, labels, paths)
    return Hierarchy(kind, node_of, tuple(labels), tuple(weights), total)


def _tree_order(values: list[str], paths: list[list[str]], rank: dict[str, int]) -> IntArray:
    """Positions of the values in depth-first order, siblings by their first value's rank."""
    first: dict[tuple[str, ...], int] = {}
    for value, path in zip(values, paths, strict=True):
        for level in range(len(path)):
            key = tuple(path[level:])
            first[key] = min(first.get(key, rank[value]), rank[value])
    keys = [
        (*(first[tuple(path[level:])] for level in range(len(path) - 1, -1, -1)), rank[value])
        for value, path in zip(values, paths, strict=True)
    ]
    return np.array(sorted(range(len(values)), key=keys.__getitem__), dtype=np.int64)


def _refuse_torn_nodes(
    column: Column, labels: list[tuple[str, ...]], paths: list[list[str]]
) -> None:
    """Refuse a node whose values are not neighbours in the order of an ordered column."""
    if column.kind == "category":
        return
    for level in range(1, len(labels)):
        distinct = len({tuple(path[level - 1 :]) for path in paths})
        if distinct != len(labels[level]):
            raise HierarchyError(
                f"Hierarchy of '{column.name}': level {level} joins values that are not neighbours "
                f"in the order of this {column.kind} column. Give the column `type: category`, or "
                "make each label a range."
            )


def refuse_uncovered(column: Column, covered: BoolArray, where: str) -> None:
    """Raise when some values of the column are outside the hierarchy, with how many."""
    if bool(covered.all()):
        return
    uncovered = np.append(~covered, False)[column.codes]
    many, first = column.tally.records(uncovered)
    raise HierarchyError(
        f"Column '{column.name}': {int((~covered).sum()):,} distinct values ({many:,} records"
        f"{first_told(first, ',')}) are not in {where}. Extend the hierarchy, or correct "
        "these records."
    )
