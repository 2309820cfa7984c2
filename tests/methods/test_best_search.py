"""Of several orders the one whose table is worth most is taken, by what a tree learns from it."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd._runtime.progress import silent
from incrowd.methods.top_down_specialization import Order
from incrowd.methods.top_down_specialization.search import (
    TopDownSpecialization,
    best_search,
    top_down_specialization,
)
from incrowd.pipeline import Job

ORDERS: tuple[Order, ...] = ("frugal", "gain", "greedy")


def job_of(columns: dict[str, list[Any]], K: int, goal: str = "classification") -> Job:
    policy = {
        "attributes": {name: "quasi" for name in columns if name != "class"} | {"class": "target"},
        "privacy": [{"lkc": {"L": 2, "K": K}}],
        "goal": goal,
    }
    return Job.begin(pl.DataFrame(columns), policy, silent)


def test_a_class_that_is_told_by_two_attributes_together_is_told_right() -> None:
    """Neither tells it alone; a tree over both does."""
    draw = random.Random(3)
    left = [draw.choice("ab") for _ in range(400)]
    right = [draw.choice("xy") for _ in range(400)]
    told = ["yes" if (a == "a") and (b == "x") else "no" for a, b in zip(left, right, strict=True)]
    job = job_of({"left": left, "right": right, "class": told}, K=5)
    search = TopDownSpecialization(job.task)
    assert search.worth() == pytest.approx(told.count("no") / 400), "nothing is shown yet"
    assert search.finished().worth() == 1.0


def test_noise_is_worth_no_more_than_the_most_frequent_class() -> None:
    draw = random.Random(4)
    columns: dict[str, list[Any]] = {f"noise{i}": draw.choices(range(9), k=300) for i in range(6)}
    columns["class"] = draw.choices(["yes", "no"], weights=[7, 3], k=300)
    search = TopDownSpecialization(job_of(columns, K=5).task).finished()
    assert search.worth() == columns["class"].count("yes") / 300


def test_the_worth_of_a_general_table_is_one_less_its_discernibility_ratio() -> None:
    columns: dict[str, list[Any]] = {"age": [1, 1, 1, 5, 5, 5, 9, 9], "class": ["a"] * 8}
    search = TopDownSpecialization(job_of(columns, K=2, goal="general").task)
    assert search.worth() == 0.0
    assert search.finished().worth() == 1 - (9 + 9 + 4) / 64


def random_job(seed: int, goal: str) -> Job:
    """A class that five numbers tell something of, each in its own way."""
    draw = random.Random(seed)
    told = draw.choices(["p", "q", "r"], weights=[5, 3, 2], k=300)
    columns: dict[str, list[Any]] = {"class": told}
    for i in range(5):
        shift, leading = draw.randint(0, 6), draw.choice("pqr")
        columns[f"n{i}"] = [draw.randint(0, 9) + (shift if each == leading else 0) for each in told]
    return job_of(columns, K=draw.choice([4, 12, 30]), goal=goal)


@pytest.mark.parametrize("goal", ["classification", "general"])
@pytest.mark.parametrize("seed", range(12))
def test_the_best_of_all_orders_is_taken(seed: int, goal: str) -> None:
    task = random_job(seed, goal).task
    worths = {order: TopDownSpecialization(task, order).finished().worth() for order in ORDERS}
    best = best_search(task)
    assert best.worth() == worths[best.order]
    assert best.worth() >= max(worths.values()) - 0.002, "a thousandth is as good as nothing"
    if worths["frugal"] >= max(worths.values()) - 0.001:
        assert best.order == "frugal"
    whole = top_down_specialization(task)
    groups = [np.asarray(each.group_of_record).tolist() for each in (whole, best.outcome())]
    assert groups[0] == groups[1]


def test_no_order_is_always_best() -> None:
    """So that choosing means something."""
    assert (
        len({best_search(random_job(seed, "classification").task).order for seed in range(9)}) > 1
    )


def test_steps_can_be_followed_in_the_best_order() -> None:
    columns: dict[str, list[Any]] = {
        "age": list(range(40)),
        "sex": ["F", "M"] * 20,
        "class": ["a"] * 20 + ["b"] * 20,
    }
    job = job_of(columns, K=4)
    steps = incrowd.specialize(
        pl.DataFrame(columns),
        {
            "attributes": {"age": "quasi", "sex": "quasi", "class": "target"},
            "privacy": [{"lkc": {"L": 2, "K": 4}}],
            "goal": "classification",
        },
    )
    first, *_ = steps
    assert first.attribute == "age"
    whole = job.release(top_down_specialization(job.task)).data
    assert steps.release().data.equals(whole)
