"""Histograms of groups from entries: the group, the value and the weight of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from incrowd._runtime.arrays import IntArray, Ints
from incrowd.counts.base import NodeHistograms
from incrowd.counts.groups import Groups, Histogram
from incrowd.table.packing import distinct_rows
from incrowd.table.profiles import SetColumn


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


def by_value(histogram: Histogram, sets: SetColumn) -> Histogram:
    """How many patients of each group hold each value, from how many hold each set of values.

    Invariant: a patient is counted once for each value that it holds, so counts of one value are at
    most the size of the group, while those of all values may add up to more.
    """
    lengths = np.diff(sets.offsets)[histogram.values]
    begins = np.cumsum(lengths) - lengths
    places = np.repeat(sets.offsets[:-1][histogram.values] - begins, lengths)
    value = sets.members[places + np.arange(int(lengths.sum()))]
    many, cardinality = len(histogram.offsets) - 1, sets.cardinality_of_values
    group, weight = np.repeat(histogram.groups, lengths), np.repeat(histogram.counts, lengths)
    found = counted(group, many, value, cardinality, weight)
    each = np.repeat(histogram.total, np.diff(sets.offsets))
    total = np.bincount(sets.members, each, minlength=cardinality).astype(np.int64)
    patients = int(histogram.total.sum())
    return Histogram(found.offsets, found.codes, found.counts, cardinality, total, patients)


def histogram_of(
    group: Ints, many: int, values: Ints, total: IntArray, weights: Ints | None = None
) -> Histogram:
    """The same as models judge it; `total` counts each value in the whole table."""
    found = counted(group, many, values, len(total), weights)
    return Histogram.of(found.offsets, found.codes, found.counts, total)


def counted_groups(
    number: Ints,
    many: int,
    values: Mapping[str, Ints],
    totals: Mapping[str, IntArray],
    weights: Ints | None = None,
) -> Groups:
    """Sizes and histograms of `many` groups, from the group of each record and what it holds."""
    sizes = np.bincount(number, weights=weights, minlength=many).astype(np.int64)
    histograms = {
        name: histogram_of(number, many, codes, totals[name], weights)
        for name, codes in values.items()
    }
    return Groups(sizes, histograms)
