"""The table that hospitals make together, as each of them makes it in step with the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.progress import Progress, silent
from incrowd.counts import MemoryCounts
from incrowd.counts.hospitals.home import HospitalCounts, Opened
from incrowd.counts.hospitals.partition import HospitalPartition
from incrowd.errors import FederationError
from incrowd.federation.membership.agreed_records import require_agreed
from incrowd.federation.run._level_joint import JointSpecialization
from incrowd.federation.run._level_own import OwnSpecialization
from incrowd.federation.run._own_share import judge_own
from incrowd.federation.run._sealed_search import SealedSpecialization
from incrowd.federation.run.fitness import check_hospitals
from incrowd.federation.run.levels import least_crowd, step_of_counts
from incrowd.federation.transport.messages import STOPPED
from incrowd.methods.base import Outcome, Task
from incrowd.methods.top_down_specialization import Order, TopDownSpecializationOptions
from incrowd.methods.top_down_specialization.search import TopDownSpecialization
from incrowd.pipeline import Job, counted_of, task_of
from incrowd.publish.tables import published_tables
from incrowd.table import MemoryTable, Table

if TYPE_CHECKING:
    from incrowd._runtime.arrays import IntArray
    from incrowd.counts.hospitals.descent import AnonymousRows
    from incrowd.engines.preparation import Prepared
    from incrowd.federation.run._earlier_cuts import NamedCuts
    from incrowd.federation.run._own_records import OwnRecords
    from incrowd.federation.session.meetings import Meeting
    from incrowd.policy import HospitalsPolicy
    from incrowd.publish.release import Release
    from incrowd.publish.rows import ShownRows


@dataclass(frozen=True)
class Made:
    """What a run gives a hospital before anything is written."""

    release: Release
    """The same at every hospital."""
    share: ShownRows
    """The own records as the release shows them."""
    records: int
    steps: int
    opened: Opened
    """What was opened beside the release."""


def make(
    own: OwnRecords,
    meeting: Meeting,
    progress: Progress = silent,
    *,
    agreed: int | None = None,
    opened: Callable[[], None] = lambda: None,
    earlier: Sequence[NamedCuts] = (),
    showing: Callable[[NamedCuts], None] = lambda _cuts: None,
) -> Made:
    """The joint release, and the own share of it.

    Parameters
    ----------
    own
        The records of this hospital.
    meeting
        All hospitals; each calls this with its own records at the same time.
    progress
        Called with (stage, done, whole) as the work goes on.
    agreed
        How many records all hospitals together agreed to bring; the run stops at another sum.
    opened
        Called when the first answer was opened, before anything is counted.
    earlier
        What earlier releases show of the own records; only `protect: own` heeds it.
    showing
        Called with what the release will show of each attribute, before a row is opened.

    Notes
    -----
    The search is that of one table in memory, over counts that are sums; the sums are opened to all
    hospitals. See `HospitalCounts` for what a sum costs.
    """
    policy = own.policy
    options = policy.method
    assert isinstance(options, TopDownSpecializationOptions)
    assert options.search != "best"
    check_hospitals(policy, meeting.hospitals)
    level = policy.hospitals.level
    prepared = _begun(own, meeting)
    opened()  # the run is in the ledger before a count leaves this hospital
    counts = _counts(own, prepared, meeting)
    require_agreed(agreed, counts.records)
    if level == "honest":
        _refuse_absent_values(prepared, counts.totals)
    task = task_of(policy, prepared, counts, progress)
    search = _search(task, options.search, counts, meeting, policy.hospitals, earlier)
    if level == "own":
        judge_own(policy, prepared, task, search.outcome())
    showing(search.shown_runs())
    # Until every hospital has judged what the rows will show; whoever finds fault stops.
    meeting.any({"ask": "judged"}, np.array([False]))
    outcome, rows, own_outcome = (
        search.public_outcome() if isinstance(search, SealedSpecialization) else _opened(search)
    )
    meeting.settle()
    public = replace(prepared, table=_public(prepared.table, counts, rows))
    if level != "honest":
        _refuse_absent_values(public, lambda name: _totals(public.table, name))
    # Nothing is kept untouched among hospitals but the target, whose values the policy lists.
    job = Job(policy, public, task, pooled=False, accept_unprotected=True)
    release = job.release(outcome)
    release.manifest["hospitals"] = {
        "number": meeting.hospitals,
        "protect": level,
        "m": meeting.hospitals - 1 if level == "own" else policy.hospitals.without,
    }
    share = published_tables("generalized", prepared, own_outcome)["data"]
    return Made(release, share, counts.records, int(outcome.how["steps"]), counts.opened)


def _begun(own: OwnRecords, meeting: Meeting) -> Prepared:
    """The own records, once all hospitals are there: as agreed, or as the cells of all are."""
    if own.policy.hospitals.level == "honest":
        return own.prepared(meeting.any({"ask": "missing cells"}, own.cells))
    meeting.any({"ask": "begin"}, np.array([False]))
    return own.prepared()


def _search(
    task: Task,
    order: Order,
    counts: HospitalCounts,
    meeting: Meeting,
    asked: HospitalsPolicy,
    earlier: Sequence[NamedCuts],
) -> TopDownSpecialization:
    """The finished search of the level that is asked for."""
    if asked.level == "own":
        return OwnSpecialization(task, order, counts, meeting, earlier).finished()
    if asked.level == "joint":
        return JointSpecialization(task, order, counts, meeting, asked.without).finished()
    return TopDownSpecialization(task, order).finished()


def _refuse_absent_values(prepared: Prepared, totals: Callable[[str], IntArray]) -> None:
    """Refuse a promise about values that no hospital has; it would promise nothing."""
    for model in prepared.models:
        bounds = model.bounds
        if bounds is None or bounds.sensitive is None or bounds.listed is None:
            continue
        if not totals(bounds.sensitive)[bounds.listed].any():
            raise FederationError(
                f"{STOPPED}{model.name} lists values of '{bounds.sensitive}' of which none occurs "
                "at any hospital. Correct `values:`, or leave it out to protect all values."
            )


def _opened(search: TopDownSpecialization) -> tuple[Outcome, AnonymousRows, Outcome]:
    """The table of all hospitals, its records, and the own part of it."""
    partition = search.partition
    assert isinstance(partition, HospitalPartition)
    outcome = search.outcome()
    assert partition.rows is not None
    return outcome, partition.rows, search.outcome(partition.group_of_own_records)


def _counts(own: OwnRecords, prepared: Prepared, meeting: Meeting) -> HospitalCounts:
    policy, table = own.policy, prepared.table
    return HospitalCounts(
        MemoryCounts(table.in_memory(), *counted_of(policy, prepared)),
        table.of_role("sensitive", "target"),
        meeting,
        dropped=own.table.missing_dropped,
        m=policy.hospitals.without if policy.hospitals.level == "honest" else 0,
        step=1 if policy.hospitals.level == "honest" else step_of_counts(prepared.models),
        small=least_crowd(prepared.models),
    )


def _totals(table: Table, name: str) -> IntArray:
    column = table[name]
    return np.bincount(column.codes, minlength=column.cardinality)


def _public(own: Table, counts: HospitalCounts, rows: AnonymousRows) -> Table:
    """The records of all hospitals: what is shown of them, and nobody's quasi-identifiers."""
    nobodys = np.zeros(0, dtype=np.uint8)
    columns = [
        replace(column, codes=nobodys if column.role == "quasi" else rows.codes_of(column))
        for column in own.columns
    ]
    dropped = counts.dropped
    return MemoryTable(tuple(columns), counts.records, "the hospitals", missing_dropped=dropped)
