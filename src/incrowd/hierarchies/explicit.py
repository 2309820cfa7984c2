"""Hierarchies that name every value: a file of lines, or a nested tree in the policy."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.errors import HierarchyError
from incrowd.hierarchies.base import ROOT_LABEL, Hierarchy, assemble, refuse_uncovered
from incrowd.table import Column
from incrowd.table.coding import format_date, number_text, parse_date

if TYPE_CHECKING:
    from incrowd.hierarchies.description import HierarchyPolicy

_LARGEST = 200_000_000
"""The most bytes of a hierarchy file."""
NestedLabels = Mapping[str, object] | Sequence[object]


def from_file(column: Column, path: Path) -> tuple[Column, Hierarchy]:
    """The hierarchy in a file with one line per value: value, level 1, level 2 and so on.

    Comma and semicolon are understood, so files made for ARX work unchanged. There is no header
    line. Values that the data lack count in the domain.
    """
    return from_lines(column, lines_of_file(column.name, path), f"hierarchy file '{path.name}'")


def from_tree(column: Column, tree: NestedLabels) -> tuple[Column, Hierarchy]:
    """The hierarchy of a nested tree: {Blue-collar: {Manual: [Janitor, Mover]}, White-collar: […]}.

    A branch may be shorter than others; its values then keep their own label for longer.
    """
    return from_lines(column, lines_of_tree(column.name, tree), "the tree of the policy")


def lines_of(name: str, asked: HierarchyPolicy | None, base: Path) -> list[list[str]] | None:
    """The lines of a hierarchy that names every value; None of one that follows from a rule."""
    if asked is not None and asked.file is not None:
        return lines_of_file(name, base / asked.file)
    return None if asked is None or asked.tree is None else lines_of_tree(name, asked.tree)


def lines_of_file(name: str, path: Path) -> list[list[str]]:
    """The lines of the hierarchy file of an attribute, all of one length."""
    _refuse_odd_file(name, path)
    try:
        text = path.read_text(encoding="utf-8-sig")
        lines = _rows(text)
    except FileNotFoundError:
        raise HierarchyError(f"Hierarchy of '{name}': there is no file '{path}'.") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise HierarchyError(
            f"Hierarchy of '{name}': '{path.name}' cannot be read as UTF-8 text "
            f"({type(error).__name__})."
        ) from None
    if not lines:
        raise HierarchyError(f"Hierarchy of '{name}': '{path.name}' is empty.")
    widths = {len(row) for _, row in lines}
    if len(widths) != 1:
        expected = len(lines[0][1])
        number, row = next((n, r) for n, r in lines if len(r) != expected)
        raise HierarchyError(
            f"Hierarchy of '{name}': line {number} of '{path.name}' has {len(row)} cells, "
            f"the first line has {expected}. Every value needs a label at every level."
        )
    return [row for _, row in lines]


def _refuse_odd_file(name: str, path: Path) -> None:
    """Refuse what has no end or is too large, such as a device: a policy may name any path."""
    try:
        odd = path.exists() and not path.is_dir() and not path.is_file()
        large = path.is_file() and path.stat().st_size > _LARGEST
    except OSError:
        return  # reading it says what is wrong
    if odd or large:
        what = "is no plain file" if odd else f"is larger than {_LARGEST // 10**6} MB"
        raise HierarchyError(f"Hierarchy of '{name}': '{path.name}' {what}. Name a text file.")


def refuse_no_hierarchy(name: str, path: Path) -> None:
    """Refuse a file that is no hierarchy: its levels must be nested, and values share labels.

    For who passes such a file on: a policy may name any file as a hierarchy. A table of two
    columns, the second with few values, cannot be told from one.
    """
    lines = lines_of_file(name, path)
    if len(lines[0]) < 2 or (len(lines) > 1 and len({line[-1] for line in lines}) == len(lines)):
        raise HierarchyError(
            f"Hierarchy of '{name}': no two values of '{path.name}' share a label, so it is none."
        )
    _refuse_unnested(name, [line[1:] for line in lines], f"hierarchy file '{path.name}'")
    if len({line[0] for line in lines}) < len(lines):
        raise HierarchyError(f"Hierarchy of '{name}': a value stands twice in '{path.name}'.")


def lines_of_tree(name: str, tree: NestedLabels) -> list[list[str]]:
    """The values of a tree as the lines of a file; shorter branches repeat their values."""
    lines: list[list[str]] = []
    _walk(tree, [], lines, name)
    depth = max(len(line) for line in lines)
    return [[line[0]] * (depth - len(line)) + line for line in lines]


def from_lines(
    column: Column, lines: Sequence[Sequence[str]], where: str
) -> tuple[Column, Hierarchy]:
    """The hierarchy of lines [value, level 1, …], which must be nested and cover the column."""
    known: dict[str, list[str]] = {}
    for line, named in zip(lines, column.named(line[0] for line in lines), strict=True):
        value = canonical(column, line[0].strip()) if named is None else named
        labels = [label.strip() for label in line[1:]]
        if not value or not all(labels):
            raise HierarchyError(
                f"Hierarchy of '{column.name}': an entry of {where} is empty. Every value needs a "
                "label at every level; missing cells need no line of their own."
            )
        if known.setdefault(value, labels) != labels:
            raise HierarchyError(
                f"Hierarchy of '{column.name}': a value stands twice in {where} with different "
                "labels. Keep one line per value."
            )
    if len({labels[-1] for labels in known.values() if labels}) > 1:
        known = {value: [*labels, ROOT_LABEL] for value, labels in known.items()}
    _refuse_unnested(column.name, list(known.values()), where)
    _refuse_ambiguous(column.name, known, where)
    refuse_uncovered(column, np.array([v in known for v in column.values], dtype=np.bool_), where)
    weigh = _weights(column, known)
    return assemble(
        column,
        "file" if where.startswith("hierarchy file") else "tree",
        [known[value] for value in column.values],
        order=list(known),
        weigh=weigh,
        domain=len(known),
    )


def _weights(column: Column, known: dict[str, list[str]]) -> list[IntArray]:
    """For each level, how many values of the whole domain share the label of each column value.

    The label `*` stands for the whole domain, at whatever level it is.
    """
    height = len(next(iter(known.values())))
    weights = []
    for level in range(height):
        counts: dict[tuple[str, ...], int] = {}
        for labels in known.values():
            key = tuple(labels[level:])
            counts[key] = counts.get(key, 0) + 1
        counts |= {key: len(known) for key in counts if key[0] == ROOT_LABEL}
        weights.append(
            np.array([counts[tuple(known[v][level:])] for v in column.values], dtype=np.int64)
        )
    return weights


def _refuse_unnested(name: str, paths: list[list[str]], where: str) -> None:
    height = len(paths[0])
    for level in range(height - 1):
        parents: dict[str, set[str]] = {}
        for path in paths:
            parents.setdefault(path[level], set()).add(path[level + 1])
        torn = sum(len(above) > 1 for above in parents.values())
        if torn:
            raise HierarchyError(
                f"Hierarchy of '{name}': in {where}, {torn} label(s) of level {level + 1} lie "
                f"under several labels of level {level + 2}. Levels must be nested: give each "
                "label one parent, or different names to labels that differ."
            )
        if parents.get(ROOT_LABEL, {ROOT_LABEL}) != {ROOT_LABEL}:
            raise HierarchyError(
                f"Hierarchy of '{name}': in {where}, '*' of level {level + 1} lies under another "
                "label. It stands for every value, so only '*' can be above it."
            )


def _refuse_ambiguous(name: str, known: dict[str, list[str]], where: str) -> None:
    """Refuse labels that stand for different values in different places, values among them.

    A published cell shows its label alone, so a label must mean one thing wherever it stands.
    """
    meanings: dict[str, set[frozenset[str]]] = {value: {frozenset([value])} for value in known}
    for level in range(len(next(iter(known.values())))):
        covered: dict[str, list[str]] = {}
        for value, labels in known.items():
            covered.setdefault(labels[level], []).append(value)
        for label, values in covered.items():
            meanings.setdefault(label, set()).add(frozenset(values))
    torn = sum(len(each) > 1 for label, each in meanings.items() if label != ROOT_LABEL)
    if torn:
        raise HierarchyError(
            f"Hierarchy of '{name}': in {where}, {torn} label(s) stand for different values in "
            "different places. Give labels that differ different names, also from the values."
        )
    escaped = sum(label.startswith("\\") for label in meanings if label not in known)
    if escaped:
        raise HierarchyError(
            f"Hierarchy of '{name}': in {where}, {escaped} label(s) begin with a backslash, which "
            "marks plain values in a release. Rename them."
        )


def canonical(column: Column, text: str) -> str:
    """The text as the column writes it, so that 07 in a file meets 7 in a numeric column."""
    if column.kind == "numeric":
        return number_text(text)
    if column.kind == "date":
        days = parse_date(text)
        return format_date(days) if days is not None else text
    return text


def _rows(text: str) -> list[tuple[int, list[str]]]:
    """The lines with their numbers, parted by the delimiter that parts all of them alike."""
    readings = []
    for delimiter in ";,":
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        readings.append([(reader.line_num, row) for row in reader if any(row)])
    return max(readings, key=_evenness)


def _evenness(rows: list[tuple[int, list[str]]]) -> tuple[bool, int]:
    """Whether all lines have the same number of cells, at least two, and how many the first has."""
    widths = {len(row) for _, row in rows}
    return len(widths) == 1 and widths != {1}, len(rows[0][1]) if rows else 0


def _walk(node: object, above: list[str], lines: list[list[str]], name: str) -> None:
    """Collect [value, parent, grandparent …] of every leaf; `above` has the nearest first."""
    if isinstance(node, Mapping):
        for label, below in node.items():
            _walk(below, [str(label), *above], lines, name)
    elif isinstance(node, list | tuple) and not any(isinstance(leaf, list) for leaf in node):
        for leaf in node:
            if isinstance(leaf, Mapping):
                _walk(leaf, above, lines, name)
            else:
                lines.append(["" if leaf is None else str(leaf), *above])
    else:
        raise HierarchyError(
            f"Hierarchy of '{name}': a branch of the tree must be a list of values or further "
            "branches, as in `{Blue-collar: [Janitor, Mover], White-collar: [Lawyer]}`."
        )
    if not above and not lines:
        raise HierarchyError(f"Hierarchy of '{name}': the tree has no values.")
