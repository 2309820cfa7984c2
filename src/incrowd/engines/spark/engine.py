"""Spark as an SQL engine: tables kept by the executors, counted there; only counts come here."""

from __future__ import annotations

import uuid
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.spark_errors import translated
from incrowd._runtime.spark_session import CONSTRAINTS
from incrowd.table.sql_engine import BITS, Columns, SqlEngine

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_COUNTING = "counting the records"


class SparkEngine(SqlEngine):
    """Tables of codes in the executors of a session.

    Parameters
    ----------
    session
        A running one.
    memory
        How many bytes of counts may be in the driver.

    Notes
    -----
    A table that is kept stands on its own: how it came about is forgotten, so that plans do not
    grow from step to step. Should an executor die that holds a part of it, the run fails. Names
    are those of one engine alone, for a session may be that of a frame, with tables of its own and
    of other jobs. All are forgotten with the engine.
    """

    name: ClassVar[str] = "spark"
    ordered: ClassVar[bool] = False
    types: ClassVar[Mapping[int, str]] = {1: "INT", 2: "INT", 4: "BIGINT"}

    def __init__(self, session: SparkSession, memory: int) -> None:
        super().__init__(memory)
        self.session = session
        self._tables: set[str] = set()
        self._own = f"incrowd_{uuid.uuid4().hex}"
        # At the end of the program Spark itself is gone.
        weakref.finalize(self, _forget, session, self._tables).atexit = False

    def fresh(self, kind: str) -> str:
        """A name that no table of the session has."""
        return f"{self._own}_{super().fresh(kind)}"

    @contextmanager
    def planning(self, doing: str = _COUNTING) -> Iterator[None]:
        """With the settings that queries over kept tables need, in a session of somebody else."""
        with translated(doing):
            before = self.session.conf.get(CONSTRAINTS, "true") or "true"
            if before != "false":
                self.session.conf.set(CONSTRAINTS, "false")
            try:
                yield
            finally:
                if before != "false":
                    with suppress(Exception):  # the session may have ended
                        self.session.conf.set(CONSTRAINTS, before)

    def adopt(self, table: str, frame: DataFrame) -> None:
        """Keep a frame as a table."""
        from pyspark.storagelevel import StorageLevel

        with self.planning():
            most = int(self.session.conf.get("spark.sql.shuffle.partitions") or 200)
            if frame.rdd.getNumPartitions() > 2 * most:
                frame = frame.coalesce(most)
            kept = frame.localCheckpoint(True, StorageLevel.MEMORY_AND_DISK)
            if frame.sparkSession is not self.session:
                kept = self._brought(kept)
            kept.createOrReplaceTempView(table)
        self._tables.add(table)

    def _brought(self, frame: DataFrame) -> DataFrame:
        """A frame of another session of the same Spark, in this one."""
        view = self.fresh("brought")
        frame.createGlobalTempView(view)
        try:
            return self.session.table(f"global_temp.{view}")
        finally:
            self.session.catalog.dropGlobalTempView(view)

    def frame(self, query: str) -> DataFrame:
        """What a query gives, not yet computed."""
        with translated(_COUNTING):
            return self.session.sql(query)

    def keep(self, table: str, query: str) -> None:
        """Make a table of what a query gives."""
        self.adopt(table, self.frame(query))

    def numbered(self, table: str, query: str, name: str) -> None:
        """Make a table of what a query gives, its rows numbered from 0 in a column of that name.

        Each partition numbers its own rows, after those of the partitions before it.
        """
        within = self.fresh("numbered")
        self.keep(within, f"SELECT q.*, monotonically_increasing_id() AS place FROM ({query}) q")
        found = self.ask(
            f"SELECT shiftright(place, {_PARTITION}) AS part, count(*) AS n FROM {within} "
            "GROUP BY 1 ORDER BY part"
        )
        before = {"part": found["part"], "before": np.cumsum(found["n"]) - found["n"]}
        with self.lent(before) as lent:
            number = f"place - shiftleft(part, {_PARTITION}) + before"
            self.keep(
                table,
                f"SELECT * EXCEPT (place, part, before), {number} AS {name} FROM {within} "
                f"JOIN {lent} ON shiftright(place, {_PARTITION}) = part",
            )
        self.drop(within)

    def put(self, table: str, columns: Columns) -> None:
        """Make a table of columns in memory."""
        import pyarrow as pa

        cells = {name: np.ascontiguousarray(each, np.int64) for name, each in columns.items()}
        with translated(_COUNTING):
            self.session.createDataFrame(pa.table(cells)).createOrReplaceTempView(table)
        self._tables.add(table)

    def drop(self, table: str) -> None:
        """Forget a table; Spark frees its memory when it is no longer used."""
        if table in self._tables:
            self._tables.discard(table)
            with translated(_COUNTING):
                self.session.catalog.dropTempView(table)

    def ask(self, query: str) -> dict[str, IntArray]:
        """The columns of what a query gives."""
        with self.planning():
            found = self.session.sql(query).toArrow()
        return {
            name: column.to_numpy().astype(np.int64)
            for name, column in zip(found.schema.names, found.columns, strict=True)
        }

    def in_pieces(self, query: str) -> Iterator[dict[str, IntArray]]:
        """The same some rows at a time; the driver asks one partition after the other."""
        names = self.frame(query).columns
        rows: list[tuple[int, ...]] = []
        with self.planning():
            for row in self.session.sql(query).toLocalIterator():
                rows.append(tuple(row))
                if len(rows) == _ROWS_AT_ONCE:
                    yield _columns(names, rows)
                    rows = []
        if rows:
            yield _columns(names, rows)

    def bit(self, code: str, first: int) -> str:
        """SQL: the number whose only bit is that of a code, counted from `first`; else 0."""
        inside = f"{code} BETWEEN {first} AND {first + BITS - 1}"
        bit = f"shiftleft(CAST(1 AS BIGINT), CAST({code} - {first} AS INT))"
        return f"CASE WHEN {inside} THEN {bit} ELSE CAST(0 AS BIGINT) END"

    def close(self) -> None:
        """Forget all tables."""
        for table in list(self._tables):
            self.drop(table)


_ROWS_AT_ONCE = 1 << 16
_PARTITION = 33
"""The bits of a number of Spark's that tell rows of one partition apart."""


def _forget(session: SparkSession, tables: set[str]) -> None:
    for table in tables:
        with suppress(Exception):  # the session may have ended
            session.catalog.dropTempView(table)


def _columns(names: list[str], rows: list[tuple[int, ...]]) -> dict[str, IntArray]:
    cells = np.array(rows, dtype=np.int64)
    return {name: cells[:, number] for number, name in enumerate(names)}
