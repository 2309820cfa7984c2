"""Groups with little room: every record in one group that holds, by every method that moves them.

Run with bounds checked too (tests/bounds_checks.py): a loop that leaves its arrays raises there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from crowded_tables import crowded, survey

from incrowd._runtime.progress import silent
from incrowd.methods.base import Outcome
from incrowd.methods.registry import run
from incrowd.methods.top_down_local import _top_down_local as top_down_local
from incrowd.methods.top_down_local._relocating import relocate
from incrowd.pipeline import Job

DIVERSE = {"l-diversity": {"l": 2, "sensitive": "ill"}}
DEALT = {"l-diversity": {"l": 3, "kind": "frequency", "sensitive": "ill"}}
METHODS: dict[str, dict[str, Any]] = {
    "mondrian": {"method": {"name": "mondrian", "labels": "hierarchy"}},
    "mondrian by sets": {"method": {"name": "mondrian", "labels": "set"}},
    "clustering": {"method": "clustering"},
    "incognito": {"method": "incognito"},
    "top-down-specialization": {"method": "top-down-specialization"},
}


def job_of(frame: pl.DataFrame, privacy: list[dict[str, Any]], **more: Any) -> Job:
    quasi = {name: "quasi" for name in frame.columns if name != "ill"}
    policy = {"attributes": {**quasi, "ill": "sensitive"}, "privacy": privacy, **more}
    return Job.begin(frame, policy, silent)


def grouped(job: Job, least: int, different: int) -> Outcome:
    """What a method decided, where every record is in one group, of so many records and values."""
    outcome = run(job.task, job.policy.method)
    table, group = job.prepared.table, np.asarray(outcome.group_of_record)
    assert len(group) == table.records
    assert group.min() >= 0
    assert np.bincount(group).tolist() == outcome.group_sizes.tolist()
    assert outcome.group_sizes.min() >= least
    pairs = np.unique(np.stack([group, table["ill"].codes], axis=1), axis=0)
    assert np.bincount(pairs[:, 0]).min() >= different
    for name, cells in outcome.labels.items():
        values = np.array(table[name].values)[table[name].codes]
        shown = np.array(cells.texts)[cells.text_of_group][group]
        for value, label in np.unique(np.stack([values, shown], axis=1), axis=0).tolist():
            assert label == "*" or value in label.strip("{}").split("|")
    return outcome


@pytest.fixture
def rooms(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The largest group that each pass of moves left, and how many records one may have."""
    found: list[tuple[int, int]] = []

    def watched(*arguments: Any) -> None:
        moved, first, last, room = arguments[1:5]
        relocate(*arguments)
        inside = moved[(moved >= first) & (moved < last)]
        found.append((int(np.bincount(inside).max()), room))

    monkeypatch.setattr(top_down_local, "relocate", watched)
    return found


@pytest.mark.parametrize("block", range(3))
def test_records_that_move_on_leave_no_group_with_more_than_its_room(
    block: int, rooms: list[tuple[int, int]]
) -> None:
    for seed in range(20 * block, 20 * (block + 1)):
        frame, k = crowded(seed)
        privacy: list[dict[str, Any]] = [{"k-anonymity": {"k": k}}]
        job = job_of(frame, privacy + [DIVERSE] * (seed % 2), method="top-down-local")
        grouped(job, k, 1 + seed % 2)
    assert len(rooms) == 20
    assert [each for each in rooms if each[0] > each[1]] == []


@pytest.mark.parametrize(("k", "seed"), [(4, 12), (5, 0), (8, 65), (10, 9), (20, 4)])
def test_a_survey_without_hierarchies_is_recoded(
    k: int, seed: int, rooms: list[tuple[int, int]]
) -> None:
    grouped(job_of(survey(seed, k), [{"k-anonymity": {"k": k}}], method="top-down-local"), k, 1)
    assert all(largest <= room for largest, room in rooms)


@pytest.mark.parametrize("method", METHODS)
def test_every_record_is_in_one_group_that_holds(method: str) -> None:
    for seed in range(4):
        frame, k = crowded(seed)
        privacy: list[dict[str, Any]] = [{"k-anonymity": {"k": k}}]
        grouped(job_of(frame, privacy + [DIVERSE] * (seed % 2), **METHODS[method]), k, 1 + seed % 2)


@pytest.mark.parametrize("grouping", ["similar", "blind"])
def test_every_record_is_dealt_to_one_group(grouping: str) -> None:
    for seed in range(4):
        frame, _ = crowded(seed)
        method = {"name": "anatomize", "grouping": grouping}
        grouped(job_of(frame, [DEALT], method=method, publish="anatomy"), 3, 3)
