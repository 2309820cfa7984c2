"""The published records, counted by Spark: the counterpart of `records.load` for large tables.

Each file is read by a task of its own, with the reader of the other judge, so a cell means the
same to both. Spark SQL counts: the records of each combination of keys, the rows of each file, the
rows that stand after one that should follow, within files and from each file to the next. Only
these counts come here, into the connection in which the models are judged.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._runtime.spark_errors import as_raised, translated
from incrowd._runtime.spark_session import session
from incrowd.errors import EngineError
from incrowd.verify.counting.records import (
    Asked,
    PublishedRecords,
    connected,
    different,
    form_told,
    keys_of,
    refuse_odd,
    refuse_ragged,
    within,
)
from incrowd.verify.files.csv_form import FormError
from incrowd.verify.files.order import Lines, misplaced_sql, read_lines
from incrowd.verify.files.parquet_form import is_comparable, refuse_other_bytes, refuse_types
from incrowd.verify.files.readers import (
    UnreadableError,
    csv_columns,
    csv_sources,
    odd_sql,
    parquet_columns,
    parquet_source,
    reason,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection
    from pyspark.sql import DataFrame, SparkSession

_ROWS_AT_ONCE = 20_000
_MEMORY = 512 * 10**6
"""What DuckDB may take in a task, in bytes; beyond that it goes to disk."""


@dataclass(frozen=True)
class _TableFiles:
    """The files of a table as their headers show them: what every task needs to read its own."""

    paths: tuple[Path, ...]
    sizes: tuple[int, ...]
    columns: tuple[str, ...]
    odd: str
    compared: bool

    @property
    def names(self) -> list[str]:
        """The names that the columns have in SQL."""
        return [f"c{number}" for number in range(len(self.columns))]


def load_by_spark(
    connection: DuckDBPyConnection, paths: Sequence[Path], asked: Asked, table: str
) -> PublishedRecords:
    """Count the records of a table in parts as asked, or raise UnreadableError.

    Notes
    -----
    One pass over the files, and a second one where columns are published untouched. What comes here
    is one row for each combination of keys, and three numbers for each file.
    """
    files = _opened(connection, paths, asked)
    columns, names = files.columns, files.names
    keys = keys_of(columns, asked)
    shown = [names[columns.index(key)] for key in keys]
    apart = [names[columns.index(name)] for name in asked.untouched if name in columns]
    with translated("judging the release", UnreadableError):
        running = session()
        counted = _counted(running, files, shown)
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
            alone = _alone(running, files, apart)
        finally:
            counted.unpersist()
    connection.register("counted_by_spark", found)
    connection.execute(f"CREATE TABLE {table} AS SELECT * FROM counted_by_spark WHERE n > 0")
    connection.unregister("counted_by_spark")
    rows_of = dict(zip(parts["part"].to_pylist(), parts["n"].to_pylist(), strict=True))
    rows = tuple(rows_of.get(number, 0) for number in range(len(paths)))
    misplaced = sum(parts["late"].to_pylist()) + sum(between["late"].to_pylist())
    return PublishedRecords(
        connection, columns, keys, sum(rows), misplaced, rows, alone, files.compared, table
    )


def _opened(connection: DuckDBPyConnection, paths: Sequence[Path], asked: Asked) -> _TableFiles:
    """The files of a table: their headers are read here, no record."""
    import duckdb

    texts = None
    compared = True
    try:
        if paths[0].suffix == ".parquet":
            columns, texts = parquet_columns(connection, paths)
            refuse_types(paths, asked.kinds)
            compared = is_comparable(connection, paths)
        else:
            columns = csv_columns(paths)
    except duckdb.Error as error:
        raise UnreadableError(reason(error, paths)) from None
    except FormError as error:
        raise UnreadableError(form_told(error, paths)) from None
    odd = odd_sql(columns, asked.kinds, texts)
    sizes = tuple(path.stat().st_size for path in paths)
    return _TableFiles(tuple(paths), sizes, tuple(different(columns)), odd, compared)


def _rows(running: SparkSession, files: _TableFiles) -> DataFrame:
    """The rows of all files, those that stand together and are equal as one; read when asked."""
    numbers = ["part int", "edge int", "late bigint", "n bigint"]
    schema = ", ".join([*numbers, *(f"{name} string" for name in files.names)])
    many = len(files.paths)
    return running.range(0, many, 1, many).mapInArrow(partial(_read, files), schema)


def _alone(running: SparkSession, files: _TableFiles, untouched: Sequence[str]) -> int:
    """How many records have cells in some columns that no other has."""
    if not untouched:
        return 0
    listed = ", ".join(untouched)
    found = running.sql(
        f"SELECT count(*) AS alone FROM (SELECT {listed} FROM {{rows}} WHERE edge = 0"
        f" GROUP BY {listed} HAVING sum(n) = 1)",
        rows=_rows(running, files),
    )
    return int(found.toArrow()["alone"].to_pylist()[0])


def _counted(running: SparkSession, files: _TableFiles, keys: Sequence[str]) -> DataFrame:
    """The number `n` of records, of which `late`, for each part and combination of keys.

    The first and the last row of each part stand apart, as `whole`, with an `edge` of 1 and 2 and
    an `n` of 0.
    """
    from pyspark.storagelevel import StorageLevel

    rows, names = _rows(running, files), files.names
    listed = "".join(f", {key}" for key in keys)
    counted = running.sql(
        f"SELECT part, edge, CASE WHEN edge > 0 THEN struct({', '.join(names)}) END AS whole"
        f"{listed}, sum(n) AS n, sum(late) AS late FROM {{rows}}"
        f" GROUP BY part, edge, CASE WHEN edge > 0 THEN struct({', '.join(names)}) END{listed}",
        rows=rows,
    )
    return counted.persist(StorageLevel.MEMORY_AND_DISK)


def _read(files: _TableFiles, batches: Iterator[Any]) -> Iterator[pa.RecordBatch]:
    """The rows of the parts that a task was given; in a worker."""
    try:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                _refuse_another(files.paths[number], files.sizes[number])
                yield from _rows_of(number, files)
    except (UnreadableError, EngineError) as error:
        raise as_raised(error) from None
    except FormError as error:
        raise as_raised(UnreadableError(form_told(error, files.paths))) from None


def _refuse_another(path: Path, size: int) -> None:
    """Raise unless a file is the one that the driver sees, whose digest is judged there."""
    if not path.is_file() or path.stat().st_size != size:
        raise UnreadableError(
            "cannot be opened by the executors: they must share the folder of the release"
        )


def _rows_of(number: int, files: _TableFiles) -> Iterator[pa.RecordBatch]:
    """The rows of one part as text, with how many are `late`, and its edges once more.

    Rows that stand together and are equal travel as one, with their number `n`.
    """
    import duckdb

    path, names = files.paths[number], files.names
    is_parquet = path.suffix == ".parquet"
    lines, wrong = _formed(path, files)
    source = parquet_source(names, files.odd) if is_parquet else csv_sources(names, files.odd)[-1]
    known = lines is not None and lines.misplaced is not None
    wanted = f"SELECT *, false AS late FROM ({source})" if known else misplaced_sql(names, source)
    last = None
    rows = odd = 0
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
                odd += batch.column("odd").true_count
                last = batch.slice(batch.num_rows - 1)
        except duckdb.OutOfMemoryException:
            raise
        except (duckdb.Error, OSError) as error:
            raise UnreadableError(reason(error, files.paths)) from None
    refuse_odd(odd)
    if wrong is not None:
        raise wrong
    if lines is not None:
        refuse_ragged(lines, rows, len(names))
    if last is not None:
        late = lines.misplaced if lines is not None else None
        yield _edge(last, number, 2, late or 0, names)


def _formed(path: Path, files: _TableFiles) -> tuple[Lines | None, FormError | None]:
    """The lines of a text file, and what is wrong with its form, told once its cells were read."""
    try:
        if path.suffix != ".parquet":
            return read_lines([path], files.columns), None
        if files.compared:
            refuse_other_bytes([path])
    except FormError as error:
        return None, error
    return None, None


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
