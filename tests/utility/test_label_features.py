"""Labels as features of a classifier, each kind of cell by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.utility.features import fit, kind_of, matrices, read_attribute

QUASI = {"role": "quasi", "decimals": 0}


def features(
    cells: Sequence[str | None],
    kind: str,
    entry: dict[str, Any] | None = QUASI,
    *,
    train: Sequence[int] | None = None,
    most: int = 200,
) -> list[list[float]]:
    """The features of every record, as the records numbered by `train` define them."""
    attribute = read_attribute(pl.Series("x", cells, dtype=pl.String), kind, entry)
    rows = np.arange(len(cells)) if train is None else np.array(train)
    return list(fit(attribute, rows, most)[attribute.codes].tolist())


def test_disjoint_ranges_need_only_their_lower_bound() -> None:
    assert features(["[1-30)", "[30-60)", "[30-60)", "60"], "numeric") == [[1], [30], [30], [60]]


def test_overlapping_ranges_have_both_bounds() -> None:
    assert features(["[1-30)", "[1-60)", "7"], "numeric") == [[1, 30], [1, 60], [7, 8]]


def test_a_value_ends_one_step_of_the_column_later() -> None:
    entry = {**QUASI, "decimals": 1}
    found = features(["2.5", "[2.5-4)"], "numeric", entry)
    assert found == [pytest.approx([2.5, 2.6]), [2.5, 4]]


def test_a_star_is_the_whole_domain_and_missing_has_an_indicator() -> None:
    found = features(["[20-30)", "[50-70)", "*", None], "numeric")
    assert found == [[20, 30, 0], [50, 70, 0], [20, 70, 0], [20, 70, 1]]


def test_nothing_but_stars_tells_nothing() -> None:
    assert features(["*", "*"], "numeric") == [[], []]


def test_a_set_of_numbers_spans_its_members_and_shares_missing() -> None:
    found = features(["{3|9|}", "3", "[3-10)"], "numeric")
    assert found == [[3, 10, pytest.approx(1 / 3)], [3, 4, 0], [3, 10, 0]]


def test_a_label_that_is_no_range_is_its_own() -> None:
    entry = {**QUASI, "labels": "hierarchy", "weights": {"young": 30}}
    found = features(["young", "40", "50"], "numeric", entry)
    assert found == [[40, 51, 1], [40, 41, 0], [50, 51, 0]]


def test_dates_are_days_and_parts_of_the_calendar_are_ranges() -> None:
    cells = ["1970-01-02", "[1970-01-01-1970-01-11)", "1970", "1970-02", "1970-Q2", "1970s"]
    assert features(cells, "date") == [[1, 2], [0, 10], [0, 365], [31, 59], [90, 181], [0, 3652]]


@pytest.mark.parametrize("cell", ["1970-13", "197", "9999-99", "[3-5)"])
def test_what_is_no_part_of_the_calendar_is_its_own_label(cell: str) -> None:
    assert features([cell, "1970-01-01"], "date") == [[0, 1], [0, 0]]


def test_cells_that_are_published_as_they_are_stand_for_themselves() -> None:
    exact = {**QUASI, "labels": "exact"}
    assert features(["*", "{a|b}", "a"], "category", exact) == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]


def test_the_ends_of_the_calendar_are_parts_of_it() -> None:
    low, high = features(["9999", "0000s", "1970-01-01"], "date")[:2]
    assert low[0] > 2_900_000
    assert high[0] == -719_162


def test_categories_are_one_of_their_labels() -> None:
    # In order of how frequent: Blue, *, then the value named * and missing.
    cells = ["Blue", "Blue", "Blue", "*", "*", r"\*", None]
    found = features(cells, "category", {**QUASI, "weights": {"Blue": 2}})
    assert found[0] == [1, 0, 0, 0]
    assert found[3] == [0, 1, 0, 0]
    assert found[5] != found[6]
    assert sorted(found[5]) == sorted(found[6]) == [0, 0, 0, 1]


def test_a_set_has_an_equal_share_of_each_member() -> None:
    found = features(["a", "a", "{a|b}", "{a|}"], "category")
    assert found == [[1, 0, 0], [1, 0, 0], [0.5, 0, 0.5], [0.5, 0.5, 0]]


def test_a_label_of_a_hierarchy_is_no_set() -> None:
    entry = {**QUASI, "labels": "hierarchy", "weights": {"{a|b}": 2}}
    assert features(["{a|b}", "a", "a"], "category", entry) == [[0, 1], [1, 0], [1, 0]]


def test_cells_that_are_published_as_they_are_hold_no_labels() -> None:
    cells = ["*", "{a|b}", "{a|b}", r"\*"]
    assert features(cells, "category", None) == [[0, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 1]]
    assert features(["*", "7", "9"], "numeric", None) == [[7, 10, 1], [7, 8, 0], [9, 10, 0]]


def test_raw_numbers_and_dates_are_one_number() -> None:
    assert features(["3.50", "-2"], "numeric", None) == [[3.5], [-2]]
    assert features(["1970-01-03", "1970-01-01"], "date", None) == [[2], [0]]
    assert features(["31.01.1970", "01.02.1970"], "date", None) == [[30], [31]]


def test_rare_labels_are_joined() -> None:
    cells = ["a", "a", "a", "b", "b", "c", "d"]
    found = features(cells, "category", most=2)
    assert found[0] == [1, 0, 0]
    assert found[3] == [0, 1, 0]
    assert found[5] == found[6] == [0, 0, 1]


def test_only_the_training_records_define_the_features() -> None:
    cells = ["a", "a", "b", "c", "c", "c", "c"]
    assert features(cells, "category", train=[0, 1, 2]) == [[1, 0]] * 2 + [[0, 1]] + [[0, 0]] * 4
    assert features(cells, "category", train=[0, 1, 2], most=1)[3] == [0, 1]
    # The star is the domain of the training records, not of the one that is tested.
    cells = ["*", "[20-30)", "[25-40)", "[0-99)"]
    assert features(cells, "numeric", train=[0, 1, 2])[0] == [20, 40]
    # The upper bound follows from the lower one in training, so it is no feature.
    assert features(["[1-9)", "[9-12)", "[1-5)"], "numeric", train=[0, 1])[2] == [1]


@given(
    trained=st.lists(st.sampled_from(["a", "b", "{a|b}", "*", None]), min_size=1, max_size=9),
    tested=st.lists(st.sampled_from(["a", "c", "{a|c}", "*", None]), min_size=1, max_size=9),
)
def test_test_records_never_change_the_training_features(
    trained: list[str | None], tested: list[str | None]
) -> None:
    known, _ = _matrices([*trained, *tested], range(len(trained)))
    alone, _ = _matrices(trained, range(len(trained)))
    assert known.tolist() == alone.tolist()


def _matrices(cells: Sequence[str | None], train: range) -> tuple[np.ndarray, np.ndarray]:
    attribute = read_attribute(pl.Series("x", cells, dtype=pl.String), "category", QUASI)
    rest = np.arange(len(train), len(cells))
    return matrices([attribute], np.array(train), rest)


def test_attributes_stand_side_by_side_in_four_bytes() -> None:
    age = read_attribute(pl.Series("age", ["1", "2", "3"]), "numeric", QUASI)
    sex = read_attribute(pl.Series("sex", ["f", "m", "f"]), "category", QUASI)
    known, unknown = matrices([age, sex], np.array([0, 1]), np.array([2]))
    assert known.dtype == np.float32
    assert known.tolist() == [[1, 1, 0], [2, 0, 1]]
    assert unknown.tolist() == [[3, 1, 0]]


def test_without_attributes_there_is_one_constant_feature() -> None:
    known, unknown = matrices([], np.array([0, 2]), np.array([1]))
    assert (known.tolist(), unknown.tolist()) == ([[0], [0]], [[0]])


def test_many_attributes_share_the_features_of_labels() -> None:
    names = [str(number) for number in range(60)]
    columns = [
        read_attribute(pl.Series(str(number), names), "category", None) for number in range(50)
    ]
    known, _ = matrices(columns, np.arange(60), np.arange(1))
    assert known.shape == (60, 50 * 21)


@pytest.mark.parametrize(
    ("role", "stated", "cells", "kind"),
    [
        ("keep", "category", ["1", "2.5", None], "numeric"),
        ("keep", "category", ["1970-01-01", None], "date"),
        ("keep", "category", ["1", "x"], "category"),
        ("keep", "category", ["250.1", "250.10"], "category"),
        ("keep", "category", [None], "category"),
        ("keep", "numeric", ["x"], "numeric"),
        ("sensitive", "category", ["1", "2"], "category"),
        ("quasi", "date", ["1970"], "date"),
    ],
)
def test_kept_columns_are_of_the_type_that_they_show(
    role: str, stated: str, cells: list[str | None], kind: str
) -> None:
    series = pl.Series("x", cells, dtype=pl.String)
    assert kind_of(series, {"role": role, "type": stated}) == kind
