"""Histograms of groups from entries: the group, the value and the weight of each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import IntArray
from incrowd.counts.base import NodeHistograms
from incrowd.counts.groups import Histogram
from incrowd.table.packing import distinct_rows

Integers = npt.NDArray[np.integer]


def counted(
    group: Integers, many: int, values: Integers, cardinality: int, weights: Integers | None = None
) -> NodeHistograms:
    """The values that occur in each of `many` groups, ascending, with their weights."""
    pair, first = distinct_rows([group, values], [many, cardinality], len(group))
    per_group = np.bincount(group[first], minlength=many)
    return NodeHistograms(
        np.concatenate(([0], np.cumsum(per_group))),
        values[first].astype(np.int64),
        np.bincount(pair, weights).astype(np.int64),
    )


def histogram_of(
    group: Integers, many: int, values: Integers, total: IntArray, weights: Integers | None = None
) -> Histogram:
    """The same as models judge it; `total` counts each value in the whole table."""
    found = counted(group, many, values, len(total), weights)
    return Histogram(found.offsets, found.codes, found.counts, len(total), total)
