"""What a label stands for, by what is known of how it was written."""

from __future__ import annotations

from fractions import Fraction

import pytest

from incrowd.hierarchies.labels import Anything, Members, Plain, Range
from incrowd.labels import LabelReading, LabelWriting, MaskedLabel, ranked

SET = LabelWriting("set")
TREE = LabelWriting("hierarchy", "tree", {"North": 3, "1970": 2, "3*": 2, "30": 9})
MASK = LabelWriting("hierarchy", "mask")
FOREIGN = LabelWriting()
GIVEN = LabelWriting("hierarchy", "file", {"North": 2}, {"North": ["Kiel", None], "Kiel": ["Kiel"]})
YEAR = Range(Fraction(0), Fraction(365), dates=True)


@pytest.mark.parametrize(
    ("writing", "label", "kind", "wanted"),
    [
        (LabelWriting("exact"), "*", "category", Plain("*")),
        (LabelWriting("exact"), r"{a\|b}", "category", Plain(r"{a\|b}")),
        (SET, "*", "numeric", Anything()),
        (SET, r"\*", "category", Plain("*")),
        (SET, r"{a\|b|c}", "category", Members(("a|b", "c"))),
        (SET, "[1-3)", "numeric", Range(Fraction(1), Fraction(3), dates=False)),
        (SET, "[1-3)", "date", None),
        (SET, "[1-3)", "category", Range(Fraction(1), Fraction(3), dates=False)),
        (SET, "142**", "category", Plain("142**")),
        (MASK, "142**", "category", MaskedLabel("142", 5)),
        (MASK, "**248", "category", MaskedLabel("248", 5, at_end=True)),
        (MASK, "**", "category", Plain("**")),
        (MASK, r"\142**", "category", Plain("142**")),
        (FOREIGN, "142**", "category", MaskedLabel("142", 5)),
        (TREE, "3*", "category", MaskedLabel("3", 2)),
        (TREE, "4*", "category", Plain("4*")),
        (TREE, "North", "category", None),
        (TREE, "Kiel", "category", Plain("Kiel")),
        (TREE, "30", "numeric", None),
        (TREE, "1970", "date", YEAR),
        (TREE, "1971", "date", Plain("1971")),
        (LabelWriting("hierarchy", "dates"), "1970", "date", YEAR),
        (FOREIGN, "1970", "date", YEAR),
        (FOREIGN, "1970", "numeric", Plain("1970")),
        (GIVEN, "North", "category", Members(("Kiel", ""))),
        (GIVEN, "Kiel", "category", Plain("Kiel")),
    ],
)
def test_each_kind_of_label(
    writing: LabelWriting, label: str, kind: str, wanted: LabelReading
) -> None:
    assert writing.read(label, kind) == wanted


@pytest.mark.parametrize(
    ("writing", "label", "kind", "wanted"),
    [
        (SET, "[1-3)", "numeric", (1, 3)),
        (SET, "2.5", "numeric", (Fraction(5, 2), None)),
        (TREE, "1970", "date", (0, 365)),
        (TREE, "30", "numeric", (30, None)),
        (TREE, "North", "numeric", None),
    ],
)
def test_places_on_an_axis(writing: LabelWriting, label: str, kind: str, wanted: object) -> None:
    assert writing.span(label, kind) == wanted


def test_only_attributes_that_are_generalized_have_labels() -> None:
    assert LabelWriting.of({"role": "keep", "labels": "set"}).exact
    assert LabelWriting.of({"role": "quasi", "labels": "exact"}).exact
    assert not LabelWriting.of({"role": "quasi"}).exact


def test_missing_cells_stand_first() -> None:
    texts, place = ranked(["b", None, "", "a"])
    assert texts == (None, "", "a", "b")
    assert place.tolist() == [3, 0, 1, 2]
