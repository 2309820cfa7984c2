"""Distributions before and after: judged by counting."""

from __future__ import annotations

import random
from typing import Any

import polars as pl
import pytest
from report_kinds import ATTRIBUTES, job_and_outcome, patients, policy

from incrowd.publish.relabelling import without_suppressed
from incrowd.report._distributions import MISSING, Distribution, distribution


def drawn(frame: pl.DataFrame, wanted: dict[str, Any]) -> dict[str, Any]:
    """The distributions of a release, its table, and the published records as they were."""
    job, outcome = job_and_outcome(frame, wanted, on_disk=False)
    release = job.release(outcome)
    prepared = job.prepared
    if outcome.suppressed:
        prepared, outcome = without_suppressed(prepared, job.policy, outcome)
    entries = {entry["name"]: entry for entry in release.manifest["attributes"]}
    found = {
        name: distribution(
            prepared.table[name],
            prepared.hierarchies[name],
            entries[name],
            outcome.labels[name],
            outcome.group_sizes,
        )
        for name in job.policy.quasi
    }
    columns = {name: prepared.table[name] for name in found}
    return {"found": found, "shown": release.data, "columns": columns}


def checked(one: Distribution | None, records: int) -> None:
    """What holds of every distribution."""
    if one is None:
        return
    assert len(one.steps) >= 2
    assert len({step.label for step in one.steps}) == len(one.steps)
    for side in ("before", "after"):  # values that no label is near are in no step
        assert 0 < sum(getattr(step, side) for step in one.steps) <= records + 1e-6


TENS = {"start": 0, "stop": 20, "widths": [10]}
METHODS: list[dict[str, Any]] = [
    {"method": {"name": "mondrian", "labels": "set"}},
    {"method": {"name": "mondrian", "labels": "hierarchy"}},
    {"method": "incognito", "suppression": 0.1},
    {"method": "top-down-specialization"},
]


@pytest.mark.parametrize("how", METHODS, ids=["sets", "nodes", "levels", "cuts"])
@pytest.mark.parametrize("number", [10, 30, 400])
def test_no_record_is_in_two_steps(how: dict[str, Any], number: int) -> None:
    made = drawn(patients(number), policy({"k-anonymity": {"k": 3}}, **how))
    for one in made["found"].values():
        checked(one, made["shown"].height)


def test_where_labels_are_values_before_and_after_are_counts() -> None:
    draw = random.Random(3)
    frame = pl.DataFrame(
        {
            "town": [draw.choice(["Oslo", "Bergen", "{x}", "*", None]) for _ in range(300)],
            "age": [draw.choice([30, 31, 32, None]) for _ in range(300)],
        }
    )
    wanted = {
        "attributes": {"town": "quasi", "age": "quasi"},
        "privacy": [{"k-anonymity": {"k": 2}}],
    }
    made = drawn(frame, wanted)
    for name in ("town", "age"):
        counts = {
            MISSING if value is None else str(value): number
            for value, number in frame[name].value_counts().iter_rows()
        }
        steps = made["found"][name].steps
        assert {step.label for step in steps} == set(counts)
        for step in steps:
            assert step.before == step.after == counts[step.label]


def test_ranges_spread_their_records_evenly() -> None:
    frame = pl.DataFrame({"age": [*range(20), *range(20)], "x": ["a"] * 40})
    wanted = {
        "attributes": {
            "age": {"role": "quasi", "hierarchy": {"intervals": TENS}},
            "x": "quasi",
        },
        "privacy": [{"k-anonymity": {"k": 10}}],
        "method": "incognito",
    }
    made = drawn(frame, wanted)
    steps = made["found"]["age"].steps
    assert [(s.label, s.before, s.after) for s in steps] == [
        ("[0-10)", 20, 20),
        ("[10-20)", 20, 20),
    ]
    assert made["found"]["x"] is None


def test_a_step_is_named_without_the_values_that_narrower_labels_stand_for() -> None:
    frame = pl.DataFrame(
        {
            "town": ["a"] * 20 + ["b"] * 20 + ["b", "c"] * 30,
            "age": [age for age in "12345" for _ in range(20)],
        }
    ).with_columns(pl.col("age").alias("born"), pl.col("age").alias("grade"))
    category = {"role": "quasi", "type": "category"}
    wanted = {
        "attributes": {"town": "quasi", "age": category, "born": category, "grade": category},
        "privacy": [{"k-anonymity": {"k": 15}}],
    }
    made = drawn(frame, wanted)
    assert sorted(made["shown"]["town"].unique()) == ["a", "b", "{b|c}"]
    steps = [(s.label, s.before, s.after) for s in made["found"]["town"].steps]
    assert steps == [("a", 20, 20), ("b", 50, 50), ("c", 30, 30)]


def test_the_attributes_of_these_tests_have_every_kind_of_label() -> None:
    """Ranges, dates with labels of the calendar, a tree, values; each is drawn somewhere."""
    drawn_ones = set()
    for how in METHODS:
        made = drawn(patients(400), policy({"k-anonymity": {"k": 3}}, **how))
        drawn_ones |= {name for name, one in made["found"].items() if one is not None}
    assert drawn_ones == {name for name in ATTRIBUTES if name in ("age", "born", "job", "town")}
