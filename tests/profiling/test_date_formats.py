from datetime import date, datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.table.coding import format_date, parse_date
from incrowd.table.date_formats import date_format, date_like_share
from incrowd.table.dates import reads_dates

FORMATS = [
    "%Y-%m-%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%Y/%m/%d",
    "%d.%m.%y",
    "%d-%b-%Y",
    "%d%b%Y",
    "%Y%m%d",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S.%f",
    "%Y-%m-%dT%H:%M:%S.%f000",
    "%Y-%m-%d %H:%M:%S%z",
    "%d.%m.%Y %H:%M",
    "%m/%d/%Y %I:%M %p",
]
TELLING = [datetime(1980, 1, 31, 13, 5, 6), datetime(2001, 12, 13, 0, 0, 0)]


def texts(form: str) -> list[str]:
    zone = "+01:00" if form.endswith("%z") else ""
    return [day.strftime(form.removesuffix("%z")) + zone for day in TELLING]


@pytest.mark.parametrize("form", FORMATS)
def test_the_format_is_found_and_a_policy_can_use_it(form: str) -> None:
    written = date_format(pl.Series(texts(form)))
    assert written is not None
    assert written.format == ("%Y-%m-%d" if form.startswith("%Y-%m-%d") else form)
    assert reads_dates(written.format)
    assert not written.ambiguous
    assert written.short_year == ("%y" in form)
    assert written.timed == ("%H" in form or "%I" in form)
    for text, day in zip(texts(form), TELLING, strict=True):
        parsed = parse_date(text, written.format)
        assert parsed is not None
        assert format_date(parsed) == day.date().isoformat()


def test_iso_dates_need_no_format_with_or_without_a_time() -> None:
    for cells in (["2020-01-31"], ["2020-01-31 10:00"], ["2020-01-31", "2020-01-31T10:00:00Z"]):
        written = date_format(pl.Series(cells))
        assert written is not None
        assert written.is_iso
        assert written.timed == any(len(cell) > 10 for cell in cells)


def test_day_and_month_that_cannot_be_told_apart_are_called_ambiguous() -> None:
    written = date_format(pl.Series(["01/02/1980", "12/11/1990"]))
    assert written is not None
    assert written.ambiguous
    assert written.format == "%d/%m/%Y"


def test_single_digits_and_blanks_around_are_fine() -> None:
    written = date_format(pl.Series([" 1.2.1980", "31.12.1990 "]))
    assert written is not None
    assert (written.format, written.ambiguous) == ("%d.%m.%Y", False)


@pytest.mark.parametrize(
    "values",
    [
        ["31/01/1980", "01/31/1980"],  # both orders
        ["30.02.1980"],  # no such day
        ["1980-01-01", "01.01.1980"],  # two formats
        ["01.01.1980", "01.01.1980 10:00"],  # some with a time
        ["0000-01-01"],  # no such year
        ["12345678"],  # eight digits, no date
        ["30010101"],  # eight digits, an unlikely year
        ["2020-01-01 25:00"],
        ["2020-01-01x10:00"],
        ["C50.9"],
        ["10.5"],
        [],
    ],
)
def test_what_is_not_all_dates_in_one_format_is_none(values: list[str]) -> None:
    assert date_format(pl.Series(values, dtype=pl.String)) is None


def test_dates_are_recognized_at_first_glance_even_when_impossible() -> None:
    assert date_like_share(pl.Series(["30.02.1980", "1980-13-01", "x", "5"])) == 0.5


@given(
    st.lists(st.dates(date(1900, 1, 1), date(2060, 12, 31)), min_size=1, max_size=8),
    st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%Y%m%d", "%d %b %Y"]),
)
def test_every_cell_can_be_read_by_the_format_that_was_found(days: list[date], form: str) -> None:
    cells = [day.strftime(form) for day in days]
    written = date_format(pl.Series(cells))
    assert written is not None
    parsed = [parse_date(cell, written.format) for cell in cells]
    assert None not in parsed
    if not written.ambiguous:
        assert [format_date(each) for each in parsed if each is not None] == [
            day.isoformat() for day in days
        ]
