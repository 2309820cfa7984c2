"""Counts of groups of records, with the histograms of their sensitive values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from incrowd._runtime.arrays import IntArray


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
