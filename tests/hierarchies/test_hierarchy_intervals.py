"""Nested half-open ranges of numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from coded_columns import assert_is_a_tree, coded, paths, weighed
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import HierarchyError
from incrowd.hierarchies import intervals
from incrowd.hierarchies.labels import Range, parse


def test_the_example_of_the_design() -> None:
    column, hierarchy = intervals(
        coded([1, 29, 30, 59, 60, 98], "numeric"), start=1, stop=99, widths=[30, 60]
    )
    assert paths(column, hierarchy) == {
        "1": ("[1-30)", "[1-60)", "*"),
        "29": ("[1-30)", "[1-60)", "*"),
        "30": ("[30-60)", "[1-60)", "*"),
        "59": ("[30-60)", "[1-60)", "*"),
        "60": ("[60-99)", "[60-99)", "*"),
        "98": ("[60-99)", "[60-99)", "*"),
    }
    assert weighed(hierarchy) == [
        {"[1-30)": 29, "[30-60)": 30, "[60-99)": 39},
        {"[1-60)": 59, "[60-99)": 39},
        {"*": 98},
    ]
    assert hierarchy.kind == "intervals"
    assert_is_a_tree(column, hierarchy)


def test_a_range_at_an_end_shorter_than_half_a_width_joins_its_neighbour() -> None:
    column, hierarchy = intervals(
        coded([6, 9, 10, 19, 20, 24], "numeric"), start=6, stop=25, widths=[10]
    )
    assert hierarchy.labels[1] == ("[6-20)", "[20-25)")
    column, hierarchy = intervals(
        coded([5, 9, 10, 19, 20, 23], "numeric"), start=5, stop=24, widths=[10]
    )
    assert hierarchy.labels[1] == ("[5-10)", "[10-24)")
    column, hierarchy = intervals(coded([9, 10], "numeric"), start=9, stop=11, widths=[10])
    assert hierarchy.labels[1] == ("[9-11)",)
    assert_is_a_tree(column, hierarchy)


def test_negative_numbers_and_decimals() -> None:
    column, hierarchy = intervals(
        coded(["-5", "-2.5", "-0.1", "0", "3.4"], "numeric"), start=-5, stop=4, widths=[2.5, 5]
    )
    assert paths(column, hierarchy) == {
        "-5": ("[-5--2.5)", "[-5-0)", "*"),
        "-2.5": ("[-2.5-0)", "[-5-0)", "*"),
        "-0.1": ("[-2.5-0)", "[-5-0)", "*"),
        "0": ("[0-2.5)", "[0-4)", "*"),
        "3.4": ("[2.5-4)", "[0-4)", "*"),
    }
    assert weighed(hierarchy)[1] == {"[-5-0)": 50, "[0-4)": 40}
    assert_is_a_tree(column, hierarchy)


def test_bounds_may_be_finer_than_the_values() -> None:
    column, hierarchy = intervals(coded([1, 2, 3], "numeric"), start=0.5, stop=4, widths=[0.5, 1.5])
    assert paths(column, hierarchy) == {
        "1": ("[1-1.5)", "[0.5-1.5)", "*"),
        "2": ("[2-2.5)", "[1.5-3)", "*"),
        "3": ("[3-3.5)", "[3-4)", "*"),
    }
    assert column.values == ("1", "2", "3")
    assert column.decimals == 1
    assert column.numbers is not None
    assert column.numbers.tolist() == [10, 20, 30]
    assert hierarchy.total == 35


def test_a_start_between_two_values_is_exact() -> None:
    with pytest.raises(HierarchyError, match=r"1 distinct values \(1 records"):
        intervals(coded([17, 18], "numeric"), start=17.4, stop=20, widths=[5])


def test_decimal_bounds_are_taken_as_written() -> None:
    # 0.1 + 0.2, 1.1 * 10 and 0.7 * 100 are all off in binary arithmetic.
    column, hierarchy = intervals(
        coded(["0.3", "1.1", "0.7"], "numeric"), start=0.3, stop=1.2, widths=[0.1, 0.2]
    )
    assert [label[0] for label in paths(column, hierarchy).values()] == [
        "[0.3-0.4)",
        "[0.7-0.8)",
        "[1.1-1.2)",
    ]


def test_stop_is_not_included_and_start_is() -> None:
    intervals(coded([1, 98], "numeric"), start=1, stop=99, widths=[10])
    with pytest.raises(HierarchyError) as caught:
        intervals(coded([0, 1, 99, 99], "numeric"), start=1, stop=99, widths=[10])
    message = str(caught.value)
    assert "2 distinct values (3 records, the first is record 1)" in message
    assert "the intervals from 1 to below 99" in message


def test_missing_single_and_no_values() -> None:
    column, hierarchy = intervals(coded([3, None], "numeric"), start=0, stop=10, widths=[5])
    assert paths(column, hierarchy) == {"3": ("[0-5)", "*"), None: ("", "*")}
    assert hierarchy.total == 11
    assert_is_a_tree(column, hierarchy)
    column, hierarchy = intervals(coded([3], "numeric"), start=3, stop=4, widths=[1])
    assert hierarchy.total == 1
    assert_is_a_tree(column, hierarchy)
    column, hierarchy = intervals(coded([None], "numeric"), start=0, stop=10, widths=[5])
    assert_is_a_tree(column, hierarchy)


@pytest.mark.parametrize(
    ("bounds", "problem"),
    [
        ({"start": 5, "stop": 5, "widths": [1]}, "start below stop"),
        ({"start": 9, "stop": 5, "widths": [1]}, "start below stop"),
        ({"start": 0, "stop": 10, "widths": []}, "widths must be above 0"),
        ({"start": 0, "stop": 10, "widths": [0]}, "widths must be above 0"),
        ({"start": 0, "stop": 10, "widths": [-5]}, "widths must be above 0"),
        ({"start": 0, "stop": 10, "widths": [2, 3]}, "a multiple of the one before"),
        ({"start": 0, "stop": 10, "widths": [4, 2]}, "a multiple of the one before"),
        ({"start": 0, "stop": 10, "widths": [2, 2]}, "a multiple of the one before"),
        ({"start": 0, "stop": 1e300, "widths": [2]}, "cannot be compared exactly"),
        ({"start": 0, "stop": 10, "widths": [1e-15]}, "cannot be compared exactly"),
        ({"start": 0, "stop": float("inf"), "widths": [1]}, "cannot be compared exactly"),
        ({"start": float("nan"), "stop": 10, "widths": [1]}, "cannot be compared exactly"),
    ],
)
def test_illegal_bounds_are_refused(bounds: dict[str, object], problem: str) -> None:
    with pytest.raises(HierarchyError, match=problem) as caught:
        intervals(coded([5, 70], "numeric"), **bounds)  # type: ignore[arg-type]
    assert "'ward'" in str(caught.value)


def test_only_numbers_have_intervals() -> None:
    with pytest.raises(HierarchyError, match="need a numeric column, this one is category"):
        intervals(coded(["a"]), start=0, stop=1, widths=[1])
    with pytest.raises(HierarchyError, match="need a numeric column, this one is date"):
        intervals(coded(["2020-01-01"], "date"), start=0, stop=1, widths=[1])


@given(
    st.lists(st.integers(-500, 500), min_size=1, max_size=20),
    st.integers(0, 2),
    st.integers(1, 40),
    st.lists(st.integers(2, 4), max_size=3),
    st.integers(0, 30),
    st.integers(1, 30),
)
def test_every_label_covers_its_value_within_start_and_stop(
    digits: list[int], decimals: int, width: int, factors: list[int], before: int, after: int
) -> None:
    scale = 10**decimals
    texts = [f"{digit / scale:.{decimals}f}" for digit in digits]
    start, stop = (min(digits) - before) / scale, (max(digits) + after) / scale
    widths = np.cumprod([width, *factors]) / scale
    column, hierarchy = intervals(
        coded(texts, "numeric"), start=start, stop=stop, widths=widths.tolist()
    )
    assert_is_a_tree(column, hierarchy)
    for value, labels in paths(column, hierarchy).items():
        assert value is not None
        assert labels[-1] == "*"
        for label, step in zip(labels, widths, strict=False):
            read = parse(label)
            assert isinstance(read, Range)
            assert read.covers(Fraction(value))
            assert Fraction(str(start)) <= read.low < read.high <= Fraction(str(stop))
            assert read.high - read.low < 2 * Fraction(str(step))
