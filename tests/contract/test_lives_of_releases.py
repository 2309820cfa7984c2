"""Releases of records that stay on disk outlive the search that made them."""

from __future__ import annotations

import gc
import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from patients import PRIVACY, frame_of, patients, policy_of

import incrowd
from incrowd import datasets
from incrowd._runtime.progress import silent
from incrowd.cli.arguments import prepared_source
from incrowd.engines import collapse
from incrowd.errors import EngineError, HierarchyError
from incrowd.methods.lattice.rollup import FrequencySets
from incrowd.pipeline import Job, specialize
from incrowd.table.sql_table import SqlTable

DUCKDB = {"engine": "duckdb", "memory": "300MB"}
STEPWISE = policy_of(PRIVACY["k-anonymity"], method="top-down-specialization")
REGISTRY = {
    "attributes": {
        "race": "quasi",
        "gender": "quasi",
        "age_at_diagnosis": {"role": "quasi", "hierarchy": "auto"},
    },
    "other": "drop",
    "privacy": [{"k-anonymity": {"k": 3}}],
    "method": "top-down-specialization",
}


@pytest.fixture(autouse=True)
def nothing_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Distinct rows stay on disk, however few they are."""
    monkeypatch.setattr(collapse, "BYTES_A_CODE", 10**12)


def rows_after(steps: int, policy: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """What a release shows that was taken after some steps, read only when all were made."""
    search = specialize(datasets.load("cancer-registry", rows=200), policy, accept_unprotected=True)
    made = iter(search)
    for _ in range(steps):
        next(made)
    early = search.release()
    assert list(made)
    return early.data.rows(), search.release().data.rows()


@pytest.mark.parametrize("steps", [0, 2])
def test_a_release_stays_what_it_was_when_the_search_goes_on(steps: int) -> None:
    early, late = rows_after(steps, {**REGISTRY, **DUCKDB})
    assert early != late
    assert (early, late) == rows_after(steps, {**REGISTRY, "engine": "memory"})


def test_a_release_is_saved_twice_and_beside_another(tmp_path: Path) -> None:
    first = incrowd.anonymize(frame_of(patients()), {**STEPWISE, **DUCKDB}, accept_unprotected=True)
    second = incrowd.anonymize(
        frame_of(patients()[:20]), {**STEPWISE, **DUCKDB}, accept_unprotected=True
    )
    gc.collect()
    for name, release in (("a", first), ("b", second), ("c", first)):
        assert release.save(tmp_path / name).holds
    whole = (tmp_path / "a" / "data.csv").read_bytes()
    assert whole == (tmp_path / "c" / "data.csv").read_bytes()
    assert whole.count(b"\n") == 1 + len(patients())
    assert (tmp_path / "b" / "data.csv").read_bytes().count(b"\n") == 21


def test_a_release_is_saved_by_several_threads_at_once(tmp_path: Path) -> None:
    release = incrowd.anonymize(
        frame_of(patients()), {**STEPWISE, **DUCKDB}, accept_unprotected=True
    )
    places = [tmp_path / str(number) for number in range(3)]
    with ThreadPoolExecutor(3) as pool:
        assert all(verdict.holds for verdict in pool.map(release.save, places))
    assert len({(place / "data.csv").read_bytes() for place in places}) == 1


def test_temporary_files_go_where_a_name_has_a_quote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "nurse's room"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    release = incrowd.anonymize(
        frame_of(patients()), {**STEPWISE, **DUCKDB}, accept_unprotected=True
    )
    assert release.data.height == len(patients())
    del release
    gc.collect()
    assert not any(place.iterdir())


def test_values_outside_a_hierarchy_are_counted_in_the_source() -> None:
    frame = pl.DataFrame({"age": [None, "1", "1", "9"], "sex": ["f", "f", "m", "m"]})
    policy = {
        "attributes": {
            "age": "quasi",
            "sex": {"role": "quasi", "hierarchy": {"tree": {"people": ["m"]}}},
        },
        "privacy": [{"k-anonymity": {"k": 2}}],
        "missing": "drop",
    }
    told = []
    for engine in ({"engine": "memory"}, DUCKDB):
        with pytest.raises(HierarchyError) as error:
            incrowd.anonymize(frame, {**policy, **engine}, accept_unprotected=True)
        told.append(str(error.value))
    assert told[0] == told[1]
    assert "2 records, the first is record 1" in told[0]


def test_a_policy_is_checked_within_its_memory(tmp_path: Path) -> None:
    frame_of(patients()).write_csv(tmp_path / "patients.csv")
    policy = {**STEPWISE, **DUCKDB, "source": "patients.csv"}
    (tmp_path / "policy.yaml").write_text(json.dumps(policy), encoding="utf-8")
    table = prepared_source(tmp_path / "policy.yaml").table
    assert isinstance(table, SqlTable)
    with pytest.raises(EngineError, match="needs the records themselves"):
        table.in_memory()


def test_frequency_sets_that_were_asked_for_stay_within_memory() -> None:
    policy = {**REGISTRY, "method": "incognito", **DUCKDB}
    task = Job.begin(
        datasets.load("cancer-registry", rows=200), policy, silent, accept_unprotected=True
    ).task
    heights = [task.hierarchies[column.name].height for column in task.columns]
    nodes = list(itertools.product(*(range(height + 1) for height in heights)))[::-1]
    task.counts.most_rows = 10**9
    whole = FrequencySets(task)
    expected = {node: sorted(whole.at(node).sizes.tolist()) for node in nodes}
    task.counts.most_rows = most = 50
    sets = FrequencySets(task)
    assert len(whole.codes) > 10 * most
    for node in nodes:
        rolled = sets.at(node)
        assert sorted(rolled.sizes.tolist()) == expected[node]
        assert len(sets.codes) <= max(most, len(rolled))
        pairs = set(zip(*(sets.nodes_of(a, rolled) for a in range(len(node))), strict=True))
        assert len(pairs) == len(rolled)
