"""The published records, counted by DuckDB in one pass; the empty cell is missing.

Text is kept as published: nothing is trimmed, and "NULL" or "NA" are words like any other. The
records themselves are never held: the pass keeps, for each combination of quasi-identifiers and
counted sensitive attributes, how many records have it.
"""

from __future__ import annotations

import glob
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from incrowd._runtime.scratch import scratch
from incrowd.errors import EngineError
from incrowd.verify.files import escaped
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
    part_told,
    reason,
)
from incrowd.verify.verdict import ORDER, Finding, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from duckdb import DuckDBPyConnection

TABLE = "counted"


@dataclass(frozen=True)
class Asked:
    """What is asked of a published table.

    Names that are not columns of it are passed over. `counted_by` are those by which records are
    counted, `kinds` those whose cells are numbers, dates or `whole` numbers that never lack, and
    `untouched` those on which it is counted how many records are alone. `beside` are those of which
    another table, called `aside`, has each combination once; with these none is untouched.
    """

    counted_by: Sequence[str]
    kinds: Mapping[str, str] = field(default_factory=dict)
    untouched: Sequence[str] = ()
    beside: Sequence[str] = ()
    aside: str = ""


@dataclass(frozen=True)
class PublishedRecords:
    """A table of a connection, made from the files of a published table with these columns.

    It has a column for each of the names in `keys` and the number `n` of records that share them.
    `misplaced` counts the records that sort before the one ahead of them, `parts` the rows of
    each file, `alone` the records that no other has the untouched cells of. `compared` is whether
    the bytes of the files were compared with those that the judge writes.
    """

    connection: DuckDBPyConnection
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    rows: int
    misplaced: int
    parts: tuple[int, ...] = ()
    alone: int = 0
    compared: bool = True
    table: str = TABLE

    def sql_name(self, column: str) -> str:
        """Return the name that a published column has in SQL."""
        return f"c{self.columns.index(column)}"


_LEAST_MEMORY = 200 * 10**6
"""DuckDB does not work well with less, in bytes."""


_limit: ContextVar[int | None] = ContextVar("limit", default=None)


@contextmanager
def within(memory: int | None) -> Iterator[None]:
    """Let connections use so many bytes of memory, and the disk beyond that."""
    before = _limit.set(memory)
    try:
        yield
    finally:
        _limit.reset(before)


_spark: ContextVar[bool] = ContextVar("spark", default=False)


@contextmanager
def by_spark(wanted: bool) -> Iterator[None]:
    """Let Spark count the records instead of DuckDB."""
    before = _spark.set(wanted)
    try:
        yield
    finally:
        _spark.reset(before)


@contextmanager
def connected() -> Iterator[DuckDBPyConnection]:
    """Give a DuckDB connection that loads no extension and spills outside the release."""
    import duckdb

    # Sharp edge: closing the connection is what removes its spill files.
    with scratch("judge") as spill:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "temp_directory": str(spill / "duckdb"),
            "preserve_insertion_order": True,
        }
        memory = _limit.get()
        if memory is not None:
            settings["memory_limit"] = f"{max(memory, _LEAST_MEMORY) // 10**6}MB"
        try:
            with duckdb.connect(":memory:", config=settings) as connection:
                connection.execute("SET enable_progress_bar = false")
                yield connection
        except duckdb.Error as error:
            # Its message may show cells.
            kind = type(error).__name__
            raise EngineError(
                f"DuckDB failed while judging the release ({kind}). Free memory and disk space,"
                " then try again."
            ) from None


def load(
    connection: DuckDBPyConnection, paths: Sequence[Path], asked: Asked, table: str = TABLE
) -> PublishedRecords:
    """Count the records of a published table as asked, or raise an UnreadableError.

    `paths` are its files, whose rows follow one another. The counts go to `table`.
    """
    import duckdb

    if _spark.get():
        if escaped.is_stated():
            raise UnreadableError("has escaped cells, which only DuckDB judges: say engine duckdb")
        from incrowd.verify.counting._spark_records import load_by_spark

        return load_by_spark(connection, paths, asked, table)
    try:
        if paths[0].suffix == ".parquet":
            return _load_parquet(connection, paths, asked, table)
        return _load_csv(connection, paths, asked, table)
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        raise UnreadableError(reason(error, paths)) from None
    except FormError as error:
        raise UnreadableError(form_told(error, paths)) from None


def form_told(error: FormError, paths: Sequence[Path]) -> str:
    """Return in words which file is in another form than the one it must have."""
    where = "" if error.path is None else part_told(error.path, paths)
    return f"{where}{error}: it is not in the one form that a release has"


def _load_csv(
    connection: DuckDBPyConnection, paths: Sequence[Path], asked: Asked, table: str
) -> PublishedRecords:
    header = csv_columns(paths)
    undo = escaped.is_stated()
    columns = different(_undone(header) if undo else header)
    names = [f"c{number}" for number in range(len(columns))]
    read = [glob.escape(str(path)) for path in paths]
    written = csv_sources(names, odd_sql(columns, asked.kinds))
    sources = [escaped.undone_source(names, each) for each in written] if undo else written
    with ThreadPoolExecutor(1) as aside:
        reading = aside.submit(read_lines, paths, header)
        source, alone = _count(connection, sources, read, columns, asked, table)
        lines = reading.result()
    as_written = written[sources.index(source)]
    if undo:
        _refuse_wrongly_escaped(connection, names, as_written, read)
    misplaced = lines.misplaced
    if misplaced is None:
        misplaced = _misplaced(connection, names, as_written, read)
    rows = _rows(connection, table)
    refuse_ragged(lines, rows, len(columns))
    keys = keys_of(columns, asked)
    return PublishedRecords(
        connection, tuple(columns), keys, rows, misplaced, lines.rows, alone, table=table
    )


def _load_parquet(
    connection: DuckDBPyConnection, paths: Sequence[Path], asked: Asked, table: str
) -> PublishedRecords:
    columns, texts = parquet_columns(connection, paths)
    columns = different(columns)
    refuse_types(paths, asked.kinds)
    compared = is_comparable(connection, paths)
    names = [f"c{number}" for number in range(len(columns))]
    read = [glob.escape(str(path)) for path in paths]
    sources = [parquet_source(names, odd_sql(columns, asked.kinds, texts))]
    with ThreadPoolExecutor(1) as aside:
        comparing = aside.submit(refuse_other_bytes, paths if compared else ())
        source, alone = _count(connection, sources, read, columns, asked, table)
        misplaced = _misplaced(connection, names, source, read)
        comparing.result()
    rows = _rows(connection, table)
    parts = (rows,) if len(paths) == 1 else _parts(connection, source, paths)
    keys = keys_of(columns, asked)
    return PublishedRecords(
        connection, tuple(columns), keys, rows, misplaced, parts, alone, compared, table
    )


def different(columns: Sequence[str]) -> list[str]:
    """Return the columns, or raise an UnreadableError where one is named twice."""
    if len({*columns}) != len(columns):
        raise UnreadableError("names one column twice")
    return list(columns)


def keys_of(columns: Sequence[str], asked: Asked) -> tuple[str, ...]:
    """Return the columns by which records are counted."""
    return tuple(name for name in dict.fromkeys(asked.counted_by) if name in columns)


def refuse_ragged(lines: Lines, rows: int, columns: int) -> None:
    """Raise an UnreadableError where the bytes have other rows or cells than DuckDB read."""
    if lines.separators != rows * (columns - 1):
        raise UnreadableError("has rows with more cells than columns")
    if sum(lines.rows) != rows:
        raise UnreadableError("has lines that are no rows")


def _undone(columns: list[str]) -> list[str]:
    undone = escaped.undone_names(columns)
    if undone is None:
        raise UnreadableError("has a column whose name is not escaped as the manifest states")
    return undone


def _refuse_wrongly_escaped(
    connection: DuckDBPyConnection, names: Sequence[str], source: str, read: list[str]
) -> None:
    ((wrong,),) = connection.execute(escaped.wrong_sql(names, source), [read]).fetchall()
    if wrong:
        raise UnreadableError(
            f"has {counted(wrong, 'row')} whose cells are not escaped as the manifest states"
        )


def shut(connection: DuckDBPyConnection) -> None:
    """Let SQL reach nothing outside the connection any more."""
    connection.execute("SET enable_external_access = false")


def _count(
    connection: DuckDBPyConnection,
    sources: Sequence[str],
    read: list[str],
    columns: Sequence[str],
    asked: Asked,
    table: str,
) -> tuple[str, int]:
    """Make the table of counts from the first of the sources that can be read.

    Returns that source, and how many records are alone on the untouched columns: both come from one
    pass over the files, as does the table aside. The column `mark` tells two kinds of groups apart.
    """
    import duckdb

    by = [f"c{columns.index(name)}" for name in keys_of(columns, asked)]
    others = asked.beside or asked.untouched
    apart = [f"c{columns.index(name)}" for name in others if name in columns]
    listed = "".join(f"{name}, " for name in dict.fromkeys([*by, *apart]))
    sets = f"({', '.join([*by, 'mark'])})" + (f", ({', '.join(apart)})" if apart else "")
    for source in sources:
        try:
            connection.execute(
                f"CREATE TABLE passed AS SELECT {listed}mark, count(*) AS n,"
                " count_if(odd)::BIGINT AS odd"
                f" FROM (SELECT *, 1::TINYINT AS mark FROM ({source}))"
                f" GROUP BY GROUPING SETS ({sets})"
                f" HAVING mark IS NOT NULL OR {'true' if asked.beside else 'count(*) = 1'}",
                [read],
            )
            break
        except duckdb.Error:
            if source is sources[-1]:
                raise
    ((alone, odd),) = connection.execute(
        "SELECT coalesce(count_if(mark IS NULL), 0),"
        " coalesce(sum(odd) FILTER (mark IS NOT NULL), 0)::BIGINT FROM passed"
    ).fetchall()
    refuse_odd(odd)
    if asked.beside:
        connection.execute(
            f"CREATE TABLE {asked.aside} AS SELECT {', '.join(apart)} FROM passed"
            " WHERE mark IS NULL"
        )
    kept = "".join(f"{name}, " for name in by)
    connection.execute(f"CREATE TABLE {table} AS SELECT {kept}n FROM passed WHERE mark IS NOT NULL")
    connection.execute("DROP TABLE passed")
    return source, alone


def refuse_odd(rows: int) -> None:
    """Raise an UnreadableError where rows have cells that their column does not have."""
    if rows:
        raise UnreadableError(
            f"has {counted(rows, 'row')} with a number, a date or an empty text in another form"
            " than the one that a release has"
        )


def _misplaced(
    connection: DuckDBPyConnection, names: Sequence[str], source: str, read: list[str]
) -> int:
    """Return how many rows stand after one that should follow."""
    ((misplaced,),) = connection.execute(
        f"SELECT count_if(late) FROM ({misplaced_sql(names, source)})", [read]
    ).fetchall()
    return int(misplaced or 0)  # no row at all has no number


def _rows(connection: DuckDBPyConnection, table: str) -> int:
    ((rows,),) = connection.execute(f"SELECT coalesce(sum(n), 0)::BIGINT FROM {table}").fetchall()
    return int(rows)


def judge_order(records: PublishedRecords) -> Finding:
    """Return the judgement on the order of the rows: by all columns, bytewise, empty first."""
    if records.misplaced:
        stands = "stands after a row" if records.misplaced == 1 else "stand after rows"
        detail = f"{counted(records.misplaced, 'row')} {stands} that should follow"
        return Finding(ORDER, False, detail)
    return Finding(ORDER, True, "the order of the rows tells nothing that the rows do not show")


def _parts(connection: DuckDBPyConnection, source: str, paths: Sequence[Path]) -> tuple[int, ...]:
    """Return how many rows each file has."""
    return tuple(
        connection.execute(
            f"SELECT count(*) FROM ({source})", [[glob.escape(str(path))]]
        ).fetchall()[0][0]
        for path in paths
    )
