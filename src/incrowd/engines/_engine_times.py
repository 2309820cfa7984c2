"""The dates of patients whose rows are in an SQL engine, changed there as a policy says.

The same as `_times.py` for rows in memory. Of the size of the patients are their shifts, which are
drawn here, or follow from the key, and go to the engine; nothing is of the size of their rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from incrowd._runtime import randomness
from incrowd._runtime.secret_key import SecretKey
from incrowd.engines._dates_to_change import DatesToChange, steps_of, told_without
from incrowd.hierarchies.description import FirstEvent, TimePolicy
from incrowd.table.pseudonyms import joined
from incrowd.table.sql_histories import SqlHistories
from incrowd.table.sql_table import SqlTable
from incrowd.table.sql_times import (
    DateChange,
    DatedRows,
    DayOfPatients,
    RowsT,
    ShiftOfPatients,
    earliest_in_engine,
    shifts_in_engine,
    with_dates_changed,
)
from incrowd.table.times import coarse


def timed_in_engine(
    dates: DatesToChange, key: SecretKey | None
) -> tuple[SqlTable, SqlHistories | None, tuple[str, ...]]:
    """The profiles and their rows with dates as they will be published, and what is to be known.

    Parameters
    ----------
    dates
        What changes: of patients that are rows of an engine each, or of records that are.
    key
        What the shifts follow from; without it they are drawn.
    """
    changing = _ChangingInEngine(dates, key)
    table, histories = changing.table, changing.histories
    told: tuple[str, ...] = ()
    try:
        changed = {name: changing.rows(each) for name, each in changing.events.items()}
        table = changing.rows(table)
        told = tuple(changing.without_index())
    finally:
        changing.drop()
    if histories is not None:
        histories = replace(histories, tables=changed, people=table.sql_rows.table)
    return table, histories, told


class _ChangingInEngine:
    """The dates of all columns that change, and the tables of patients that they change by."""

    def __init__(self, dates: DatesToChange, key: SecretKey | None) -> None:
        assert isinstance(dates.table, SqlTable)
        assert dates.histories is None or isinstance(dates.histories, SqlHistories)
        self.table, self.histories, self._dates = dates.table, dates.histories, dates
        self.events = {} if dates.histories is None else dict(dates.histories.tables)
        self._indices = {
            time.relative_to: self._counted_from(time.relative_to)
            for time in dates.asked.values()
            if time.relative_to is not None
        }
        self._shifts = None if dates.shift is None else self._drawn(dates.shift, key)

    def rows(self, rows: RowsT) -> RowsT:
        """A table with its dates changed."""
        asked = {name: time for name, time in self._dates.asked.items() if name in rows}
        periods = {name: time.coarse for name, time in asked.items() if time.coarse is not None}
        rows = rows.with_columns([coarse(rows[name], each) for name, each in periods.items()])
        changes = [self._change(name, time) for name, time in asked.items() if name not in periods]
        return with_dates_changed(rows, changes) if changes else rows

    def without_index(self) -> Iterable[str]:
        """Of how many patients there is nothing to count from."""
        for index, found in self._indices.items():
            many = self.table.records
            yield from told_without(index, many - found.patients, many)

    def drop(self) -> None:
        """Forget what dates changed by."""
        for each in (*self._indices.values(), self._shifts):
            if each is not None:
                self.table.sql_rows.engine.drop(each.table)

    def _change(self, name: str, time: TimePolicy) -> DateChange:
        if time.shift is not None:
            assert self._shifts is not None
            return DateChange(name, self._shifts)
        assert time.relative_to is not None
        return DateChange(name, self._indices[time.relative_to], time.unit or "days", time.width)

    def _drawn(self, time: TimePolicy, key: SecretKey | None) -> ShiftOfPatients:
        """The shift of each patient in days: whatever its dates are, all are equally likely."""
        given, (step, most) = self.table.sql_rows, steps_of(time)
        who = given.engine.ask(f"SELECT h0, h1 FROM {given.table}")
        bound = 2 * most + 1
        if key is None:
            drawn = randomness.below(bound, len(who["h0"]))
        else:
            drawn = key.below(bound, joined(who["h0"], who["h1"]), step)
        return shifts_in_engine(given.engine, who, (drawn - most) * step, most * step)

    def _counted_from(self, index: str | FirstEvent) -> DayOfPatients:
        found = []
        for name in self._dates.dating(index):
            rows = self._holding(name)
            if isinstance(index, FirstEvent):
                codes = np.flatnonzero(rows.lookup(index.first) == self._dates.code_of(index))
                found.append(DatedRows(rows, name, (index.first, codes)))
            else:
                found.append(DatedRows(rows, name))
        return earliest_in_engine(found)

    def _holding(self, name: str) -> SqlTable:
        """The table of a column."""
        if self.histories is not None and name in self.histories:
            return self.histories.holding(name)
        return self.table
