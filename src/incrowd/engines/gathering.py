"""The records of a source as they are gathered: each column a dictionary and codes, piece by piece.

In memory all rows are kept as codes; given a limit they go to a database on disk and are collapsed
there. Identifiers are only looked at for values that repeat, and tell whose the rows are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

import polars as pl

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.secret_key import SecretKey
from incrowd._runtime.sentences import listed
from incrowd.engines._engine_profiles import each_apart, with_draws
from incrowd.engines.collapse import RECORDS, Collapse, Stayed
from incrowd.errors import PolicyError, SourceError, nearest
from incrowd.policy import AttributePolicy, Policy
from incrowd.policy.times import moves_dates
from incrowd.policy.units import check_unit, has_events, looked_at, named
from incrowd.table import Column, MemoryTable, Role, Table, Weighted
from incrowd.table.coding import code_column
from incrowd.table.dictionary import ColumnDictionary
from incrowd.table.pseudonyms import Pseudonyms
from incrowd.table.repeats import Counting
from incrowd.table.sql_table import SqlTable

_FEW = 5_000
"""Records whose columns are coded before a thread for each of them has started."""


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
    apart = memory is not None and moves_dates(policy)
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
            known_by = identifiers.add(frame)
            if apart and not known_by:
                known_by = each_apart(records, frame.height)
            records += frame.height
            pieces = [frame.get_column(c) for c in roles]
            mapped = map if frame.height <= _FEW else pool.map
            codes = mapped(ColumnDictionary.code, dictionaries.values(), pieces)
            if collapse is not None:
                collapse.add(list(codes), with_draws(known_by, frame.height, policy))
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
        if key is not None and collapse is None:
            assert patient is not None, "a key goes with a unit"
            pseudonyms = Pseudonyms(identifiers.names(repeats[0].column, patient), key.fingerprint)
        if collapse is not None:
            progress("counting distinct records", 0, 1)
            seen = [dictionary.seen for dictionary in dictionaries.values()]
            distinct = repeats[0].distinct if several else None
            found = collapse.rows(distinct) if several or apart else collapse.distinct(seen)
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
