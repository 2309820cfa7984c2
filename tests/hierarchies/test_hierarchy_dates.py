"""Days under months, quarters, years and decades."""

from __future__ import annotations

import datetime

import pytest
from coded_columns import assert_is_a_tree, cells, coded, paths, weighed
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import HierarchyError
from incrowd.hierarchies import DATE_LEVELS, dates


def test_every_level_has_its_label() -> None:
    before = ["1969-12-31", "1950-05-17", "1970-01-01", None]
    column, hierarchy = dates(coded(before, "date"))
    assert paths(column, hierarchy) == {
        "1950-05-17": ("1950-05", "1950-Q2", "1950", "1950s", "*"),
        "1969-12-31": ("1969-12", "1969-Q4", "1969", "1960s", "*"),
        "1970-01-01": ("1970-01", "1970-Q1", "1970", "1970s", "*"),
        None: ("", "", "", "", "*"),
    }
    assert cells(column) == before
    assert hierarchy.kind == "dates"
    assert_is_a_tree(column, hierarchy)


@pytest.mark.parametrize(
    ("month", "quarter"),
    [("01", "Q1"), ("03", "Q1"), ("04", "Q2"), ("06", "Q2"), ("07", "Q3"), ("12", "Q4")],
)
def test_quarters(month: str, quarter: str) -> None:
    _, hierarchy = dates(coded([f"2021-{month}-15"], "date"), levels=["quarter"])
    assert hierarchy.labels[1] == (f"2021-{quarter}",)


def test_levels_are_nested_however_they_are_listed() -> None:
    column, hierarchy = dates(coded(["2001-02-03"], "date"), levels=["decade", "month"])
    assert paths(column, hierarchy) == {"2001-02-03": ("2001-02", "2000s", "*")}


def test_labels_weigh_their_days_within_the_span_of_the_data() -> None:
    column, hierarchy = dates(coded(["2020-01-30", "2020-02-10", "2021-03-02"], "date"))
    assert hierarchy.total == 398  # 2020 is a leap year: 2 + 29 + 306 in it, 61 after
    assert weighed(hierarchy) == [
        {"2020-01": 2, "2020-02": 29, "2021-03": 2},
        {"2020-Q1": 62, "2021-Q1": 61},
        {"2020": 337, "2021": 61},
        {"2020s": 398},
        {"*": 398},
    ]
    assert_is_a_tree(column, hierarchy)


def test_a_single_day_and_no_day() -> None:
    column, hierarchy = dates(coded(["2020-01-30"], "date"))
    assert hierarchy.total == 1
    assert_is_a_tree(column, hierarchy)
    column, hierarchy = dates(coded([None], "date"))
    assert hierarchy.labels == (("",), ("*",))
    assert_is_a_tree(column, hierarchy)


def test_only_dates_have_them() -> None:
    with pytest.raises(HierarchyError, match="dates need a date column, this one is numeric") as e:
        dates(coded([1950], "numeric"))
    assert "`type: date`" in str(e.value)


@given(
    st.lists(
        st.dates(datetime.date(1, 1, 1), datetime.date(9999, 12, 30)), min_size=1, max_size=12
    ),
    st.sets(st.sampled_from(DATE_LEVELS), min_size=1),
)
def test_any_dates_make_a_tree_that_counts_days(
    days: list[datetime.date], levels: set[str]
) -> None:
    column, hierarchy = dates(coded([d.isoformat() for d in days], "date"), levels=sorted(levels))
    assert_is_a_tree(column, hierarchy)
    assert hierarchy.total == (max(days) - min(days)).days + 1
    if "year" in levels:
        level = 1 + [each for each in DATE_LEVELS if each in levels].index("year")
        for node, label in enumerate(hierarchy.labels[level]):
            first = max(datetime.date(int(label), 1, 1), min(days))
            last = min(datetime.date(int(label), 12, 31), max(days))
            assert hierarchy.weights[level][node] == (last - first).days + 1
