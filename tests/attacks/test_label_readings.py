"""What labels cover: each writing against the values that it must and must not cover."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest

from incrowd.attacks.known_values import KnownValues
from incrowd.attacks.label_meanings import read_labels
from incrowd.labels import LabelWriting

AGES = ["9", "25", "26", "30", "38", "39", "40", "60", "", "-3", "30.5"]
DATES = ["1949-12-31", "1950-01-01", "1950-03-15", "1950-04-01", "1959-12-31", "1960-01-01", ""]
ZIPS = ["01234", "01299", "14248", "1424", "54321", "B-12", ""]


def covered(
    label: str | None,
    values: Sequence[str],
    writing: LabelWriting | None = None,
    *,
    numeric: bool = False,
) -> tuple[set[str], int]:
    """The texts that a label covers, and how many labels could not be read."""
    series = pl.Series("column", values, dtype=pl.String)
    known = KnownValues(series, declared_numeric=numeric)
    coverage = read_labels([label], known, writing or LabelWriting())
    codes = set(range(coverage.low[0], coverage.high[0]))
    bits = coverage.bits[coverage.more[0]]
    codes |= {code for code in range(known.cardinality) if bits[code >> 3] >> (code & 7) & 1}
    found = {
        text for text, code in zip(values, known.people.tolist(), strict=True) if code in codes
    }
    return found, coverage.unreadable


@pytest.mark.parametrize(
    ("label", "wanted"),
    [
        ("38", {"38"}),
        ("38.0", {"38"}),
        ("038", {"38"}),
        ("31", set()),
        ("[30-40)", {"30", "38", "39", "30.5"}),
        ("[-5-9.5)", {"-3", "9"}),
        ("[30.5-38)", {"30.5"}),
        ("[100-200)", set()),
        ("{25|30|77}", {"25", "30"}),
        ("{25|}", {"25", ""}),
        ("{38.0|39}", {"38", "39"}),
        ("*", set(AGES)),
        (None, {""}),
        (">25", {"26", "30", "38", "39", "40", "60", "30.5"}),
        (">=25", {"25", "26", "30", "38", "39", "40", "60", "30.5"}),
        ("≥ 40", {"40", "60"}),
        ("<26", {"9", "25", "-3"}),
        ("<=26", {"9", "25", "26", "-3"}),
        ("≤9", {"9", "-3"}),
        ("40+", {"40", "60"}),
        ("3*", {"30", "38", "39"}),
        ("**", {"25", "26", "30", "38", "39", "40", "60", "-3"}),
        ("*0", {"30", "40", "60"}),
        ("30-39", {"30", "38", "39", "30.5"}),
        ("30–39", {"30", "38", "39", "30.5"}),
        ("-5 - 9", {"-3", "9"}),
        ("[26, 39]", {"26", "30", "38", "39", "30.5"}),
        ("[26, 39[", {"26", "30", "38", "30.5"}),
        ("(26; 39]", {"30", "38", "39", "30.5"}),
        ("]26, 39)", {"30", "38", "30.5"}),
    ],
)
def test_labels_of_numbers(label: str | None, wanted: set[str]) -> None:
    assert covered(label, AGES) == (wanted, 0)


@pytest.mark.parametrize(
    ("label", "wanted"),
    [
        ("1950-03-15", {"1950-03-15"}),
        ("1951-03-15", set()),
        ("[1950-01-01-1950-04-01)", {"1950-01-01", "1950-03-15"}),
        ("[1950-1960)", {"1950-01-01", "1950-03-15", "1950-04-01", "1959-12-31"}),
        ("1950", {"1950-01-01", "1950-03-15", "1950-04-01"}),
        ("1950-03", {"1950-03-15"}),
        ("1950-12", set()),
        ("1950-Q1", {"1950-01-01", "1950-03-15"}),
        ("1950-Q4", set()),
        ("1950s", {"1950-01-01", "1950-03-15", "1950-04-01", "1959-12-31"}),
        (">1950-04-01", {"1959-12-31", "1960-01-01"}),
        ("<=1950-01-01", {"1949-12-31", "1950-01-01"}),
        ("1950-0*-**", None),
        ("1950-03-**", {"1950-03-15"}),
        ("*", set(DATES)),
        (None, {""}),
    ],
)
def test_labels_of_dates(label: str | None, wanted: set[str] | None) -> None:
    expected = (set(DATES), 1) if wanted is None else (wanted, 0)
    assert covered(label, DATES) == expected


@pytest.mark.parametrize(
    ("label", "wanted"),
    [
        ("01234", {"01234"}),
        ("012**", {"01234", "01299"}),
        ("142**", {"14248"}),
        ("14**", {"1424"}),
        ("*4321", {"54321"}),
        ("B-**", {"B-12"}),
        ("{01234|B-12}", {"01234", "B-12"}),
        (r"\{B|C}", set()),
        ("*", set(ZIPS)),
    ],
)
def test_labels_of_text(label: str, wanted: set[str]) -> None:
    assert covered(label, ZIPS) == (wanted, 0)


def test_dashes_and_brackets_are_no_ranges_of_text() -> None:
    assert covered("10-50", ["10-50", "12", "B"]) == ({"10-50"}, 0)
    assert covered("10-50", ["12", "B"]) == ({"12", "B"}, 1)


def test_ranges_cover_the_numbers_among_text() -> None:
    assert covered("[10-50)", ["12", "60", "unknown"]) == ({"12"}, 0)
    assert covered("[10-50)", ["old", "young"]) == ({"old", "young"}, 1)


def test_leading_zeros_that_a_spreadsheet_dropped() -> None:
    assert covered("01234", ["1234", "5678"]) == ({"1234"}, 0)
    assert covered("012**", ["1234", "5678"]) == ({"1234"}, 0)
    assert covered("12**", ["1234", "5678", "12345"]) == ({"1234"}, 0)


def test_a_label_that_nobody_can_read_covers_everyone_and_is_counted() -> None:
    assert covered("Blue-collar", ["Janitor", "Lawyer", ""]) == ({"Janitor", "Lawyer", ""}, 1)


def test_a_raw_column_holds_values_even_those_not_on_the_list() -> None:
    known = KnownValues(pl.Series("town", ["Ulm", "Bonn"]))
    coverage = read_labels(["Bonn", "Kiel", None], known, LabelWriting())
    assert (coverage.high - coverage.low).tolist() == [1, 0, 0]
    assert coverage.unreadable == 0
    mixed = read_labels(["Bonn", "North", "B*"], known, LabelWriting())
    assert (mixed.high - mixed.low).tolist() == [1, 3, 0]
    assert mixed.unreadable == 1


def test_hierarchy_labels_by_their_meaning() -> None:
    meaning: dict[str, list[str | None]] = {"Blue-collar": ["Janitor", "Mover", None], "3*": ["x1"]}
    values = ["Janitor", "Lawyer", "x1", "33", ""]
    assert covered("Blue-collar", values, LabelWriting(meaning=meaning)) == ({"Janitor", ""}, 0)
    # A label that is also a pattern covers what either says.
    assert covered("3*", values, LabelWriting(meaning=meaning)) == ({"x1", "33"}, 0)


HIERARCHY = LabelWriting(labels="hierarchy", rule="tree", general={"Blue": 2, "3*": 2})


@pytest.mark.parametrize(
    ("label", "writing", "wanted", "unreadable"),
    [
        ("Blue", HIERARCHY, {"Blue", "Red", "33", "3*"}, 1),
        ("Red", HIERARCHY, {"Red"}, 0),
        ("Green", HIERARCHY, set(), 0),
        ("3*", HIERARCHY, {"33", "3*"}, 0),
        ("*3", HIERARCHY, set(), 0),
        ("*3", LabelWriting(labels="hierarchy", rule="mask"), {"33"}, 0),
        ("3*", LabelWriting(labels="set", rule="mask"), {"3*"}, 0),
        (r"\*", LabelWriting(labels="set"), set(), 0),
        ("Green", LabelWriting(labels="set"), set(), 0),
    ],
)
def test_a_manifest_says_which_labels_are_values(
    label: str, writing: LabelWriting, wanted: set[str], unreadable: int
) -> None:
    assert covered(label, ["Blue", "Red", "33", "3*"], writing) == (wanted, unreadable)


def test_the_same_writing_matches_in_a_raw_table() -> None:
    assert covered("[1-5)", ["[1-5)", "[5-9)"])[0] == {"[1-5)"}
    assert covered("{a|b}", ["{a|b}", "a", "c"])[0] == {"{a|b}", "a"}
    assert covered(r"\x", [r"\x", "x"])[0] == {r"\x", "x"}


def test_codes_of_text_that_look_like_numbers_stay_text() -> None:
    assert covered("10.10", ["10.1", "10.10", "A"]) == ({"10.10"}, 0)
    assert covered("10.10", ["10.1", "10.10", "A"], numeric=True) == ({"10.1", "10.10"}, 0)
