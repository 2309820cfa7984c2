"""Crowds, and patients that are looked up: judged one by one, in memory and in an SQL engine."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from report_kinds import job_and_outcome, patients, policy

from incrowd.attacks import link
from incrowd.attacks.categories import listed_categories
from incrowd.counts.placed import placed
from incrowd.publish.relabelling import without_suppressed
from incrowd.report._linkage_probe import known_people, probe
from incrowd.report.crowds import Crowds, crowds_of, crowds_of_outcome
from incrowd.table.alike import Told

QUASI = ["a", "b"]
KIND = {"u": 0, "v": 0, "w": 1, None: 1}
CATEGORIES = [["u", "v"], ["w", ""]]
COLUMNS = {
    "a": st.sampled_from(["p", "q", "r", None]),
    "b": st.sampled_from(["1", "2", "30", None]),
    "ill": st.sampled_from(["u", "v", "w", None]),
}
FRAMES = st.lists(st.fixed_dictionaries(COLUMNS), min_size=6, max_size=40).map(
    lambda rows: pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String))
)
POLICY: dict[str, Any] = {
    "attributes": {"a": "quasi", "b": "quasi", "ill": "sensitive"},
    "privacy": [{"k-anonymity": {"k": 3}}],
    "suppression": 0.3,
}
quickly = settings(max_examples=20, derandomize=True)
slowly = settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow], derandomize=True)


def judged(crowds: list[list[Any]]) -> tuple[Counter[int], Told]:
    """What lists of sensitive values, one for each crowd, are and tell."""
    values = [Counter(crowd) for crowd in crowds]
    return Counter(map(len, crowds)), Told(
        alone=sum(c.total() for c in values if len(c) == 1),
        two=sum(c.total() for c in values if len(c) <= 2),
        best=sum(max(c.values()) for c in values),
        similar=sum(c.total() for c in values if len({KIND[v] for v in c}) == 1),
    )


def by_quasi(frame: pl.DataFrame, quasi: list[str]) -> list[list[Any]]:
    found = defaultdict(list)
    for row in frame.iter_rows(named=True):
        found[tuple(row[name] for name in quasi)].append(row["ill"])
    return list(found.values())


def of(crowds: Crowds) -> Counter[int]:
    return Counter(dict(zip(crowds.sizes.tolist(), crowds.groups.tolist(), strict=True)))


@quickly
@given(frame=FRAMES)
def test_crowds_of_the_source_are_those_counted_one_by_one(frame: pl.DataFrame) -> None:
    judge_source(frame, on_disk=False)


@slowly
@given(frame=FRAMES)
def test_crowds_of_the_source_are_the_same_in_an_engine(frame: pl.DataFrame) -> None:
    judge_source(frame, on_disk=True)


def judge_source(frame: pl.DataFrame, on_disk: bool) -> None:
    job, _ = job_and_outcome(frame, {**POLICY, "suppression": 0.0}, on_disk)
    table = job.prepared.table
    categories = {"ill": listed_categories(table["ill"], CATEGORIES)}
    found = crowds_of(table.alike(QUASI), ["ill"], categories)
    sizes, told = judged(by_quasi(frame, QUASI))
    assert of(found) == sizes
    assert found.told == {"ill": told}
    assert found.records == frame.height
    assert found.unique == sizes[1]
    for size in (3, 5, 11, 20):
        assert found.below(size) == sum(n * many for n, many in sizes.items() if n < size)


@quickly
@given(frame=FRAMES, publish=st.sampled_from(["generalized", "anatomy"]))
def test_crowds_of_the_release_are_those_of_its_tables(frame: pl.DataFrame, publish: str) -> None:
    judge_release(frame, publish, on_disk=False)


@slowly
@given(frame=FRAMES, publish=st.sampled_from(["generalized", "anatomy"]))
def test_crowds_of_the_release_are_the_same_in_an_engine(frame: pl.DataFrame, publish: str) -> None:
    judge_release(frame, publish, on_disk=True)


def judge_release(frame: pl.DataFrame, publish: str, on_disk: bool) -> None:
    job, outcome = job_and_outcome(frame, {**POLICY, "publish": publish}, on_disk)
    release = job.release(outcome)
    prepared = job.prepared
    if outcome.suppressed:
        prepared, outcome = without_suppressed(prepared, job.policy, outcome)
    categories = {"ill": listed_categories(prepared.table["ill"], CATEGORIES)}
    groups = placed(prepared.table, outcome.group_of_record, len(outcome.group_sizes))
    found = crowds_of_outcome(groups, outcome.group_sizes, ["ill"], categories)
    if publish == "generalized":
        crowds = by_quasi(release.data, QUASI)
    else:
        values = release.tables["st_ill"]
        crowds = [
            [ill for ill, n in group.select("ill", "count").iter_rows() for _ in range(int(n))]
            for group in values.partition_by("group_id")
        ]
        shown = Crowds(*groups.sizes(QUASI), {})
        seen = release.data.group_by(QUASI).len()["len"].to_list()
        assert of(shown) == Counter(seen)
    sizes, told = judged(crowds)
    assert of(found) == sizes
    assert found.told == {"ill": told}


@slowly
@given(frame=FRAMES, crowds=st.integers(400, 4000))
def test_the_same_patients_are_looked_up_wherever_records_live(
    frame: pl.DataFrame, crowds: int
) -> None:
    known = [
        known_people(job_and_outcome(frame, POLICY, on_disk)[0].prepared.table.alike(QUASI), crowds)
        for on_disk in (False, True)
    ]
    rows = [
        {(*row, n) for row, n in zip(each.codes.tolist(), each.records.tolist(), strict=True)}
        for each in known
    ]
    assert rows[0] == rows[1]
    if crowds < 800:  # everyone is looked up
        assert sum(known[0].records) == frame.height


@pytest.mark.parametrize("method", ["mondrian", "incognito", "top-down-specialization"])
@pytest.mark.parametrize("labels", ["set", "hierarchy"])
def test_who_is_looked_up_fits_the_records_that_the_linkage_attack_finds(
    method: str, labels: str
) -> None:
    frame = patients(90)
    how: dict[str, Any] = {"method": {"name": "mondrian", "labels": labels}}
    if method != "mondrian":
        how = {"method": method}
    wanted = policy({"k-anonymity": {"k": 3}}, suppression=0.1, **how)
    job, outcome = job_and_outcome(frame, wanted, on_disk=False)
    release = job.release(outcome)
    source, published = job.prepared, job.prepared
    if outcome.suppressed:
        published, outcome = without_suppressed(source, job.policy, outcome)
    quasi = [column.name for column in source.table.of_role("quasi")]
    entries = {entry["name"]: entry for entry in release.manifest["attributes"]}
    known = known_people(source.table.alike(quasi), 1)
    columns = [source.table[name] for name in quasi]
    found = probe(known, columns, published, entries, outcome)
    meanings = {name: published.hierarchies[name].meanings(published.table[name]) for name in quasi}
    candidates = link(release, frame.select(quasi), hierarchies=meanings).candidates
    fitting = candidates[candidates > 0]
    assert found is not None
    assert found.people == frame.height
    assert found.alone == np.count_nonzero(candidates == 1)
    assert found.nowhere == np.count_nonzero(candidates == 0)
    assert found.fewest == fitting.min()
    assert found.average == pytest.approx(fitting.mean())
