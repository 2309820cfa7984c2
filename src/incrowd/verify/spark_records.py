"""The published records, counted by Spark: the counterpart of `records.load` for large tables.

Each file is read by a task of its own, with the reader of the other judge, so a cell means the
same to both. Spark SQL counts: the records of each combination of keys, the rows of each file, the
rows that stand after one that should follow, within files and from each file to the next. Only
these counts come here, into the connection in which the models are judged.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import EngineError
from incrowd.spark_errors import told, translated
from incrowd.spark_session import session
from incrowd.verify.order import misplaced_sql, read_lines
from incrowd.verify.records import (
    Records,
    UnreadableError,
    _csv_columns,
    _csv_sources,
    _parquet_columns,
    _parquet_source,
    _reason,
    connected,
    within,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection
    from pyspark.sql import DataFrame, SparkSession

_ROWS_AT_ONCE = 20_000
_MEMORY = 512 * 10**6
"""What DuckDB may take in a task, in bytes; beyond that it goes to disk."""


def load_by_spark(
    connection: DuckDBPyConnection, paths: Sequence[Path], counted_by: Sequence[str], table: str
) -> Records:
    """Count the records of a table in parts by some of its columns, or raise UnreadableError.

    Notes
    -----
    One pass over the files. What comes here is one row for each combination of keys, and three
    numbers for each file.
    """
    columns = _columns(connection, paths)
    keys = tuple(name for name in dict.fromkeys(counted_by) if name in columns)
    names = [f"c{number}" for number in range(len(columns))]
    shown = [names[columns.index(key)] for key in keys]
    with translated("judging the release", UnreadableError):
        running = session()
        counted = _counted(running, paths, names, shown)
        try:
            selected = "".join(f"{name}, " for name in shown)
            grouped = f" GROUP BY {', '.join(shown)}" if shown else ""
            found = running.sql(
                f"SELECT {selected}coalesce(sum(n), 0) AS n FROM {{counted}}"
                f" WHERE edge = 0{grouped}",
                counted=counted,
            ).toArrow()
            parts = running.sql(
                "SELECT part, sum(n) AS n, sum(late) AS late FROM {counted} GROUP BY part",
                counted=counted,
            ).toArrow()
            between = running.sql(
                "SELECT count_if(first < before) AS late FROM (SELECT first,"
                " lag(last) OVER (ORDER BY part) AS before FROM (SELECT part,"
                " max(whole) FILTER (WHERE edge = 1) AS first,"
                " max(whole) FILTER (WHERE edge = 2) AS last FROM {counted} WHERE edge > 0"
                " GROUP BY part))",
                counted=counted,
            ).toArrow()
        finally:
            counted.unpersist()
    connection.register("counted_by_spark", found)
    connection.execute(f"CREATE TABLE {table} AS SELECT * FROM counted_by_spark WHERE n > 0")
    connection.unregister("counted_by_spark")
    rows_of = dict(zip(parts["part"].to_pylist(), parts["n"].to_pylist(), strict=True))
    rows = tuple(rows_of.get(number, 0) for number in range(len(paths)))
    misplaced = sum(parts["late"].to_pylist()) + sum(between["late"].to_pylist())
    return Records(connection, tuple(columns), keys, sum(rows), misplaced, rows)


def _columns(connection: DuckDBPyConnection, paths: Sequence[Path]) -> list[str]:
    """The columns of the files: their headers are read here, no record."""
    import duckdb

    try:
        is_parquet = paths[0].suffix == ".parquet"
        columns = _parquet_columns(connection, paths) if is_parquet else _csv_columns(paths)
    except duckdb.Error as error:
        raise UnreadableError(_reason(error, paths)) from None
    if len({*columns}) != len(columns):
        raise UnreadableError("names one column twice")
    return columns


def _counted(
    running: SparkSession, paths: Sequence[Path], names: Sequence[str], keys: Sequence[str]
) -> DataFrame:
    """The number `n` of records, of which `late`, for each part and combination of keys.

    The first and the last row of each part stand apart, as `whole`, with an `edge` of 1 and 2 and
    an `n` of 0.
    """
    from pyspark.storagelevel import StorageLevel

    numbers = ["part int", "edge int", "late bigint", "n bigint"]
    schema = ", ".join([*numbers, *(f"{name} string" for name in names)])
    sizes = [path.stat().st_size for path in paths]
    read = partial(_read, [str(path) for path in paths], sizes, list(names))
    rows = running.range(0, len(paths), 1, len(paths)).mapInArrow(read, schema)
    listed = "".join(f", {key}" for key in keys)
    counted = running.sql(
        f"SELECT part, edge, CASE WHEN edge > 0 THEN struct({', '.join(names)}) END AS whole"
        f"{listed}, sum(n) AS n, sum(late) AS late FROM {{rows}}"
        f" GROUP BY part, edge, CASE WHEN edge > 0 THEN struct({', '.join(names)}) END{listed}",
        rows=rows,
    )
    return counted.persist(StorageLevel.MEMORY_AND_DISK)


def _read(
    paths: list[str], sizes: list[int], names: list[str], batches: Iterator[Any]
) -> Iterator[pa.RecordBatch]:
    """The rows of the parts that a task was given; in a worker."""
    try:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                _refuse_another(Path(paths[number]), sizes[number])
                yield from _rows_of(number, [Path(path) for path in paths], names)
    except (UnreadableError, EngineError) as error:
        raise told(error) from None


def _refuse_another(path: Path, size: int) -> None:
    """Raise unless a file is the one that the driver sees, whose digest is judged there."""
    if not path.is_file() or path.stat().st_size != size:
        raise UnreadableError(
            "cannot be opened by the executors: they must share the folder of the release"
        )


def _rows_of(number: int, paths: Sequence[Path], names: list[str]) -> Iterator[pa.RecordBatch]:
    """The rows of one part as text, with how many are `late`, and its edges once more.

    Rows that stand together and are equal travel as one, with their number `n`.
    """
    import duckdb

    path = paths[number]
    is_parquet = path.suffix == ".parquet"
    lines = None if is_parquet else read_lines([path])
    source = _parquet_source(names) if is_parquet else _csv_sources(names)[-1]
    wanted = (
        misplaced_sql(names, source)
        if lines is None
        else f"SELECT *, false AS late FROM ({source})"
    )
    last = None
    rows = 0
    with within(_MEMORY), connected() as connection:
        connection.execute("SET threads = 1")
        try:
            read = connection.sql(wanted, params=[[glob.escape(str(path))]])
            reader: Any = read.to_arrow_reader(_ROWS_AT_ONCE)
            for batch in reader:
                if not batch.num_rows:
                    continue
                if last is None:
                    yield _edge(batch.slice(0, 1), number, 1, 0, names)
                yield _runs(batch, number, names)
                rows += batch.num_rows
                last = batch.slice(batch.num_rows - 1)
        except duckdb.OutOfMemoryException:
            raise
        except (duckdb.Error, OSError) as error:
            raise UnreadableError(_reason(error, paths)) from None
    if lines is not None and lines.separators != rows * (len(names) - 1):
        raise UnreadableError("has rows with more cells than columns")
    if last is not None:
        yield _edge(last, number, 2, 0 if lines is None else lines.misplaced, names)


def _runs(batch: pa.RecordBatch, number: int, names: list[str]) -> pa.RecordBatch:
    """The rows of a batch, those that stand together and are equal as one."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    many = batch.num_rows
    begins = np.ones(many, dtype=np.bool_)
    if many > 1:
        begins[1:] = False
        for name in names:
            cells = batch.column(name)
            changes = pc.not_equal(cells.slice(1), cells.slice(0, many - 1))
            begins[1:] |= changes.to_numpy(zero_copy_only=False)
    places = np.flatnonzero(begins)
    late = pc.fill_null(batch.column("late"), False).to_numpy(zero_copy_only=False)
    # Equal rows are in order: only the first of them can be late.
    counts = np.diff(places, append=many)
    return _batch(batch.take(pa.array(places)), number, 0, late[places], counts, names)


def _edge(
    row: pa.RecordBatch, number: int, edge: int, late: int, names: list[str]
) -> pa.RecordBatch:
    return _batch(row, number, edge, [late], [0], names)


def _batch(
    rows: pa.RecordBatch, number: int, edge: int, late: Any, n: Any, names: list[str]
) -> pa.RecordBatch:
    """Rows with the number of their part, whether they are an edge of it, and their counts."""
    import numpy as np
    import pyarrow as pa

    many = rows.num_rows
    columns = {
        "part": np.full(many, number, np.int32),
        "edge": np.full(many, edge, np.int32),
        "late": np.asarray(late, np.int64),
        "n": np.asarray(n, np.int64),
        **{name: rows.column(name).cast(pa.string()) for name in names},
    }
    return pa.RecordBatch.from_pydict(columns)
