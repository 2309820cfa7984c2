"""Leaves: the records grouped by what they show now, found by any value without a search.

Seed structure: TIPS, taxonomy indexed partitions (Mohammed et al. 2010, Definition 4.1). A leaf
is a node of the home's partition with the value that it shows of every attribute. Specializing a
value touches the records of its leaves only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import IntArray
from incrowd.counts import Partition


class Leaves:
    """Every record in exactly one leaf; leaves are numbered as they arise, dead ones are kept."""

    def __init__(self, partition: Partition, attributes: int, records: int) -> None:
        self.partition = partition
        self._count = 1
        self._nodes = np.zeros(16, np.int64)
        self._values = np.zeros((16, attributes), np.int32)
        self._sizes = np.full(16, records, np.int64)
        self._alive = np.zeros(16, np.bool_)
        self._alive[0] = True

    @property
    def alive(self) -> IntArray:
        """The numbers of all leaves that hold records now."""
        return np.flatnonzero(self._alive[: self._count])

    def showing(self, attribute: int, value: int) -> IntArray:
        """The leaves that show a value of an attribute."""
        count = self._count
        shows = self._values[:count, attribute] == value
        shows &= self._alive[:count]
        return np.flatnonzero(shows)

    def nodes(self, leaves: IntArray) -> IntArray:
        """The node of the partition of each leaf."""
        return self._nodes[leaves]

    def sizes(self, leaves: IntArray) -> IntArray:
        """How many records each leaf holds."""
        return self._sizes[leaves]

    def values(self, leaves: IntArray) -> npt.NDArray[np.int32]:
        """The value that each leaf shows of every attribute."""
        return self._values[leaves]

    def specialize(
        self,
        attribute: int,
        leaves: IntArray,
        records: IntArray,
        child_of_code: IntArray,
        numbers: Sequence[int],
    ) -> None:
        """Split leaves by the children of the value they show.

        `records[i, c]` counts the records of leaf i under child c, whose number in the cut is
        `numbers[c]`; `child_of_code` says under which child a code is.
        """
        self._alive[leaves] = False
        nodes = self.partition.specialize(attribute, self._nodes[leaves], child_of_code)
        values = self._values[leaves]
        for child, number in enumerate(numbers):
            held = nodes[:, child] >= 0
            first = self._count
            self._count += int(held.sum())
            while self._count > len(self._nodes):
                self._nodes = np.concatenate((self._nodes, np.zeros_like(self._nodes)))
                self._values = np.concatenate((self._values, np.zeros_like(self._values)))
                self._sizes = np.concatenate((self._sizes, np.zeros_like(self._sizes)))
                self._alive = np.concatenate((self._alive, np.zeros_like(self._alive)))
            added = slice(first, self._count)
            self._nodes[added] = nodes[held, child]
            self._values[added] = values[held]
            self._values[added, attribute] = number
            self._sizes[added] = records[held, child]
            self._alive[added] = True
