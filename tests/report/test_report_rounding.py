"""What is told of the source: true in round numbers, and nothing about few."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_kinds import saved

from incrowd.report.crowds import Crowds, Told, crowds_of_sizes
from incrowd.report.rounding import (
    LEAST,
    TOLD_FROM,
    TOLD_IN_CROWDS,
    Before,
    about,
    round_to,
)


def before(sizes: list[int], told: Told, compared: bool = True) -> Before:
    return Before(crowds_of_sizes(np.array(sizes), {"ill": told}), compared)


def holds(words: str, share: float, step: float) -> bool:
    """Whether a share in words is true, a step of some percents allowed where it is only about."""
    found = re.fullmatch(r"([<>]?) ?([\d.]+) %", words)
    assert found is not None, words
    number = float(found[2])
    if found[1]:
        return 100 * share <= number if found[1] == "<" else 100 * share >= number
    return abs(100 * share - number) <= step + 1


@given(st.integers(0, 10**6), st.integers(2, 10**6))
@settings(deadline=None, derandomize=True)
def test_shares_are_true_and_stand_for_no_fewer_than_the_least(alone: int, others: int) -> None:
    crowds = Crowds(np.array([1, others]), np.array([alone, 1]), {})
    found = Before(crowds, compared=True)
    assert found.unit >= min(LEAST, alone + others)
    assert found.unique % found.unit == 0 or found.unique == found.records
    assert abs(found.unique - alone) <= found.unit / 2
    assert holds(
        found.share(found.unique), alone / (alone + others), 100 * found.unit / found.records
    )


@pytest.mark.parametrize(("records", "unit"), [(1, 5), (500, 5), (501, 6), (10_000, 100)])
def test_numbers_are_rounded_to_a_hundredth_or_the_least(records: int, unit: int) -> None:
    assert round_to(records) == unit
    assert round_to(records, 2000) == 2000


def test_without_suppression_crowds_are_told_as_they_are() -> None:
    found = before([1, 1, 3, 8], Told(1, 1, 1), compared=False)
    assert (found.unit, found.unique, found.count, found.between(2, 4)) == (1, 2, 4, 3)
    assert found.share(found.unique) == "15.4 %"
    assert found.at_least == "15.4 %"


def test_with_suppression_one_record_more_or_less_is_not_seen() -> None:
    told = [before([1] * alone + [300], Told(alone, alone, alone)) for alone in (99, 100, 101)]
    assert {(each.unique, each.count, each.between(1, 1)) for each in told} == {(100, 100, 100)}


@pytest.mark.parametrize(
    ("alone", "together", "shown"),
    [
        (10, TOLD_FROM, True),
        (TOLD_FROM, TOLD_IN_CROWDS, True),
        (TOLD_FROM, TOLD_IN_CROWDS - 2, False),
        (10, TOLD_FROM - 12, False),
    ],
)
def test_sensitive_values_in_the_source_are_told_of_many_only(
    alone: int, together: int, shown: bool
) -> None:
    sizes = [1] * alone + [2] * (together // 2)
    found = before(sizes, Told(alone + 40, alone + 40, alone + 60, None), compared=False)
    assert (found.told("ill", "alone") is not None) == shown
    assert found.told("ill", "similar") is None


def test_at_least_is_below_the_records_that_are_alone() -> None:
    for alone in range(0, 400, 7):
        found = before([1] * alone + [2] * 200, Told(0, 0, 0))
        assert float(found.at_least.split()[0]) <= 100 * alone / found.records


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0, "0 %"),
        (0.00001, "< 0.01 %"),
        (0.00512, "0.51 %"),
        (0.0996, "10 %"),
        (0.3289, "33 %"),
        (0.9961, "> 99 %"),
        (1, "100 %"),
        (12.341, "1,234 %"),
    ],
)
def test_two_digits_of_a_share_are_told(share: float, words: str) -> None:
    assert about(share) == words


@pytest.mark.parametrize("publish", ["generalized", "anatomy", "lossy-join"])
def test_whether_two_patients_who_look_alike_share_a_diagnosis_is_not_told(publish: str) -> None:
    """All but two patients are alone, and the tables are the same whichever is the case."""
    wanted = {
        "attributes": {"age": {"role": "quasi", "type": "category"}, "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 13}}],
        "publish": publish,
    }
    files = []
    for ills in (["hiv", "hiv", "flu", "flu"], ["hiv", "flu", "hiv", "flu"]):
        rows = [("40", ills[0]), ("40", ills[1]), ("41", ills[2]), ("42", ills[3])]
        rows += [(str(50 + i), ("hiv", "flu")[i % 2]) for i in range(9)]
        files.append(saved(pl.DataFrame(rows, schema=["age", "ill"], orient="row"), wanted))
    assert files[0] == files[1]


def test_suppressed_records_do_not_show_in_figures_of_the_source() -> None:
    """The records that are published are the same; three more are suppressed."""
    wanted = {
        "attributes": {"age": {"role": "quasi", "type": "category"}, "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 6}}],
        "method": "incognito",
        "suppression": 0.1,
    }
    crowd = [(str(age), ("hiv", "flu")[n % 2]) for age in range(20, 30) for n in range(6)]
    files = []
    for more in (["90", "90", "91"], ["oak", "oak", "elm"]):
        for ills in (["hiv", "hiv", "hiv"], ["flu", "hiv", "gout"]):
            rows = [*crowd, *zip(more, ills, strict=True)]
            files.append(saved(pl.DataFrame(rows, schema=["age", "ill"], orient="row"), wanted))
    assert json.loads(files[0]["manifest.json"])["records"]["suppressed"] == 3
    assert all(each == files[0] for each in files)
