"""The records that are clustered: their distinct rows, and what models count of groups of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.counts.groups import Groups
from incrowd.counts.histograms import counted_groups
from incrowd.methods.base import RecordTask, Task


@dataclass(frozen=True)
class DistinctRows:
    """All records as distinct rows of quasi-identifiers and counted attributes, with weights.

    `codes` are the distinct quasi-identifiers; `row[i]` is the one of entry i, which stands for
    `weights[i]` records with the counted values `sensitive[i]`. Entries are sorted by all codes.
    """

    codes: npt.NDArray[np.int32]
    row: IntArray
    weights: IntArray
    sensitive: IntArray
    totals: dict[str, IntArray]

    @classmethod
    def of(cls, task: Task) -> DistinctRows:
        """The records of a task, from their frequency set."""
        many = len(task.counts.attributes)
        names = (*task.counts.attributes, *task.sensitive)
        found = task.counts.frequency_set(dict.fromkeys(names))
        quasi = found.codes[:, :many]
        # Entries come sorted by their quasi-identifiers, so equal ones are neighbours.
        new = np.ones(len(quasi), dtype=np.bool_)
        new[1:] = (quasi[1:] != quasi[:-1]).any(axis=1)
        return cls(
            np.ascontiguousarray(quasi[new]).astype(np.int32),
            np.cumsum(new) - 1,
            found.groups.sizes,
            np.ascontiguousarray(found.codes[:, many:]),
            {name: task.counts.totals(name) for name in task.sensitive},
        )

    @property
    def records(self) -> IntArray:
        """How many records each distinct row stands for."""
        return np.bincount(self.row, weights=self.weights).astype(np.int64)

    def groups(self, group_of_row: IntArray, wanted: IntArray) -> Groups:
        """Sizes and histograms of the wanted groups, as models judge them."""
        many = len(wanted)
        number_of = np.full(int(group_of_row.max(initial=-1)) + 1, -1, dtype=np.int64)
        number_of[wanted] = np.arange(many)
        number = number_of[group_of_row][self.row]
        inside = np.flatnonzero(number >= 0)
        number, weights = number[inside], self.weights[inside]
        values = {name: self.sensitive[inside, at] for at, name in enumerate(self.totals)}
        return counted_groups(number, many, values, self.totals, weights)

    def held(self, task: Task, group_of_row: IntArray, wanted: IntArray) -> BoolArray:
        """For each wanted group, whether it satisfies all models of a task."""
        if not len(wanted):
            return np.zeros(0, dtype=np.bool_)
        return task.satisfied(self.groups(group_of_row, wanted))

    def assigned(self, task: RecordTask, group_of_row: IntArray) -> npt.NDArray[np.int32]:
        """The group of every record of the source, from that of the distinct rows."""
        return task.counts.assign(np.repeat(group_of_row[self.row], self.weights))
