"""DuckDB as an SQL engine: tables in a database on disk, in a folder that goes with it."""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.scratch import NO_ROOM, scratch
from incrowd.errors import EngineError
from incrowd.table.sql_engine import BITS, Columns, SqlEngine

if TYPE_CHECKING:
    import duckdb

_MEGABYTE = 1_000_000
_LEAST = 200 * _MEGABYTE
"""DuckDB does not work well with less."""
_ROWS_AT_ONCE = 1 << 18
_AS_WRITTEN = "join_order,build_side_probe_side"
"""Joins are carried out as written: the rows of one or several tables, then what is lent to them.
DuckDB 2.0 fails ("build pipeline is not single-source") where it builds on several tables."""

_NO_MEMORY = (
    "Counting the records takes more than `memory:` allows, even on disk. Allow more, or publish "
    "fewer columns."
)


class DuckDbEngine(SqlEngine):
    """A database of its own, on disk.

    Parameters
    ----------
    memory
        How many bytes the database may use; beyond that it works on disk.

    Notes
    -----
    The folder is removed when the engine is closed, is no longer used, or the program ends; only
    a killed process leaves it behind.
    """

    name: ClassVar[str] = "duckdb"
    ordered: ClassVar[bool] = True
    types: ClassVar[Mapping[int, str]] = {1: "UTINYINT", 2: "USMALLINT", 4: "UINTEGER"}

    def __init__(self, memory: int) -> None:
        import duckdb

        super().__init__(max(memory, _LEAST))
        stack = ExitStack()
        self._folder = folder = stack.enter_context(scratch("rows"))
        self._remove = weakref.finalize(self, stack.close)
        settings: dict[str, Any] = {
            "memory_limit": f"{max(memory, _LEAST) // _MEGABYTE}MB",
            "temp_directory": str(folder / "spill"),
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "disabled_optimizers": _AS_WRITTEN,
        }
        try:
            with _told():
                self._connection = duckdb.connect(str(folder / "rows.duckdb"), config=settings)
        except BaseException:
            self._remove()
            raise

    def keep(self, table: str, query: str) -> None:
        """Make a table of what a query gives."""
        with self._asked() as connection:
            connection.execute(f"CREATE TABLE {table} AS {query}")

    def numbered(self, table: str, query: str, name: str) -> None:
        """Make a table of what a query gives, its rows numbered from 0 in a column of that name."""
        self.keep(table, f"SELECT q.*, row_number() OVER () - 1 AS {name} FROM ({query}) q")

    def append(self, table: str, columns: Columns) -> None:
        """Add rows to a table, which is made if there is none."""
        made = "CREATE TABLE IF NOT EXISTS {0} AS SELECT * FROM piece LIMIT 0"
        self._take(columns, made, "INSERT INTO {0} SELECT * FROM piece", table=table)

    def put(self, table: str, columns: Columns) -> None:
        """Make a table of columns in memory; not a temporary one, which no other request sees."""
        self._take(columns, "CREATE TABLE {0} AS SELECT * FROM piece", table=table)

    def drop(self, table: str) -> None:
        """Forget a table."""
        with self._asked() as connection:
            connection.execute(f"DROP TABLE IF EXISTS {table}")

    def ask(self, query: str) -> dict[str, IntArray]:
        """The columns of what a query gives."""
        with self._asked() as connection:
            found = connection.execute(query).fetchnumpy()
        return {name: np.ma.getdata(cells) for name, cells in found.items()}

    def in_pieces(self, query: str) -> Iterator[dict[str, IntArray]]:
        """The same some rows at a time, in the order of the query."""
        import polars as pl

        path = self._folder / f"{self.fresh('pieces')}.parquet"
        quoted = str(path).replace("'", "''")
        with self._asked() as connection:
            connection.execute(
                f"COPY ({query}) TO '{quoted}' (FORMAT parquet, ROW_GROUP_SIZE {_ROWS_AT_ONCE})"
            )
        try:
            pieces = pl.scan_parquet(path, glob=False)
            rows = pieces.select(pl.len()).collect().item()
            for begin in range(0, rows, _ROWS_AT_ONCE):
                piece = pieces.slice(begin, _ROWS_AT_ONCE).collect()
                yield {column.name: column.to_numpy() for column in piece}
        finally:
            path.unlink(missing_ok=True)

    def bit(self, code: str, first: int) -> str:
        """SQL: the number whose only bit is that of a code, counted from `first`; else 0."""
        inside = f"{code} BETWEEN {first} AND {first + BITS - 1}"
        return f"CASE WHEN {inside} THEN CAST(1 AS BIGINT) << ({code} - {first}) ELSE 0 END"

    def close(self) -> None:
        """Remove the database."""
        self._connection.close()
        self._remove()

    def _take(self, columns: Columns, *statements: str, table: str) -> None:
        piece = {name: np.ascontiguousarray(cells) for name, cells in columns.items()}
        with self._asked() as connection:
            connection.register("piece", piece)
            for statement in statements:
                connection.execute(statement.format(table))
            connection.unregister("piece")

    @contextmanager
    def _asked(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection for one request.

        Others may be made meanwhile: by threads and, at any time, by tables that are let go.
        """
        with _told(), self._connection.cursor() as connection:
            connection.execute("SET enable_progress_bar = false")
            yield connection


@contextmanager
def _told() -> Iterator[None]:
    """What the database cannot do, said without what is in it."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException:
        raise EngineError(_NO_MEMORY) from None
    except (duckdb.IOException, duckdb.TransactionException, duckdb.FatalException) as error:
        # Nobody else works on the file: a commit fails only when it cannot be written.
        kind = _shown(error)
        raise EngineError(f"The records could not be counted on disk: {NO_ROOM} ({kind})") from None
    except RuntimeError as error:
        if "interrupted" in str(error):
            raise KeyboardInterrupt from None
        raise
    except duckdb.Error as error:
        raise EngineError(f"DuckDB failed ({_shown(error)}).") from None


def _shown(error: Exception) -> str:
    """The kind of a failure; with INCROWD_DEBUG the whole of it goes to the standard error."""
    if os.environ.get("INCROWD_DEBUG"):  # the database holds codes, no cells
        print(error, file=sys.stderr)
    return type(error).__name__
