"""Labels of generalized cells are written so that they are read back as what they meant."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest
from coded_columns import coded
from hypothesis import given
from hypothesis import strategies as st

from incrowd.hierarchies.labels import (
    Anything,
    Members,
    Plain,
    Range,
    parse,
    plain_label,
    range_label,
    set_label,
)

TRICKY = [
    "*",
    "",
    "\\",
    "\\*",
    "{}",
    "{a}",
    "{a|b}",
    "{a\\}",
    "a|b",
    "[1-2)",
    "[-5-3.5)",
    "\\[1-2)",
]
TRICKY += ["[1950-01-01-1960-01-01)", "[1950-13-01-1960-01-01)", "**", "{", "}", "|", "[1-2]"]
texts = st.one_of(
    st.sampled_from(TRICKY),
    st.text(alphabet="\\|{}*[]()-.0129a\n\u0663", max_size=8),
    st.text(max_size=6),
)


@given(texts)
def test_a_plain_value_is_read_back(value: str) -> None:
    assert parse(plain_label(value)) == Plain(value)


@given(st.lists(texts, min_size=2, max_size=5))
def test_a_set_is_read_back(members: list[str]) -> None:
    assert parse(set_label(members)) == Members(tuple(members))


@given(texts)
def test_a_set_of_one_is_that_value(value: str) -> None:
    assert set_label([value]) == plain_label(value)


@given(st.lists(texts, min_size=2, max_size=4), st.lists(texts, min_size=2, max_size=4))
def test_different_sets_have_different_labels(one: list[str], other: list[str]) -> None:
    assert (set_label(one) == set_label(other)) == (one == other)


@given(texts, st.lists(texts, min_size=2, max_size=3))
def test_a_value_never_looks_like_a_set_or_a_root(value: str, members: list[str]) -> None:
    assert plain_label(value) not in ("*", set_label(members))


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**6), st.integers(0, 3), st.integers(-9, 9))
def test_a_range_of_numbers_is_read_back(low: int, width: int, decimals: int, off: int) -> None:
    column = coded(["1", f"2.{'1' * decimals}" if decimals else "2"], "numeric")
    assert column.decimals == decimals
    read = parse(range_label(column, low, low + width))
    scale = 10**decimals
    assert read == Range(Fraction(low, scale), Fraction(low + width, scale), dates=False)
    position = low + off
    assert read.covers(Fraction(position, scale)) == (low <= position < low + width)


@given(st.dates(), st.dates())
def test_a_range_of_dates_is_read_back(one: date, other: date) -> None:
    column = coded(["2000-01-01"], "date")
    low, high = sorted((day - date(1970, 1, 1)).days for day in (one, other))
    assert parse(range_label(column, low, high)) == Range(Fraction(low), Fraction(high), dates=True)


@pytest.mark.parametrize(
    ("label", "meaning"),
    [
        ("*", Anything()),
        ("[30-60)", Range(Fraction(30), Fraction(60), dates=False)),
        ("[-5-3.5)", Range(Fraction(-5), Fraction(7, 2), dates=False)),
        ("[-5--3)", Range(Fraction(-5), Fraction(-3), dates=False)),
        ("[1970-01-01-1970-01-11)", Range(Fraction(0), Fraction(10), dates=True)),
        ("[1970-02-30-1970-03-01)", Plain("[1970-02-30-1970-03-01)")),
        ("{Divorced|Separated}", Members(("Divorced", "Separated"))),
        ("{a\\|b|c\\\\}", Members(("a|b", "c\\"))),
        ("{a|}", Members(("a", ""))),
        ("\\*", Plain("*")),
        ("\\\\x", Plain("\\x")),
        ("1424*", Plain("1424*")),
        ("[30-60]", Plain("[30-60]")),
        ("30-60", Plain("30-60")),
        ("", Plain("")),
    ],
)
def test_what_a_published_cell_stands_for(label: str, meaning: object) -> None:
    assert parse(label) == meaning


@pytest.mark.parametrize(
    ("value", "label"),
    [("*", "\\*"), ("[3-4)", "\\[3-4)"), ("{a}", "\\{a}"), ("\\a", "\\\\a"), ("a*", "a*")],
)
def test_only_a_value_that_would_be_misread_is_marked(value: str, label: str) -> None:
    assert plain_label(value) == label
