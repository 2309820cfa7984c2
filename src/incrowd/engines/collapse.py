"""Collapse: the distinct rows of more records than fit into memory, counted out of core.

Cells are coded as they are read (dictionary.py), the codes go to a database on disk, and one
aggregation there gives every distinct row with the number of its records. Where these fit into
memory they are given as arrays, else they stay where they are. Text never lies in memory whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import IntArray
from incrowd.engines._duckdb_engine import DuckDbEngine
from incrowd.table import Weighted, code_dtype
from incrowd.table.dictionary import ColumnDictionary
from incrowd.table.sql_engine import Columns, SqlEngine
from incrowd.table.sql_histories import FIRST, one_record_each
from incrowd.table.sql_rows import CodeCounts, SqlRows

if TYPE_CHECKING:
    import polars as pl

BYTES_A_CODE = 12
"""What a method and publishing take in memory, for each byte of the distinct rows."""
RECORDS = "records"
"""The table of all rows."""
_BESIDE = 16
"""The bytes of a row's weight and of the number of its first record."""


@dataclass(frozen=True)
class Stayed:
    """Rows in an engine, in the codes in which they were read.

    Distinct ones that do not fit into memory; or all rows of patients, to be gathered.
    """

    rows: SqlRows
    counts: dict[str, CodeCounts]
    """Of each column the codes that occur, with their records and the first of these."""
    memory: int
    """How many bytes the rows that methods work on may take."""
    patients: int | None = None
    """How many patients the rows are of, where these may have several."""
    apart: bool = False
    """Whether each row is another's, and there all the same until its dates are changed."""


class RowsOnDisk:
    """Rows of codes in a table of a database on disk, which know their place in the source.

    Parameters
    ----------
    engine
        The database.
    table
        The name of the table there.
    names
        The columns of a row.
    """

    def __init__(self, engine: DuckDbEngine, table: str, names: Sequence[str]) -> None:
        self.engine, self.table, self.names = engine, table, tuple(names)
        self.records = 0
        self._beside: tuple[str, ...] = ()

    def add(
        self, codes: Sequence[npt.NDArray[np.unsignedinteger]], beside: Columns | None = None
    ) -> None:
        """Take in the next records: the codes of each column, and what else rows keep."""
        rows = len(codes[0])
        piece: dict[str, npt.NDArray[np.integer]] = {
            f"c{i}": each.astype(np.uint32) for i, each in enumerate(codes)
        }
        piece |= beside or {}
        self._beside = tuple(beside or ())
        piece[FIRST] = np.arange(self.records, self.records + rows, dtype=np.int64)
        self.records += rows
        self.engine.append(self.table, piece)

    def stayed(self, memory: int, patients: int | None, *, apart: bool = False) -> Stayed:
        """All rows, of so many patients, who are known beside them."""
        found = SqlRows(self.engine, self.table, self.names, (*self._beside, FIRST))
        counts = found.counts(within=one_record_each(self.table), also=FIRST)
        return Stayed(found, counts, memory, patients, apart)


InMemory = tuple[list[npt.NDArray[np.unsignedinteger]], Weighted]
"""Distinct rows by column, and how many records each has."""


class Collapse:
    """Rows of codes on disk, until they are asked for as distinct ones.

    Parameters
    ----------
    names
        The columns of a row.
    memory
        How many bytes may be used; beyond that the database works on disk.

    Notes
    -----
    Used as a context: nothing is left behind, unless the process is killed. With n records of c
    columns and d distinct rows, O(n c) bytes on disk before compression; O(d c) in memory at the
    end where that fits, else no more than the dictionaries.
    """

    def __init__(self, names: Sequence[str], memory: int) -> None:
        self._names = tuple(names)
        self._memory = memory
        self.engine = DuckDbEngine(memory)
        """The database of the rows; others may count there too, within the same limit."""
        self._rows = RowsOnDisk(self.engine, RECORDS, self._names)
        self._stays = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None or not self._stays:
            self.engine.close()

    def add(
        self, codes: Sequence[npt.NDArray[np.unsignedinteger]], beside: Columns | None = None
    ) -> None:
        """Take in the next records: the codes of each column, and what else rows keep."""
        self._rows.add(codes, beside)

    def distinct(self, cardinalities: Sequence[int]) -> InMemory | Stayed:
        """The distinct rows by column, and how many records each has; or where they stay."""
        self._group()
        rows = int(self.engine.ask("SELECT count(*) AS rows FROM rows")["rows"][0])
        if fit(rows, cardinalities, self._memory):
            return self._fetched(cardinalities)
        self._stays = True
        found = SqlRows(self.engine, "rows", self._names)
        return Stayed(found, found.counts(also=FIRST), self._memory)

    def rows(self, patients: int | None) -> Stayed:
        """All rows, of so many patients, who are known beside them; None where each is another."""
        self._stays = True
        return self._rows.stayed(self._memory, patients, apart=patients is None)

    def fetched(self, cardinalities: Sequence[int]) -> InMemory:
        """The distinct rows by column, and how many records each has, whether they fit or not."""
        self._group()
        return self._fetched(cardinalities)

    def _group(self) -> None:
        """Make the table of distinct rows."""
        columns = [f"c{i}" for i in range(len(self._names))]
        listed = ", ".join(columns)
        self.engine.keep(
            "rows",
            f"SELECT {', '.join(f'{c}::INTEGER AS {c}' for c in columns)}, count(*) AS n, "
            f"min(first) AS first FROM {RECORDS} GROUP BY {listed}",
        )
        self.engine.drop(RECORDS)

    def _fetched(self, cardinalities: Sequence[int]) -> InMemory:
        columns, found = fetched(self.engine, "rows", cardinalities, FIRST)
        return columns, Weighted(found["n"].astype(np.int64), found[FIRST].astype(np.int64))


def fetched(
    engine: SqlEngine, table: str, cardinalities: Sequence[int], *others: str
) -> tuple[list[npt.NDArray[np.unsignedinteger]], dict[str, IntArray]]:
    """The codes of the rows of a table by column; and `n` and other columns by name."""
    columns = [f"c{i}" for i in range(len(cardinalities))]
    narrow = [
        f"CAST({name} AS {engine.types[np.dtype(code_dtype(cardinality)).itemsize]}) AS {name}"
        for name, cardinality in zip(columns, cardinalities, strict=True)
    ]
    found = engine.ask(f"SELECT {', '.join([*narrow, 'n', *others])} FROM {table}")
    codes = [
        found.pop(name).astype(code_dtype(cardinality), copy=False)
        for name, cardinality in zip(columns, cardinalities, strict=True)
    ]
    return codes, found


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
    with Collapse(columns, memory) as collapse, ThreadPoolExecutor() as pool:
        for frame in frames:
            pieces = [frame.get_column(name) for name in columns]
            if not dictionaries:
                dictionaries = {piece.name: ColumnDictionary(piece) for piece in pieces}
            collapse.add(list(pool.map(ColumnDictionary.code, dictionaries.values(), pieces)))
        counting()
        codes, tally = collapse.fetched([each.seen for each in dictionaries.values()])
    for dictionary, rows in zip(dictionaries.values(), codes, strict=True):
        dictionary.keep_distinct(rows, tally)
    return dictionaries


def fit(rows: int, cardinalities: Sequence[int], memory: int) -> bool:
    """Whether a method can work on so many distinct rows within so many bytes of memory."""
    codes = sum(np.dtype(code_dtype(cardinality)).itemsize for cardinality in cardinalities)
    return rows * (BYTES_A_CODE * codes + _BESIDE) <= memory
