"""Crowds: the records of a table that agree on some attributes, and what they give away.

Everything is counted, so that it is the same wherever the rows are: in memory, or in an SQL engine
that answers with counts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.table._table import MemoryTable
from incrowd.table.packing import distinct_rows, distinct_rows_of
from incrowd.table.sql_rows import SqlRows

_FACTOR, _PRIME = 1_000_003, 2_147_483_647


@dataclass(frozen=True)
class Told:
    """What crowds tell of one sensitive attribute, in records."""

    alone: int
    """In crowds that have one value of it."""
    two: int | None
    """In crowds with at most two: who rules out one knows the other. None where records have
    several values, so that none is left alone."""
    best: int
    """Whose value is the most frequent one of their crowd: how often the best guess is right."""
    similar: int | None = None
    """In crowds whose values are all of one category, where there are categories."""


@dataclass(frozen=True)
class RowsThatDiffer:
    """Distinct rows of codes, ascending, and the records of each."""

    codes: IntArray
    records: IntArray


class Alike(ABC):
    """The records of a table that agree on all of some attributes: its crowds."""

    @property
    @abstractmethod
    def alone(self) -> int:
        """How many records agree with no other."""

    @abstractmethod
    def sizes(self) -> tuple[IntArray, IntArray]:
        """The sizes of the crowds, ascending, and how many there are of each."""

    @abstractmethod
    def told(self, name: str, kinds: IntArray | None = None) -> Told:
        """What the crowds tell of another attribute; `kinds` has the category of each code."""

    @abstractmethod
    def distinct(self, apart: int = 1) -> RowsThatDiffer:
        """The rows that differ, or about one of so many: the same ones wherever they are."""


class MemoryAlike(Alike):
    """The crowds of rows in memory."""

    def __init__(self, table: MemoryTable, names: Sequence[str]) -> None:
        self._table = table
        self._columns = [table[name] for name in names]
        self._crowd, self._first = distinct_rows_of(self._columns, table.rows)
        self._sizes = table.tally.count(self._crowd)

    @property
    def alone(self) -> int:
        """How many records agree with no other."""
        return int((self._sizes == 1).sum())

    def sizes(self) -> tuple[IntArray, IntArray]:
        """The sizes of the crowds, ascending, and how many there are of each."""
        return sizes_counted(self._sizes)

    def told(self, name: str, kinds: IntArray | None = None) -> Told:
        """What the crowds tell of another attribute, by one pass over the rows."""
        column = self._table[name]
        pair, first = distinct_rows(
            [self._crowd, column.codes],
            [len(self._sizes), column.cardinality],
            self._table.rows,
        )
        group, values = self._crowd[first].astype(np.int64), column.codes[first].astype(np.int64)
        return told_by(group, values, column.tally.count(pair), self._sizes, kinds)

    def distinct(self, apart: int = 1) -> RowsThatDiffer:
        """The rows that differ, or about one of so many."""
        codes = [column.codes[self._first].astype(np.int64) for column in self._columns]
        mixed = np.zeros(len(self._first), dtype=np.int64)
        for each in codes:
            mixed = (mixed * _FACTOR + each) % _PRIME
        chosen = mixed % apart == 0
        return RowsThatDiffer(np.column_stack(codes)[chosen], self._sizes[chosen])


@dataclass(frozen=True)
class SqlAlike(Alike):
    """The crowds of rows in an engine: one aggregation for each answer, of which few rows come."""

    rows: SqlRows
    names: Sequence[str]

    @property
    def _listed(self) -> str:
        return ", ".join(self.rows.sql_name(name) for name in self.names)

    @property
    def alone(self) -> int:
        """How many records agree with no other."""
        sizes, crowds = self.sizes()
        return int(crowds[sizes == 1].sum())

    def sizes(self) -> tuple[IntArray, IntArray]:
        """The sizes of the crowds, ascending, and how many there are of each."""
        return self.rows.sizes(self.names)

    def told(self, name: str, kinds: IntArray | None = None) -> Told:
        """What the crowds tell of another attribute."""
        value, rows = self.rows.sql_name(name), self.rows
        alone, two, best = self._told(rows.table, value)
        similar = None
        if kinds is not None:
            with rows.engine.lent({"code": np.arange(len(kinds)), "kind": kinds}) as lent:
                joined = f"(SELECT r.*, {lent}.kind FROM {rows.table} r JOIN {lent} ON "
                joined += f"r.{value} = {lent}.code)"
                similar, _, _ = self._told(joined, "kind")
        return Told(alone, two, best, similar)

    def _told(self, source: str, value: str) -> tuple[int, int, int]:
        """The records in crowds with one value, with at most two, and with the most frequent."""
        quasi = self._listed
        found = self.rows.engine.ask(
            "SELECT different, CAST(sum(size) AS BIGINT) AS size, "
            "CAST(sum(most) AS BIGINT) AS most FROM "
            "(SELECT least(count(*), 3) AS different, sum(n) AS size, max(n) AS most FROM "
            f"(SELECT {quasi}, {value}, CAST(sum(n) AS BIGINT) AS n FROM {source} "
            f"GROUP BY {quasi}, {value}) GROUP BY {quasi}) GROUP BY different"
        )
        sizes = dict(zip(found["different"].tolist(), found["size"].tolist(), strict=True))
        alone = int(sizes.get(1, 0))
        return alone, alone + int(sizes.get(2, 0)), int(found["most"].sum())

    def distinct(self, apart: int = 1) -> RowsThatDiffer:
        """The rows that differ, or about one of so many."""
        names = [self.rows.sql_name(name) for name in self.names]
        mixed = "CAST(0 AS BIGINT)"
        for name in names:
            mixed = f"(({mixed} * {_FACTOR} + {name}) % {_PRIME})"
        found = self.rows.engine.ask(
            f"SELECT {self._listed}, CAST(sum(n) AS BIGINT) AS n FROM {self.rows.table} "
            f"WHERE {mixed} % {apart} = 0 GROUP BY {self._listed} ORDER BY {self._listed}"
        )
        codes = np.column_stack([found[name].astype(np.int64) for name in names])
        return RowsThatDiffer(codes, found["n"].astype(np.int64))


def sizes_counted(sizes: IntArray) -> tuple[IntArray, IntArray]:
    """The sizes that crowds have, ascending, and how many there are of each."""
    different, crowds = np.unique(sizes, return_counts=True)
    return different.astype(np.int64), crowds.astype(np.int64)


def told_by(
    group: IntArray,
    values: IntArray,
    counts: IntArray,
    sizes: IntArray,
    kinds: IntArray | None = None,
) -> Told:
    """What crowds tell when `counts[i]` records of `group[i]` have `values[i]`, each pair once."""
    different = np.bincount(group, minlength=len(sizes))
    most = np.zeros(len(sizes), dtype=np.int64)
    np.maximum.at(most, group, counts)
    similar = None
    if kinds is not None:
        kind = kinds[values]
        low = np.full(len(sizes), np.iinfo(np.int64).max)
        high = np.full(len(sizes), -1)
        np.minimum.at(low, group, kind)
        np.maximum.at(high, group, kind)
        similar = int(sizes[low == high].sum())
    return Told(
        alone=int(sizes[different == 1].sum()),
        two=int(sizes[different <= 2].sum()),
        best=int(most.sum()),
        similar=similar,
    )
