"""Dates that are changed so that they tell less: shifted, counted from an event, made coarse.

All of it works on the days of a coded column and gives the column that is published in its place;
a missing date stays missing. Nothing here looks at more than one patient at a time, so what
becomes of a patient's dates hangs on no other patient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Literal

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.table._table import Column, Kind, narrow
from incrowd.table.dates import EPOCH

TimeUnit = Literal["days", "weeks", "months", "years"]
"""What times since an event are counted in."""
Period = Literal["month", "quarter", "year"]
"""A part of the calendar."""
FIRST_DAY = (date.min - EPOCH).days
LAST_DAY = (date.max - timedelta(days=1) - EPOCH).days
"""The first and the last day that can be published: of the last one of all, no range could end."""
_NEVER = np.iinfo(np.int64).max


def days_of(column: Column) -> tuple[IntArray, BoolArray]:
    """The day of each row of a column of dates, and whether it is missing (then the day is 0)."""
    assert column.numbers is not None, "a column of dates"
    days: IntArray = np.append(column.numbers, 0)[column.codes]
    lacks: BoolArray = column.codes == len(column.values)
    return days, lacks


def room(column: Column) -> int:
    """By how many days all dates of a column may move and still be in the calendar."""
    assert column.numbers is not None, "a column of dates"
    if not len(column.numbers):
        return _NEVER
    return int(min(column.numbers[0] - FIRST_DAY, LAST_DAY - column.numbers[-1]))


def shifted(column: Column, by: IntArray) -> Column:
    """The column of dates with each row moved by so many days, none of which leaves the calendar.

    Invariant: of the rows that move alike, all differences stay as they are. No date is cut off at
    a limit, as that of today or of a birth, for that would tell where the limit lies.
    """
    days, lacks = days_of(column)
    return _published(column, "date", days + by, lacks, _iso)


def earliest(patients: int, rows: list[tuple[IntArray, IntArray]]) -> tuple[IntArray, BoolArray]:
    """The earliest day of each patient, and whether there is none, of days with their patients."""
    first = np.full(patients, _NEVER, dtype=np.int64)
    for days, patient in rows:
        np.minimum.at(first, patient, days)
    lacks: BoolArray = first == _NEVER
    first[lacks] = 0
    return first, lacks


def since(
    column: Column,
    index: tuple[IntArray, BoolArray],
    unit: TimeUnit = "days",
    width: int | None = None,
) -> Column:
    """The whole units from an index day to each date, negative before it; or ranges of them.

    Parameters
    ----------
    column
        The dates.
    index
        For each row the index day, and whether there is none: then the time is missing.
    unit
        Months and years are completed ones, as ages are: the last of a month to a shorter month's
        last is not one.
    width
        How many units a range has; ranges begin at multiples of it. None for single units.
    """
    days, missing = days_of(column)
    origin, without = index
    return passed(column, elapsed(days, origin, unit), missing | without, unit, width)


def passed(
    column: Column,
    time: IntArray,
    lacks: BoolArray,
    unit: TimeUnit = "days",
    width: int | None = None,
) -> Column:
    """The same where the time of each row is known, as `elapsed` gives it, or that it has none."""
    units = time // _TOGETHER[unit]
    if width is None:
        return _published(column, "numeric", units, lacks, str)
    return _published(
        column, "ordered", units // width * width, lacks, lambda low: f"[{low}-{low + width})"
    )


def on_days(column: Column, days: IntArray, lacks: BoolArray) -> Column:
    """The column of dates with these days, or none, in its rows."""
    return _published(column, "date", days, lacks, _iso)


def coarse(column: Column, period: Period) -> Column:
    """The month (1950-03), the quarter (1950-Q1) or the year (1950) of each date."""
    days, lacks = days_of(column)
    months = months_of(days)[0]
    return _published(column, "ordered", months // _MONTHS[period], lacks, _LABELS[period])


def elapsed(days: IntArray, origin: IntArray, unit: TimeUnit) -> IntArray:
    """The days from `origin` to `days`; of units longer than weeks, the completed months."""
    if not in_months(unit):
        return days - origin
    month, day = months_of(days)
    first_month, first_day = months_of(origin)
    return month - first_month - (day < first_day)


def in_months(unit: TimeUnit) -> bool:
    """Whether a unit is counted by the calendar."""
    return unit in ("months", "years")


def months_of(days: IntArray) -> tuple[IntArray, IntArray]:
    """The month of each day, from that of 1970-01, and the day in it from 0."""
    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    return months.astype(np.int64), (dates - months.astype("datetime64[D]")).astype(np.int64)


def _year(month: int) -> str:
    return f"{EPOCH.year + month // 12:04}"


_TOGETHER: dict[TimeUnit, int] = {"days": 1, "weeks": 7, "months": 1, "years": 12}
"""Of how many days, or months, a unit is made."""
_MONTHS: dict[Period, int] = {"month": 1, "quarter": 3, "year": 12}
_LABELS: dict[Period, Callable[[int], str]] = {
    "month": lambda at: f"{_year(at)}-{at % 12 + 1:02}",
    "quarter": lambda at: f"{_year(at * 3)}-Q{at % 4 + 1}",
    "year": lambda at: _year(at * 12),
}


def _iso(day: int) -> str:
    return (EPOCH + timedelta(days=day)).isoformat()


def _published(
    column: Column, kind: Kind, places: IntArray, lacks: BoolArray, text: Callable[[int], str]
) -> Column:
    """The column with the texts of places on an axis in place of its dates, in their order."""
    known, found = np.unique(places[~lacks], return_inverse=True)
    codes: npt.NDArray[np.int64] = np.full(len(places), len(known), dtype=np.int64)
    codes[~lacks] = found
    return replace(
        column,
        kind=kind,
        codes=narrow(codes, len(known) + 1),
        values=tuple(map(text, known.tolist())),
        numbers=None if kind == "ordered" else known,
        decimals=0,
        missing=column.tally.records(lacks)[0],
    )
