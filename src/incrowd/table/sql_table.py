"""Tables whose rows stay in an SQL engine: what is done to rows in memory elsewhere, done there.

Each column has one row for every code that occurs, with the number of its records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.errors import EngineError
from incrowd.table._table import JointColumn, MemoryTable, Table, Weighted, narrow
from incrowd.table.alike import SqlAlike
from incrowd.table.sql_rows import CodeCounts, SqlRows


@dataclass(frozen=True)
class SqlTable(Table):
    """A table with its rows in an engine: each column has a row for each code of it there."""

    sql_rows: SqlRows = field(kw_only=True)
    codes: Mapping[str, IntArray] = field(kw_only=True, repr=False)
    """For each column the code that each of its rows has in the engine."""

    def lookup(self, name: str) -> IntArray:
        """The code of each code that records have in the engine; -1 for those that do not occur."""
        there = self.codes[name]
        codes = np.full(int(there.max(initial=-1)) + 1, -1, dtype=np.int64)
        codes[there] = self[name].codes
        return codes

    def values(self, name: str, within: IntArray | None = None) -> AbstractContextManager[str]:
        """A table of the engine for one block: each `code` there with its `value`, all or some."""
        lookup = self.lookup(name)
        codes = np.flatnonzero(lookup >= 0 if within is None else np.isin(lookup, within))
        return self.sql_rows.engine.lent({"code": codes, "value": lookup[codes]})

    def alike(self, names: Sequence[str]) -> SqlAlike:
        """The records that agree on all of some attributes, counted by the engine."""
        return SqlAlike(self.sql_rows, names)

    def complete(self) -> SqlTable:
        """The records in which no quasi-identifier is missing."""
        lacking = []
        for column in self.of_role("quasi"):
            if column.missing:
                codes = self.codes[column.name][column.codes == column.missing_code]
                listed = ", ".join(map(str, codes.tolist()))
                lacking.append(f"{self.sql_rows.sql_name(column.name)} NOT IN ({listed})")
        if not lacking:
            return self
        rows = self.sql_rows.where(" AND ".join(lacking))
        return self._kept(replace(self.occurring(rows.counts()), sql_rows=rows))

    def occurring(self, found: Mapping[str, CodeCounts]) -> SqlTable:
        """The table of the codes that still occur in the engine, with the records of each."""
        columns, codes = [], {}
        for column in self.columns:
            still = found[column.name]
            rows = np.isin(self.codes[column.name], still.codes)
            codes[column.name] = there = self.codes[column.name][rows]
            weights = np.zeros(len(rows), dtype=np.int64)
            weights[rows] = still.records[np.searchsorted(still.codes, there)]
            columns.append(replace(column, tally=Weighted.unordered(weights)).take(rows))
        records = int(columns[0].counts().sum())
        return replace(self, columns=tuple(columns), records=records, codes=codes)

    def recoded(self) -> SqlTable:
        """The table with its rows in the codes of its columns."""
        rows = self.sql_rows.recoded({each.name: self.lookup(each.name) for each in self.columns})
        columns, new = [], {}
        for column in self.columns:
            codes = new[column.name] = np.arange(column.cardinality)
            tally = Weighted.unordered(column.counts())
            columns.append(replace(column, codes=narrow(codes, len(codes)), tally=tally))
        return replace(self, columns=tuple(columns), sql_rows=rows, codes=new)

    def with_combinations(self, name: str, names: Sequence[str]) -> tuple[SqlTable, JointColumn]:
        """The table whose rows also have the combinations of some columns, and these."""
        rows, parts, counts = self.sql_rows.with_combinations(name, names)
        codes = narrow(np.arange(len(parts)), len(parts))
        joint = JointColumn.of(name, codes, parts, Weighted.unordered(counts))
        return replace(self, sql_rows=rows), joint

    def in_memory(self) -> MemoryTable:
        """Refused: the rows do not fit."""
        raise EngineError(
            "This needs the records themselves, and these have more distinct rows than `memory:` "
            "allows. Allow more, or publish fewer columns."
        )
