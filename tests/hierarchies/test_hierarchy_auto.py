"""Hierarchies made from the data themselves, and the one of a column that has none."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from coded_columns import assert_is_a_tree, cells, coded, paths, weighed
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import HierarchyError
from incrowd.hierarchies import automatic, build, flat
from incrowd.hierarchies.labels import Members, Plain, Range, parse
from incrowd.policy import AttributePolicy


def test_numbers_are_halved_at_the_median_of_their_records() -> None:
    ages = [18] * 10 + [20, 30, 40, 50, 60, 70, 80, 90, 91, 92]
    column, hierarchy = automatic(coded(ages, "numeric"))
    assert hierarchy.kind == "auto"
    assert hierarchy.labels[hierarchy.height - 1] == ("[18-20)", "[20-93)")
    assert hierarchy.labels[hierarchy.height - 2] == ("[18-20)", "[20-70)", "[70-93)")
    assert_is_a_tree(column, hierarchy)


def test_a_value_that_most_records_share_does_not_swallow_the_others() -> None:
    _, hierarchy = automatic(coded([1] * 1000 + list(range(2, 18)), "numeric"))
    assert hierarchy.labels[hierarchy.height - 1] == ("[1-2)", "[2-18)")
    assert len(hierarchy.labels[1]) == 17


def test_neighbouring_ranges_are_joined_in_pairs() -> None:
    column, hierarchy = automatic(coded([1, 2, 4, 8], "numeric"))
    assert paths(column, hierarchy) == {
        "1": ("[1-2)", "[1-4)", "*"),
        "2": ("[2-4)", "[1-4)", "*"),
        "4": ("[4-8)", "[4-9)", "*"),
        "8": ("[8-9)", "[4-9)", "*"),
    }
    assert weighed(hierarchy)[1] == {"[1-4)": 3, "[4-9)": 5}
    assert hierarchy.total == 8


def test_decimals_keep_their_unit() -> None:
    column, hierarchy = automatic(coded(["0.5", "1", "-0.25"], "numeric"))
    assert hierarchy.total == 126
    assert all(isinstance(parse(label), Range) for label in hierarchy.labels[1])
    assert_is_a_tree(column, hierarchy)


def test_at_most_32_ranges_at_the_finest_level() -> None:
    _, hierarchy = automatic(coded(list(range(1000)), "numeric"))
    assert len(hierarchy.labels[1]) == 32
    assert hierarchy.height == 6


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=60),
    st.integers(0, 3),
)
def test_any_numbers_make_a_tree_of_ranges_that_cover_them(numbers: list[int], gaps: int) -> None:
    column, hierarchy = automatic(coded([*numbers, *[None] * gaps], "numeric"))
    assert_is_a_tree(column, hierarchy)
    for value, labels in paths(column, hierarchy).items():
        for label in labels[:-1]:
            read = parse(label)
            assert label == "" if value is None else read.covers(Fraction(value))  # type: ignore[union-attr]


def test_rare_categories_are_joined_first() -> None:
    wards = ["a"] * 50 + ["b"] * 40 + ["c"] * 3 + ["d"] * 2 + ["e"]
    column, hierarchy = automatic(coded(wards))
    assert hierarchy.labels[1] == ("a", "b", "c", "{d|e}")
    assert paths(column, hierarchy)["e"][:2] == ("{d|e}", "{c|d|e}")
    assert paths(column, hierarchy)["a"] == ("a", "a", "a", "*")
    assert weighed(hierarchy)[1] == {"a": 1, "b": 1, "{c|d|e}": 3}
    assert cells(column) == wards
    assert_is_a_tree(column, hierarchy)


def test_ordered_categories_are_joined_with_their_neighbours() -> None:
    order = ["none", "mild", "severe", "fatal"]
    column, hierarchy = automatic(coded([*order, "fatal"], "ordered", order=order))
    assert paths(column, hierarchy) == {
        "none": ("{none|mild}", "*"),
        "mild": ("{none|mild}", "*"),
        "severe": ("{severe|fatal}", "*"),
        "fatal": ("{severe|fatal}", "*"),
    }


@given(
    st.lists(
        st.one_of(st.none(), st.sampled_from(["", "a|b", "{x}", "*", "\\", "c", "dd", "e", "f"])),
        min_size=1,
        max_size=40,
    )
)
def test_any_categories_make_a_tree_whose_labels_list_their_values(
    values: list[str | None],
) -> None:
    column, hierarchy = automatic(coded(values))
    assert_is_a_tree(column, hierarchy)
    for level in range(1, hierarchy.height):
        for node, label in enumerate(hierarchy.labels[level]):
            under = [
                value
                for code, value in enumerate(column.values)
                if hierarchy.node_of[level, code] == node
            ]
            read = parse(label)
            if isinstance(read, Members):
                assert sorted(read.values) == sorted(under)
            else:
                assert isinstance(read, Plain)
                assert [read.text] == (under or [""])
            assert hierarchy.weights[level][node] == max(len(under), 1)


def test_dates_get_the_parts_of_the_calendar() -> None:
    _, hierarchy = automatic(coded(["2020-01-30", "2021-05-01"], "date"))
    assert hierarchy.kind == "dates"
    assert hierarchy.height == 5


def test_many_codes_of_one_length_are_masked() -> None:
    codes = [f"{i:03d}" for i in range(51)]
    _, hierarchy = automatic(coded(codes))
    assert hierarchy.kind == "mask"
    _, hierarchy = automatic(coded(codes[:50]))
    assert hierarchy.kind == "auto"
    _, hierarchy = automatic(coded([*codes, "1234"]))
    assert hierarchy.kind == "auto"


def test_too_many_categories_are_refused_with_a_remedy() -> None:
    with pytest.raises(
        HierarchyError, match="at most 1,000 categories, this column has 1,001"
    ) as e:
        automatic(coded([f"v{i}" for i in range(1001)]))
    assert "hierarchy file" in str(e.value)
    assert "v10" not in str(e.value)


@pytest.mark.parametrize("kind", ["numeric", "category", "date"])
@pytest.mark.parametrize("builder", [automatic, flat])
def test_no_values_and_one_value(kind: str, builder: Any) -> None:
    one = {"numeric": "7", "category": "a", "date": "2020-01-01"}[kind]
    for column_cells in ([None, None], [one], [one, None]):
        column, hierarchy = builder(coded(column_cells, kind))
        assert_is_a_tree(column, hierarchy)
        assert hierarchy.labels[-1] == ("*",)


def test_without_a_hierarchy_a_cell_is_the_value_or_a_star() -> None:
    column, hierarchy = flat(coded(["b", "a", None]))
    assert paths(column, hierarchy) == {"a": ("*",), "b": ("*",), None: ("*",)}
    assert (hierarchy.kind, hierarchy.total) == ("flat", 3)
    _, hierarchy = flat(coded([3, 10], "numeric"))
    assert hierarchy.total == 8


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        (None, "flat"),
        ("auto", "auto"),
        ({"auto": True}, "auto"),
        ({"auto": False}, "flat"),
        ({"tree": {"A": [17], "B": [42]}}, "tree"),
        ({"intervals": {"start": 0, "stop": 50, "widths": [10]}}, "intervals"),
        ({"mask": {"length": 2}}, "mask"),
    ],
)
def test_a_policy_names_its_builder(asked: object, kind: str) -> None:
    spec = AttributePolicy.model_validate({"role": "quasi", "hierarchy": asked})
    _, hierarchy = build(coded([17, 42, 17], "numeric"), spec.hierarchy)
    assert hierarchy.kind == kind


def test_a_policy_names_a_file_beside_it_and_parts_of_dates(tmp_path: Path) -> None:
    (tmp_path / "h.csv").write_text("17;A\n42;B\n")
    spec = AttributePolicy.model_validate({"role": "quasi", "hierarchy": "h.csv"})
    _, hierarchy = build(coded([17, 42], "numeric"), spec.hierarchy, tmp_path)
    assert hierarchy.labels[1] == ("A", "B")
    for short in ("dates", {"dates": "all"}, {"dates": ["month", "quarter", "year", "decade"]}):
        spec = AttributePolicy.model_validate({"role": "quasi", "hierarchy": short})
        _, hierarchy = build(coded(["2020-01-30"], "date"), spec.hierarchy)
        assert hierarchy.height == 5
