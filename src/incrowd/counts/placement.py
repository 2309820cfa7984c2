"""The group of every record: an array in memory, or a table where the records live."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import IntArray


class Placement(ABC):
    """Which group each record is in (-1: suppressed), known to the home of the records alone."""

    @abstractmethod
    def renumbered(self, number: IntArray) -> Placement:
        """The same with other numbers of the groups; suppressed records stay so."""


GroupOfRecord = npt.NDArray[np.int32] | Placement


def renumbered(group: GroupOfRecord, number: IntArray) -> GroupOfRecord:
    """The groups of records under other numbers; suppressed records stay so."""
    if isinstance(group, Placement):
        return group.renumbered(number)
    if bool((group < -1).any()):
        raise AssertionError("a record is in no group")
    # The number -1 of suppressed records points to the last entry.
    return np.append(number, np.int32(-1))[group].astype(np.int32)
