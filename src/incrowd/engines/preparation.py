"""From a frame and a policy to what a method works on: coded columns, hierarchies, bound models."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import polars as pl

from incrowd._runtime.progress import Progress, silent
from incrowd._runtime.secret_key import SecretKey
from incrowd.counts.sql.home import SqlCounts
from incrowd.engines._engine_profiles import collapsed_records, counted_profiles
from incrowd.engines._profiles import complete, cut_short, over_events, profiles
from incrowd.engines._times import timed
from incrowd.engines.gathering import Gathered, gather
from incrowd.engines.seen_types import histories_seen_again, table_seen_again
from incrowd.errors import EngineError, HierarchyError, PolicyError
from incrowd.hierarchies import Hierarchy, build
from incrowd.methods.registry import METHOD_OPTIONS
from incrowd.policy import Policy
from incrowd.privacy import PrivacyModel
from incrowd.privacy.counting.joint import with_joint
from incrowd.sources import Source
from incrowd.sources.source_guard import Watch, watched
from incrowd.table import Column, Table
from incrowd.table.profiles import Histories
from incrowd.table.sql_histories import AnyHistories, SqlHistories
from incrowd.table.sql_table import SqlTable
from incrowd.table.stray_cells import told_of

_STAYED = (
    "The distinct rows did not fit into `memory:`. They stayed in {} and were counted there, "
    "request by request."
)
_TableInTreeOrder = TypeVar("_TableInTreeOrder", bound=Table)


@dataclass(frozen=True, repr=False)
class Prepared:
    """A table ready for a method: its quasi-identifiers in tree order, and the models bound to it.

    `unpublished` names the columns of the source that the release leaves out, with the reason;
    `joint` holds the combinations of sensitive attributes that models count, never published.
    """

    table: Table
    hierarchies: dict[str, Hierarchy]
    models: tuple[PrivacyModel, ...]
    unpublished: dict[str, str]
    joint: tuple[Column, ...] = ()
    remarks: tuple[str, ...] = ()
    """What a person should know of the rows."""
    histories: AnyHistories | None = None
    """The rows of the patients that the table holds, where these may have several."""

    @property
    def counted(self) -> Table:
        """The table with the joint columns, as homes count it."""
        return replace(self.table, columns=(*self.table.columns, *self.joint))

    def in_order(self) -> Prepared:
        """The same with a row for each record, sorted by all columns, whatever order they had."""
        counted = self.counted.in_memory()
        row = counted.order()
        whole = counted.in_order(row)
        many = len(self.table.columns)
        table = replace(whole, columns=whole.columns[:many])
        moved = self.histories
        if isinstance(moved, Histories):
            moved = moved.moved(np.argsort(row))
        return replace(self, table=table, joint=whole.columns[many:], histories=moved)


def prepare(
    frames: pl.DataFrame | Iterable[pl.DataFrame],
    policy: Policy,
    *,
    name: str = "the table",
    memory: int | None = None,
    progress: Callable[[str, int, int], None] = lambda _stage, _done, _whole: None,
    key: SecretKey | None = None,
) -> Prepared:
    """Check the columns against the policy, code them, build hierarchies, bind the models.

    The records may come in several frames, which are coded one by one and not kept. Given `memory`,
    in bytes, they are collapsed to distinct rows on disk, within that limit. With a `key`, in
    memory, patients have the same pseudonyms and shifts as whenever that key is given.
    """
    found = gather(frames, policy, name, memory, progress, key)
    progress("coding", 0, 1)
    return prepare_gathered(found, policy, name)


def prepare_gathered(found: Gathered, policy: Policy, name: str) -> Prepared:
    """The same for records that were read and coded before, wherever they are."""
    refuse_groupless(policy, found.patients)
    if found.stayed is not None and not found.several and not found.stayed.apart:
        _refuse_records(policy)
    return bound(found, policy, *profiles(found.table(policy, name), found, policy))


def bound(
    found: Gathered,
    policy: Policy,
    gathered: Table,
    histories: AnyHistories | None,
    said: tuple[str, ...] = (),
) -> Prepared:
    """The table of patients or records, with its hierarchies and the models bound to it.

    Parameters
    ----------
    found
        What was read.
    policy
        The policy.
    gathered
        The table.
    histories
        The rows of its patients, where these may have several.
    said
        What a person should know of rows that were left out.
    """
    whole, histories, told = timed(gathered, histories, policy, found.key)
    if found.stayed is not None and found.stayed.apart:
        whole = collapsed_records(whole, found.stayed)
    histories, cut = cut_short(histories, policy)
    table = whole.complete() if policy.missing == "drop" else whole
    if histories is not None and table.records < whole.records:
        histories = complete(histories, whole, table)
    # What is left out, or was not taken of a patient, may have hidden a type.
    table = table_seen_again(table, policy)
    if histories is not None:
        histories = histories_seen_again(histories, policy)
    try:
        table, hierarchies = with_hierarchies(table, policy)
    except HierarchyError:
        with_hierarchies(whole, policy)  # fails too, and counts the records of the source
        raise
    table, joint = with_joint(table.recoded(), policy.privacy)
    varying = () if histories is None else histories.columns
    by_name = {column.name: column for column in (*table.columns, *varying, *joint.values())}
    models = [model.bind(by_name, hierarchies) for model in policy.privacy]
    counted: dict[str, Column] = dict(joint)
    if histories is not None:
        table, models = over_events(models, histories, table, counted)
    if isinstance(histories, SqlHistories):
        table, histories, counted = counted_profiles(table, histories, counted, found.stayed)
    decided = [each for each, asked in policy.attributes.items() if asked.kind is not None]
    columns = (*whole.columns, *varying)
    spelled = (each for column in columns for each in column.remarks)
    remarks = [*found.remarks, *said, *told, *cut, *told_of(columns, decided), *spelled]
    if isinstance(table, SqlTable):
        _refuse_records(policy)
        remarks.append(_STAYED.format(table.sql_rows.engine.name))
    return Prepared(
        table, hierarchies, tuple(models), found.unpublished, tuple(counted.values()),
        tuple(remarks), histories,
    )  # fmt: skip


def with_hierarchies(
    table: _TableInTreeOrder, policy: Policy
) -> tuple[_TableInTreeOrder, dict[str, Hierarchy]]:
    """The table with its columns in tree order, and their hierarchies."""
    columns, hierarchies = [], {}
    for column in table.columns:
        asked = policy.attributes.get(column.name)
        wanted = asked.hierarchy if asked is not None else None
        if column.role == "quasi" or wanted is not None:
            column, hierarchies[column.name] = build(column, wanted, policy.base)
        columns.append(column)
    return table.with_columns(columns), hierarchies


def _refuse_records(policy: Policy) -> None:
    """Refuse what needs the records themselves, with what can run."""
    jointly = [model.name for model in policy.privacy if model.counts_jointly]
    if jointly and policy.publish == "anatomy":
        raise EngineError(
            f"Whether a release as anatomy keeps {jointly[0]} is judged beside the records, and "
            "these have more distinct rows than `memory:` allows. Allow more, publish fewer "
            "columns, or say `publish: generalized`."
        )
    if not policy.method.runs_on(SqlCounts):
        able = next(name for name, each in METHOD_OPTIONS.items() if each.runs_on(SqlCounts))
        raise EngineError(
            f"{policy.method.name} deals single records, and these have more distinct rows than "
            f"`memory:` allows. Allow more, publish fewer columns, or take {able} with the same "
            "`publish:`."
        )


def refuse_groupless(policy: Policy, records: int) -> None:
    """Refuse sizes of groups that a table of so many records, or patients, cannot have."""
    for model in policy.privacy:
        name, least = model.size, model.least_records
        if least > records:
            raise PolicyError(
                f"{model.name}: {name} is {least:,}, but the table has only {records:,} "
                f"records. Choose a {name} of at most {records:,}; half of that leaves room "
                "for two groups."
            )


def prepare_source(
    source: Source | Watch,
    policy: Policy,
    memory: int | None = None,
    progress: Progress = silent,
    key: SecretKey | None = None,
) -> Prepared:
    """The records of a source, read piece by piece and coded as the policy says.

    Given `memory`, in bytes, they are collapsed to distinct rows on disk, within that limit. A
    source whose files change while they are read, or since its watch began, is an EngineError.
    """
    watch = watched(source)
    pieces = watch.source.pieces(policy.query, policy.text_options)
    name = watch.source.label
    return prepare(
        watch.read(pieces, progress), policy, name=name, memory=memory, progress=progress, key=key
    )
