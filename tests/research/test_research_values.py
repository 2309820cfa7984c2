"""Research value against its definition, on labels by runs, by sets and by levels."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.counts import NodeHistograms
from incrowd.hierarchies import Hierarchy
from incrowd.research import Interest, Rule, attribute_value, level_value, level_values
from incrowd.table import Column

MANY = 8
NUMBERS = np.array([0, 1, 2, 5, 9, 10, 14, 15])


def column(numeric: bool, missing: int = 0) -> Column:
    codes = np.arange(MANY + (1 if missing else 0), dtype=np.uint8)
    values = tuple(map(str, NUMBERS if numeric else range(MANY)))
    kind: Literal["numeric", "category"] = "numeric" if numeric else "category"
    return Column("x", "quasi", kind, codes, values, NUMBERS if numeric else None, missing=missing)


def members_of(sets: list[list[int]]) -> NodeHistograms:
    offsets = np.concatenate(([0], np.cumsum([len(each) for each in sets])))
    codes = np.concatenate([np.array(sorted(each), dtype=np.int64) for each in sets])
    return NodeHistograms(offsets, codes, np.ones(len(codes), dtype=np.int64))


def by_definition(
    interest: Interest, sets: list[list[int]], sizes: list[int], numeric: bool
) -> Fraction:
    """What the thesis writes down, in fractions; labels that overlap by records that may hold."""
    if numeric:
        spanned = sum(
            size * int(NUMBERS[max(each)] - NUMBERS[min(each)] + 1)
            for each, size in zip(sets, sizes, strict=True)
        )
        kept = Fraction(sum(sizes), spanned)
    else:
        kept = Fraction(0)
        for value in range(MANY):
            over = [
                (Fraction(size, len(each)), Fraction(1, len(each)))
                for each, size in zip(sets, sizes, strict=True)
                if value in each
            ]
            if over:
                whole_of = sum((r for r, _ in over), Fraction(0))
                kept += sum((r * inverse for r, inverse in over), Fraction(0)) / whole_of
        kept /= MANY
    whole = Fraction(interest.base) + sum(Fraction(r.importance) for r in interest.rules)
    if not interest.rules:
        return Fraction(interest.weight) * kept
    texts = [str(n) for n in NUMBERS] if numeric else [str(n) for n in range(MANY)]
    held = Fraction(interest.base)
    for rule in interest.rules:
        a, b = sorted((texts.index(rule.first), texts.index(rule.second)))
        mixed = (
            any(min(each) <= a and max(each) >= b for each in sets)
            if numeric
            else any(a in each and b in each for each in sets)
        )
        held += 0 if mixed else Fraction(rule.importance)
    return Fraction(interest.weight) * kept * held / whole


@st.composite
def groups(draw: st.DrawFn) -> tuple[bool, Interest, list[list[int]], list[int], bool]:
    numeric, runs = draw(st.booleans()), draw(st.booleans())
    sets = []
    for _ in range(draw(st.integers(1, 6))):
        some = draw(st.sets(st.integers(0, MANY - 1), min_size=1, max_size=5))
        sets.append(list(range(min(some), max(some) + 1)) if runs or numeric else sorted(some))
    sizes = draw(st.lists(st.integers(1, 9), min_size=len(sets), max_size=len(sets)))
    texts = [str(n) for n in NUMBERS] if numeric else [str(n) for n in range(MANY)]
    pair = st.sets(st.sampled_from(texts), min_size=2, max_size=2).map(sorted)
    rules = draw(st.lists(st.tuples(pair, st.sampled_from([1, 5, 20])), max_size=3))
    interest = Interest(
        "x",
        draw(st.sampled_from([1.0, 0.25])),
        tuple(Rule(a, b, importance) for (a, b), importance in rules),
        draw(st.sampled_from([0.0, 3.0])),
    )
    return numeric, interest, sets, sizes, runs or numeric


@settings(max_examples=80)
@given(groups())
def test_the_value_of_groups_is_that_of_the_definition(
    drawn: tuple[bool, Interest, list[list[int]], list[int], bool],
) -> None:
    numeric, interest, sets, sizes, runs = drawn
    low = np.array([min(each) for each in sets])
    high = np.array([max(each) for each in sets])
    members = None if runs else members_of(sets)
    found = attribute_value(interest, column(numeric), low, high, np.array(sizes), members)
    assert found == pytest.approx(float(by_definition(interest, sets, sizes, numeric)), abs=1e-12)
    assert 0 <= found <= interest.weight + 1e-12


def test_a_number_beside_missing_cells_is_shown_as_anything() -> None:
    interest = Interest("x", 1.0, (Rule("1", "2", 1.0),), base=1.0)
    low, high = np.array([0, 4]), np.array([1, 8])
    # The second label is `*`: 16 numbers and missing. It covers 1 and 2.
    found = attribute_value(interest, column(True, missing=1), low, high, np.array([3, 5]))
    assert found == pytest.approx(8 / (3 * 2 + 5 * 17) / 2)


def test_missing_cells_alone_span_one_value() -> None:
    found = attribute_value(
        Interest("x", 1.0), column(True, missing=1), np.array([8]), np.array([8]), np.array([3])
    )
    assert found == 1.0


TREE = Hierarchy(
    "tree",
    np.array([[0, 1, 2, 3, 4, 5, 6, 7], [0, 0, 1, 1, 2, 2, 3, 3], [0] * 8]),
    (tuple("01234567"), ("a", "b", "c", "d"), ("*",)),
    (np.ones(8, dtype=np.int64), np.array([2, 2, 6, 6]), np.array([16])),
    16,
)


@pytest.mark.parametrize("numeric", [True, False])
def test_the_value_of_levels(numeric: bool) -> None:
    interest = Interest("x", 0.5, (Rule("0", "1", 3.0), Rule("1", "5", 1.0)), base=1.0)
    held = column(numeric)
    records = np.array([4, 0, 1, 1, 1, 1, 2, 2])
    found = level_values(interest, held, TREE, records)
    labels = [1, 12 / (2 * 6 + 6 * 6), 1 / 16] if numeric else [1, 4 / 8, 1 / 8]
    kept = [1, 2 / 5, 1 / 5]
    assert found == pytest.approx([0.5 * a * b for a, b in zip(labels, kept, strict=True)])
    assert level_value(interest, held, TREE, 0) == 0.5
    assert all(np.diff(found) <= 0)


def test_levels_agree_with_groups_of_their_labels() -> None:
    interest = Interest("x", 1.0, (Rule("2", "3", 1.0), Rule("3", "4", 2.0)))
    held = column(False)
    records = np.ones(8, dtype=np.int64)
    for level, found in enumerate(level_values(interest, held, TREE, records)):
        nodes = TREE.node_of[level]
        low = np.array([int(np.argmax(nodes == node)) for node in range(nodes.max() + 1)])
        high = low + np.bincount(nodes) - 1
        by_groups = attribute_value(interest, held, low, high, np.bincount(nodes))
        assert by_groups == pytest.approx(found)
