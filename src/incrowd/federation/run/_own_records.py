"""A hospital's own records, coded as all hospitals agreed: by the values that the policy lists."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from incrowd._runtime.progress import silent
from incrowd.engines.gathering import Gathered, gather
from incrowd.engines.preparation import Prepared, with_hierarchies
from incrowd.errors import PolicyError, SourceError
from incrowd.federation.transport.transcripts import digest_of
from incrowd.hierarchies.base import refuse_uncovered
from incrowd.hierarchies.domains import domain
from incrowd.policy import Policy
from incrowd.sources import Source
from incrowd.sources.source_guard import Watch, watched
from incrowd.table import Column, MemoryTable, narrow
from incrowd.table.coding import code_column
from incrowd.table.dictionary import ColumnDictionary

_LAYOUT = "incrowd federation layout/1"


@dataclass(frozen=True)
class OwnRecords:
    """The records of one hospital, over the common values, a missing one included.

    Notes
    -----
    `table` has the codes of all values of the policy, whether or not the own records have them, so
    a code means the same everywhere.
    """

    policy: Policy
    table: MemoryTable
    unpublished: dict[str, str]
    """The columns of the policy that are not published, in its order, with their role."""

    @property
    def layout(self) -> str:
        """The digest of the columns: their names, order, roles, types and values."""
        columns = [[c.name, c.role, c.kind, list(c.values)] for c in self.table.columns]
        return digest_of(_LAYOUT, json.dumps(columns, ensure_ascii=False).encode()).hex()

    @property
    def cells(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """For each column whether one of the own cells is missing, then whether one is not."""
        absent = [column.codes == len(column.values) for column in self.table.columns]
        return np.array(
            [*(bool(each.any()) for each in absent), *(not each.all() for each in absent)]
        )

    def prepared(self, cells: np.ndarray[Any, np.dtype[np.bool_]] | None = None) -> Prepared:
        """The records ready for a method, given the `cells` of any hospital.

        Without them, every column has its values and may lack cells.
        """
        if cells is None:
            cells = np.ones(2 * len(self.table.columns), dtype=np.bool_)
        missing, present = cells.reshape(2, -1).tolist()
        columns = [
            replace(column, missing=int(somewhere)) if anywhere else _without_values(column)
            for column, somewhere, anywhere in zip(
                self.table.columns, missing, present, strict=True
            )
        ]
        table, hierarchies = with_hierarchies(self.table.with_columns(columns), self.policy)
        by_name = {column.name: column for column in table.columns}
        models = tuple(model.bind(by_name, hierarchies) for model in self.policy.privacy)
        remarks = tuple(each for column in self.table.columns for each in column.remarks)
        return Prepared(table, hierarchies, models, self.unpublished, remarks=remarks)


def read_own(source: Source | Watch, policy: Policy) -> OwnRecords:
    """Read and code the records of a hospital.

    Raises
    ------
    InputError
        When a column or a value does not fit the policy: with the column, how many rows, and the
        first of them, never with a cell; or when patients have several rows.
    EngineError
        When the source changed while it was read, or since its watch began.

    Notes
    -----
    Columns of the role `keep` are not read: they are not published among hospitals.
    """
    watch = watched(source)
    pieces = watch.read(watch.source.pieces(policy.query, policy.text_options), silent)
    name = watch.source.label
    shared = shared_part(policy)
    kept = [each for each in policy.attributes if each not in shared.attributes]
    gathered = gather(_dropping(pieces, kept), shared, name)
    if gathered.patient is not None:
        raise PolicyError(
            f"unit: '{policy.unit}' tells {gathered.patients:,} apart in {gathered.records:,} rows "
            f"of {name}. Among hospitals each patient has one row: keep one of each, with what is "
            "said of the patient. If each row is another patient all the same, all hospitals must "
            "agree on a policy with `unit: row`."
        )
    columns = [_common(gathered, column, policy) for column in gathered.roles]
    table = MemoryTable(tuple(columns), gathered.records, name)
    if policy.missing == "drop":
        table = _complete(table, name)
    # Other columns of this hospital are nobody's business: the release is the same everywhere.
    unpublished: dict[str, str] = {
        each: asked.role
        for each, asked in policy.attributes.items()
        if asked.role in ("identifier", "keep")
    }
    return OwnRecords(shared, table, unpublished)


def shared_part(policy: Policy) -> Policy:
    """The policy without the columns to keep, which hospitals do not publish."""
    attributes = {name: a for name, a in policy.attributes.items() if a.role != "keep"}
    other = "drop" if policy.other == "keep" else policy.other
    return policy.model_copy(update={"attributes": attributes, "other": other})


def _dropping(frames: Iterator[pl.DataFrame], kept: list[str]) -> Iterator[pl.DataFrame]:
    for frame in frames:
        yield frame.drop(kept, strict=False)


def _common(gathered: Gathered, name: str, policy: Policy) -> Column:
    """A column of the own records with the codes that all hospitals use."""
    asked = policy.attributes[name]
    role = gathered.roles[name]
    listed = pl.Series(name, domain(name, asked, policy.base), dtype=pl.String)
    values = ColumnDictionary(listed)
    values.add(listed)
    kind = asked.type or ("date" if asked.format is not None else None)
    protected = any(name in model.sensitive_attributes for model in policy.privacy)
    common = code_column(values, role=role, kind=kind, order=asked.order, protected=protected)
    own = code_column(
        gathered.dictionaries[name],
        role=role,
        kind=common.kind,
        order=asked.order,
        date_format=asked.format,
        protected=protected,
    )
    # The spelling of the policy is the one that all hospitals publish.
    code_of: dict[str | None, int] = {value: code for code, value in enumerate(common.values)}
    named = common.named(own.values)
    covered = np.array([value is not None for value in named], dtype=np.bool_)
    refuse_uncovered(own, covered, "the values that the policy lists for it")
    lookup = np.array([*(code_of[value] for value in named), len(code_of)], dtype=np.int64)
    codes = narrow(lookup, len(code_of) + 1)[own.codes]
    return replace(common, codes=codes, missing=1, remarks=own.remarks)


def _without_values(column: Column) -> Column:
    """A column whose cells are missing at all hospitals."""
    numbers = None if column.numbers is None else column.numbers[:0]
    nothing = np.zeros(len(column.codes), dtype=np.uint8)
    return replace(column, codes=nothing, values=(), numbers=numbers, missing=1)


def _complete(table: MemoryTable, name: str) -> MemoryTable:
    """The records in which no quasi-identifier is missing, with the same codes."""
    complete = np.ones(table.records, dtype=np.bool_)
    for column in table.of_role("quasi"):
        complete &= column.codes != len(column.values)
    if not complete.any():
        raise SourceError(
            f"{name}: every record lacks a quasi-identifier, and `missing: drop` drops them all."
        )
    kept = int(complete.sum())
    return MemoryTable(
        tuple(replace(column, codes=column.codes[complete]) for column in table.columns),
        kept,
        name,
        missing_dropped=table.records - kept,
    )
