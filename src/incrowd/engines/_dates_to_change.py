"""What becomes of dates wherever the rows are: what is refused, and what columns are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl

from incrowd._runtime.sentences import listed
from incrowd.errors import PolicyError
from incrowd.hierarchies.description import FirstEvent, TimePolicy
from incrowd.policy.times import FIRST
from incrowd.table import Column, Table
from incrowd.table.date_formats import date_format, date_like_share
from incrowd.table.sql_histories import AnyHistories
from incrowd.table.times import room

WEEK = 7
_MOST = 0.5
"""The share of values that look like days where a column is one of days."""


class DatesToChange:
    """The columns of dates that change, in a table of patients and in their rows.

    Parameters
    ----------
    table
        One record for each patient.
    histories
        The rows of the patients, where they may have several.
    asked
        What becomes of the dates of each column.

    Raises
    ------
    PolicyError
        Where a column is none of dates, or a shift could lead off the calendar, or would be told.
    """

    def __init__(
        self, table: Table, histories: AnyHistories | None, asked: Mapping[str, TimePolicy]
    ) -> None:
        self.table, self.histories, self.asked = table, histories, asked
        self._refuse_others()

    def column(self, name: str) -> Column:
        """A column as it is in the source."""
        if self.of_events(name):
            assert self.histories is not None
            return self.histories[name]
        return self.table[name]

    def of_events(self, name: str) -> bool:
        """Whether a column is one of the rows of patients."""
        return self.histories is not None and name in self.histories

    def dating(self, index: str | FirstEvent) -> list[str]:
        """The columns whose days tell the one to count from, which several columns agree on."""
        if isinstance(index, str) and index != FIRST:
            return [index]
        same = [name for name, time in self.asked.items() if time.relative_to == index]
        return [name for name in same if not self._elsewhere(name, index)]

    def code_of(self, index: FirstEvent) -> int:
        """The code of the value that is counted from."""
        column = self.column(index.first)
        (value,) = column.named([index.value])
        if value is None:
            raise PolicyError(
                f"time: no row has the `value:` that times are relative to in '{index.first}'. "
                "Write it as it stands there."
            )
        return column.values.index(value)

    @property
    def shift(self) -> TimePolicy | None:
        """How the dates of patients are shifted, all of them alike, where some are."""
        return next((time for time in self.asked.values() if time.shift is not None), None)

    def _elsewhere(self, name: str, index: str | FirstEvent) -> bool:
        """Whether a column stands in another table than the codes that tell the first event."""
        if not isinstance(index, FirstEvent):
            return False
        assert self.histories is not None, "the policy names a column of events"
        return name not in self.histories.holding(index.first)

    def _refuse_others(self) -> None:
        """Refuse columns that are no dates, and dates that a shift could move off the calendar."""
        dates = [*self.asked]
        dates += [i for t in self.asked.values() if isinstance(i := t.relative_to, str)]
        for name in dates:
            if name != FIRST and self.column(name).kind != "date":
                raise PolicyError(
                    f"time: '{name}' is not read as dates. Give it `type: date`, and `format:` if "
                    "it is not written as YYYY-MM-DD."
                )
        self._refuse_beside()
        close = [n for n, time in self.asked.items() if time.days > room(self.column(n))]
        if close:
            raise PolicyError(
                f"time: dates of {listed(close)} lie so close to the first or the last day of the "
                "calendar that a shift could lead beyond it. Where they stand for no day (never, "
                "unknown), make them empty."
            )

    def _refuse_beside(self) -> None:
        """Refuse columns whose cells are days, untouched, beside days that are shifted."""
        moved = [name for name, time in self.asked.items() if time.shift is not None]
        if not moved:
            return
        columns = [*self.table.of_role("keep", "sensitive", "target")]
        columns += () if self.histories is None else self.histories.columns
        days = [each.name for each in columns if each.name not in self.asked and _has_days(each)]
        if days:
            raise PolicyError(
                f"time: {listed(days)} {'show' if len(days) > 1 else 'shows'} days as they are, "
                f"and those of '{moved[0]}' are shifted: where both fall on one day the shift is "
                "told. "
                "Give the same `type: date` and `time:`, or the role identifier to leave it out."
            )


def steps_of(time: TimePolicy) -> tuple[int, int]:
    """By how many days dates are shifted at least, and how many such steps either way at most."""
    step = WEEK if time.weeks else 1
    return step, time.days // step


def told_without(index: str | FirstEvent, many: int, patients: int) -> Iterable[str]:
    """Of how many patients there is nothing to count from, where there are any."""
    if many and index != FIRST:
        named = index.first if isinstance(index, FirstEvent) else index
        yield (
            f"time: {many:,} of {patients:,} patients have no date to count from "
            f"('{named}'); their times are published as missing."
        )


def _has_days(column: Column) -> bool:
    """Whether the values of a column are days, or most look like them, whatever its type is."""
    if column.kind == "date" or not column.values:
        return column.kind == "date"
    values = pl.Series(column.values, dtype=pl.String)
    likely = column.kind != "numeric" and date_like_share(values) > _MOST
    return likely or date_format(values) is not None
