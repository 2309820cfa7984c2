"""Collapse: the distinct rows of more records than fit into memory, counted out of core.

Cells are coded as they are read (dictionary.py), the codes go to a database on disk, and one
aggregation there gives every distinct row with the number of its records. Text never lies in memory
whole, and codes only as many as differ.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from incrowd.errors import EngineError
from incrowd.table import Tally

if TYPE_CHECKING:
    import duckdb

_MEGABYTE = 1_000_000
_LEAST = 200 * _MEGABYTE
"""DuckDB does not work well with less."""


_NO_ROOM = (
    "The records could not be counted on disk: no room is left, or the disk failed. Make room "
    "where temporary files go (the environment variable TMPDIR)."
)


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
        self._folder: Path | None = None

    def __enter__(self) -> Self:
        import duckdb

        try:
            self._folder = Path(tempfile.mkdtemp(prefix="incrowd-rows-"))
        except OSError as error:
            raise EngineError(_NO_ROOM) from error
        settings: dict[str, Any] = {
            "memory_limit": f"{self._memory // _MEGABYTE}MB",
            "temp_directory": str(self._folder / "spill"),
            "preserve_insertion_order": False,
        }
        types = ", ".join(f"c{i} UINTEGER" for i in range(self._columns))
        try:
            with _Translated():
                file = str(self._folder / "rows.duckdb")
                self._connection = duckdb.connect(file, config=settings)
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
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

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
        if isinstance(error, duckdb.IOException):
            raise EngineError(_NO_ROOM) from None
        if isinstance(error, duckdb.Error):
            raise EngineError(f"DuckDB failed ({type(error).__name__}).") from None
