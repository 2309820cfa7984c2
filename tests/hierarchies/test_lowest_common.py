"""The lowest node that covers some values, against a search through the whole tree."""

from __future__ import annotations

import numpy as np
import pytest
from coded_columns import assert_is_a_tree, cells, coded, paths
from hypothesis import given
from hypothesis import strategies as st

from incrowd.hierarchies import Hierarchy, from_lines
from incrowd.table import Column

Built = tuple[Column, Hierarchy]


@st.composite
def trees(draw: st.DrawFn) -> Built:
    """A random tree over up to 12 values, some of them not in the data, some cells missing."""
    size = draw(st.integers(1, 12))
    values = draw(st.permutations([f"v{i}" for i in range(size)]))
    lines = [[value] for value in values]
    groups = list(range(size))
    for level in range(draw(st.integers(0, 3))):
        joined = draw(st.lists(st.integers(0, 3), min_size=12, max_size=12))
        groups = [joined[group] for group in groups]
        for line, group in zip(lines, groups, strict=True):
            line.append(f"{level}:{group}")
    seen = draw(st.lists(st.sampled_from([*values, None]), min_size=1, max_size=20))
    column = coded(seen)
    built, hierarchy = from_lines(column, lines, "the test")
    assert cells(built) == seen
    return built, hierarchy


@given(trees(), st.data())
def test_against_brute_force(built: Built, data: st.DataObject) -> None:
    column, hierarchy = built
    codes = range(max(column.cardinality, 1))
    chosen = data.draw(st.lists(st.sampled_from(codes), min_size=1, max_size=5))
    level, node = hierarchy.lowest_common(np.array([min(chosen)]), np.array([max(chosen)]))
    expected = next(
        (each, int(hierarchy.node_of[each, chosen[0]]))
        for each in range(hierarchy.height + 1)
        if len({int(hierarchy.node_of[each, code]) for code in chosen}) == 1
    )
    assert (int(level[0]), int(node[0])) == expected


@given(trees())
def test_every_tree_keeps_its_invariants(built: Built) -> None:
    assert_is_a_tree(*built)


@given(trees())
def test_values_of_one_label_are_the_ones_that_it_means(built: Built) -> None:
    column, hierarchy = built
    expected: dict[str, set[str]] = {}
    for value, labels in paths(column, hierarchy).items():
        for label in labels if value is not None else ():
            expected.setdefault(label, set()).add(value or "")
    assert {
        label: set(values) for label, values in hierarchy.meanings(column).items() if values
    } == expected


def test_many_runs_at_once() -> None:
    lines = [["a", "A"], ["b", "A"], ["c", "C"], ["d", "C"]]
    column, hierarchy = from_lines(coded(["a", "b", "c", "d", None]), lines, "the test")
    low, high = np.array([0, 0, 1, 2, 4, 0]), np.array([0, 1, 2, 3, 4, 4])
    level, node = hierarchy.lowest_common(low, high)
    assert [hierarchy.labels[lv][nd] for lv, nd in zip(level, node, strict=True)] == [
        "a",
        "A",
        "*",
        "C",
        "",
        "*",
    ]
    assert column.values == ("a", "b", "c", "d")


def test_losses_by_hand() -> None:
    lines = [["a", "A"], ["b", "A"], ["c", "C"], ["d", "C"], ["e", "C"]]
    _, hierarchy = from_lines(coded(["a", "c", "d"]), lines, "the test")
    losses = hierarchy.losses()
    assert losses[0].tolist() == [0, 0, 0]
    assert losses[1, :2].tolist() == [pytest.approx(1 / 4), pytest.approx(2 / 4)]
    assert losses[2, 0] == 1
