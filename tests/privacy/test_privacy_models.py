"""Each model, through `check` on a frame, against its definition on random small tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import polars as pl
import privacy_reference as reference
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from incrowd.privacy import (
    AlphaK,
    ConfidenceBounding,
    KAnonymity,
    LDiversity,
    Measurement,
    PrivacyModel,
    PSensitive,
)

COLUMNS = ("zip", "sex", "ill")
QUASI = ("zip", "sex")
Rows = list[tuple[str | None, str | None, str | None]]

tables = st.lists(
    st.tuples(
        st.sampled_from((None, "1424*", "9")),
        st.sampled_from((None, "F", "M")),
        st.sampled_from((None, "flu", "hiv", "ulcer", "0")),
    ),
    min_size=1,
    max_size=30,
)
shares = st.sampled_from((0.1, 0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1.0))
brute = settings(max_examples=25)


def measured(model: PrivacyModel, rows: Sequence[tuple[str | None, ...]]) -> Measurement:
    frame = pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")
    return model.check(frame, quasi=QUASI)


def agrees(found: Measurement, expected: reference.Expected) -> None:
    assert found.failing == expected.held.count(False)
    assert found.holds == all(expected.held)
    assert found.numbers.keys() == expected.numbers.keys()
    for name, number in expected.numbers.items():
        assert found.numbers[name] == pytest.approx(number, rel=1e-12)


@brute
@given(rows=tables, k=st.integers(2, 6))
def test_k_anonymity_is_the_smallest_group(rows: Rows, k: int) -> None:
    groups = reference.groups_of(rows, len(QUASI))
    agrees(measured(KAnonymity(k=k), rows), reference.k_anonymity(groups, k))


@brute
@given(rows=tables, l=st.integers(1, 5))
def test_distinct_diversity_counts_values(rows: Rows, l: int) -> None:  # noqa: E741
    groups = reference.groups_of(rows, len(QUASI))
    agrees(measured(LDiversity(l=l, sensitive="ill"), rows), reference.distinct(groups, l))


@brute
@given(rows=tables, l=st.sampled_from((1, 1.5, 2, 2.75, 3, 5)))
def test_entropy_diversity(rows: Rows, l: float) -> None:  # noqa: E741
    groups = reference.groups_of(rows, len(QUASI))
    model = LDiversity(l=l, kind="entropy", sensitive="ill")
    agrees(measured(model, rows), reference.entropy(groups, l))


@brute
@given(rows=tables, l=st.sampled_from((1, 1.5, 2, 2.75, 3, 5)))
def test_frequency_diversity(rows: Rows, l: float) -> None:  # noqa: E741
    groups = reference.groups_of(rows, len(QUASI))
    model = LDiversity(l=l, kind="frequency", sensitive="ill")
    agrees(measured(model, rows), reference.frequency(groups, l))


@brute
@given(rows=tables, l=st.integers(1, 5), c=st.sampled_from((0.25, 0.5, 1.0, 1.5, 2.0, 4.0)))
@example(rows=[("9", "F", "flu")] * 4 + [("9", "F", "hiv")] * 2, l=2, c=2.0)
def test_recursive_diversity(rows: Rows, l: int, c: float) -> None:  # noqa: E741
    groups = reference.groups_of(rows, len(QUASI))
    model = LDiversity(l=l, kind="recursive", c=c, sensitive="ill")
    agrees(measured(model, rows), reference.recursive(groups, l, Fraction(c)))


@brute
@given(rows=tables, p=st.integers(1, 5), k=st.integers(2, 5))
def test_p_sensitive(rows: Rows, p: int, k: int) -> None:
    groups = reference.groups_of(rows, len(QUASI))
    model = PSensitive(p=p, k=k, sensitive="ill")
    agrees(measured(model, rows), reference.p_sensitive(groups, p, k))


@brute
@given(rows=tables, alpha=shares, k=st.integers(2, 5), listing=st.booleans())
def test_alpha_k(rows: Rows, alpha: float, k: int, listing: bool) -> None:
    groups = reference.groups_of(rows, len(QUASI))
    values = listed(rows) if listing else None
    model = AlphaK(alpha=alpha, k=k, sensitive="ill", values=values)
    agrees(measured(model, rows), reference.alpha_k(groups, alpha, k, values))


@brute
@given(rows=tables, most=shares, listing=st.booleans())
def test_confidence_bounding(rows: Rows, most: float, listing: bool) -> None:
    groups = reference.groups_of(rows, len(QUASI))
    values = listed(rows) if listing else None
    model = ConfidenceBounding(C=most, sensitive="ill", values=values)
    agrees(measured(model, rows), reference.confidence(groups, most, values))


def listed(rows: Rows) -> list[str] | None:
    """Two of the values that occur, or all when none does."""
    return sorted({row[-1] for row in rows if row[-1] is not None})[:2] or None


@pytest.mark.parametrize(
    ("counts", "l", "c", "held"),
    [
        ((4, 2), 2, 2.0, False),  # 4 < 2 * 2 is false
        ((4, 2), 2, 2.001, True),
        ((3, 2), 2, 2.0, True),
        ((5, 3, 2), 2, 1.0, False),  # 5 < 1 * (3 + 2) is false
        ((5, 3, 3), 2, 1.0, True),
        ((5, 3, 2), 3, 2.5, False),  # 5 < 2.5 * 2 is false
        ((5, 3, 2), 4, 100.0, False),  # only three values
        ((1,), 1, 1.0, False),  # 1 < 1 * 1 is false
        ((1,), 1, 1.5, True),
        ((11, 10), 2, 1.1, False),  # 11 < 1.1 * 10 is false
        ((55, 50), 2, 1.1, False),  # as is 55 < 1.1 * 50, which floats make 55.00000000000001
        ((28, 25), 2, 1.12, False),
        ((7, 10), 2, 1.43, True),  # 10 < 1.43 * 7 = 10.01
    ],
)
def test_recursive_diversity_is_strict_at_equality(
    counts: tuple[int, ...],
    l: int,  # noqa: E741
    c: float,
    held: bool,
) -> None:
    rows = [("9", "F", f"ill {value}") for value, n in enumerate(counts) for _ in range(n)]
    model = LDiversity(l=l, kind="recursive", c=c, sensitive="ill")
    assert measured(model, rows).holds is held


def test_recursive_diversity_needs_an_infinite_c_where_values_are_too_few() -> None:
    model = LDiversity(l=3, kind="recursive", c=4.0, sensitive="ill")
    found = measured(model, [("9", "F", "flu"), ("9", "F", "hiv")])
    assert found.numbers == {"c": math.inf}
    assert found.failing == 1


def test_thirds_pass_for_a_third() -> None:
    rows = [("9", "F", value) for value in ("flu", "hiv", "ulcer")]
    assert measured(ConfidenceBounding(C=0.333333333333, sensitive="ill"), rows).holds
    assert measured(LDiversity(l=3, kind="entropy", sensitive="ill"), rows).holds
    assert not measured(ConfidenceBounding(C=0.3333, sensitive="ill"), rows).holds
