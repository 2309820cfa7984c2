"""Hierarchies made from the data: numbers and dates by quantiles, categories by frequency."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from incrowd.errors import HierarchyError
from incrowd.hierarchies.base import ROOT_LABEL, Hierarchy, IntArray, assemble
from incrowd.hierarchies.computed import dates, flat, mask
from incrowd.hierarchies.labels import range_label, set_label
from incrowd.table import Column

_FINEST_RANGES = 32
_MOST_CATEGORIES = 1_000


def automatic(column: Column) -> tuple[Column, Hierarchy]:
    """A hierarchy for a column of any type, seen from its own distribution.

    Numbers: up to 32 ranges with about equally many records, joined in pairs level by level.
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
    counts: IntArray = np.bincount(column.codes, minlength=len(column.values) + 1)[
        : len(column.values)
    ].astype(np.int64)
    return counts


def _by_quantiles(column: Column) -> tuple[Column, Hierarchy]:
    assert column.numbers is not None
    numbers = column.numbers
    below = np.cumsum(_counts(column)) - _counts(column)
    bins = min(_FINEST_RANGES, len(numbers))
    quantile = below * bins // max(int(below[-1] + 1), 1)
    _, group = np.unique(quantile, return_inverse=True)
    paths: list[list[str]] = [[] for _ in numbers]
    weigh: list[IntArray] = []
    while group.max(initial=0) >= 1:
        starts = np.searchsorted(group, np.arange(group.max() + 2))
        bounds = [int(numbers[s]) for s in starts[:-1]] + [int(numbers[-1]) + 1]
        labels = [range_label(column, a, b) for a, b in pairwise(bounds)]
        widths = np.array([b - a for a, b in pairwise(bounds)], dtype=np.int64)
        for path, g in zip(paths, group, strict=True):
            path.append(labels[g])
        weigh.append(widths[group])
        group = group // 2
    domain = int(numbers[-1] - numbers[0]) + 1 if len(numbers) else 1
    weigh.append(np.full(len(numbers), domain, dtype=np.int64))
    return assemble(
        column, "auto", [[*path, ROOT_LABEL] for path in paths], weigh=weigh, domain=domain
    )


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
