"""The dates of patients, changed as a policy says, in the place of those of the source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from incrowd._runtime import randomness
from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd._runtime.secret_key import SecretKey
from incrowd._runtime.sentences import listed
from incrowd.errors import PolicyError
from incrowd.hierarchies.description import FirstEvent, TimePolicy
from incrowd.policy import Policy
from incrowd.policy.times import FIRST, IN_MEMORY, times_of
from incrowd.table import ONE_EACH, Column, MemoryTable, Table
from incrowd.table.date_formats import date_format, date_like_share
from incrowd.table.profiles import Histories
from incrowd.table.sql_histories import AnyHistories, SqlHistories
from incrowd.table.times import coarse, days_of, earliest, room, shifted, since

_WEEK = 7
_MOST = 0.5
"""The share of values that look like days where a column is one of days."""
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
    if isinstance(histories, SqlHistories):
        raise PolicyError(IN_MEMORY)
    if not isinstance(table, MemoryTable) or table.tally is not ONE_EACH:
        raise PolicyError(IN_MEMORY)
    assert not isinstance(histories, SqlHistories)
    changing = _Changing(table, histories, asked, key)
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
        table: MemoryTable,
        histories: Histories | None,
        asked: dict[str, TimePolicy],
        key: SecretKey | None,
    ) -> None:
        self._table, self._histories, self._asked = table, histories, asked
        self._indices: dict[str | FirstEvent, DayZero] = {}
        self._refuse_others()
        shifts = [time for time in asked.values() if time.shift is not None]
        self._shifts = self._drawn(shifts[0], key) if shifts else None

    def column(self, name: str) -> Column:
        """A column as it will be published."""
        time, column = self._asked[name], self._of(name)
        patient = self._patients(name)
        if time.coarse is not None:
            return coarse(column, time.coarse)
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
            many = int(lacks.sum())
            if many and index != FIRST:
                named = index.first if isinstance(index, FirstEvent) else index
                yield (
                    f"time: {many:,} of {len(lacks):,} patients have no date to count from "
                    f"('{named}'); their times are published as missing."
                )

    def _refuse_others(self) -> None:
        """Refuse columns that are no dates, and dates that a shift could move off the calendar."""
        dates = [*self._asked]
        dates += [i for t in self._asked.values() if isinstance(i := t.relative_to, str)]
        for name in dates:
            if name != FIRST and self._of(name).kind != "date":
                raise PolicyError(
                    f"time: '{name}' is not read as dates. Give it `type: date`, and `format:` if "
                    "it is not written as YYYY-MM-DD."
                )
        self._refuse_beside()
        close = [n for n, time in self._asked.items() if time.days > room(self._of(n))]
        if close:
            raise PolicyError(
                f"time: dates of {listed(close)} lie so close to the first or the last day of the "
                "calendar that a shift could lead beyond it. Where they stand for no day (never, "
                "unknown), make them empty."
            )

    def _refuse_beside(self) -> None:
        """Refuse columns whose cells are days, untouched, beside days that are shifted."""
        moved = [name for name, time in self._asked.items() if time.shift is not None]
        if not moved:
            return
        columns = [*self._table.of_role("keep", "sensitive", "target")]
        columns += () if self._histories is None else self._histories.columns
        days = [each.name for each in columns if each.name not in self._asked and _has_days(each)]
        if days:
            raise PolicyError(
                f"time: {listed(days)} {'show' if len(days) > 1 else 'shows'} days as they are, "
                f"and those of '{moved[0]}' are shifted: where both fall on one day the shift is "
                "told. "
                "Give the same `type: date` and `time:`, or the role identifier to leave it out."
            )

    def _drawn(self, time: TimePolicy, key: SecretKey | None) -> IntArray:
        """The shift of each patient in days: whatever its dates are, all are equally likely."""
        step = _WEEK if time.weeks else 1
        most = time.days // step
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
        for name, time in self._asked.items():
            if time.relative_to == asked and not self._elsewhere(name, asked):
                days, lacks = days_of(self._of(name))
                counts = ~lacks
                if isinstance(asked, FirstEvent):
                    counts &= self._with_value(asked)
                rows.append((days[counts], self._patients(name)[counts]))
        return earliest(self._table.records, rows)

    def _elsewhere(self, name: str, asked: str | FirstEvent) -> bool:
        """Whether a column stands in another table than the codes that tell the first event."""
        if not isinstance(asked, FirstEvent):
            return False
        return name not in self._histories_of().holding(asked.first)

    def _with_value(self, asked: FirstEvent) -> BoolArray:
        """The rows of events with the value that is counted from."""
        column = self._histories_of()[asked.first]
        (value,) = column.named([asked.value])
        if value is None:
            raise PolicyError(
                f"time: no row has the `value:` that times are relative to in '{asked.first}'. "
                "Write it as it stands there."
            )
        found: BoolArray = column.codes == column.values.index(value)
        return found

    def _of(self, name: str) -> Column:
        if self._histories is not None and name in self._histories:
            return self._histories[name]
        return self._table[name]

    def _patients(self, name: str) -> IntArray:
        """The patient of each row of a column."""
        if self._histories is not None and name in self._histories:
            return self._histories.holding(name).patient
        return np.arange(self._table.records)

    def _histories_of(self) -> Histories:
        assert self._histories is not None, "the policy names a column of events"
        return self._histories


def _in_place(columns: Sequence[Column], changed: dict[str, Column]) -> tuple[Column, ...]:
    return tuple(changed.get(column.name, column) for column in columns)


def _has_days(column: Column) -> bool:
    """Whether the values of a column are days, or most look like them, whatever its type is."""
    if column.kind == "date" or not column.values:
        return column.kind == "date"
    values = pl.Series(column.values, dtype=pl.String)
    likely = column.kind != "numeric" and date_like_share(values) > _MOST
    return likely or date_format(values) is not None
