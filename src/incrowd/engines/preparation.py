"""From a frame and a policy to what a method works on: coded columns, hierarchies, bound models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import polars as pl

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.progress import Progress, silent
from incrowd._runtime.secret_key import SecretKey
from incrowd._runtime.sentences import listed
from incrowd.counts.sql.home import SqlCounts
from incrowd.engines._engine_profiles import counted_profiles, with_draws
from incrowd.engines._profiles import complete, cut_short, over_events, profiles, refuse_groupless
from incrowd.engines._times import timed
from incrowd.engines.collapse import RECORDS, Collapse, Stayed
from incrowd.engines.event_hierarchies import events_in_tree_order
from incrowd.engines.seen_types import histories_seen_again, table_seen_again
from incrowd.errors import EngineError, HierarchyError, PolicyError, SourceError, nearest
from incrowd.hierarchies import Hierarchy, build
from incrowd.methods.registry import METHOD_OPTIONS
from incrowd.policy import AttributePolicy, Policy
from incrowd.policy.units import check_unit, has_events, looked_at, named
from incrowd.privacy import PrivacyModel
from incrowd.privacy.counting.joint import with_joint
from incrowd.sources import Source
from incrowd.sources.source_guard import Watch, watched
from incrowd.table import Column, MemoryTable, Role, Table, Weighted
from incrowd.table.coding import code_column
from incrowd.table.dictionary import ColumnDictionary
from incrowd.table.profiles import Histories
from incrowd.table.pseudonyms import Pseudonyms
from incrowd.table.repeats import Counting
from incrowd.table.sql_histories import AnyHistories, SqlHistories
from incrowd.table.sql_table import SqlTable
from incrowd.table.stray_cells import told_of

_FEW = 5_000
"""Records whose columns are coded before a thread for each of them has started."""
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
    if found.stayed is not None and not found.several:
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
    if isinstance(histories, Histories):
        histories, of_events = events_in_tree_order(histories, policy)
        hierarchies |= of_events
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


def roles_of(
    present: Sequence[str], policy: Policy, name: str
) -> tuple[dict[str, Role], dict[str, str]]:
    """The role of every published column, and why the others are left out."""
    absent = [column for column in policy.attributes if column not in present]
    if absent:
        told = " ".join(
            f"No column '{column}' in {name}.{nearest(column, present)}" for column in absent[:5]
        )
        more = f" ({len(absent) - 5} more are absent.)" if len(absent) > 5 else ""
        raise PolicyError(told + more)
    without = [column for column in present if column not in policy.attributes]
    if without and policy.other is None:
        raise PolicyError(
            f"{len(without)} column(s) of {name} have no role: {listed(without, 10)}. Give each a "
            "role under `attributes:`, or say `other: drop` (not published) or `other: keep` "
            "(published untouched)."
        )
    roles: dict[str, Role] = {}
    unpublished: dict[str, str] = {}
    for column in present:
        asked = policy.attributes.get(column)
        if asked is None and policy.other == "drop":
            unpublished[column] = "other"
        elif asked is not None and asked.role == "identifier":
            unpublished[column] = "identifier"
        else:
            roles[column] = asked.role if asked is not None else "keep"
    return roles, unpublished


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


@dataclass(frozen=True)
class Gathered:
    """The records of a source, each column a dictionary and codes, before types are known."""

    dictionaries: dict[str, ColumnDictionary]
    """The columns that have a role, in the order of the source."""
    roles: dict[str, Role]
    records: int
    unpublished: dict[str, str]
    """Why the other columns are left out."""
    stayed: Stayed | None = None
    """Where the rows stay, when they do not fit into memory."""
    remarks: tuple[str, ...] = ()
    """What a person should know of the rows."""
    patient: IntArray | None = None
    """The number of each row's patient, where they may have several."""
    pseudonyms: Pseudonyms | None = None
    """What stands for each patient under the key, in the order of their numbers."""
    key: SecretKey | None = None
    """What the shifts of dates follow from, where somebody gave one."""

    @property
    def several(self) -> bool:
        """Whether patients may have several rows, which are gathered to one profile each."""
        in_engine = self.stayed is not None and self.stayed.patients is not None
        return in_engine or self.patient is not None

    @property
    def patients(self) -> int:
        """How many patients there are; records, where each is another's."""
        if self.stayed is not None and self.stayed.patients is not None:
            return self.stayed.patients
        return self.records if self.patient is None else int(self.patient.max()) + 1

    def table(self, policy: Policy, name: str) -> Table:
        """The table of the coded columns, wherever its rows are."""
        columns = tuple(self.columns(policy))
        if self.stayed is None:
            return MemoryTable(columns, self.records, name)
        codes = {column: found.codes for column, found in self.stayed.counts.items()}
        return SqlTable(columns, self.records, name, sql_rows=self.stayed.rows, codes=codes)

    def columns(self, policy: Policy) -> list[Column]:
        """The coded columns, their types as the policy says or as seen from the data."""
        protected = {name for model in policy.privacy for name in model.sensitive_attributes}

        def column(name: str) -> Column:
            asked = policy.attributes.get(name) or AttributePolicy(role="keep")
            return code_column(
                self.dictionaries[name],
                role=self.roles[name],
                kind=asked.kind,
                order=asked.order,
                date_format=asked.format,
                protected=name in protected,
            )

        with ThreadPoolExecutor() as pool:
            return list((map if self.records <= _FEW else pool.map)(column, self.roles))


def gather(
    frames: pl.DataFrame | Iterable[pl.DataFrame],
    policy: Policy,
    name: str,
    memory: int | None = None,
    progress: Callable[[str, int, int], None] = lambda _stage, _done, _whole: None,
    key: SecretKey | None = None,
) -> Gathered:
    """Read the columns that a policy gives a role, piece by piece.

    Given `memory`, in bytes, records are collapsed to distinct rows on disk, within that limit.
    Identifiers are only looked at for values that repeat, which are refused (`units.py`).
    """
    roles: dict[str, Role] = {}
    unpublished: dict[str, str] = {}
    dictionaries: dict[str, ColumnDictionary] = {}
    records = 0
    stayed = None
    with ThreadPoolExecutor() as pool, ExitStack() as stack:
        collapse: Collapse | None = None
        identifiers = Counting(())
        for frame in [frames] if isinstance(frames, pl.DataFrame) else frames:
            if not records:
                roles, unpublished = roles_of(frame.columns, policy, name)
                dictionaries = {c: ColumnDictionary(frame.get_column(c)) for c in roles}
                if memory is not None:
                    collapse = stack.enter_context(Collapse(tuple(roles), memory))
                engine = None if collapse is None else collapse.engine
                known = RECORDS if collapse is not None and named(policy) else None
                identifiers = Counting(looked_at(policy), engine, known, key)
            records += frame.height
            beside = identifiers.add(frame)
            pieces = [frame.get_column(c) for c in roles]
            mapped = map if frame.height <= _FEW else pool.map
            codes = mapped(ColumnDictionary.code, dictionaries.values(), pieces)
            if collapse is not None:
                collapse.add(list(codes), with_draws(beside, frame.height, policy))
            else:
                for dictionary, each in zip(dictionaries.values(), codes, strict=True):
                    dictionary.keep(each)
        repeats = identifiers.repeats()
        remarks = check_unit(policy, repeats, name)
        patient = pseudonyms = None
        several = has_events(policy) or any(each.any for each in repeats) or key is not None
        several &= named(policy)
        if several and collapse is None:
            patient = identifiers.numbers(repeats[0].column)
        if key is not None:
            assert patient is not None, "a key goes with a unit, and with memory"
            pseudonyms = Pseudonyms(identifiers.names(repeats[0].column, patient), key.fingerprint)
        if collapse is not None:
            progress("counting distinct records", 0, 1)
            seen = [dictionary.seen for dictionary in dictionaries.values()]
            distinct = repeats[0].distinct if several else 0
            found = collapse.of_patients(distinct) if several else collapse.distinct(seen)
            if isinstance(found, Stayed):
                stayed = found
                for column, counted in found.counts.items():
                    its = Weighted(counted.records, counted.least)
                    dictionaries[column].keep_distinct(counted.codes, its)
            else:
                columns, tally = found
                for dictionary, rows in zip(dictionaries.values(), columns, strict=True):
                    dictionary.keep_distinct(rows, tally)
    if not records:
        raise SourceError(f"{name} has no records.")
    return Gathered(
        dictionaries, roles, records, unpublished, stayed, remarks, patient, pseudonyms, key
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
