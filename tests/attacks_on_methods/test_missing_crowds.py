"""Who has the list of people sees who is missing: that may tell nothing of sensitive values."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import numpy as np
import polars as pl
import pytest
from enumerating_attacker import SENSITIVE, SICK, policy_of

from incrowd._runtime.progress import silent
from incrowd.methods.base import Outcome
from incrowd.methods.registry import run
from incrowd.pipeline import Job

WIDTHS = [1, 5, 10, 20]


def crowd(seed: int, records: int = 200) -> pl.DataFrame:
    """People of whom every fifth is sick; a few live in towns of their own, or are very old."""
    draw = random.Random(seed)
    rows = [
        (
            draw.randint(20, 39) if draw.random() < 0.97 else draw.randint(50, 59),
            draw.choice("fm"),
            draw.choice("AABBCCD"),
            SICK if draw.random() < 0.2 else "Flu",
        )
        for _ in range(records)
    ]
    return pl.DataFrame(rows, schema=["age", "sex", "town", SENSITIVE], orient="row")


def made(frame: pl.DataFrame, method: Any) -> Outcome:
    job = Job.begin(frame, policy_of(method, suppression=0.1), silent)
    return run(job.task, job.policy.method)


def missing_crowds(frame: pl.DataFrame, outcome: Outcome) -> list[list[str]]:
    """The sensitive values of the missing people, by what they would show at the levels."""
    levels = outcome.levels
    found = defaultdict(list)
    groups = np.asarray(outcome.group_of_record)
    for (age, sex, town, ill), group in zip(frame.rows(), groups, strict=True):
        if group < 0:
            width = WIDTHS[levels["age"]] if levels["age"] < len(WIDTHS) else 100
            shown = ((age - 20) // width, sex * (1 - levels["sex"]), town * (1 - levels["town"]))
            found[shown].append(ill)
    return list(found.values())


@pytest.mark.parametrize("method", ["incognito", "research-value"])
def test_no_crowd_is_missing_that_was_large_enough(method: str) -> None:
    """One of k or more could be missing only since it breaks the bound: most of it is sick."""
    missing = []
    for seed in range(12):
        frame = crowd(seed)
        missing += missing_crowds(frame, made(frame, method))
    assert missing, "nothing was dropped, so nothing was tested"
    assert [each for each in missing if len(each) >= 2] == []


def outliers(seed: int) -> pl.DataFrame:
    """Two numbers of which some lie far out, so that dropping their records pays."""
    draw = random.Random(seed)

    def number() -> int:
        return draw.randint(0, 30) if draw.random() < 0.95 else draw.choice([300, 600, 900])

    rows = [(number(), number(), SICK if draw.random() < 0.3 else "Flu") for _ in range(120)]
    return pl.DataFrame(rows, schema=["age", "income", SENSITIVE], orient="row")


def dropped_by_mondrian(frame: pl.DataFrame, split: str) -> list[bool]:
    policy = policy_of({"name": "mondrian", "split": split}, suppression=0.1)
    policy["attributes"] = {"age": "quasi", "income": "quasi", SENSITIVE: "sensitive"}
    job = Job.begin(frame, policy, silent)
    outcome = run(job.task, job.policy.method)
    return [bool(group < 0) for group in np.asarray(outcome.group_of_record)]


@pytest.mark.parametrize("split", ["loss", "median"])
def test_mondrian_drops_the_same_people_whoever_is_sick(split: str) -> None:
    dropped_in_all = 0
    for seed in range(6):
        frame = outliers(seed)
        dropped = dropped_by_mondrian(frame, split)
        dropped_in_all += sum(dropped)
        shuffled = frame.with_columns(pl.col(SENSITIVE).shuffle(seed=seed + 1))
        assert dropped_by_mondrian(shuffled, split) == dropped
    assert dropped_in_all, "nothing was dropped, so nothing was tested"


def test_what_is_missing_at_the_same_levels_is_the_same_whoever_is_sick() -> None:
    seen: dict[tuple[int, ...], set[tuple[bool, ...]]] = defaultdict(set)
    frame = crowd(1)
    for seed in range(15):
        shuffled = frame.with_columns(pl.col(SENSITIVE).shuffle(seed=seed))
        outcome = made(shuffled, "incognito")
        dropped = np.asarray(outcome.group_of_record) < 0
        seen[tuple(outcome.levels.values())].add(tuple(dropped.tolist()))
    assert any(any(each) for ways in seen.values() for each in ways)
    assert all(len(ways) == 1 for ways in seen.values())
