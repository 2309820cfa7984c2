"""Cells become codes: numbers and dates by what they are worth, texts as they are written."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd._runtime.arrays import MAX_EXACT
from incrowd.errors import SourceError
from incrowd.table import Column
from incrowd.table.coding import (
    code_column,
    format_date,
    format_number,
    looks_numeric,
    parse_date,
    parse_number,
)


def coded(cells: Any, kind: Any = None, *, role: Any = "quasi", **given: Any) -> Column:
    series = cells if isinstance(cells, pl.Series) else pl.Series("age", cells, dtype=pl.String)
    return code_column(series.alias("age"), role=role, kind=kind, **given)


def shown(column: Column) -> list[str | None]:
    texts = [*column.values, None]
    return [texts[int(code)] for code in column.codes]


# numbers


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("0", (0, 0)),
        ("-0", (0, 0)),
        ("-0.0", (0, 0)),
        ("007", (7, 0)),
        ("+5", (5, 0)),
        (" 42 ", (42, 0)),
        ("3.50", (35, 1)),
        ("3.0", (3, 0)),
        ("-0.5", (-5, 1)),
        ("-12.25", (-1225, 2)),
        ("1e2", (100, 0)),
        ("1E+2", (100, 0)),
        ("1.5e3", (1500, 0)),
        ("1.5e-7", (15, 8)),
        ("1e-13", (1, 13)),
        ("123456789.123e0", (123456789123, 3)),
        ("-2.50e1", (-25, 0)),
        ("0e5", (0, 0)),
        (str(MAX_EXACT), (MAX_EXACT, 0)),
        (str(MAX_EXACT + 1), None),
        (f"-{MAX_EXACT + 1}", None),
        ("12345678901234567890", None),
        ("24.489795918367346", None),
        ("1e400", None),
        ("1e9999999999", None),
        ("9" * 5000, None),
        ("0." + "0" * 5000 + "1", None),
        ("", None),
        ("-", None),
        (".", None),
        ("1.", None),
        ("1,5", None),
        ("1_000", None),
        ("0x1f", None),
        ("inf", None),
        ("nan", None),
        ("1e", None),
        ("1 2", None),
        ("٣", None),
        ("²", None),
        ("3\n4", None),
    ],
)
def test_what_is_a_number(text: str, parsed: tuple[int, int] | None) -> None:
    assert parse_number(text) == parsed


@given(st.integers(-MAX_EXACT, MAX_EXACT), st.integers(0, 12))
def test_a_number_is_written_and_read_back(digits: int, decimals: int) -> None:
    text = format_number(digits, decimals)
    assert Decimal(text) == Decimal(digits).scaleb(-decimals)
    read = parse_number(text)
    assert read is not None
    assert Decimal(read[0]).scaleb(-read[1]) == Decimal(text)
    assert format_number(*read) == text


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6).map(lambda d: f"{d:E}"))
def test_powers_of_ten_are_exact(text: str) -> None:
    read = parse_number(text)
    if read is not None:
        assert Decimal(read[0]).scaleb(-read[1]) == Decimal(text)
    else:
        assert abs(int("".join(map(str, Decimal(text).as_tuple().digits)))) > MAX_EXACT


@given(st.integers(-MAX_EXACT, MAX_EXACT), st.integers(0, 12))
def test_two_numbers_have_one_text_only_if_they_are_equal(digits: int, decimals: int) -> None:
    assert format_number(digits * 10, decimals + 1) == format_number(digits, decimals)
    assert format_number(digits + 1, decimals) != format_number(digits, decimals)


def test_numbers_ascend_and_spellings_of_one_number_are_one_value() -> None:
    column = coded(["10", "9", "3.0", "3", "-1", " 9 ", "1e1"])
    assert column.kind == "numeric"
    assert column.values == ("-1", "3", "9", "10")
    assert shown(column) == ["10", "9", "3", "3", "-1", "9", "10"]
    assert column.numbers is not None
    assert column.numbers.tolist() == [-1, 3, 9, 10]


def test_decimals_are_the_most_that_occur() -> None:
    column = coded(["1.5", "2", "0.25"])
    assert (column.values, column.decimals) == (("0.25", "1.5", "2"), 2)
    assert column.numbers is not None
    assert column.numbers.tolist() == [25, 150, 200]


def test_a_leading_zero_makes_a_code_unless_the_type_says_number() -> None:
    assert coded(["01234", "98765"]).kind == "category"
    assert coded(["0", "0.5", "-0.5"]).kind == "numeric"
    assert coded(["-01"]).kind == "category"
    column = coded(["03", "3", "3.0"], "numeric")
    assert (column.values, column.codes.tolist()) == (("3",), [0, 0, 0])
    assert coded(["03", "3", "3.0"]).values == ("03", "3", "3.0")


def test_looking_numeric_needs_every_text_to_be_a_number() -> None:
    assert looks_numeric(["1", " 2.5", "-3e2"])
    assert not looks_numeric(["1", "x"])
    assert not looks_numeric(["1", "02"])
    assert not looks_numeric(["1", "9" * 20])
    assert not looks_numeric([])


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        (
            ["1", "Zebra", "2", "Yak", "Zebra"],
            "3 of 5 rows are not a number; the first is record 2",
        ),
        (["1", None, "2,5"], "1 of 3 rows are not a number; the first is record 3"),
        (["1", "24.489795918367346"], "1 of 2 rows are not numbers of at most 15 digits"),
    ],
)
def test_what_is_no_number_is_counted_and_never_shown(cells: list[Any], problem: str) -> None:
    with pytest.raises(SourceError, match=problem) as caught:
        coded(cells, "numeric")
    message = str(caught.value)
    assert "Column 'age'" in message
    assert "`type: category`" in message
    for cell in ("Zebra", "Yak", "2,5", "24.48"):
        assert cell not in message


def test_very_large_numbers_with_many_decimals_are_refused() -> None:
    with pytest.raises(SourceError, match="mixes very large numbers with many decimals") as caught:
        coded(["900000000000000", "0.001"], "numeric")
    assert "9000" not in str(caught.value)


def test_columns_of_numbers_are_numeric() -> None:
    assert coded(pl.Series([3, 1, None])).values == ("1", "3")
    assert coded(pl.Series([3.0, 1.0, float("nan")])).values == ("1", "3")
    assert coded(pl.Series([3.0, 1.0, float("nan")])).missing == 1
    assert coded(pl.Series([3.5, 1.0])).values == ("1", "3.5")
    assert coded(pl.Series([1e-7, 2.0])).values == ("0.0000001", "2")
    assert coded(pl.Series([1e-13, 0.0])).values == ("0", "0.0000000000001")
    assert coded(pl.Series(["1.50"]).cast(pl.Decimal(10, 2))).values == ("1.5",)
    assert coded(pl.Series([3.0, 1.0]), "category").values == ("1", "3")
    assert coded(pl.Series([None, None], dtype=pl.Int64)).kind == "numeric"


@pytest.mark.parametrize("cells", [[2**63 - 1], [0.1 + 0.2], [float("inf"), 1.0]])
def test_numbers_that_cannot_be_ordered_exactly_are_refused(cells: list[float]) -> None:
    with pytest.raises(SourceError, match="Column 'age': 1 of"):
        coded(pl.Series(cells))


# dates


@pytest.mark.parametrize(
    ("text", "date_format", "day"),
    [
        ("1970-01-01", None, 0),
        (" 1969-12-31 ", None, -1),
        ("2000-02-29", None, 11016),
        ("31.12.1969", "%d.%m.%Y", -1),
        ("1/2/70", "%m/%d/%y", 1),
        ("19700102", "%Y%m%d", 1),
        ("1970-01-02 13:45", "%Y-%m-%d %H:%M", 1),
        ("0001-01-01", None, -719162),
        ("9999-12-30", None, 2932895),
        ("9999-12-31", None, None),
        ("31.12.9999", "%d.%m.%Y", None),
        ("2001-02-29", None, None),
        ("2001-2-9", None, None),
        ("20010209", None, None),
        ("2001-02-09", "%d.%m.%Y", None),
        ("2001-W05-5", None, None),
        ("٢٠٠١-02-09", None, None),
        ("", None, None),
        ("never", None, None),
    ],
)
def test_what_is_a_date(text: str, date_format: str | None, day: int | None) -> None:
    assert parse_date(text, date_format) == day


@given(st.dates(max_value=datetime.date(9999, 12, 30)))
def test_a_date_is_written_and_read_back(day: datetime.date) -> None:
    days = parse_date(day.isoformat())
    assert days is not None
    assert format_date(days) == day.isoformat()
    assert format_date(days + 1) > day.isoformat()


def test_dates_ascend_and_are_published_in_iso_form() -> None:
    column = coded(["02.01.1970", "31.12.1969", None], "date", date_format="%d.%m.%Y")
    assert column.values == ("1969-12-31", "1970-01-02")
    assert shown(column) == ["1970-01-02", "1969-12-31", None]
    assert column.numbers is not None
    assert column.numbers.tolist() == [-1, 1]


def test_a_format_alone_says_that_it_is_a_date() -> None:
    assert coded(["02.01.1970"], date_format="%d.%m.%Y").kind == "date"
    assert coded(["02.01.1970"]).kind == "category"


def test_two_spellings_of_one_day_are_one_value() -> None:
    column = coded(["1.2.1970", "01.02.1970"], date_format="%d.%m.%Y")
    assert (column.values, column.codes.tolist()) == (("1970-02-01",), [0, 0])


def test_what_is_no_date_is_counted_and_never_shown() -> None:
    with pytest.raises(
        SourceError,
        match=r"2 of 3 rows are not a date written as YYYY-MM-DD; the first is record 2",
    ) as caught:
        coded(["2020-01-01", "31.12.1969", "soon"], "date")
    message = str(caught.value)
    assert "Column 'age'" in message
    assert "`format:`" in message
    assert "1969" not in message
    assert "soon" not in message
    with pytest.raises(SourceError, match=r"not a date written as %d.%m.%Y"):
        coded(["2020-01-01"], "date", date_format="%d.%m.%Y")


def test_columns_of_dates_need_no_format() -> None:
    days = pl.Series([datetime.date(2020, 1, 2), None])
    assert coded(days).kind == "date"
    assert coded(days, "date", date_format="%d.%m.%Y").values == ("2020-01-02",)
    midnights = pl.Series([datetime.datetime(2020, 1, 2), datetime.datetime(2020, 1, 1)])
    assert coded(midnights).values == ("2020-01-01", "2020-01-02")
    moments = pl.Series([datetime.datetime(2020, 1, 2, 3, 4)])
    assert coded(moments).values == ("2020-01-02",)
    assert coded(moments, "category").values[0].startswith("2020-01-02T03:04")


@pytest.mark.parametrize(
    ("cell", "day"),
    [
        ("2011-07-10", "2011-07-10"),
        ("2011-07-10T09:54:17Z", "2011-07-10"),
        ("2011-07-10 09:54", "2011-07-10"),
        ("2011-07-10T23:59:59.123456789+02:00", "2011-07-10"),  # as written, in its own zone
        ("2011-07-10T00:30:00-0500", "2011-07-10"),
        ("2011-07-10 09:54:17,5 +02", "2011-07-10"),
        ("2011-07-10T09:54:17ZZ", None),
        ("2011-07-10T25:54:17Z", None),
        ("2011-02-30T09:54:17Z", None),
        ("2011-07-10Z", None),
        ("2011-07-10T", None),
    ],
)
def test_times_of_day_are_checked_and_left_out(cell: str, day: str | None) -> None:
    found = parse_date(cell)
    assert (None if found is None else format_date(found)) == day


@pytest.mark.parametrize(
    ("form", "cell", "day"),
    [
        ("%d.%m.%Y %H:%M", "10.07.2011 09:54", "2011-07-10"),
        ("%d.%m.%Y %H:%M:%S.%f%z", "10.07.2011 09:54:17.123456789Z", "2011-07-10"),
        ("%d.%m.%Y %H:%M", "10.07.2011 09:99", None),
        ("%d.%m.%Y %H:%M", "10.07.2011", None),
        ("%d %b %Y %I:%M %p", "10 Jul 2011 09:54 pm", "2011-07-10"),
        ("%Y%m%d%H%M", "201107100954", "2011-07-10"),
        ("%H:%M %d.%m.%Y", "09:54 10.07.2011", "2011-07-10"),
    ],
)
def test_formats_with_a_time(form: str, cell: str, day: str | None) -> None:
    found = parse_date(cell, form)
    assert (None if found is None else format_date(found)) == day


# types seen from the data


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2"], "numeric"),
        (["1", None, ""], "numeric"),
        (["1", "x"], "category"),
        (["2020-01-01", "2021-12-31"], "date"),
        (["2020-01-01", "2021-02-29"], "category"),
        (["2020-01-01", "1"], "category"),
        (["9" * 18], "category"),
        ([None, None], "category"),
        (["", ""], "category"),
        ([], "category"),
    ],
)
def test_the_type_is_seen_from_the_data(cells: list[Any], kind: str) -> None:
    assert coded(cells).kind == kind


def test_what_is_only_kept_is_never_interpreted() -> None:
    column = coded(["3", "3.0", "03"], role="keep")
    assert column.kind == "category"
    assert column.values == ("03", "3", "3.0")


def test_truth_values_are_texts() -> None:
    assert coded(pl.Series([True, False, None])).values == ("false", "true")
    assert coded(pl.Series(["b", "a"], dtype=pl.Categorical)).values == ("a", "b")


# ordered categories


def test_an_ordered_column_follows_its_order_and_leaves_out_what_does_not_occur() -> None:
    column = coded(["high", "low", None, "low"], order=["low", "middle", "high"])
    assert column.kind == "ordered"
    assert column.values == ("low", "high")
    assert shown(column) == ["high", "low", None, "low"]


def test_values_outside_the_order_are_counted_and_never_shown() -> None:
    with pytest.raises(SourceError) as caught:
        coded(["low", "Zebra", "Yak", None], order=["low", "high"])
    message = str(caught.value)
    assert "Column 'age': 2 of 4 rows are not in its `order:`; the first is record 2" in message
    assert "Zebra" not in message
    assert "Yak" not in message


# codes


def test_missing_and_empty_cells_have_the_code_after_the_last_value() -> None:
    column = coded(["b", None, "a", ""])
    assert column.codes.tolist() == [1, 2, 0, 2]
    assert (column.missing, column.missing_code, column.cardinality) == (2, 2, 3)
    full = coded(["b", "a"])
    assert (full.missing, full.missing_code, full.cardinality) == (0, None, 2)


@pytest.mark.parametrize("kind", ["category", "numeric", "date"])
def test_a_column_of_missing_cells(kind: str) -> None:
    column = coded([None, None], kind)
    assert (column.values, column.codes.tolist(), column.missing) == ((), [0, 0], 2)


@pytest.mark.parametrize("kind", ["category", "numeric", "date"])
def test_a_column_of_no_cells(kind: str) -> None:
    column = coded([], kind)
    assert (column.values, len(column.codes), column.missing) == ((), 0, 0)


def test_texts_are_in_the_order_of_their_code_points() -> None:
    assert coded(["b", "B", "ä", "a", " a", "😀"]).values == (" a", "B", "a", "b", "ä", "😀")


@pytest.mark.parametrize("size", [1, 254, 255, 256, 257, 65_535, 65_536, 65_537])
@pytest.mark.parametrize("missing", [True, False])
def test_codes_are_narrow_and_lose_nothing(size: int, missing: bool) -> None:
    cells: list[str | None] = [f"v{i:06d}" for i in reversed(range(size))]
    if missing:
        cells.append(None)
    column = coded(cells)
    assert shown(column) == cells
    assert column.codes.itemsize == (1 if size < 256 else 2 if size < 65_536 else 4)
    numbers = coded([None if cell is None else str(int(cell[1:])) for cell in cells], "numeric")
    assert np.array_equal(numbers.codes, column.codes)


@given(
    st.lists(
        st.one_of(
            st.none(),
            st.text(max_size=3).filter(lambda text: text != ""),
            st.integers(-9, 9).map(str),
        ),
        max_size=30,
    )
)
def test_every_cell_is_read_back(cells: list[str | None]) -> None:
    assert shown(coded(cells, "category")) == cells


def test_codes_with_decimals_of_different_length_are_not_numbers() -> None:
    codes = pl.Series("icd", ["250.1", "250.10", "401.9"])
    column = code_column(codes, role="quasi")
    assert column.kind == "category"
    assert column.values == ("250.1", "250.10", "401.9")
    protected = code_column(codes, role="sensitive")
    assert protected.kind == "category"
    assert protected.values == ("250.1", "401.9")
