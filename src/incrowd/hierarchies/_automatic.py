"""Hierarchies made from the data: numbers and dates by quantiles, categories by frequency."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.errors import HierarchyError
from incrowd.hierarchies.base import ROOT_LABEL, Hierarchy, assemble
from incrowd.hierarchies.computed import dates, flat, mask
from incrowd.hierarchies.labels import range_label, set_label
from incrowd.table import Column

_MOST_HALVINGS = 5
_MOST_CATEGORIES = 1_000


def automatic(column: Column) -> tuple[Column, Hierarchy]:
    """A hierarchy for a column of any type, seen from its own distribution.

    Numbers: halved at the median of their records, again and again, up to 32 ranges.
    Dates: month, quarter, year, decade. Codes of one length with over 50 values: masked from the
    right. Other categories: the rarer half of the values joined in pairs, level by level.
    """
    if not column.values:
        return flat(column)
    if column.kind == "date":
        return dates(column)
    if column.kind == "numeric":
        return _by_quantiles(column)
    lengths = {len(value) for value in column.values}
    if column.kind == "category" and len(lengths) == 1 and len(column.values) > 50:
        return mask(column, length=lengths.pop())
    if len(column.values) > _MOST_CATEGORIES:
        raise HierarchyError(
            f"Column '{column.name}': hierarchy: auto joins at most {_MOST_CATEGORIES:,} "
            f"categories, this column has {len(column.values):,}. Give it a hierarchy file or a "
            "mask."
        )
    return _by_frequency(column)


def _counts(column: Column) -> IntArray:
    return column.counts()[: len(column.values)]


def _by_quantiles(column: Column) -> tuple[Column, Hierarchy]:
    assert column.numbers is not None
    numbers = column.numbers
    paths: list[list[str]] = [[] for _ in numbers]
    weigh: list[IntArray] = []
    for starts in reversed(_halvings(_counts(column))):
        bounds = [*(int(numbers[start]) for start in starts), int(numbers[-1]) + 1]
        labels = [range_label(column, a, b) for a, b in pairwise(bounds)]
        widths = np.array([b - a for a, b in pairwise(bounds)], dtype=np.int64)
        group = np.searchsorted(starts, np.arange(len(numbers)), side="right") - 1
        for path, g in zip(paths, group, strict=True):
            path.append(labels[g])
        weigh.append(widths[group])
    domain = int(numbers[-1] - numbers[0]) + 1
    weigh.append(np.full(len(numbers), domain, dtype=np.int64))
    return assemble(
        column, "auto", [[*path, ROOT_LABEL] for path in paths], weigh=weigh, domain=domain
    )


def _halvings(counts: IntArray) -> list[list[int]]:
    """Level by level from the top, the first value of each range; each level halves the ranges.

    A range is cut where its halves come nearest to equally many records; one value stays whole.
    """
    before = np.concatenate(([0], np.cumsum(counts)))
    levels: list[list[int]] = []
    starts = [0]
    for _ in range(_MOST_HALVINGS):
        halved: list[int] = []
        for begin, end in pairwise([*starts, len(counts)]):
            halved.append(begin)
            if end - begin > 1:
                middle = (before[begin] + before[end]) / 2
                halved.append(begin + 1 + int(np.argmin(np.abs(before[begin + 1 : end] - middle))))
        if len(halved) == len(starts):
            break
        starts = halved
        levels.append(starts)
    return levels


def _by_frequency(column: Column) -> tuple[Column, Hierarchy]:
    counts = _counts(column)
    nodes = [([code], int(count)) for code, count in enumerate(counts)]
    paths: list[list[str]] = [[] for _ in counts]
    while len(nodes) > 2:
        nodes = _join_rare(nodes, ordered=column.kind == "ordered")
        for members, _ in nodes:
            label = set_label([column.values[m] for m in members])
            for member in members:
                paths[member].append(label)
    return assemble(column, "auto", [[*path, ROOT_LABEL] for path in paths])


def _join_rare(nodes: list[tuple[list[int], int]], *, ordered: bool) -> list[tuple[list[int], int]]:
    """One level up: the rarer half of the nodes in pairs (neighbours, when the order matters)."""
    if ordered:
        return [
            ([m for members, _ in pair for m in members], sum(count for _, count in pair))
            for pair in (nodes[i : i + 2] for i in range(0, len(nodes), 2))
        ]
    ranked = sorted(nodes, key=lambda node: (node[1], node[0]))
    pairs = max(1, len(ranked) // 4)
    joined = [
        (sorted(ranked[2 * i][0] + ranked[2 * i + 1][0]), ranked[2 * i][1] + ranked[2 * i + 1][1])
        for i in range(pairs)
    ]
    return sorted(joined + ranked[2 * pairs :], key=lambda node: node[0])
