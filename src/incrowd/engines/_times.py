"""The dates of patients, changed as a policy says, in the place of those of the source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from incrowd._runtime import randomness
from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd._runtime.secret_key import SecretKey
from incrowd.engines._dates_to_change import DatesToChange, steps_of, told_without
from incrowd.engines._engine_times import timed_in_engine
from incrowd.hierarchies.description import FirstEvent, TimePolicy
from incrowd.policy import Policy
from incrowd.policy.times import FIRST, times_of
from incrowd.table import ONE_EACH, Column, MemoryTable, Table
from incrowd.table.profiles import Histories
from incrowd.table.sql_histories import AnyHistories, SqlHistories
from incrowd.table.sql_table import SqlTable
from incrowd.table.times import coarse, days_of, earliest, shifted, since

DayZero = tuple[IntArray, BoolArray]
"""For each patient the day to count from, and whether there is none."""


def timed(
    table: Table, histories: AnyHistories | None, policy: Policy, key: SecretKey | None = None
) -> tuple[Table, AnyHistories | None, tuple[str, ...]]:
    """The profiles and their rows with dates as they will be published, and what is to be known.

    Everything after this works on the changed dates: models, the guard on untouched columns, tables
    and reports.

    Parameters
    ----------
    table
        One record for each patient.
    histories
        The rows of the patients, where they may have several.
    policy
        What becomes of the dates of each column.
    key
        What the shifts follow from; without it they are drawn.

    Notes
    -----
    A date that is missing stays missing. All shifted dates of a patient move by one shift, whatever
    they are: nothing is cut off at a limit and nothing is drawn again for a date.
    """
    asked = times_of(policy)
    if not asked:
        return table, histories, ()
    dates = DatesToChange(table, histories, asked)
    if isinstance(table, SqlTable):
        assert not isinstance(histories, Histories)
        return timed_in_engine(dates, key)
    assert isinstance(table, MemoryTable)
    assert not isinstance(histories, SqlHistories)
    assert table.tally is ONE_EACH or all(time.coarse for time in asked.values()), "rows are apart"
    changing = _Changing(dates, table, histories, key)
    changed = {name: changing.column(name) for name in asked}
    told = tuple(changing.without_index())
    table = table.with_columns([each for name, each in changed.items() if name in table])
    if histories is not None:
        tables = {
            name: replace(events, columns=_in_place(events.columns, changed))
            for name, events in histories.tables.items()
        }
        histories = replace(histories, tables=tables)
    return table, histories, told


class _Changing:
    """The dates of all columns that change, and what they change by."""

    def __init__(
        self,
        dates: DatesToChange,
        table: MemoryTable,
        histories: Histories | None,
        key: SecretKey | None,
    ) -> None:
        self._dates, self._table, self._histories = dates, table, histories
        self._indices: dict[str | FirstEvent, DayZero] = {}
        self._shifts = None if dates.shift is None else self._drawn(dates.shift, key)

    def column(self, name: str) -> Column:
        """A column as it will be published."""
        time, column = self._dates.asked[name], self._dates.column(name)
        if time.coarse is not None:
            return coarse(column, time.coarse)
        patient = self._patients(name)
        if time.shift is not None:
            assert self._shifts is not None
            return shifted(column, self._shifts[patient])
        days, lacks = self._index(time)
        # What attackers may know is made coarse by the hierarchy that these widths are.
        width = None if column.role == "quasi" else time.width
        return since(column, (days[patient], lacks[patient]), time.unit or "days", width)

    def without_index(self) -> Iterable[str]:
        """Of how many patients there is nothing to count from."""
        for index, (_, lacks) in self._indices.items():
            yield from told_without(index, int(lacks.sum()), len(lacks))

    def _drawn(self, time: TimePolicy, key: SecretKey | None) -> IntArray:
        """The shift of each patient in days: whatever its dates are, all are equally likely."""
        step, most = steps_of(time)
        bound = 2 * most + 1
        if key is None:
            drawn = randomness.below(bound, self._table.records)
        else:
            histories = self._histories
            assert histories is not None
            assert histories.pseudonyms is not None
            drawn = key.below(bound, histories.pseudonyms.names, step)
        return (drawn - most) * step

    def _index(self, time: TimePolicy) -> DayZero:
        asked = time.relative_to
        assert asked is not None
        if asked not in self._indices:
            self._indices[asked] = self._counted_from(asked)
        return self._indices[asked]

    def _counted_from(self, asked: str | FirstEvent) -> DayZero:
        if isinstance(asked, str) and asked != FIRST:
            return days_of(self._table[asked])
        rows = []
        for name in self._dates.dating(asked):
            days, lacks = days_of(self._dates.column(name))
            counts = ~lacks
            if isinstance(asked, FirstEvent):
                counts &= self._dates.column(asked.first).codes == self._dates.code_of(asked)
            rows.append((days[counts], self._patients(name)[counts]))
        return earliest(self._table.records, rows)

    def _patients(self, name: str) -> IntArray:
        """The patient of each row of a column."""
        if self._histories is not None and name in self._histories:
            return self._histories.holding(name).patient
        return np.arange(self._table.records)


def _in_place(columns: Sequence[Column], changed: dict[str, Column]) -> tuple[Column, ...]:
    return tuple(changed.get(column.name, column) for column in columns)
