"""Dates that are shifted, counted from an event or made coarse, against plain datetime."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.table import Column
from incrowd.table.coding import code_column
from incrowd.table.times import (
    FIRST_DAY,
    LAST_DAY,
    TimeUnit,
    coarse,
    days_of,
    earliest,
    room,
    shifted,
    since,
)

DAYS = st.dates(date(1, 1, 1), date(9999, 12, 30))
MAYBE = st.lists(st.none() | DAYS, min_size=1, max_size=12)


def column(days: list[date | None]) -> Column:
    return code_column(pl.Series("day", days, pl.Date), role="keep", kind="date")


def cells(found: Column) -> list[str | None]:
    texts = [*found.values, None]
    return [texts[code] for code in found.codes.tolist()]


def index_of(days: list[date | None]) -> tuple[np.ndarray, np.ndarray]:
    return days_of(column(days))


@given(MAYBE, st.data())
def test_a_shift_moves_each_day_by_so_many_and_keeps_missing_ones(
    days: list[date | None], data: st.DataObject
) -> None:
    found = column(days)
    most = min(room(found), 400)
    by = data.draw(st.lists(st.integers(-most, most), min_size=len(days), max_size=len(days)))
    moved = shifted(found, np.array(by))
    expected = [
        None if day is None else (day + timedelta(days=one)).isoformat()
        for day, one in zip(days, by, strict=True)
    ]
    assert cells(moved) == expected
    assert moved.missing == expected.count(None)
    assert moved.kind == "date"
    assert list(moved.values) == sorted({each for each in expected if each is not None})


def test_room_ends_with_the_calendar() -> None:
    assert room(column([date(1, 1, 11), None, date(2000, 1, 1)])) == 10
    assert room(column([date(9999, 12, 24), date(2000, 1, 1)])) == 6
    assert room(column([None])) > LAST_DAY - FIRST_DAY


def completed(day: date, origin: date, unit: TimeUnit) -> int:
    """The whole units from one day to another, found by counting up or down."""
    if unit in ("days", "weeks"):
        return (day - origin).days // (7 if unit == "weeks" else 1)
    months = (day.year - origin.year) * 12 + day.month - origin.month - (day.day < origin.day)
    return months // (12 if unit == "years" else 1)


@given(
    st.lists(st.tuples(st.none() | DAYS, st.none() | DAYS), min_size=1, max_size=10),
    st.sampled_from(["days", "weeks", "months", "years"]),
    st.none() | st.integers(1, 400),
)
def test_times_since_an_event_are_whole_units_or_their_ranges(
    pairs: list[tuple[date | None, date | None]], unit: TimeUnit, width: int | None
) -> None:
    found = since(column([day for day, _ in pairs]), index_of([d for _, d in pairs]), unit, width)
    for cell, (day, origin) in zip(cells(found), pairs, strict=True):
        if day is None or origin is None:
            assert cell is None
            continue
        units = completed(day, origin, unit)
        if width is None:
            assert cell == str(units)
        else:
            low = units // width * width
            assert cell == f"[{low}-{low + width})"
            assert low <= units < low + width
    numbers = list(found.values) if width is None else [v[1:-1] for v in found.values]
    lows = [int(v) if width is None else int(v[: v.index("-", 1)]) for v in numbers]
    assert lows == sorted(lows)


@pytest.mark.parametrize(
    ("day", "origin", "unit", "told"),
    [
        (date(2024, 3, 14), date(2000, 3, 15), "years", "23"),
        (date(2024, 3, 15), date(2000, 3, 15), "years", "24"),
        (date(2021, 2, 28), date(2020, 2, 29), "years", "0"),
        (date(2024, 2, 29), date(2024, 1, 31), "months", "0"),
        (date(2024, 1, 14), date(2024, 1, 15), "months", "-1"),
        (date(2024, 1, 14), date(2024, 1, 15), "weeks", "-1"),
        (date(2024, 1, 15), date(2024, 1, 15), "days", "0"),
    ],
)
def test_ages_are_completed_years_and_times_before_an_event_are_negative(
    day: date, origin: date, unit: TimeUnit, told: str
) -> None:
    assert cells(since(column([day]), index_of([origin]), unit)) == [told]


def test_ranges_of_negative_times_stand_before_those_of_others() -> None:
    found = since(
        column([date(2024, 1, d) for d in (1, 9, 10, 31)]), index_of([date(2024, 1, 10)] * 4),
        "days", 10,
    )  # fmt: skip
    assert found.values == ("[-10-0)", "[0-10)", "[20-30)")
    assert found.kind == "ordered"


@given(MAYBE)
def test_coarse_dates_are_the_parts_of_the_calendar_that_they_lie_in(
    days: list[date | None],
) -> None:
    def told(day: date, period: str) -> str:
        if period == "month":
            return day.isoformat()[:7]
        quarter = (day.month + 2) // 3
        return f"{day.year:04}" + (f"-Q{quarter}" if period == "quarter" else "")

    for period in ("month", "quarter", "year"):
        found = coarse(column(days), period)
        assert cells(found) == [None if day is None else told(day, period) for day in days]
        assert list(found.values) == sorted(found.values)


def test_the_earliest_day_of_each_patient_is_over_all_columns() -> None:
    first, lacks = earliest(
        4,
        [
            (np.array([5, 3, 9]), np.array([0, 0, 1])),
            (np.array([4, 2]), np.array([1, 2])),
        ],
    )
    assert first.tolist() == [3, 4, 2, 0]
    assert lacks.tolist() == [False, False, False, True]
