"""Journalist risk: counted in a population, or expected under a sampling fraction."""

from __future__ import annotations

from collections import Counter
from math import exp, lgamma, log
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.attacks import risk
from incrowd.attacks.population import expected_risk
from incrowd.errors import InputError

SAMPLE = pl.DataFrame({"age": ["34", "34", "51"], "sex": ["F", "F", "M"]})


def test_population_by_hand() -> None:
    people = pl.DataFrame(
        {"age": [34.0] * 8 + [51.0] * 4 + [60.0], "sex": ["F"] * 8 + ["M"] * 4 + ["M"]}
    )
    found = risk(SAMPLE, quasi=["age", "sex"], population=people)
    assert found.journalist is not None
    assert (found.journalist.highest, found.journalist.basis) == (0.25, "population")
    assert found.journalist.average == pytest.approx((1 / 8 + 1 / 8 + 1 / 4) / 3)
    assert found.journalist.population == 13
    assert (found.marketer, found.marketer_basis) == (found.journalist.average, "population")
    assert found.prosecutor.highest == 1.0


def test_population_from_a_file_with_numbers_among_text(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("sex,age\nF,34.0\nF,34\nM,51\nM,unknown\n")
    found = risk(SAMPLE, quasi=["age", "sex"], population=tmp_path / "people.csv")
    assert found.journalist is not None
    assert found.journalist.average == pytest.approx((0.5 + 0.5 + 1) / 3)


def test_groups_that_the_population_lacks_are_told_without_values() -> None:
    people = pl.DataFrame({"age": [34, 70], "sex": ["F", "M"]})
    with pytest.raises(InputError) as caught:
        risk(SAMPLE, quasi=["age", "sex"], population=people)
    message = str(caught.value)
    assert "of its 2 groups, 1 do not occur there and 1 have fewer records there" in message
    assert "51" not in message
    assert "34" not in message


def test_a_population_with_fewer_records_than_the_sample_is_refused() -> None:
    people = pl.DataFrame({"age": [34, 51], "sex": ["F", "M"]})
    with pytest.raises(InputError, match="and 1 have fewer records there"):
        risk(SAMPLE, quasi=["age", "sex"], population=people)


def test_a_population_without_a_column_is_refused() -> None:
    with pytest.raises(InputError, match="No column 'sex'"):
        risk(SAMPLE, quasi=["age", "sex"], population=SAMPLE.select("age"))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["x", None])), min_size=1, max_size=10),
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["x", None])), max_size=20),
)
def test_population_risk_against_plain_counting(
    sample: list[tuple[int, str | None]], others: list[tuple[int, str | None]]
) -> None:
    schema = {"a": pl.Int64, "b": pl.String}
    people = [*sample, *others]
    found = risk(
        pl.DataFrame(sample, schema=schema, orient="row"),
        quasi=["a", "b"],
        population=pl.DataFrame(people, schema=schema, orient="row"),
    )
    sizes = Counter(people)
    risks = [1 / sizes[row] for row in sample]
    assert found.journalist is not None
    assert found.journalist.highest == max(risks)
    assert found.journalist.average == pytest.approx(sum(risks) / len(risks))


def summed(f: int, p: float) -> float:
    """E[1/F] by summing the negative binomial until nothing more comes."""
    total, mass, h = 0.0, 0.0, f
    while mass < 1 - 1e-13 and h < 2_000_000:
        chance = exp(lgamma(h) - lgamma(f) - lgamma(h - f + 1) + f * log(p) + (h - f) * log(1 - p))
        total, mass, h = total + chance / h, mass + chance, h + 1
    return total


@pytest.mark.parametrize("p", [0.03, 0.3, 0.499, 0.5, 0.501, 0.7, 0.99])
@pytest.mark.parametrize("f", [1, 2, 3, 7, 31, 32, 33, 34, 60])
def test_expected_risk_equals_the_sum(f: int, p: float) -> None:
    assert expected_risk(np.array([f]), p)[0] == pytest.approx(summed(f, p), rel=1e-8)


@pytest.mark.parametrize("p", [0.02, 0.4, 0.8])
def test_expected_risk_equals_the_closed_forms(p: float) -> None:
    q = 1 - p
    one, two = expected_risk(np.array([1, 2]), p)
    assert one == pytest.approx(p / q * log(1 / p))
    assert two == pytest.approx(p / q**2 * (p * log(p) + q))


def test_expected_risk_of_the_whole_population_is_exact() -> None:
    assert expected_risk(np.array([4, 1, 2]), 1.0).tolist() == [0.25, 1.0, 0.5]


def test_expected_risk_falls_with_size_and_rises_with_the_fraction() -> None:
    sizes = np.array([1, 2, 3, 5, 10, 30, 31, 32, 33, 40, 1000, 1_000_000])
    for p in (0.001, 0.2, 0.49, 0.51, 0.9):
        risks = expected_risk(sizes, p)
        assert (np.diff(risks) < 0).all()
        assert (risks <= 1 / sizes).all()
        assert (expected_risk(sizes, p + 0.01) > risks).all()


def test_sampling_fraction_by_hand() -> None:
    found = risk(SAMPLE, quasi=["age"], sampling_fraction=0.5)
    assert found.journalist is not None
    # r(1) = log 2 and r(2) = 1 - log 2 for p = 1/2.
    assert found.journalist.highest == pytest.approx(log(2))
    assert found.journalist.average == pytest.approx((2 * (1 - log(2)) + log(2)) / 3)
    assert found.journalist.sampling_fraction == 0.5
    assert found.marketer == found.journalist.average
