"""Distributions before and after: judged by counting, and telling no more than the labels."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_kinds import ATTRIBUTES, job_and_outcome, patients, policy

from incrowd.hierarchies.labels import Members, Range, parse
from incrowd.publish.relabelling import without_suppressed
from incrowd.report.distributions import (
    MISSING,
    OTHERS,
    Distribution,
    _reached,
    distribution,
    runs,
)


def drawn(frame: pl.DataFrame, wanted: dict[str, Any], least: int = 5) -> dict[str, Any]:
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
            least,
        )
        for name in job.policy.quasi
    }
    columns = {name: prepared.table[name] for name in found}
    return {"found": found, "shown": release.data, "columns": columns}


def checked(one: Distribution | None, records: int, least: int = 5) -> None:
    """What holds of every distribution."""
    if one is None:
        return
    assert one.rounded == max(least, -(-records // 100))
    assert len(one.steps) >= 2
    assert len({step.label for step in one.steps}) == len(one.steps)
    for step in one.steps:
        assert step.before % one.rounded == step.after % one.rounded == 0
        assert step.before >= one.rounded
        assert step.after >= 0
    told = sum(step.before for step in one.steps)
    assert told <= records + len(one.steps) * one.rounded / 2


TENS = {"start": 0, "stop": 20, "widths": [10]}
METHODS: list[dict[str, Any]] = [
    {"method": {"name": "mondrian", "labels": "set"}},
    {"method": {"name": "mondrian", "labels": "hierarchy"}},
    {"method": "incognito", "suppression": 0.1},
    {"method": "top-down-specialization"},
]


@pytest.mark.parametrize("how", METHODS, ids=["sets", "nodes", "levels", "cuts"])
@pytest.mark.parametrize("number", [10, 30, 400])
def test_steps_have_a_crowd_of_records_in_round_numbers(how: dict[str, Any], number: int) -> None:
    made = drawn(patients(number), policy({"k-anonymity": {"k": 3}}, **how))
    for one in made["found"].values():
        checked(one, made["shown"].height)


@pytest.mark.parametrize("least", [5, 20])
def test_where_labels_are_values_before_and_after_are_counts(least: int) -> None:
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
    made = drawn(frame, wanted, least)
    unit = least
    for name in ("town", "age"):
        counts = {
            MISSING if value is None else str(value): number
            for value, number in frame[name].value_counts().iter_rows()
        }
        steps = made["found"][name].steps
        assert {step.label for step in steps} == set(counts)
        for step in steps:
            assert step.before == step.after == round(counts[step.label] / unit) * unit


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


@given(st.lists(st.integers(0, 30), min_size=1, max_size=30), st.integers(1, 20))
@settings(deadline=None)
def test_neighbours_are_joined_until_they_have_enough(counts: list[int], least: int) -> None:
    found = runs(np.array(counts, dtype=float), least)
    assert [first for first, _ in found] == [0, *(end for _, end in found[:-1])]
    assert found[-1][1] == len(counts)
    sums = [sum(counts[first:end]) for first, end in found]
    assert all(each >= least for each in sums) or len(found) == 1


@pytest.mark.parametrize("how", METHODS, ids=["sets", "nodes", "levels", "cuts"])
def test_no_step_is_named_by_what_the_release_does_not_show(how: dict[str, Any]) -> None:
    made = drawn(patients(200, seed=4), policy({"k-anonymity": {"k": 4}}, **how))
    for name, one in made["found"].items():
        if one is None:
            continue
        column, cells = made["columns"][name], made["shown"][name].drop_nulls().unique().to_list()
        ends, members = set(), {MISSING, OTHERS}
        for cell in cells:
            parsed = parse(cell)
            if isinstance(parsed, Range):
                ends |= {parsed.low, parsed.high}
            elif isinstance(parsed, Members):
                members |= {value or MISSING for value in parsed.values}
            else:
                members |= {cell, cell.removeprefix("\\"), f"{cell}, else"}
        for value in list(members):
            if column.numbers is not None and value in column.values:
                at = int(column.numbers[column.values.index(value)])
                ends |= {at, at + 1}
        for step in one.steps:
            parsed = parse(step.label)
            if isinstance(parsed, Range):
                assert {parsed.low, parsed.high} <= ends
            else:
                assert step.label in members or set(step.label.split(", ")) <= members


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
    # The one group of the third age alone could have put records on c.
    alone = drawn(frame.head(60), wanted)
    assert sorted(alone["shown"]["town"].unique()) == ["a", "b", "{b|c}"]
    assert alone["found"]["town"] is None


def test_no_step_lies_where_one_group_alone_can_have_records() -> None:
    """Six men of [20-71), all but one below 23, where no woman is: no step may end at 23."""
    men = [20, 20, 21, 21, 21, 70]
    women = [age for age in range(23, 71) for _ in range(2)]
    frame = pl.DataFrame({"age": men + women, "sex": ["M"] * len(men) + ["F"] * len(women)})
    made = drawn(
        frame,
        {"attributes": {"age": "quasi", "sex": "quasi"}, "privacy": [{"k-anonymity": {"k": 5}}]},
    )
    assert {(20, 71)} == {
        (parse(label).low, parse(label).high)
        for label in made["shown"].filter(pl.col("sex") == "M")["age"].unique()
    }
    found = made["found"]["age"]
    for step in [] if found is None else found.steps:
        parsed = parse(step.label)
        assert not (isinstance(parsed, Range) and parsed.high <= 23), step


def test_a_label_without_a_range_reaches_no_step_wherever_zero_lies() -> None:
    """Dates around 1970 are numbers around 0, and records without one are in no step."""
    ends = np.array([-400, 0, 400])
    found = _reached([(-400, 400), None, (-1, 1), (-400, 0), (0, 400)], ends)
    assert found.tolist() == [[True, True], [False] * 2, [True, True], [True, False], [False, True]]


def test_the_attributes_of_these_tests_have_every_kind_of_label() -> None:
    """Ranges, dates with labels of the calendar, a tree, values; each is drawn somewhere."""
    drawn_ones = set()
    for how in METHODS:
        made = drawn(patients(400), policy({"k-anonymity": {"k": 3}}, **how))
        drawn_ones |= {name for name, one in made["found"].items() if one is not None}
    assert drawn_ones == {name for name in ATTRIBUTES if name in ("age", "born", "job", "town")}
