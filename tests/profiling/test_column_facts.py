from datetime import date, datetime
from typing import Literal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.profiling._columns import ColumnFacts, measure
from incrowd.table.coding import code_column


def facts(values: list[object], **options: object) -> ColumnFacts:
    return measure(pl.Series("column", values, **options))  # type: ignore[arg-type]


def test_counts_of_a_column() -> None:
    seen = facts(["a", "a", "b", None, "", "c"])
    assert (seen.records, seen.present, seen.distinct) == (6, 4, 3)
    assert (seen.singletons, seen.largest) == (2, 2)
    assert seen.missing == pytest.approx(2 / 6)
    assert seen.uniqueness == pytest.approx(2 / 6)
    assert seen.top_share == pytest.approx(2 / 6)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2", "30"], "numeric"),
        (["1.5", "-2", "3e2"], "numeric"),
        ([" 7", "8 "], "numeric"),
        ([1, 2, None], "numeric"),
        ([1.5, float("nan"), 2.0], "numeric"),
        (["01", "02", "13"], "category"),
        (["1", "2", "x"], "category"),
        (["1,5", "2,5"], "category"),
        (["12345678901234567890", "22345678901234567890"], "category"),
        ([True, False], "category"),
        (["1980-01-31", "1990-12-01"], "date"),
        (["31.01.1980", "01.12.1990"], "date"),
        ([date(1980, 1, 31)], "date"),
        ([datetime(1980, 1, 31)], "date"),
        ([datetime(1980, 1, 31, 10, 30)], "date"),
        (["1980-01-31T10:30:00Z", "1980-02-01"], "date"),
        ([19800131, 19901201, 20010101], "date"),
        (["19800131", "19901201", "20010101"], "date"),
        ([12345678, 87654321, 99999999], "numeric"),
        ([None, None], "category"),
        ([date(1980, 1, 31), date.max], "category"),
        (["1980-01-31", "9999-12-31"], "category"),
        (["1e-300", "1"], "category"),
    ],
)
def test_the_kind_of_a_column(values: list[object], kind: str) -> None:
    assert facts(values, strict=False).kind == kind


def test_exact_bounds_are_not_kept() -> None:
    seen = facts([17, 38, 90])
    assert seen.bounds == (10, 100)
    assert facts(["-3.5", "9.9"]).bounds == (-10, 10)
    for raw in ("17", "38", "90"):
        assert raw not in {str(each) for each in vars(seen).values()}


def test_numbers_that_count_up_are_noticed() -> None:
    assert facts([4, 2, 3, 1]).consecutive
    assert not facts([4, 2, 3, 9]).consecutive
    assert not facts([1, 2, 2, 3]).consecutive


@pytest.mark.parametrize(
    ("values", "length", "code"),
    [
        (["10115", "01067"], 5, True),
        (["10115", "1067"], None, False),
        (["K1A 0B1", "M5V 3L9"], 7, False),
        (["AB", "CD"], 2, False),
        ([10115, 80331], 5, False),
        ([1067, 80331], None, False),
    ],
)
def test_the_length_of_codes(values: list[object], length: int | None, code: bool) -> None:
    seen = facts(values)
    assert (seen.length, seen.code) == (length, code)


@pytest.mark.parametrize(
    ("cells", "pattern"),
    [
        (["a@b.org", "c.d@e.fr"], "e-mail"),
        (["https://x.org/1", "www.y.de"], "url"),
        (["+49 30 1234567", "030/7654321"], "phone"),
        (["123-45-6789", "987-65-4321"], "social security"),
        (["192.168.0.1", "10.0.0.7"], "ip"),
        (["C50.9", "E11.65", "I10"], "icd-10"),
        (["A00", "B20", "C34"], "icd-10"),
        (["8500/3", "8140/3"], "icd-o"),
        (["5-470.11", "8-800.c0"], "ops"),
        (["A10BA02", "C09AA05"], "atc"),
        (["White", "Black"], None),
        (["30.02.1980", "31.02.1981"], None),
    ],
)
def test_what_cells_look_like(cells: list[object], pattern: str | None) -> None:
    assert facts(cells).pattern == pattern


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["1", "2", "3", "4", "?"], "1 of 5 cells is not a number (such as '?')"),
        (["1", "2", "?", "?"], "2 cells hold a word or sign for unknown"),
        (["1,5", "2,25", "3"], "decimal comma"),
        (["31.01.1980", "30.02.1980"], "not all are real dates"),
        (["a", "a "], "blank"),
        (["01.01.80", "31.12.99"], "two digits"),
        (["2020-01-01 10:00", "2020-01-02 11:00"], "time of day"),
        (["0.12345678901234567", "123456.1"], "more digits"),
        (["99999999999999999", "1"], "more digits"),
    ],
)
def test_dirty_columns_get_a_remark(cells: list[object], words: str) -> None:
    assert any(words in remark for remark in facts(cells).remarks)


def test_clean_columns_get_no_remark() -> None:
    for cells in (["1", "2"], ["a", "b"], ["1980-01-01"], ["01067"], [1.5, 2.5]):
        assert facts(list(cells)).remarks == ()


def test_a_column_named_like_an_inner_column_is_measured() -> None:
    assert measure(pl.Series("count", ["a", "b", "b"])).distinct == 2


_CELLS = st.one_of(
    st.none(),
    st.integers(-(10**18), 10**18).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=4).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.dates().map(str),
    st.dates().map(lambda day: day.strftime("%d.%m.%Y").rjust(10, "0")),
    st.sampled_from(["", "0", "007", "x", " 1", "1e3", "0.0", "-0", "?", "１２"]),
    st.text(max_size=5),
)


@given(st.integers(0, 7), st.data())
def test_what_is_guessed_can_be_coded(size: int, data: st.DataObject) -> None:
    """The type that a policy would state never fails, whatever the cells are."""
    one_sort = data.draw(st.sampled_from([_CELLS, *_CELLS.original_strategies]))  # type: ignore[attr-defined]
    series = pl.Series(
        "column", data.draw(st.lists(one_sort, min_size=size, max_size=size)), dtype=pl.String
    )
    seen = measure(series)
    written = None if seen.written is None or seen.written.is_iso else seen.written.format
    column = code_column(series, role="quasi", kind=seen.kind, date_format=written)
    assert column.kind == seen.kind
    assert column.missing == seen.records - seen.present
    if seen.bounds is not None and column.numbers is not None:
        scale = 10**column.decimals
        assert seen.bounds[0] * scale <= column.numbers[0]
        assert column.numbers[-1] < seen.bounds[1] * scale


@given(
    st.lists(
        st.one_of(st.floats(allow_nan=False), st.integers(-(2**60), 2**60).map(float)),
        min_size=1,
        max_size=5,
    )
)
def test_numbers_need_a_type_exactly_when_they_cannot_be_ordered(numbers: list[float]) -> None:
    series = pl.Series("column", numbers, dtype=pl.Float64)
    seen = measure(series)
    assert seen.inexact == (seen.kind == "category")
    stated: Literal["category"] | None = "category" if seen.inexact else None
    assert code_column(series, role="quasi", kind=stated).kind == seen.kind


def test_whole_numbers_too_large_to_be_ordered_are_categories() -> None:
    seen = measure(pl.Series("column", [2**60, 2**60 + 1]))
    assert (seen.kind, seen.inexact, seen.whole) == ("category", True, True)
