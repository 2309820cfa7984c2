"""Hierarchies written as a nested tree in the policy."""

from __future__ import annotations

from typing import Any

import pytest
from coded_columns import assert_is_a_tree, cells, coded, paths, weighed

from incrowd.errors import HierarchyError
from incrowd.hierarchies import from_tree

JOBS = {
    "Blue-collar": {"Manual": ["Janitor", "Mover"], "Technical": ["Welder"]},
    "White-collar": {"Legal": ["Lawyer"]},
}


def test_a_tree_gives_every_value_its_labels() -> None:
    before = ["Lawyer", "Mover", "Welder", "Janitor", "Mover"]
    column, hierarchy = from_tree(coded(before), JOBS)
    assert paths(column, hierarchy) == {
        "Janitor": ("Manual", "Blue-collar", "*"),
        "Mover": ("Manual", "Blue-collar", "*"),
        "Welder": ("Technical", "Blue-collar", "*"),
        "Lawyer": ("Legal", "White-collar", "*"),
    }
    assert column.values == ("Janitor", "Mover", "Welder", "Lawyer")
    assert cells(column) == before
    assert hierarchy.kind == "tree"
    assert_is_a_tree(column, hierarchy)


def test_values_of_a_short_branch_keep_their_own_label_for_longer() -> None:
    tree = {"Blue-collar": {"Manual": ["Janitor", "Mover"]}, "White-collar": ["Lawyer"]}
    column, hierarchy = from_tree(coded(["Lawyer", "Mover", "Janitor"]), tree)
    assert paths(column, hierarchy) == {
        "Janitor": ("Manual", "Blue-collar", "*"),
        "Mover": ("Manual", "Blue-collar", "*"),
        "Lawyer": ("Lawyer", "White-collar", "*"),
    }
    assert weighed(hierarchy)[0] == {"Manual": 2, "Lawyer": 1}
    assert_is_a_tree(column, hierarchy)


def test_a_list_may_mix_values_and_further_branches() -> None:
    tree = {"Staff": ["Porter", {"Nurses": ["Ward nurse", "Theatre nurse"]}]}
    column, hierarchy = from_tree(coded(["Porter", "Ward nurse", "Theatre nurse"]), tree)
    assert paths(column, hierarchy) == {
        "Porter": ("Porter", "Staff"),
        "Ward nurse": ("Nurses", "Staff"),
        "Theatre nurse": ("Nurses", "Staff"),
    }
    assert_is_a_tree(column, hierarchy)


def test_a_plain_list_is_a_flat_hierarchy() -> None:
    column, hierarchy = from_tree(coded(["a", "b"]), ["a", "b", "c"])
    assert paths(column, hierarchy) == {"a": ("*",), "b": ("*",)}
    assert hierarchy.total == 3


def test_unused_values_count_and_empty_branches_do_not() -> None:
    tree = {"A": ["a", "b", "c"], "None of these": [], "D": ["d"]}
    _column, hierarchy = from_tree(coded(["a", "d"]), tree)
    assert weighed(hierarchy) == [{"A": 3, "D": 1}, {"*": 4}]


def test_numbers_in_a_tree_meet_the_numbers_of_the_column() -> None:
    tree = {"young": [20, 30.0], "old": ["070"]}
    column, hierarchy = from_tree(coded([20, 30, 70], "numeric"), tree)
    assert paths(column, hierarchy) == {
        "20": ("young", "*"),
        "30": ("young", "*"),
        "70": ("old", "*"),
    }


def test_missing_cells_lie_under_the_root_only() -> None:
    column, hierarchy = from_tree(coded(["Lawyer", None]), JOBS)
    assert paths(column, hierarchy)[None] == ("", "", "*")
    assert hierarchy.total == 5
    assert_is_a_tree(column, hierarchy)


def test_a_column_without_values_gets_a_root() -> None:
    column, hierarchy = from_tree(coded([None, None]), JOBS)
    assert hierarchy.labels == (("",), ("*",))
    assert_is_a_tree(column, hierarchy)


def test_uncovered_values_are_counted_and_never_shown() -> None:
    with pytest.raises(HierarchyError) as caught:
        from_tree(coded(["Lawyer", "Spy", "Spy"]), JOBS)
    message = str(caught.value)
    assert "1 distinct values (2 records, the first is record 2)" in message
    assert "the tree of the policy" in message
    assert "Spy" not in message


@pytest.mark.parametrize(
    ("tree", "problem"),
    [
        ({}, "the tree has no values"),
        ([], "the tree has no values"),
        ({"A": []}, "the tree has no values"),
        ({"A": "a"}, "a branch of the tree must be a list of values or further branches"),
        ({"A": None}, "a branch of the tree must be"),
        ({"A": [["a"], ["b"]]}, "a branch of the tree must be"),
        ("a", "a branch of the tree must be"),
        ({"A": ["a", None]}, "an entry of the tree of the policy is empty"),
        ({"": ["a"]}, "an entry of the tree of the policy is empty"),
        ({"A": ["a"], "B": ["a"]}, "a value stands twice"),
        ({"A": {"X": ["a"]}, "B": {"X": ["b"]}}, "must be nested"),
    ],
)
def test_what_is_not_a_tree_is_refused(tree: Any, problem: str) -> None:
    with pytest.raises(HierarchyError, match=problem) as caught:
        from_tree(coded(["a"]), tree)
    assert "'ward'" in str(caught.value)
