"""(l, alpha)-diversity against its definitions in exact fractions, and what it refuses."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import privacy_reference as reference
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.counts.groups import Groups, Histogram
from incrowd.engines.preparation import prepare
from incrowd.errors import ParameterError
from incrowd.policy import Policy
from incrowd.privacy import LAlphaDiversity, LDiversity, Measurement
from incrowd.privacy._categories import by_category, weight_parts
from incrowd.table import Column

CATEGORIES = [["hiv", "cancer"], ["ulcer", ""], ["asthma"], ["flu", "cold", "0"]]
TREE = {"Top": {"Worst": ["hiv", "cancer"]}, "Low": {"Gut": ["ulcer"], "Lung": ["flu", "asthma"]}}
Rows = list[tuple[str, str | None]]

tables = st.lists(
    st.tuples(
        st.sampled_from(("a", "b", "c")),
        st.sampled_from(("hiv", "cancer", "ulcer", None, "asthma", "flu", "0")),
    ),
    min_size=1,
    max_size=30,
)
alphas = st.sampled_from((0, 0.5, 2 / 3, 1, 4 / 3, 5 / 3, 2, 2.5, 36 / 49, 130 / 49, 7))
schemes = st.sampled_from((None, 1, 2, 3, 17, 40))
brute = settings(max_examples=30)


def frame_of(rows: Rows) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"zip": pl.String, "ill": pl.String}, orient="row")


def measured(rows: Rows, **parameters: Any) -> Measurement:
    asked = {"sensitive": "ill", "categories": CATEGORIES, **parameters}
    return LAlphaDiversity(**asked).check(frame_of(rows), quasi=["zip"])


def scheme(beta: float | None) -> Any:
    return "uniform" if beta is None else {"sensitivity": beta}


def weights_by_definition(number: int, beta: int | None) -> list[Fraction]:
    """Definition 3, solved step by step: each difference is its w over all w together."""
    between = [Fraction(1, (i - 1) ** (beta or 0)) for i in range(2, number + 1)]
    weights = [Fraction(0)]
    for w in between:
        weights.append(weights[-1] + w / sum(between))
    return weights


def heavy(groups: list[reference.Spread], alpha: float, beta: int | None) -> reference.Expected:
    """The total weight of each group's records."""
    weights = weights_by_definition(len(CATEGORIES), beta)
    totals = [
        sum(
            (
                weight * group[value or None]
                for weight, values in zip(weights, CATEGORIES, strict=True)
                for value in values
            ),
            Fraction(0),
        )
        for group in groups
    ]
    least = Fraction(alpha) - reference.SLACK
    return reference.Expected({"alpha": float(min(totals))}, [each >= least for each in totals])


def of_categories(groups: list[reference.Spread]) -> list[reference.Spread]:
    place = {value or None: str(n) for n, each in enumerate(CATEGORIES) for value in each}
    joined = []
    for group in groups:
        counted = reference.Spread()
        for value, number in group.items():
            counted[place[value]] += number
        joined.append(counted)
    return joined


def agrees(found: Measurement, *expected: reference.Expected) -> None:
    held = [all(each) for each in zip(*(one.held for one in expected), strict=True)]
    assert found.failing == held.count(False)
    assert found.holds == all(held)
    numbers = {name: number for each in expected for name, number in each.numbers.items()}
    assert found.numbers == pytest.approx(numbers, rel=1e-12)


@brute
@given(rows=tables, l=st.integers(1, 5), alpha=alphas, beta=schemes)
def test_distinct(rows: Rows, l: int, alpha: float, beta: int | None) -> None:  # noqa: E741
    groups = reference.groups_of(rows, 1)
    found = measured(rows, l=l, alpha=alpha, weights=scheme(beta))
    agrees(found, reference.distinct(groups, l), heavy(groups, alpha, beta))


@brute
@given(rows=tables, l=st.sampled_from((1, 1.5, 2, 2.75, 3, 4)), alpha=alphas, beta=schemes)
def test_entropy(rows: Rows, l: float, alpha: float, beta: int | None) -> None:  # noqa: E741
    groups = reference.groups_of(rows, 1)
    found = measured(rows, l=l, alpha=alpha, kind="entropy", weights=scheme(beta))
    agrees(found, reference.entropy(of_categories(groups), l), heavy(groups, alpha, beta))


@brute
@given(
    rows=tables,
    l=st.integers(1, 4),
    c=st.sampled_from((0.5, 1.0, 1.1, 1.5, 2.0, 4.0)),
    alpha=alphas,
    beta=schemes,
)
def test_recursive(rows: Rows, l: int, c: float, alpha: float, beta: int | None) -> None:  # noqa: E741
    groups = reference.groups_of(rows, 1)
    found = measured(rows, l=l, alpha=alpha, kind="recursive", c=c, weights=scheme(beta))
    exact = reference.recursive(of_categories(groups), l, Fraction(str(c)))
    agrees(found, exact, heavy(groups, alpha, beta))


@brute
@given(rows=tables, l=st.integers(1, 4), kind=st.sampled_from(("entropy", "recursive")))
def test_diverse_categories_have_as_many_values(rows: Rows, l: int, kind: Any) -> None:  # noqa: E741
    """Definitions 5 and 6 also demand l different values; that follows."""
    c = 1000.0 if kind == "recursive" else None
    if measured(rows, l=l, alpha=0, kind=kind, c=c).holds:
        assert LDiversity(l=l, sensitive="ill").check(frame_of(rows), quasi=["zip"]).holds


@brute
@given(number=st.integers(2, 30), beta=st.floats(1, 60))
def test_weights_of_any_beta_rise_from_0_to_1(number: int, beta: float) -> None:
    parts = weight_parts(number, beta)
    assert parts[0] == 0
    assert all(a <= b for a, b in pairwise(parts))
    between = [i**-beta for i in range(1, number)]
    for place, part in enumerate(parts):
        assert part / parts[-1] == pytest.approx(math.fsum(between[:place]) / math.fsum(between))


@pytest.mark.parametrize(
    ("number", "beta"), [(4, 64), (900, 1), (4, 1e6), (2, 1e300), (1000, 63), (3, 700.5)]
)
def test_weights_too_fine_for_whole_numbers_are_floats(number: int, beta: float) -> None:
    parts = weight_parts(number, beta)
    assert len(parts) == number
    assert 0 < parts[1] / parts[-1] <= 1
    if number > 2:
        assert isinstance(parts[-1], float)


def test_a_sum_of_many_weights_is_exact() -> None:
    """300 thirds and 1/3 more are 100 1/3, and just so much passes; floats would add up noise."""
    rows: Rows = [("a", "ulcer")] * 301
    assert measured(rows, l=1, alpha=301 / 3).holds
    assert measured(rows, l=1, alpha=100.33333333).holds
    assert not measured(rows, l=1, alpha=100.333334).holds
    assert measured(rows, l=1, alpha=0).numbers["alpha"] == 301 / 3


def test_totals_beyond_64_bits_are_weighed_as_floats() -> None:
    column = Column("ill", "sensitive", "category", np.zeros(1, np.uint8), ("hiv", "ulcer", "flu"))
    counts = np.array([1 << 40, 3], dtype=np.int64)
    histogram = Histogram(np.array([0, 2]), np.array([1, 2]), counts, 3, np.array([0, 1 << 40, 3]))
    groups = Groups(np.array([(1 << 40) + 3]), {"ill": histogram})
    model = LAlphaDiversity(
        l=1,
        alpha=1,
        sensitive="ill",
        categories=CATEGORIES,
        weights={"sensitivity": 20},  # type: ignore[arg-type]
    ).bind({"ill": column}, {})
    weight = weights_by_definition(4, 20)[1] * (1 << 40) + 3
    assert model.total_weights(groups)[0] == pytest.approx(float(weight), rel=1e-12)
    assert model.holds(groups).all()


def test_groups_that_hold_may_fail_with_records_added_unless_distinct() -> None:
    few: Rows = [("a", "hiv"), ("a", "flu")]
    many: Rows = [*few, ("a", "hiv"), ("a", "hiv")]
    for kind, c in (("entropy", None), ("recursive", 1.5)):
        asked: dict[str, Any] = {"l": 2, "alpha": 1, "kind": kind, "c": c}
        assert measured(few, **asked).holds
        assert not measured(many, **asked).holds
        model = LAlphaDiversity(**asked, sensitive="ill", categories=CATEGORIES)
        assert not model.growing
    assert measured(many, l=2, alpha=1).holds


@brute
@given(
    counts=st.lists(st.lists(st.integers(0, 5), min_size=6, max_size=6), min_size=1, max_size=5),
    category=st.lists(st.integers(0, 2), min_size=6, max_size=6),
    number=st.sampled_from((3, 100)),
)
def test_counts_of_categories(counts: list[list[int]], category: list[int], number: int) -> None:
    dense = np.array(counts)
    where, values = np.nonzero(dense)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(where, minlength=len(counts)))))
    histogram = Histogram(offsets, values, dense[where, values], 6, dense.sum(axis=0))
    found = by_category(histogram, np.array(category), number)
    again = np.zeros((len(counts), number), dtype=np.int64)
    again[found.groups, found.values] = found.counts
    for row, group in zip(again, counts, strict=True):
        for one in range(number):
            assert row[one] == sum(n for n, c in zip(group, category, strict=True) if c == one)
    assert list(found.total) == list(again.sum(axis=0))
    assert (found.counts > 0).all()


# How a policy gives categories.


def level(order: list[str], at: int = 2, **more: Any) -> LAlphaDiversity:
    asked = {"l": 2, "alpha": 1, "sensitive": "ill", **more}
    return LAlphaDiversity(**{"categories": {"level": at, "order": order}, **asked})


ILL = {"ill": {"hierarchy": {"tree": TREE}}}
SOME: Rows = [
    *([("a", "hiv")] * 2),
    ("a", "flu"),
    *([("b", "cancer")] * 2),
    ("b", "ulcer"),
    ("b", "flu"),
]


def test_categories_by_level_are_those_listed() -> None:
    listed = LAlphaDiversity(
        l=2, alpha=1, sensitive="ill", categories=[["hiv", "cancer"], ["flu", "ulcer"]]
    ).check(frame_of(SOME), quasi=["zip"])
    by_level = level(["Top", "Low"]).check(frame_of(SOME), quasi=["zip"], kinds=ILL)
    assert by_level == listed
    assert by_level.numbers == {"l": 2, "alpha": 1}
    for at, order, alpha in [
        (2, ["Low", "Top"], 2),
        (1, ["Worst", "Gut", "Lung"], 1),
        (1, ["Lung", "Gut", "Worst"], 2),
        (1, ["Gut", "Worst", "Lung"], 2),
    ]:
        found = level(order, at=at).check(frame_of(SOME), quasi=["zip"], kinds=ILL)
        assert found.numbers == {"l": 2, "alpha": alpha}


def test_missing_cells_have_a_label_of_their_own_at_every_level() -> None:
    rows: Rows = [*SOME, ("a", None)]
    with pytest.raises(ParameterError, match=r"1 of the 3 labels at level 2 .* own, ''\."):
        level(["Top", "Low"]).check(frame_of(rows), quasi=["zip"], kinds=ILL)
    found = level(["Top", "", "Low"]).check(frame_of(rows), quasi=["zip"], kinds=ILL)
    assert found.numbers == {"l": 3, "alpha": 1.5}


def test_the_manifest_lists_the_published_values_of_each_category() -> None:
    policy = Policy.from_mapping(
        {
            "attributes": {
                "zip": "quasi",
                "ill": {"role": "sensitive", "hierarchy": {"tree": TREE}},
            },
            "privacy": [
                {
                    "l-alpha-diversity": {
                        "l": 2,
                        "alpha": 1,
                        "categories": {"level": 1, "order": ["Worst", "", "Gut", "Lung"]},
                        "weights": {"sensitivity": 2},
                    }
                }
            ],
        }
    )
    (model,) = prepare(frame_of([*SOME, ("a", None)]), policy).models
    promise = model.promise_about({"ill": {"hiv", "", "flu"}})
    assert promise == {
        "model": "l-alpha-diversity",
        "parameters": {
            "l": 2,
            "kind": "distinct",
            "c": None,
            "sensitive": "ill",
            "alpha": 1,
            "categories": [["hiv"], [""], [], ["flu"]],
            "weights": {"sensitivity": 2},
        },
    }


def test_listed_values_that_do_not_occur_change_nothing() -> None:
    more = [["hiv", "cancer", "plague"], ["ulcer"], ["flu"], ["cold"]]
    found = measured(SOME, l=2, alpha=1, categories=more)
    assert found.numbers == {"l": 2, "alpha": pytest.approx(2 / 3)}


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([("a", "flu"), ("a", "gout"), ("a", "lupus")], "2 value(s) that occur in 'ill' are in no"),
        ([("a", "flu"), ("a", None)], "1 value(s) that occur in 'ill' are in no category."),
    ],
)
def test_values_in_no_category_are_counted_and_not_named(rows: Rows, told: str) -> None:
    with pytest.raises(ParameterError) as caught:
        measured(rows, l=1, alpha=1, categories=[["hiv"], ["flu"]])
    assert told in str(caught.value)
    assert "List every value" in str(caught.value)
    assert ("Missing cells" in str(caught.value)) == (rows[-1][1] is None)
    assert "gout" not in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "kinds", "told"),
    [
        (level(["Top", "Low"]), None, "categories by level need a hierarchy of 'ill'"),
        (level(["Top", "Low"], at=4), ILL, "level is 4, but the hierarchy of 'ill' has only 3"),
        (level(["Gut", "Lung"], at=1), ILL, "1 of the 3 labels at level 1"),
        (level(["x", "y"]), ILL, "2 of the 2 labels at level 2"),
        (
            level(["Top", "Low"], l=3, kind="entropy"),
            ILL,
            "l is 3, but the entropy kind counts categories, and there are only 2.",
        ),
    ],
)
def test_levels_that_do_not_fit(asked: LAlphaDiversity, kinds: Any, told: str) -> None:
    with pytest.raises(ParameterError) as caught:
        asked.check(frame_of(SOME), quasi=["zip"], kinds=kinds)
    assert str(caught.value).startswith("l-alpha-diversity: ")
    assert told in str(caught.value)
    for secret in ("Top", "Low", "Gut", "Worst", "hiv", "flu"):
        assert secret not in str(caught.value)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"categories": "hiv"}, "categories: must be lists of values, the most sensitive first"),
        ({"categories": None}, "categories: must be lists of values"),
        ({"categories": []}, "categories: at least two categories are needed"),
        ({"categories": [["hiv", "flu"]]}, "at least two categories"),
        ({"categories": [["hiv"], "flu"]}, "category 2 must be a list of values"),
        ({"categories": [["hiv"], [None]]}, "category 2 must be a list of values"),
        ({"categories": [["hiv"], [3]]}, "category 2 must be a list of values"),
        ({"categories": [["hiv"], ["flu", "hiv"]]}, "categories: 'hiv' stands twice; list each"),
        ({"categories": [["hiv"], ["flu", "flu"]]}, "'flu' stands twice"),
        ({"categories": {"level": 1}}, "categories: needs `level` and `order`"),
        ({"categories": {"level": 1, "order": ["a", "b"], "by": 1}}, "needs `level` and `order`"),
        ({"categories": {"level": 0, "order": ["a", "b"]}}, "level must be a whole number of at"),
        ({"categories": {"level": True, "order": ["a", "b"]}}, "level must be a whole number"),
        ({"categories": {"level": 1, "order": "ab"}}, "order must be a list of the labels"),
        ({"categories": {"level": 1, "order": ["a"]}}, "order must list two or more different"),
        ({"categories": {"level": 1, "order": ["a", "a"]}}, "order must list two or more"),
        ({"weights": "sensitivity"}, "weights: must be uniform, or {sensitivity: beta}"),
        ({"weights": {"sensitivity": 0.9}}, "with a number of at least 1"),
        ({"weights": {"sensitivity": math.inf}}, "with a number of at least 1"),
        ({"weights": {"sensitivity": math.nan}}, "with a number of at least 1"),
        ({"weights": {"sensitivity": "2"}}, "with a number of at least 1"),
        ({"weights": {"beta": 2}}, "must be uniform, or {sensitivity: beta}"),
        ({"alpha": -0.1}, "alpha must be a number at least 0, got -0.1."),
        ({"alpha": math.inf}, "alpha must be a finite number, got inf."),
        ({"l": 0}, "l must be a"),
        ({"l": 2.5}, "l must be a whole number for the distinct kind"),
        ({"l": math.inf, "kind": "entropy"}, "l must be a finite number"),
        ({"kind": "frequency"}, "kind must be one of distinct, entropy, recursive, got"),
        ({"kind": "recursive"}, "the recursive kind needs c"),
        ({"c": 2.0}, "c belongs to the recursive kind"),
    ],
)
def test_parameters_that_are_not_legal(changed: dict[str, Any], told: str) -> None:
    legal: dict[str, Any] = {"l": 2, "alpha": 1, "sensitive": "ill", "categories": [["hiv"], ["x"]]}
    assert LAlphaDiversity(**legal).alpha == 1
    with pytest.raises(ParameterError) as caught:
        LAlphaDiversity(**{**legal, **changed})
    assert str(caught.value).startswith("l-alpha-diversity: ")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value), "one sentence for one mistake"
