"""The rows of nodes as tables of an SQL engine.

Every row has the number of its node. Rows move to a new table as their node is split; those of
other nodes stay where they are. What a split leaves behind in an old table is never asked for again
and goes when tables are joined.
"""

from __future__ import annotations

import weakref
from contextlib import suppress
from typing import Literal

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.errors import EngineError
from incrowd.table.sql_engine import SqlEngine
from incrowd.table.sql_rows import SqlRows, either

_MOST_TABLES = 6
_FIRST, _SPLIT = -1, -2
UNMARKED = -2
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")


class KeptTable:
    """A table of an engine that is dropped once nobody holds it any more."""

    def __init__(self, engine: SqlEngine, name: str) -> None:
        self.name = name
        # At the end of the program the engine removes all.
        weakref.finalize(self, _drop, engine, name).atexit = False


class NodeTables:
    """Which table holds the rows of which node, and how many records each node has."""

    def __init__(self, rows: SqlRows, records: int) -> None:
        self.rows = rows
        self.engine = rows.engine
        self.sizes = np.array([records], dtype=np.int64)
        self._tables: list[KeptTable] = []
        self._table_of = np.full(1, _FIRST, dtype=np.int64)
        self._parent = np.full(1, -1, dtype=np.int64)

    @property
    def open(self) -> IntArray:
        """The nodes that were not split."""
        return np.flatnonzero(self._table_of != _SPLIT)

    @property
    def columns(self) -> str:
        """SQL: all that a row r keeps as it moves."""
        return ", ".join(f"r.{name}" for name in self.rows.kept)

    def asked(self, nodes: IntArray) -> dict[str, IntArray]:
        """Where the rows of nodes are now: each `node` with the `place` of the one asked for.

        A node that was split, and then taken whole after all, has its rows in its parts.
        """
        if not bool((self._table_of[nodes] == _SPLIT).any()):
            return {"node": nodes, "place": np.arange(len(nodes))}
        order = np.argsort(nodes, kind="stable")
        parts, places = [], []
        part = whole = self.open
        while len(part):
            begin, end = (np.searchsorted(nodes[order], whole, side) for side in _SIDES)
            many = end - begin
            ends = np.cumsum(many)
            parts.append(np.repeat(part, many))
            places.append(order[np.repeat(begin - ends + many, many) + np.arange(many.sum())])
            whole = self._parent[whole]
            part, whole = part[whole >= 0], whole[whole >= 0]
        return {"node": np.concatenate(parts), "place": np.concatenate(places)}

    def inherited(self, marks: IntArray) -> IntArray:
        """The marks of all nodes; an unmarked part has the mark of its whole."""
        marks = marks.copy()
        for node in np.flatnonzero(marks == UNMARKED).tolist():
            if self._parent[node] >= 0:
                marks[node] = marks[self._parent[node]]
        return marks

    def of(self, nodes: IntArray) -> str:
        """SQL: the rows of the tables that hold some nodes, each with its `node`."""
        if bool((self._table_of[nodes] == _SPLIT).any()):
            raise AssertionError("a node that was split has no rows of its own")
        tables = [
            f"(SELECT *, 0 AS node FROM {self.rows.table}) first_table"
            if number == _FIRST
            else self._tables[number].name
            for number in np.unique(self._table_of[nodes]).tolist()
        ]
        return either(tables, [*self.rows.kept, "node"])

    def held(self) -> list[KeptTable]:
        """The tables that `of` names now, for whoever asks them later."""
        return list(self._tables)

    def move(self, nodes: IntArray, query: str, parents: IntArray) -> None:
        """Put the rows of nodes into a new table, under new numbers: the next, for each parent."""
        table = self.engine.fresh("nodes")
        self.engine.keep(table, query)
        self._tables.append(KeptTable(self.engine, table))
        first = len(self.sizes)
        found = self.engine.ask(
            f"SELECT node, CAST(sum(n) AS BIGINT) AS n FROM {table} GROUP BY node"
        )
        sizes = np.zeros(len(parents), dtype=np.int64)
        sizes[found["node"] - first] = found["n"]
        if int(sizes.sum()) != int(self.sizes[nodes].sum()):
            raise AssertionError("records were lost or doubled as they moved")
        self.sizes = np.append(self.sizes, sizes)
        self._table_of[nodes] = _SPLIT
        self._table_of = np.append(self._table_of, np.full(len(parents), len(self._tables) - 1))
        self._parent = np.append(self._parent, parents)
        if len(np.unique(self._table_of[self._table_of >= 0])) > _MOST_TABLES:
            self._join()
        self._forget()

    def _join(self) -> None:
        """Put the rows of all nodes that were not split into one table."""
        table = self.engine.fresh("nodes")
        inside = np.flatnonzero(self._table_of >= 0)
        with self.engine.lent({"node": inside}) as asked:
            self.engine.keep(
                table,
                f"SELECT {self.columns}, r.node FROM ({self.of(inside)}) r "
                f"JOIN {asked} ON r.node = {asked}.node",
            )
        self._tables.append(KeptTable(self.engine, table))
        self._table_of[inside] = len(self._tables) - 1

    def _forget(self) -> None:
        """Let go of the tables that hold no node any more."""
        held = np.unique(self._table_of[self._table_of >= 0])
        renumbered = np.full(len(self._tables), _SPLIT, dtype=np.int64)
        renumbered[held] = np.arange(len(held))
        self._tables = [self._tables[number] for number in held.tolist()]
        inside = self._table_of >= 0
        self._table_of[inside] = renumbered[self._table_of[inside]]


def _drop(engine: SqlEngine, name: str) -> None:
    with suppress(EngineError):  # the engine may be gone
        engine.drop(name)
