"""Coded rows in an SQL engine: distinct ones with the number of their records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.table.sql_engine import SqlEngine

CODE = "code"
_COUNTED = (CODE, "n", "least")


@dataclass(frozen=True)
class CodeCounts:
    """The codes of an attribute that occur, ascending, the records of each, and a least number."""

    codes: IntArray
    records: IntArray
    least: IntArray


@dataclass(frozen=True)
class SqlRows:
    """A table of an engine: a column of codes for each attribute, and `n`, the records of a row.

    Parameters
    ----------
    engine
        Where the table is.
    table
        Its name there.
    attributes
        Attribute number i is column `c{i}`.
    beside
        Other columns that the rows keep, as the number of a profile of patients.
    """

    engine: SqlEngine
    table: str
    attributes: tuple[str, ...]
    beside: tuple[str, ...] = ()

    def sql_name(self, attribute: str) -> str:
        """The column of an attribute."""
        return f"c{self.attributes.index(attribute)}"

    @property
    def columns(self) -> list[str]:
        """All columns of codes."""
        return [f"c{i}" for i in range(len(self.attributes))]

    @property
    def kept(self) -> list[str]:
        """All that a row keeps wherever it goes."""
        return [*self.columns, *self.beside, "n"]

    def counts(
        self, within: str | None = None, also: str = "n", names: Sequence[str] | None = None
    ) -> dict[str, CodeCounts]:
        """For each attribute, or some of them, the codes that occur, by one aggregation.

        `within` is SQL of some of the rows. `also` names a column of the rows whose least number
        is wanted of each code.
        """
        names = self.attributes if names is None else names
        columns = [self.sql_name(name) for name in names]
        which = " ".join(f"WHEN {c} IS NOT NULL THEN {i}" for i, c in enumerate(columns))
        listed = ", ".join(columns)
        sets = ", ".join(f"({column})" for column in columns)
        found = self.engine.ask(
            f"SELECT CASE {which} END AS attribute, coalesce({listed}) AS {CODE}, n, least FROM "
            f"(SELECT {listed}, CAST(sum(n) AS BIGINT) AS n, min({also}) AS least FROM "
            f"{within or self.table} r GROUP BY GROUPING SETS ({sets})) ORDER BY attribute, {CODE}"
        )
        bounds = np.searchsorted(found["attribute"], np.arange(len(columns) + 1)).tolist()
        return {
            name: CodeCounts(*(found[each][begin:end].astype(np.int64) for each in _COUNTED))
            for name, (begin, end) in zip(names, pairwise(bounds), strict=True)
        }

    def where(self, condition: str) -> SqlRows:
        """Some of the rows. The rows before are dropped."""
        table = self.engine.fresh("rows")
        self.engine.keep(table, f"SELECT * FROM {self.table} WHERE {condition}")
        self.engine.drop(self.table)
        return replace(self, table=table)

    def sizes(self, names: Sequence[str], within: str | None = None) -> tuple[IntArray, IntArray]:
        """The sizes of the groups that agree on some attributes, and how many there are of each.

        `within` is SQL of some of the rows.
        """
        columns = [self.sql_name(name) for name in names]
        return sizes_of_groups(self.engine, within or self.table, columns)

    def recoded(self, lookups: Mapping[str, IntArray]) -> SqlRows:
        """The rows in other codes: `lookups` gives for each attribute the new code of each code.

        Rows with a code that has no new one (-1) are left out. The rows before are dropped.
        """
        table = self.engine.fresh("rows")
        selected, joins = [], []
        with ExitStack() as stack:
            for name in self.columns:
                to = lookups[self.attributes[int(name[1:])]]
                old = np.flatnonzero(to >= 0)
                lent = stack.enter_context(self.engine.lent({CODE: old, "new": to[old]}))
                selected.append(f"{lent}.new AS {name}")
                joins.append(f"JOIN {lent} ON r.{name} = {lent}.{CODE}")
            selected += [f"r.{name}" for name in (*self.beside, "n")]
            self.engine.keep(
                table, f"SELECT {', '.join(selected)} FROM {self.table} r {' '.join(joins)}"
            )
        self.engine.drop(self.table)
        return replace(self, table=table)

    def with_combinations(
        self, name: str, attributes: Sequence[str]
    ) -> tuple[SqlRows, IntArray, IntArray]:
        """The rows with the number of their combination of codes as one more attribute.

        Also the combinations, ascending, and the records of each. The rows before are dropped.
        """
        columns = [self.sql_name(each) for each in attributes]
        listed = ", ".join(columns)
        found = self.engine.ask(
            f"SELECT {listed}, CAST(sum(n) AS BIGINT) AS n FROM {self.table} "
            f"GROUP BY {listed} ORDER BY {listed}"
        )
        parts = np.column_stack([found[column].astype(np.int64) for column in columns])
        table, added = self.engine.fresh("rows"), f"c{len(self.attributes)}"
        numbered = {column: parts[:, i] for i, column in enumerate(columns)}
        with self.engine.lent({**numbered, "number": np.arange(len(parts))}) as lent:
            same = " AND ".join(f"r.{column} = {lent}.{column}" for column in columns)
            kept = ", ".join(f"r.{column}" for column in self.kept)
            self.engine.keep(
                table,
                f"SELECT {kept}, {lent}.number AS {added} FROM {self.table} r "
                f"JOIN {lent} ON {same}",
            )
        self.engine.drop(self.table)
        rows = replace(self, table=table, attributes=(*self.attributes, name))
        return rows, parts, found["n"].astype(np.int64)


def sizes_of_groups(
    engine: SqlEngine, source: str, columns: Sequence[str]
) -> tuple[IntArray, IntArray]:
    """The sizes of groups of rows that agree on some columns, and how many there are of each."""
    found = engine.ask(
        "SELECT n AS size, count(*) AS number FROM (SELECT CAST(sum(n) AS BIGINT) AS n FROM "
        f"{source} r GROUP BY {', '.join(columns)}) q GROUP BY n ORDER BY n"
    )
    return found["size"].astype(np.int64), found["number"].astype(np.int64)


def either(tables: Sequence[str], columns: Sequence[str]) -> str:
    """SQL: the rows of several tables, with these columns."""
    listed = ", ".join(columns)
    return " UNION ALL ".join(f"SELECT {listed} FROM {table}" for table in tables)
