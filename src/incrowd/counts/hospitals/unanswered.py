"""What a home does not answer that keeps no records at hand.

Methods that ask for it need single records, or halves of nodes. A policy that names one of them for
such a home is refused before any work, so nobody gets here by mistake.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import IntArray
from incrowd.counts.base import Counts, Extents, Partition, Recoding, Splits
from incrowd.counts.groups import Groups
from incrowd.counts.placement import GroupOfRecord

_WHY = "The records are not in one place, or not in memory: only counts are answered."


class NoRecords(Counts):
    """A home that tells nothing of single records."""

    def groups_of(self, recoding: Recoding, codes: IntArray, groups: IntArray) -> GroupOfRecord:
        """Records are in no groups of combinations."""
        raise NotImplementedError(_WHY)

    def codes_of_records(self, sensitive: str) -> npt.NDArray[np.integer]:
        """Single records have no codes here."""
        raise NotImplementedError(_WHY)

    def row_of_records(self) -> npt.NDArray[np.integer]:
        """Records are in no rows."""
        raise NotImplementedError(_WHY)

    def assign(self, group_of_sorted: IntArray) -> npt.NDArray[np.int32]:
        """Records are in no order."""
        raise NotImplementedError(_WHY)


class NoHalves(Partition):
    """A partition whose nodes are specialized, never halved."""

    def extents(self, nodes: IntArray) -> Extents:
        """Single codes are not told."""
        raise NotImplementedError(_WHY)

    def half_extents(
        self, splits: Splits, *, counting: Sequence[int] | None = None
    ) -> tuple[Extents, Extents]:
        """Nodes are not halved."""
        raise NotImplementedError(_WHY)

    def half_groups(self, splits: Splits, sensitive: Sequence[str]) -> tuple[Groups, Groups]:
        """Nodes are not halved."""
        raise NotImplementedError(_WHY)

    def split(self, splits: Splits) -> tuple[IntArray, IntArray]:
        """Nodes are not halved."""
        raise NotImplementedError(_WHY)

    def gather(self, nodes: IntArray) -> int:
        """Nodes are not put together."""
        raise NotImplementedError(_WHY)
