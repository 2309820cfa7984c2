"""The halves that splits would make, from what was counted of whole nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.counts.base import Splits
from incrowd.counts.groups import Histogram
from incrowd.counts.sql._requests import Entries


class Halves(NamedTuple):
    """Entries of nodes by the half that they go to: split, half (0: left), value, records."""

    split: IntArray
    side: IntArray
    value: IntArray
    counts: IntArray

    def sizes(self, many: int) -> IntArray:
        """The records of the halves of `many` splits, by (half, split)."""
        sums = np.bincount(self.side * many + self.split, self.counts, minlength=2 * many)
        return sums.astype(np.int64).reshape(2, many)

    def histogram(self, side: int, many: int, total: IntArray) -> Histogram:
        """The values in one half of each of `many` splits; `total` counts them in the table."""
        here = self.side == side
        keys, inverse = np.unique(
            self.split[here] * len(total) + self.value[here], return_inverse=True
        )
        summed = np.bincount(inverse, self.counts[here], minlength=len(keys)).astype(np.int64)
        per_split = np.bincount(keys // len(total), minlength=many)
        offsets = np.concatenate(([0], np.cumsum(per_split)))
        return Histogram.of(offsets, keys % len(total), summed, total)

    @staticmethod
    def join(parts: list[Halves]) -> Halves:
        """All entries of several."""
        none = np.zeros(0, dtype=np.int64)
        every = [Halves(none, none, none, none), *parts]
        return Halves(*map(np.concatenate, zip(*every, strict=True)))


def halves_of(splits: Splits, chosen: IntArray, nodes: IntArray, entries: Entries) -> Halves:
    """The halves of the chosen splits, which are on one attribute, from the entries of nodes.

    Parameters
    ----------
    splits, chosen
        All splits, and the numbers of those that are looked at.
    nodes
        The nodes of the entries, ascending.
    entries
        Codes of the attribute, perhaps with a sensitive value each.
    """
    some = splits.take(chosen)
    found = entries.of(np.searchsorted(nodes, some.nodes), len(nodes))
    code = found.codes[0]
    span = max(int(code.max(initial=0)), int(some.left.max(initial=0))) + 1
    left = np.repeat(np.arange(len(some)), np.diff(some.offsets)) * span + some.left
    side = np.where(np.isin(found.place * span + code, left), 0, 1)
    value = found.codes[1] if len(found.codes) > 1 else np.zeros(len(code), dtype=np.int64)
    return Halves(chosen[found.place], side, value, found.counts)
