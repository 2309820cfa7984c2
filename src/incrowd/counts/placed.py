"""Tables beside the groups of their records, and the homes of these: where rows live is told here.

Whoever publishes or reports asks a `Placed`, and need not know whether rows are in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import IntArray
from incrowd.counts.base import NodeHistograms, RowCounts
from incrowd.counts.histograms import counted, counted_by
from incrowd.counts.memory import MemoryCounts
from incrowd.counts.placement import GroupOfRecord
from incrowd.counts.sql.groups import SqlGroups
from incrowd.counts.sql.home import SqlCounts
from incrowd.table import MemoryTable, Table
from incrowd.table.sql_table import SqlTable


@dataclass(frozen=True)
class Placed(ABC):
    """A table, and the group of each of its records: so `many` groups, -1 for the suppressed."""

    many: int

    @abstractmethod
    def published(self) -> tuple[Table, GroupOfRecord]:
        """The table of the records that are not suppressed, and the group of each."""

    @abstractmethod
    def histograms(self, name: str) -> NodeHistograms:
        """The codes of a column that occur in each group, where no record is suppressed."""

    @abstractmethod
    def sizes(self, names: Sequence[str]) -> tuple[IntArray, IntArray]:
        """The sizes of the crowds that agree on some columns, and how many there are of each."""


@dataclass(frozen=True)
class MemoryPlaced(Placed):
    """A table in memory, and the group of each row."""

    table: MemoryTable
    group: npt.NDArray[np.int32]

    def published(self) -> tuple[MemoryTable, npt.NDArray[np.int32]]:
        """The table of the rows that are not suppressed, and the group of each."""
        kept = self.group >= 0
        return self.table.take(kept), self.group[kept]

    def histograms(self, name: str) -> NodeHistograms:
        """The codes of a column that occur in each group, with their records."""
        column = self.table[name]
        count = column.tally.count
        return counted_by(count, self.group, self.many, column.codes, column.cardinality)

    def sizes(self, names: Sequence[str]) -> tuple[IntArray, IntArray]:
        """The sizes of the crowds that agree on some columns, and how many there are of each."""
        return self.table.alike(names).sizes()


@dataclass(frozen=True)
class SqlPlaced(Placed):
    """A table whose rows are in an engine, as are their groups."""

    table: SqlTable
    group: SqlGroups

    def published(self) -> tuple[SqlTable, SqlGroups]:
        """The table of the records that are not suppressed, and their groups."""
        with self.group.published() as source:
            return self.table.occurring(self.group.rows.counts(within=source)), self.group

    def histograms(self, name: str) -> NodeHistograms:
        """The codes of a column that occur in each group, with their records."""
        found = self.group.histograms(name, self.many)
        place = np.repeat(np.arange(self.many), np.diff(found.offsets))
        codes = self.table.lookup(name)[found.codes]
        return counted(place, self.many, codes, self.table[name].cardinality, found.counts)

    def sizes(self, names: Sequence[str]) -> tuple[IntArray, IntArray]:
        """The sizes of the crowds that agree on some columns, and how many there are of each."""
        with self.group.published() as source:
            return self.group.rows.sizes(names, within=source)


def placed(table: Table, group: GroupOfRecord, many: int) -> MemoryPlaced | SqlPlaced:
    """A table beside the group of each of its records, of which there are so `many`."""
    if isinstance(table, SqlTable):
        assert isinstance(group, SqlGroups)
        return SqlPlaced(many, table, group)
    assert isinstance(group, np.ndarray)
    return MemoryPlaced(many, table.in_memory(), group)


def counts_of(table: Table, attributes: Sequence[str], sensitive: Sequence[str]) -> RowCounts:
    """The home of the records of a table: memory, or where they stayed."""
    if not isinstance(table, SqlTable):
        return MemoryCounts(table.in_memory(), attributes, sensitive)
    totals = {name: table[name].counts() for name in (*attributes, *sensitive)}
    return SqlCounts(table.sql_rows, attributes, sensitive, totals)
