"""Histograms of groups from entries: the group, the value and the weight of each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from incrowd._runtime.arrays import IntArray, Ints
from incrowd.counts.base import NodeHistograms
from incrowd.counts.groups import Histogram
from incrowd.table.packing import distinct_rows


def counted(
    group: Ints, many: int, values: Ints, cardinality: int, weights: Ints | None = None
) -> NodeHistograms:
    """The values that occur in each of `many` groups, ascending, with their weights."""
    return counted_by(partial(np.bincount, weights=weights), group, many, values, cardinality)


def counted_by(
    count: Callable[[Ints], Ints],
    group: Ints,
    many: int,
    values: Ints,
    cardinality: int,
) -> NodeHistograms:
    """The same where `count` tells how many records have each number, given that of each row."""
    pair, first = distinct_rows([group, values], [many, cardinality], len(group))
    per_group = np.bincount(group[first], minlength=many)
    return NodeHistograms(
        np.concatenate(([0], np.cumsum(per_group))),
        values[first].astype(np.int64),
        count(pair).astype(np.int64, copy=False),
    )


def histogram_of(
    group: Ints, many: int, values: Ints, total: IntArray, weights: Ints | None = None
) -> Histogram:
    """The same as models judge it; `total` counts each value in the whole table."""
    found = counted(group, many, values, len(total), weights)
    return Histogram(found.offsets, found.codes, found.counts, len(total), total)
