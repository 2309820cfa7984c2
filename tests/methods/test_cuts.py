"""Where a group is cut: the best position of every line-up against trying them all."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.counts import NodeHistograms
from incrowd.hierarchies import Hierarchy, flat, from_tree, intervals
from incrowd.methods.cuts import LinedUp, line_up
from incrowd.methods.geometry import BY_CHILD, BY_FREQUENCY, BY_VALUE, Geometry, geometry_of
from incrowd.table import Column

TREE = {"A": {"P": ["a", "b"], "Q": ["c"]}, "B": {"R": ["d", "e", "f"]}}
NUMBERS = (-4, 0, 1, 5, 9, 20)
Group = dict[int, int]


def column_of(kind: Any, *, missing: bool) -> Column:
    values = tuple(map(str, NUMBERS)) if kind == "numeric" else ("a", "b", "c", "d", "e", "f")
    codes = np.arange(len(values) + missing, dtype=np.uint8)
    numbers = np.array(NUMBERS) if kind == "numeric" else None
    return Column("x", "quasi", kind, codes, values, numbers=numbers, missing=int(missing))


def numeric(labels: Literal["set", "hierarchy"], missing: bool) -> Geometry:
    column = column_of("numeric", missing=missing)
    if labels == "set":
        return geometry_of(*flat(column), labels)
    return geometry_of(*intervals(column, start=-10, stop=30, widths=[5, 20]), labels)


def category(labels: Literal["set", "hierarchy"], missing: bool, *, tree: bool) -> Geometry:
    column = column_of("category", missing=missing)
    return geometry_of(*(from_tree(column, TREE) if tree else flat(column)), labels)


def ordered(labels: Literal["set", "hierarchy"], missing: bool) -> Geometry:
    return geometry_of(*flat(column_of("ordered", missing=missing)), labels)


GEOMETRIES: dict[str, Callable[[bool], Geometry]] = {
    "ranges": lambda missing: numeric("set", missing),
    "nested ranges": lambda missing: numeric("hierarchy", missing),
    "sets": lambda missing: category("set", missing, tree=False),
    "value or *": lambda missing: category("hierarchy", missing, tree=False),
    "sets along a tree": lambda missing: category("set", missing, tree=True),
    "nodes of a tree": lambda missing: category("hierarchy", missing, tree=True),
    "sets in order": lambda missing: ordered("set", missing),
}

groups_made = st.lists(
    st.dictionaries(st.integers(0, 6), st.integers(1, 9), max_size=7), min_size=1, max_size=5
)


def histograms_of(groups: list[Group]) -> NodeHistograms:
    return NodeHistograms(
        np.cumsum([0, *map(len, groups)], dtype=np.int64),
        np.array([code for group in groups for code in sorted(group)], dtype=np.int64),
        np.array([group[code] for group in groups for code in sorted(group)], dtype=np.int64),
    )


def cell_loss(geometry: Geometry, codes: list[int]) -> float:
    """The NCP of a cell that must cover these codes, from the definitions alone."""
    hierarchy, column = geometry.hierarchy, geometry.column
    domain = hierarchy.total
    if len(codes) == 1:
        return 0.0
    if geometry.label_kind == 2:
        weight = lowest_weight(hierarchy, codes)
    elif geometry.label_kind == 1:
        weight = len(codes)
    elif column.missing and max(codes) == len(column.values):
        weight = domain
    else:
        weight = NUMBERS[max(codes)] - NUMBERS[min(codes)] + 1
    return min(1.0, (weight - 1) / (domain - 1))


def lowest_weight(hierarchy: Hierarchy, codes: list[int]) -> int:
    """The weight of the lowest node that has all codes below it."""
    for level in range(hierarchy.height + 1):
        nodes = {int(hierarchy.node_of[level, code]) for code in codes}
        if len(nodes) == 1:
            return int(hierarchy.weights[level][nodes.pop()])
    raise AssertionError("the root covers all codes")


def pieces(geometry: Geometry, group: Group) -> list[list[int]]:
    """The smallest parts that a cut leaves whole, in the order in which they are lined up."""
    codes = sorted(group)
    if geometry.order_kind == BY_VALUE:
        return [[code] for code in codes]
    if geometry.order_kind == BY_FREQUENCY:
        return [[code] for code in sorted(codes, key=lambda code: (-group[code], code))]
    node_of = geometry.hierarchy.node_of
    level = next(n for n in range(len(node_of)) if len({node_of[n][code] for code in codes}) == 1)
    children: dict[int, list[int]] = {}
    for code in codes:
        children.setdefault(int(node_of[max(level - 1, 0)][code]), []).append(code)
    total = Counter({child: sum(group[c] for c in below) for child, below in children.items()})
    return [children[child] for child in sorted(children, key=lambda child: (-total[child], child))]


def cut_loss(geometry: Geometry, group: Group, left: list[int]) -> float:
    right = [code for code in group if code not in left]
    return sum(
        sum(group[code] for code in half) * cell_loss(geometry, half) for half in (left, right)
    )


def lined_up(geometry: Geometry, groups: list[Group]) -> LinedUp:
    return line_up(np.arange(len(groups)), 0, histograms_of(groups), geometry)


def inside(geometry: Geometry, groups: list[Group]) -> list[Group]:
    """Without codes that the column lacks."""
    size = geometry.column.cardinality
    return [{code: n for code, n in group.items() if code < size} for group in groups]


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("name", GEOMETRIES)
@settings(max_examples=20)
@given(groups=groups_made)
def test_values_are_lined_up_piece_by_piece(name: str, missing: bool, groups: list[Group]) -> None:
    geometry = GEOMETRIES[name](missing)
    groups = inside(geometry, groups)
    lined = lined_up(geometry, groups)
    for place, group in enumerate(groups):
        run = slice(int(lined.offsets[place]), int(lined.offsets[place + 1]))
        parts = pieces(geometry, group) if group else []
        codes = [code for part in parts for code in part]
        assert lined.codes[run].tolist() == codes
        assert lined.running[run].tolist() == list(
            itertools.accumulate(group[code] for code in codes)
        )
        ends = set(itertools.accumulate(len(part) for part in parts[:-1]))
        assert lined.allowed[run].tolist() == [i + 1 in ends for i in range(len(codes))]


@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("name", GEOMETRIES)
@settings(max_examples=20)
@given(groups=groups_made, first=st.integers(0, 3), reach=st.integers(-1, 7))
def test_the_best_cut_is_the_best_of_all_positions(
    name: str, missing: bool, groups: list[Group], first: int, reach: int
) -> None:
    geometry = GEOMETRIES[name](missing)
    groups = inside(geometry, groups)
    lined = lined_up(geometry, groups)
    firsts = np.full(len(groups), first)
    found = lined.best(firsts, firsts + reach)
    for place, group in enumerate(groups):
        parts = pieces(geometry, group) if group else []
        tried = {}
        for cut in range(1, len(parts)):
            left = [code for part in parts[:cut] for code in part]
            if first <= len(left) - 1 <= first + reach:
                tried[len(left) - 1] = cut_loss(geometry, group, left)
        if not tried:
            assert found[place] == -1
            continue
        assert found[place] in tried
        assert tried[int(found[place])] == pytest.approx(min(tried.values()), abs=1e-9)


def test_of_equally_good_cuts_the_most_balanced_is_taken() -> None:
    geometry = numeric("hierarchy", missing=False)
    groups = [{0: 1, 2: 1, 4: 1, 5: 3}]
    # -4 | 1, 9 | 20: cuts after 1 and after 9 lose as much; the latter halves the records.
    lined = lined_up(geometry, groups)
    losses = [cut_loss(geometry, groups[0], sorted(groups[0])[:n]) for n in (1, 2, 3)]
    (found,) = lined.best(np.array([0]), np.array([9]))
    best = [n for n, loss in enumerate(losses) if loss == pytest.approx(min(losses))]
    balance = {n: min(n + 1, 6 - (n + 1)) for n in best}
    assert balance[int(found)] == max(balance.values())


@settings(max_examples=25)
@given(groups=groups_made, smallest=st.integers(1, 12))
def test_sizes_bound_the_positions(groups: list[Group], smallest: int) -> None:
    geometry = category("set", missing=True, tree=False)
    lined = lined_up(geometry, groups)
    first, last = lined.within_sizes(smallest)
    for place, group in enumerate(groups):
        parts = pieces(geometry, group) if group else []
        running = list(itertools.accumulate(group[code] for (code,) in parts))
        legal = [
            position
            for position in range(len(parts) - 1)
            if running[position] >= smallest and running[-1] - running[position] >= smallest
        ]
        if legal:
            assert (first[place], last[place]) == (legal[0], legal[-1])
        else:
            assert first[place] > last[place]


@settings(max_examples=25)
@given(groups=groups_made, data=st.data())
def test_splits_list_the_codes_before_the_cut(groups: list[Group], data: st.DataObject) -> None:
    geometry = category("set", missing=True, tree=True)
    lined = lined_up(geometry, groups)
    able = [place for place, group in enumerate(groups) if len(group) > 1]
    chosen = data.draw(st.lists(st.sampled_from(able), unique=True)) if able else []
    positions = [data.draw(st.integers(0, len(groups[place]) - 2)) for place in chosen]
    splits = lined.splits(np.array(chosen, dtype=np.int64), np.array(positions, dtype=np.int64))
    assert splits.nodes.tolist() == chosen
    assert splits.attributes.tolist() == [0] * len(chosen)
    for i, (place, position) in enumerate(zip(chosen, positions, strict=True)):
        codes = [code for part in pieces(geometry, groups[place]) for code in part]
        left = splits.left[splits.offsets[i] : splits.offsets[i + 1]]
        assert left.tolist() == codes[: position + 1]


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_cutting_by_frequency_is_optimal_for_sets(size: int) -> None:
    """No way to part the values into two sets loses less than the best cut of the line-up."""
    geometry = category("set", missing=False, tree=False)
    for counts in itertools.combinations_with_replacement((1, 2, 3, 5, 8), size):
        group = dict(enumerate(counts))
        subsets = itertools.chain.from_iterable(
            itertools.combinations(group, chosen) for chosen in range(1, size)
        )
        least = min(cut_loss(geometry, group, list(left)) for left in subsets)
        lined = lined_up(geometry, [group])
        (found,) = lined.best(np.array([0]), np.array([size]))
        reached = cut_loss(geometry, group, lined.codes[: found + 1].tolist())
        assert reached == pytest.approx(least)


def test_geometries_are_what_their_names_say() -> None:
    kinds = {name: make(False).order_kind for name, make in GEOMETRIES.items()}
    assert kinds == {
        "ranges": BY_VALUE,
        "nested ranges": BY_VALUE,
        "sets": BY_FREQUENCY,
        "value or *": BY_FREQUENCY,
        "sets along a tree": BY_CHILD,
        "nodes of a tree": BY_CHILD,
        "sets in order": BY_VALUE,
    }
