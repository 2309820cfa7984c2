"""Outliers are dropped where the rest gains more than they cost, and never more than allowed."""

import numpy as np
import polars as pl
import pytest

import incrowd


def release(ages: list[int], suppression: float, k: int = 3, **more: object) -> incrowd.Release:
    policy = {
        "attributes": {"age": "quasi"},
        "privacy": [{"k-anonymity": {"k": k}}],
        "suppression": suppression,
        **more,
    }
    return incrowd.anonymize(pl.DataFrame({"age": ages}), policy)


@pytest.mark.parametrize("split", ["loss", "median"])
def test_nothing_is_dropped_unless_it_is_allowed(split: str) -> None:
    made = release([*range(20, 29), 900], 0.0, method={"name": "mondrian", "split": split})
    assert made.manifest["records"]["suppressed"] == 0


def test_an_outlier_is_dropped_before_it_widens_a_group() -> None:
    """It costs one full cell; in a group of three it would cost all three nearly that."""
    ages = [*range(20, 29), 900]
    whole, trimmed = release(ages, 0.0), release(ages, 0.1)
    assert trimmed.manifest["records"]["suppressed"] == 1
    assert trimmed.data["age"].unique().sort().to_list() == ["[20-24)", "[24-29)"]
    assert max(whole.data["age"].to_list()).endswith("-901)")


def test_never_more_records_are_dropped_than_allowed() -> None:
    """Outliers of several records each, some of which no longer fit under the limit."""
    policy = {"attributes": {"age": "quasi", "ward": "quasi"}, "method": "mondrian"}
    for seed in range(60):
        draw = np.random.default_rng(seed)
        many = int(draw.integers(20, 60))
        ages = draw.integers(0, 8, many) * (1 + 9 * (draw.random(many) < 0.2))
        frame = pl.DataFrame({"age": ages, "ward": draw.choice(list("xyz"), many)})
        for share in (0.03, 0.05, 0.1):
            asked = {**policy, "privacy": [{"k-anonymity": {"k": 3}}], "suppression": share}
            made = incrowd.anonymize(frame, asked)
            assert made.manifest["records"]["suppressed"] <= share * many


def test_the_limit_is_kept_when_there_are_more_outliers() -> None:
    ages = [*range(20, 40), 900, 2_000, 5_000]
    made = release(ages, 2 / len(ages))
    assert made.manifest["records"]["suppressed"] <= 2
    assert incrowd_smallest(made) >= 3


def test_close_values_are_not_dropped() -> None:
    made = release([20, 20, 20, 21, 21, 21], 0.5)
    assert made.manifest["records"]["suppressed"] == 0


def incrowd_smallest(made: incrowd.Release) -> int:
    return int(made.data.group_by("age").len()["len"].min())  # type: ignore[arg-type]
