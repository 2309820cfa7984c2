"""What every method gets and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Literal, TypeVar

import numpy as np

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd._runtime.progress import Progress, silent
from incrowd.counts import Counts, RecordCounts, RowCounts
from incrowd.counts.groups import Groups
from incrowd.counts.placement import GroupOfRecord, Placement, renumbered
from incrowd.hierarchies import Hierarchy
from incrowd.privacy import LKC, PrivacyModel
from incrowd.research.rules import Interest
from incrowd.table import Column, MemoryTable
from incrowd.table.packing import distinct_rows
from incrowd.table.profiles import Histories

Goal = Literal["general", "classification"]
Home = TypeVar("Home", bound=Counts, covariant=True)


@dataclass(frozen=True, repr=False)
class TablesOfPatients:
    """The profiles of patients, and the rows of their events, for methods that look at these."""

    patients: MemoryTable
    histories: Histories


@dataclass(frozen=True, repr=False)
class TaskAt(Generic[Home]):
    """All that a method works on: counts, the columns and hierarchies they code, the promises."""

    counts: Home
    columns: Sequence[Column]
    hierarchies: Mapping[str, Hierarchy]
    models: Sequence[PrivacyModel]
    suppression: float = 0.0
    goal: Goal = "general"
    target: str | None = None
    progress: Progress = silent
    interests: Mapping[str, Interest] = field(default_factory=dict)
    """What a researcher wants of each attribute, where the method asks for it."""
    tables: TablesOfPatients | None = None
    """Where patients may have several rows and these are in memory, all of them."""

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The names of the histograms that the models judge, each once."""
        return tuple(dict.fromkeys(name for m in self.models for name in m.counted_attributes))

    @property
    def smallest_group(self) -> int:
        """No group below this size satisfies all models."""
        return max(model.smallest_group for model in self.models)

    @property
    def growing(self) -> bool:
        """Whether any records may be added to a private group."""
        return all(model.growing for model in self.models)

    @property
    def most_suppressed(self) -> int:
        """How many records may be dropped."""
        return int(self.suppression * self.counts.records + 1e-9)

    def by_size(self) -> TaskAt[Home]:
        """The task with nothing promised but the size that its models demand of every group."""
        return replace(self, models=[LKC(L=len(self.columns), K=self.smallest_group)])

    def satisfied(self, groups: Groups) -> BoolArray:
        """For each group, whether it satisfies all models."""
        held = np.ones(len(groups), dtype=np.bool_)
        for model in self.models:
            held &= model.holds(groups)
        return held


Task = TaskAt[Counts]
RowTask = TaskAt[RowCounts]
RecordTask = TaskAt[RecordCounts]


@dataclass(frozen=True)
class CellLabels:
    """What the groups show of one attribute: a number per group into a list of texts."""

    texts: tuple[str | None, ...] = field(repr=False)
    text_of_group: IntArray
    loss_of_group: FloatArray


@dataclass(frozen=True)
class ShownEvents:
    """What is published of a table of events of which attackers may know some.

    Parameters
    ----------
    rows
        The rows of the table that are published, ascending.
    labels
        What each of these shows of each quasi-identifier, a row taken for a group.
    left_out
        How many rows of published patients are hidden. Rows that show what another one of their
        patient does are no loss, and not counted.
    """

    rows: IntArray
    labels: Mapping[str, CellLabels]
    left_out: int


@dataclass(frozen=True)
class Outcome:
    """What a method decided: the group of every record (-1: suppressed), and what groups show."""

    group_of_record: GroupOfRecord
    labels: Mapping[str, CellLabels]
    group_sizes: IntArray
    suppressed: int
    how: Mapping[str, str | int] = field(default_factory=dict)
    """What the method did that its options leave open, for the manifest."""
    levels: Mapping[str, int] = field(default_factory=dict)
    """The one level of its hierarchy that an attribute shows in all records, where there is one."""
    remarks: tuple[str, ...] = ()
    """What only who holds the records may be told: it may depend on those that are dropped."""
    events: Mapping[str, ShownEvents] = field(default_factory=dict)
    """What is published of each table of events with quasi-identifiers."""

    def shown(self, name: str) -> tuple[CellLabels, IntArray]:
        """The labels of a quasi-identifier, and how many records each group of them has.

        Of one of events each row is a group, and a record.
        """
        for each in self.events.values():
            if name in each.labels:
                return each.labels[name], np.ones(len(each.rows), dtype=np.int64)
        return self.labels[name], self.group_sizes


def joined_groups(
    group_of_record: GroupOfRecord,
    labels: Mapping[str, CellLabels],
    sizes: IntArray,
    records: int | None = None,
) -> Outcome:
    """The outcome with groups of equal labels joined, numbered in the order of their labels.

    `records` is how many there are in all, where a row may stand for several.
    """
    number, first = distinct_rows(
        [cells.text_of_group for cells in labels.values()],
        [len(cells.texts) for cells in labels.values()],
        len(sizes),
    )
    if records is None:
        assert not isinstance(group_of_record, Placement)
        records = len(group_of_record)
    return Outcome(
        renumbered(group_of_record, number.astype(np.int64)),
        {
            name: CellLabels(cells.texts, cells.text_of_group[first], cells.loss_of_group[first])
            for name, cells in labels.items()
        },
        np.bincount(number, weights=sizes).astype(np.int64),
        records - int(sizes.sum()),
    )
