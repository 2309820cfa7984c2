"""Counts of groups of records, with the histograms of their sensitive values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Histogram:
    """How often each value occurs in each group, stored group after group.

    The entries of group g are `values[offsets[g]:offsets[g + 1]]` (ascending, only those that
    occur) with their `counts`. `total` counts each of the `cardinality` values in the whole
    published table.
    """

    offsets: IntArray
    values: IntArray
    counts: IntArray
    cardinality: int
    total: IntArray
    patients: int | None = None
    """How many patients there are in the whole table, where each may hold several values."""

    @classmethod
    def of(cls, offsets: IntArray, values: IntArray, counts: IntArray, total: IntArray) -> Self:
        """A histogram of values that are numbered like the entries of `total`."""
        return cls(offsets, values, counts, len(total), total)

    @property
    def records(self) -> int:
        """How many records the whole table has; where each holds one value, all that is counted."""
        return int(self.total.sum()) if self.patients is None else self.patients

    @property
    def groups(self) -> IntArray:
        """The group of every entry."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


@dataclass(frozen=True)
class Groups:
    """Counts of groups of records: all that a privacy model gets to see."""

    sizes: IntArray
    histograms: Mapping[str, Histogram] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.sizes)


def share_of_largest(histogram: Histogram, sizes: IntArray) -> FloatArray:
    """For each group, the share of its most frequent value."""
    largest = segment_max(histogram.counts, histogram.offsets)
    return largest / np.maximum(sizes, 1)


def sum_of_largest(histogram: Histogram, many: int) -> IntArray:
    """For each group, how many records hold one of its `many` most frequent values."""
    order = np.lexsort((-histogram.counts, histogram.groups))
    rank = np.arange(len(order)) - histogram.offsets[:-1][histogram.groups]
    return segment_sum(np.where(rank < many, histogram.counts[order], 0), histogram.offsets)


def ratios_to_table(histogram: Histogram, sizes: IntArray) -> FloatArray:
    """For each entry, the share of its value in the group over its share in the table."""
    records = float(histogram.records)
    inside = histogram.counts * records
    expected = sizes[histogram.groups] * histogram.total[histogram.values].astype(np.float64)
    return inside / expected


def segment_max(values: npt.NDArray[Any], offsets: IntArray) -> npt.NDArray[Any]:
    """The largest entry of every segment, 0 for an empty one."""
    return _by_segment(np.maximum, values, offsets)


def segment_sum(values: npt.NDArray[Any], offsets: IntArray) -> npt.NDArray[Any]:
    """The sum of every segment, 0 for an empty one."""
    return _by_segment(np.add, values, offsets)


def _by_segment(joined: np.ufunc, values: npt.NDArray[Any], offsets: IntArray) -> npt.NDArray[Any]:
    result = np.zeros(len(offsets) - 1, dtype=values.dtype)
    filled = np.diff(offsets) > 0
    if len(values):
        result[filled] = joined.reduceat(values, offsets[:-1][filled])
    return result
