"""Collapse: the distinct rows of more records than fit into memory, counted out of core.

Cells are coded as they are read (dictionary.py), the codes go to a database on disk, and one
aggregation there gives every distinct row with the number of its records. Text never lies in memory
whole, and codes only as many as differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from incrowd.dictionary import ColumnDictionary
from incrowd.errors import EngineError
from incrowd.scratch import NO_ROOM, scratch
from incrowd.table import Tally

if TYPE_CHECKING:
    import duckdb
    import polars as pl

_MEGABYTE = 1_000_000
_LEAST = 200 * _MEGABYTE
"""DuckDB does not work well with less."""


class Collapse:
    """Rows of codes on disk, until they are asked for as distinct ones.

    Parameters
    ----------
    columns
        How many codes a row has.
    memory
        How many bytes the database may use; beyond that it works on disk.

    Notes
    -----
    Used as a context: nothing is left behind, unless the process is killed. With n records of c
    columns and d distinct rows, O(n c) bytes on disk before compression and O(d c) in memory at
    the end.
    """

    def __init__(self, columns: int, memory: int) -> None:
        self._columns = columns
        self._memory = max(memory, _LEAST)
        self._records = 0
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        import duckdb

        folder = self._stack.enter_context(scratch("rows"))
        settings: dict[str, Any] = {
            "memory_limit": f"{self._memory // _MEGABYTE}MB",
            "temp_directory": str(folder / "spill"),
            "preserve_insertion_order": False,
        }
        types = ", ".join(f"c{i} UINTEGER" for i in range(self._columns))
        try:
            with _Translated():
                file = str(folder / "rows.duckdb")
                self._connection = duckdb.connect(file, config=settings)
                self._connection.execute("SET enable_progress_bar = false")
                self._connection.execute(f"CREATE TABLE rows ({types}, first BIGINT)")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._connection is not None:
            self._connection.close()
        self._stack.close()

    def add(self, codes: Sequence[npt.NDArray[np.unsignedinteger]]) -> None:
        """Take in the next records: the codes of each column."""
        assert self._connection is not None
        rows = len(codes[0])
        piece: dict[str, npt.NDArray[Any]] = {
            f"c{i}": np.ascontiguousarray(each, np.uint32) for i, each in enumerate(codes)
        }
        piece["first"] = np.arange(self._records, self._records + rows, dtype=np.int64)
        self._records += rows
        with _Translated():
            self._connection.register("piece", piece)
            self._connection.execute("INSERT INTO rows SELECT * FROM piece")
            self._connection.unregister("piece")

    def distinct(
        self, cardinalities: Sequence[int]
    ) -> tuple[list[npt.NDArray[np.unsignedinteger]], Tally]:
        """The distinct rows by column, and how many records each has."""
        assert self._connection is not None
        columns = [f"c{i}" for i in range(self._columns)]
        narrow = [
            f"{name}::{_type(cardinality)} AS {name}"
            for name, cardinality in zip(columns, cardinalities, strict=True)
        ]
        with _Translated():
            found = self._connection.execute(
                f"SELECT {', '.join(narrow)}, count(*)::INTEGER AS weight, min(first) AS first "
                f"FROM rows GROUP BY {', '.join(columns)}"
            ).fetchnumpy()
        arrays = [np.ma.getdata(found[name]) for name in columns]
        tally = Tally(
            np.ma.getdata(found["weight"]).astype(np.int64),
            np.ma.getdata(found["first"]).astype(np.int64),
        )
        return arrays, tally


def collapsed(
    frames: Iterable[pl.DataFrame],
    columns: Sequence[str],
    memory: int,
    counting: Callable[[], None] = lambda: None,
) -> dict[str, ColumnDictionary]:
    """Dictionaries of some columns, each holding the codes of the distinct rows and their tally.

    Parameters
    ----------
    frames
        The records in pieces; they are coded one by one and not kept.
    columns
        Names of columns that all pieces have; at least one.
    memory
        As for `Collapse`.
    counting
        Called when all pieces are read and counting begins.
    """
    dictionaries: dict[str, ColumnDictionary] = {}
    with Collapse(len(columns), memory) as collapse, ThreadPoolExecutor() as pool:
        for frame in frames:
            pieces = [frame.get_column(name) for name in columns]
            if not dictionaries:
                dictionaries = {piece.name: ColumnDictionary(piece) for piece in pieces}
            collapse.add(list(pool.map(ColumnDictionary.code, dictionaries.values(), pieces)))
        counting()
        seen = [dictionary.seen for dictionary in dictionaries.values()]
        codes, tally = collapse.distinct(seen)
    for dictionary, rows in zip(dictionaries.values(), codes, strict=True):
        dictionary.keep(rows)
        dictionary.tally = tally
    return dictionaries


def _type(cardinality: int) -> str:
    if cardinality <= 1 << 8:
        return "UTINYINT"
    return "USMALLINT" if cardinality <= 1 << 16 else "UINTEGER"


class _Translated:
    """What the database cannot do, said without what is in it."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        import duckdb

        if isinstance(error, duckdb.OutOfMemoryException):
            raise EngineError(
                "The records have more distinct rows than `memory:` allows to count. Allow more, "
                "or publish fewer columns."
            ) from None
        # Nobody else works on the file: a commit fails only when it cannot be written.
        failed = duckdb.IOException | duckdb.TransactionException | duckdb.FatalException
        if isinstance(error, failed):
            raise EngineError(f"The records could not be counted on disk: {NO_ROOM}") from None
        if isinstance(error, RuntimeError) and "interrupted" in str(error):
            raise KeyboardInterrupt from None
        if isinstance(error, duckdb.Error):
            raise EngineError(f"DuckDB failed ({type(error).__name__}).") from None
