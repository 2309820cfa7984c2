"""Incognito against a look at every node, under every kind of model, with and without dropping."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from typing import Any, get_args

import lattice_reference as reference
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lattice_reference import Ladder, Row
from lattice_tables import K, adults, job_of, patients_task, tables
from privacy_of_groups import MODELS

import incrowd
from incrowd.errors import ParameterError
from incrowd.methods.base import Outcome
from incrowd.methods.incognito import IncognitoOptions, incognito, minimal_solutions
from incrowd.methods.incognito import _incognito as module
from incrowd.methods.incognito._incognito import Incognito
from incrowd.methods.lattice import LatticeMetric, rollup

METRICS: tuple[LatticeMetric, ...] = get_args(LatticeMetric)


def at_least_two(_whole: Counter[str]) -> reference.Judge:
    return lambda group: len(group) >= 2


PROMISES: dict[str, tuple[list[dict[str, Any]], list[Any]]] = {
    "k-anonymity": ([K], [at_least_two]),
    **{name: ([asked], [judge]) for name, (asked, judge) in MODELS.items()},
    "k and entropy": ([K, MODELS["entropy"][0]], [at_least_two, MODELS["entropy"][1]]),
    "k and t": ([K, MODELS["t-closeness"][0]], [at_least_two, MODELS["t-closeness"][1]]),
}
SMALLEST = {name: 1 if name in ("confidence", "t-closeness") else 2 for name in PROMISES}
"""The size that a promise demands of every group, whatever its values."""
PROMISES["p-sensitive"][1].append(at_least_two)
PROMISES["alpha-k"][1].append(at_least_two)


def bound_to(rows: list[Row], privacy: list[Any]) -> list[Any]:
    """The promises, unless they list a value that no record has."""
    listed = {value for each in privacy for p in each.values() for value in p.get("values", [])}
    return privacy if listed <= {row["ill"] for row in rows} else [K]


@settings(max_examples=120)
@given(
    table=tables(),
    promise=st.sampled_from(sorted(PROMISES)),
    limit=st.sampled_from((0.0, 0.0, 0.15, 0.3, 0.5)),
    metric=st.sampled_from(METRICS),
)
def test_the_best_node_and_all_minimal_ones_are_those_of_the_whole_lattice(
    table: tuple[list[Row], list[Ladder]], promise: str, limit: float, metric: LatticeMetric
) -> None:
    rows, ladders = table
    if bound_to(rows, PROMISES[promise][0]) != PROMISES[promise][0]:
        promise = "k-anonymity"
    asked, judges = PROMISES[promise]
    expected = reference.solutions(rows, ladders, judges, limit, metric, SMALLEST[promise])
    task = job_of(rows, ladders, asked, limit).task
    options = IncognitoOptions(metric=metric)
    whole = Counter(str(row["ill"]) for row in rows)
    if not all(judge(whole)([str(row["ill"]) for row in rows]) for judge in judges):
        with pytest.raises(incrowd.errors.PrivacyError, match="cannot be reached"):
            incognito(task, options)
        return
    search = Incognito(task, options)
    best = search.best()
    least = min(each.cost for each in expected.values())
    tied = [levels for levels, each in expected.items() if each.cost == least]
    assert best.levels == min(tied, key=lambda levels: (sum(levels), levels))
    assert best.cost == pytest.approx(float(least), abs=1e-12)
    assert best.suppressed == expected[best.levels].suppressed
    assert search.checked <= search.nodes
    found = minimal_solutions(task, options)
    assert {tuple(each.levels.values()) for each in found} == reference.minimal(expected)
    for each in found:
        stated = expected[tuple(each.levels.values())]
        assert each.suppressed == stated.suppressed
        assert each.cost == pytest.approx(stated.cost)
    assert [each.cost for each in found] == sorted(each.cost for each in found)


@settings(max_examples=25)
@given(table=tables(), limit=st.sampled_from((0.0, 0.3)))
def test_groups_and_labels_are_those_of_the_node(
    table: tuple[list[Row], list[Ladder]], limit: float
) -> None:
    rows, ladders = table
    task = job_of(rows, ladders, [K], limit).task
    search = Incognito(task)
    best = search.best()
    outcome = search.outcome(best)
    shown = [
        None
        if group < 0
        else tuple(
            outcome.labels[ladder.name].texts[outcome.labels[ladder.name].text_of_group[group]]
            for ladder in ladders
        )
        for group in np.asarray(outcome.group_of_record)
    ]
    groups = reference.grouped(rows, ladders, best.levels)
    for row, labels in zip(rows, shown, strict=True):
        own = next(label for label, members in groups.items() if any(row is m for m in members))
        assert labels == (own if len(groups[own]) >= 2 else None)
    assert outcome.suppressed == shown.count(None)
    placed = np.asarray(outcome.group_of_record)
    assert Counter(placed[placed >= 0].tolist()) == dict(enumerate(outcome.group_sizes.tolist()))
    assert loss_of(outcome) == pytest.approx(best.cost)


def loss_of(outcome: Outcome) -> float:
    kept = np.array([cells.loss_of_group for cells in outcome.labels.values()]).mean(axis=0)
    lost = float(kept @ outcome.group_sizes) + outcome.suppressed
    return float(lost / len(np.asarray(outcome.group_of_record)))


@settings(max_examples=25)
@given(table=tables(), L=st.integers(1, 3), C=st.sampled_from((1.0, 0.7)))
def test_an_attacker_who_knows_a_few_values_is_judged_by_these(
    table: tuple[list[Row], list[Ladder]], L: int, C: float
) -> None:
    """Without suppression lkc is judged by the crowds of L attributes, not by whole groups."""
    rows, ladders = table

    def holds(levels: tuple[int, ...]) -> bool:
        for choice in itertools.combinations(range(len(ladders)), L):
            some, at = [ladders[a] for a in choice], tuple(levels[a] for a in choice)
            for crowd in reference.grouped(rows, some, at).values():
                most = Counter(row["ill"] for row in crowd).most_common(1)[0][1]
                if len(crowd) < 2 or most > C * len(crowd) + 1e-9:
                    return False
        return True

    nodes = itertools.product(*(range(ladder.height + 1) for ladder in ladders))
    expected = {levels: reference.Solution(Fraction(0), 0) for levels in nodes if holds(levels)}
    task = job_of(rows, ladders, [{"lkc": {"L": L, "K": 2, "C": C, "sensitive": "ill"}}], 0).task
    if not expected:
        with pytest.raises(incrowd.errors.PrivacyError, match="cannot be reached"):
            incognito(task)
        return
    found = {tuple(each.levels.values()) for each in minimal_solutions(task)}
    assert found == reference.minimal(expected)


@settings(max_examples=20)
@given(table=tables(), L=st.integers(1, 2))
def test_leave_to_suppress_never_costs_anything(
    table: tuple[list[Row], list[Ladder]], L: int
) -> None:
    rows, ladders = table
    asked = [{"lkc": {"L": L, "K": 2}}]
    without, limited = (
        loss_of(incognito(job_of(rows, ladders, asked, limit).task)) for limit in (0.0, 0.3)
    )
    assert limited <= without + 1e-9


@settings(max_examples=20)
@given(table=tables(), limit=st.sampled_from((0.15, 0.3)))
def test_what_is_left_after_suppression_shows_the_levels_of_the_node(
    table: tuple[list[Row], list[Ladder]], limit: float
) -> None:
    rows, ladders = table
    job = job_of(rows, ladders, [K], limit)
    search = Incognito(job.task)
    best = search.best()
    release = job.release(search.outcome(best))
    names = [ladder.name for ladder in ladders]
    groups = reference.grouped(rows, ladders, best.levels)
    expected = {shown: len(some) for shown, some in groups.items() if len(some) >= 2}
    kept = [row for some in groups.values() if len(some) >= 2 for row in some]
    if any(all(row[name] is None for row in kept) for name in names):
        return  # nothing but missing cells is left, which have no levels
    assert Counter(release.data.select(names).rows()) == expected


def test_the_patients_of_the_paper_have_three_minimal_generalizations() -> None:
    """The running example of LeFevre et al. 2005: birth, sex and zip, k = 2."""
    found = [tuple(each.levels.values()) for each in minimal_solutions(patients_task())]
    assert set(found) == {(1, 1, 0), (1, 0, 2), (0, 1, 2)}


@pytest.mark.parametrize("limit", [0.0, 0.05])
@pytest.mark.parametrize("promise", ["k-anonymity", "k and entropy"])
def test_few_nodes_are_looked_at_and_none_is_missed(promise: str, limit: float) -> None:
    rows, ladders = adults(600)
    asked, judges = PROMISES[promise]
    expected = reference.solutions(rows, ladders, judges, limit, "loss", SMALLEST[promise])
    search = Incognito(job_of(rows, ladders, asked, limit).task)
    best = search.best()
    assert best.cost == pytest.approx(float(min(each.cost for each in expected.values())))
    assert search.checked < search.nodes / 2


@pytest.mark.parametrize(("kept", "key"), [(0, 1 << 62), (1 << 22, 1), (0, 1)])
def test_frequency_sets_are_the_same_however_they_are_made(
    kept: int, key: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the table or from another set, by keys or by columns."""
    rows, ladders = adults(300)
    task = job_of(rows, ladders, PROMISES["k and entropy"][0], 0.05).task
    usual = [(each.levels, each.cost) for each in minimal_solutions(task)]
    monkeypatch.setattr(rollup, "_KEPT_ROWS", kept)
    monkeypatch.setattr(rollup, "_KEPT_TIMES", min(kept, 8))
    monkeypatch.setattr(rollup, "_LARGEST_KEY", key)
    assert [(each.levels, each.cost) for each in minimal_solutions(task)] == usual


def test_rolled_up_counts_are_those_of_the_home_of_the_records() -> None:
    rows, ladders = adults(300)
    task = job_of(rows, ladders, [K, MODELS["entropy"][0]], 0.0).task
    sets = rollup.FrequencySets(task)
    for levels in ((0, 1, 1), (1, 1, 2), (2, 1, 2), (1, 3, 4), (3, 3, 4), (3, 3, 0)):
        rolled = sets.at(levels)
        asked = {
            column.name: task.hierarchies[column.name].node_of[level]
            for column, level in zip(task.columns, levels, strict=True)
        }
        counted = task.counts.frequency_set(asked, sensitive=["ill"])
        nodes = np.stack([sets.nodes_of(a, rolled) for a in range(3)], axis=1)
        order = np.lexsort(nodes.T[::-1])
        assert nodes[order].tolist() == counted.codes.tolist()
        assert rolled.sizes[order].tolist() == counted.groups.sizes.tolist()
        own, other = rolled.histogram("ill"), counted.groups.histograms["ill"]
        for place, group in enumerate(order):
            mine = slice(own.offsets[group], own.offsets[group + 1])
            theirs = slice(other.offsets[place], other.offsets[place + 1])
            assert own.values[mine].tolist() == other.values[theirs].tolist()
            assert own.counts[mine].tolist() == other.counts[theirs].tolist()
        assert own.total.tolist() == other.total.tolist()


def test_what_is_kept_is_judged_against_the_table_without_what_was_dropped() -> None:
    """Town C is too small; without it the table moves too far from town B."""
    ills = {"A": ["flu"] * 45 + ["hiv"] * 5, "B": ["flu"] * 6 + ["hiv"] * 6, "C": ["hiv"] * 10}
    rows: list[Row] = [{"town": town, "ill": ill} for town, some in ills.items() for ill in some]
    ladders = [Ladder("town", {}, {town: [("*", 3)] for town in ills}, 3)]
    asked, judge = MODELS["t-closeness"]
    task = job_of(rows, ladders, [asked, {"k-anonymity": {"k": 11}}], 0.15).task
    assert [each.levels for each in minimal_solutions(task)] == [{"town": 1}]
    assert Incognito(task).best().levels == (1,)
    assert set(reference.solutions(rows, ladders, [judge], 0.15, "loss", 11)) == {(1,)}
    assert set(reference.solutions(rows, ladders, [], 0.15, "loss", 11)) == {(0,), (1,)}


def test_too_many_nodes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_NODES", 11)
    with pytest.raises(ParameterError, match=r"12 tables to choose from, more than 11\. Give some"):
        incognito(patients_task())
