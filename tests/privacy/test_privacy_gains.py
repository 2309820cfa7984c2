"""delta-disclosure and beta-likeness against their definitions, on random small tables."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import polars as pl
import privacy_reference as reference
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd
from incrowd.privacy import BetaLikeness, DeltaDisclosure, Measurement, PrivacyModel

Rows = list[tuple[str, str | None]]

tables = st.lists(
    st.tuples(st.sampled_from(("a", "b", "c")), st.sampled_from(("flu", "hiv", "ulcer", None))),
    min_size=1,
    max_size=40,
)
full_tables = st.lists(
    st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=4
).map(
    lambda groups: [
        (f"group {number}", value)
        for number, counts in enumerate(groups)
        for value, count in zip(("flu", "hiv", None), counts, strict=True)
        for _ in range(count)
    ]
)
brute = settings(max_examples=40)


def measured(model: PrivacyModel, rows: Rows) -> Measurement:
    frame = pl.DataFrame(rows, schema={"zip": pl.String, "ill": pl.String}, orient="row")
    return model.check(frame, quasi=["zip"])


def ratios(rows: Rows) -> list[dict[str | None, tuple[Fraction, Fraction]]]:
    """For each group, the shares in it and in the table of every value of the table."""
    groups = reference.groups_of(rows, 1)
    whole: reference.Spread = sum(groups, reference.Spread())
    return [
        {
            value: (Fraction(group[value], group.total()), Fraction(number, whole.total()))
            for value, number in whole.items()
        }
        for group in groups
    ]


def disclosure(rows: Rows, delta: float) -> reference.Expected:
    found = [
        max(math.inf if q == 0 else abs(math.log(q / p)) for q, p in group.values())
        for group in ratios(rows)
    ]
    return reference.Expected({"delta": max(found)}, [each < delta for each in found])


def likeness(rows: Rows, beta: float, kind: str) -> reference.Expected:
    held: list[bool] = []
    needed: list[Fraction | float] = [Fraction(0)]
    for group in ratios(rows):
        gains = [((q - p) / p, p) for q, p in group.values() if q > p]
        bounds = [beta if kind == "basic" else min(beta, -math.log(p)) for _, p in gains]
        held.append(all(gain <= b + 1e-9 for (gain, _), b in zip(gains, bounds, strict=True)))
        needed += [
            math.inf if kind == "enhanced" and gain > -math.log(p) + 1e-9 else gain
            for gain, p in gains
        ]
    return reference.Expected({"beta": float(max(needed))}, held)


def agrees(found: Measurement, expected: reference.Expected) -> None:
    assert found.failing == expected.held.count(False)
    assert found.holds == all(expected.held)
    assert found.numbers == pytest.approx(expected.numbers, rel=1e-12, abs=1e-12)


@brute
@given(rows=st.one_of(tables, full_tables), delta=st.sampled_from((0.01, 0.3, 0.5, 1, 2.5)))
def test_delta_disclosure(rows: Rows, delta: float) -> None:
    model = DeltaDisclosure(delta=delta, sensitive="ill")
    agrees(measured(model, rows), disclosure(rows, delta))


@brute
@given(
    rows=st.one_of(tables, full_tables),
    beta=st.sampled_from((0.01, 0.25, 1 / 3, 0.5, 1, 2, 4)),
    kind=st.sampled_from(("basic", "enhanced")),
)
def test_beta_likeness(rows: Rows, beta: float, kind: Any) -> None:
    model = BetaLikeness(beta=beta, kind=kind, sensitive="ill")
    agrees(measured(model, rows), likeness(rows, beta, kind))


def counted(*groups: tuple[int, ...]) -> Rows:
    """Rows of groups with so many of each value."""
    return [
        (f"group {number}", f"ill {value}")
        for number, counts in enumerate(groups)
        for value, count in enumerate(counts)
        for _ in range(count)
    ]


def test_a_group_that_lacks_a_value_discloses_it() -> None:
    rows = counted((1, 1), (2, 0))
    found = measured(DeltaDisclosure(delta=1e9, sensitive="ill"), rows)
    assert not found.holds
    assert found.numbers == {"delta": math.inf}
    assert found.failing == 1


@pytest.mark.parametrize("groups", [((2, 2), (1, 5)), ((20, 20), (10, 50)), ((3, 3), (2, 10))])
def test_a_tie_with_delta_is_refused(groups: tuple[tuple[int, ...], ...]) -> None:
    """The definition is strict: |ln(q / p)| < delta."""
    rows = counted(*groups)
    limit = measured(DeltaDisclosure(delta=1, sensitive="ill"), rows).numbers["delta"]
    assert limit == pytest.approx(
        max(abs(math.log(q / p)) for g in ratios(rows) for q, p in g.values())
    )
    assert not measured(DeltaDisclosure(delta=limit, sensitive="ill"), rows).holds
    assert measured(DeltaDisclosure(delta=limit * 1.000001, sensitive="ill"), rows).holds


def test_a_group_spread_as_the_table_passes_the_smallest_bounds() -> None:
    rows = counted((1, 2, 3), (2, 4, 6), (7, 14, 21))
    for model in (
        DeltaDisclosure(delta=1e-12, sensitive="ill"),
        BetaLikeness(beta=1e-12, sensitive="ill"),
        BetaLikeness(beta=1e-12, kind="enhanced", sensitive="ill"),
    ):
        found = measured(model, rows)
        assert found.holds
        assert set(found.numbers.values()) == {0}


def test_passing_over_absent_values_would_not_be_monotone() -> None:
    """Each group alone, without the value it lacks, is within ln 2; joined, one value is rare.

    In a table of (50, 50) the parts (0, 20) and (1, 0) show 1, twice 1/2; their join shows value
    0 with 1/21, which is far less than half of 1/2.
    """
    parts = [(0, 20), (1, 0)]
    shares = [Fraction(n, sum(part)) for part in parts for n in part if n]
    assert all(abs(math.log(share / Fraction(1, 2))) <= math.log(2) for share in shares)
    joined = Fraction(1, 21)
    assert abs(math.log(joined / Fraction(1, 2))) > 2
    rows = counted(*parts, (49, 30))
    assert measured(DeltaDisclosure(delta=0.7, sensitive="ill"), rows).failing == 2


def test_records_added_may_break_a_bound() -> None:
    """The first group gains four records of one value; the table stays as it was."""
    for model in (
        DeltaDisclosure(delta=0.5, sensitive="ill"),
        BetaLikeness(beta=0.4, sensitive="ill"),
        BetaLikeness(beta=0.4, kind="enhanced", sensitive="ill"),
    ):
        assert not model.growing
        assert measured(model, counted((2, 2), (6, 6))).holds
        assert not measured(model, counted((2, 6), (6, 2))).holds


def test_the_enhanced_kind_binds_frequent_values_too() -> None:
    """A value with half of all records may fill a group under basic 1-likeness: 2 x 1/2 = 1."""
    rows = counted((4, 0), (0, 4))
    assert measured(BetaLikeness(beta=1, sensitive="ill"), rows).holds
    enhanced = measured(BetaLikeness(beta=1, kind="enhanced", sensitive="ill"), rows)
    assert not enhanced.holds, "1 exceeds ln 2"
    assert enhanced.numbers == {"beta": math.inf}, "and no larger beta would help"
    assert enhanced.failing == 2


@pytest.mark.parametrize(
    "model",
    [
        {"delta-disclosure": {"delta": 0.9, "sensitive": "ill"}},
        {"beta-likeness": {"beta": 0.8, "sensitive": "ill"}},
        {"beta-likeness": {"beta": 0.8, "kind": "enhanced", "sensitive": "ill"}},
    ],
    ids=["delta", "basic", "enhanced"],
)
@pytest.mark.parametrize("suppression", [0.0, 0.1])
def test_a_release_keeps_it_by_its_own_distribution(
    model: dict[str, Any], suppression: float
) -> None:
    draw = random.Random(3)
    rows = [(draw.randint(20, 80), draw.choice("fm"), draw.choice("AAABBC")) for _ in range(400)]
    frame = pl.DataFrame(rows, schema=["age", "sex", "ill"], orient="row")
    policy = {
        "attributes": {"age": "quasi", "sex": "quasi", "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 3}}, model],
        "suppression": suppression,
    }
    data = incrowd.anonymize(frame, policy).data
    ((name, parameters),) = model.items()
    judge = incrowd.privacy.MODELS[name](**parameters)
    assert data.select("age", "sex").n_unique() > 3
    assert judge.check(data, quasi=["age", "sex"]).holds
