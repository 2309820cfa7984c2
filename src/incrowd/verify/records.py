"""The published records, counted by DuckDB in one pass; the empty cell is missing.

Text is kept as published: nothing is trimmed, and "NULL" or "NA" are words like any other. The
records themselves are never held: the pass keeps, for each combination of quasi-identifiers and
counted sensitive attributes, how many records have it.
"""

from __future__ import annotations

import csv
import glob
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from incrowd.errors import EngineError
from incrowd.scratch import scratch
from incrowd.verify import escaped
from incrowd.verify.order import misplaced_sql, read_lines
from incrowd.verify.verdict import ORDER, Finding, counted, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from duckdb import DuckDBPyConnection

LINE_LIMITS = (500_000, 16_000_000)
"""The bytes that a row may have, tried in turn: labels can be long, but room for them costs."""
TABLE = "counted"


class UnreadableError(Exception):
    """The data file is not the table it should be; the message holds no cell of it."""


@dataclass(frozen=True)
class Records:
    """A table of a connection, made from the files of a published table with these columns.

    It has a column for each of the names in `keys` and the number `n` of records that share them.
    `misplaced` counts the records that sort before the one ahead of them, `parts` the rows of
    each file.
    """

    connection: DuckDBPyConnection
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    rows: int
    misplaced: int
    parts: tuple[int, ...] = ()

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
    connection: DuckDBPyConnection,
    paths: Sequence[Path],
    counted_by: Sequence[str],
    table: str = TABLE,
) -> Records:
    """Count the records of a published table by some of its columns, or raise an UnreadableError.

    `paths` are its files, whose rows follow one another. Names that are not columns of it are
    passed over. The counts go to `table`.
    """
    import duckdb

    if _spark.get():
        if escaped.is_stated():
            raise UnreadableError("has escaped cells, which only DuckDB judges: say engine duckdb")
        from incrowd.verify.spark_records import load_by_spark

        return load_by_spark(connection, paths, counted_by, table)
    is_parquet = paths[0].suffix == ".parquet"
    read = [glob.escape(str(path)) for path in paths]
    try:
        columns = _parquet_columns(connection, paths) if is_parquet else _csv_columns(paths)
        undo = escaped.is_stated() and not is_parquet
        if undo:
            columns = _undone(columns)
        if len({*columns}) != len(columns):
            raise UnreadableError("names one column twice")
        names = [f"c{number}" for number in range(len(columns))]
        keys = tuple(name for name in dict.fromkeys(counted_by) if name in columns)
        by = "".join(_counted_cell(names[columns.index(key)], undo) for key in keys)
        sources = [_parquet_source(names)] if is_parquet else _csv_sources(names)
        with ThreadPoolExecutor(1) as aside:
            reading = None if is_parquet else aside.submit(read_lines, paths)
            source = _count(connection, sources, f"SELECT {by}count(*) AS n", read, table)
            lines = None if reading is None else reading.result()
        if undo:
            _refuse_wrongly_escaped(connection, names, source, read)
        if lines is not None:
            misplaced = lines.misplaced
        else:
            ((misplaced,),) = connection.execute(
                f"SELECT count_if(late) FROM ({misplaced_sql(names, source)})", [read]
            ).fetchall()
        ((rows,),) = connection.execute(
            f"SELECT coalesce(sum(n), 0)::BIGINT FROM {table}"
        ).fetchall()
        if lines is not None and lines.separators != rows * (len(columns) - 1):
            raise UnreadableError("has rows with more cells than columns")
        parts: tuple[int, ...] = (rows,)
        if len(paths) > 1:
            counted_lines = lines is not None and sum(lines.rows) == rows
            parts = lines.rows if lines and counted_lines else _parts(connection, source, paths)
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        raise UnreadableError(_reason(error, paths)) from None
    return Records(connection, tuple(columns), keys, rows, misplaced, parts)


def _undone(columns: list[str]) -> list[str]:
    undone = escaped.undone_names(columns)
    if undone is None:
        raise UnreadableError("has a column whose name is not escaped as the manifest states")
    return undone


def _counted_cell(name: str, undo: bool) -> str:
    return f"{escaped.undone_sql(name)} AS {name}, " if undo else f"{name}, "


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
    selected: str,
    read: list[str],
    table: str,
) -> str:
    """Make the table of counts from the first of the sources that can be read; returns it."""
    import duckdb

    for source in sources:
        try:
            connection.execute(
                f"CREATE TABLE {table} AS {selected} FROM ({source}) GROUP BY ALL", [read]
            )
            break
        except duckdb.Error:
            if source is sources[-1]:
                raise
    return source


def judge_order(records: Records) -> Finding:
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


def _csv_columns(paths: Sequence[Path]) -> list[str]:
    """Return the columns of files, the same for all."""
    first = _header(paths[0], paths)
    for path in paths[1:]:
        if _header(path, paths) != first:
            raise UnreadableError(f"{_part(path, paths)}has other columns than the parts before it")
    return first


def _header(path: Path, paths: Sequence[Path]) -> list[str]:
    try:
        return _csv_header(path)
    except UnreadableError as error:
        raise UnreadableError(f"{_part(path, paths)}{error}") from None


def _part(path: Path, paths: Sequence[Path]) -> str:
    """Return the name of a part, for the beginning of a message; nothing of a lone file."""
    return "" if len(paths) == 1 else f"{shown(f'{path.parent.name}/{path.name}')} "


def _csv_header(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            lines = _Lines(handle)
            header = next(csv.reader(lines, strict=True), [])
    except OSError:
        raise UnreadableError("cannot be opened") from None
    except UnicodeDecodeError:
        raise UnreadableError("is not text in UTF-8") from None
    except csv.Error:
        raise UnreadableError("has no readable header row") from None
    if not header:
        raise UnreadableError("has no header row")
    if lines.last.endswith("\r") or lines.last.endswith("\r\n"):
        raise UnreadableError("ends its lines with a carriage return instead of a line feed alone")
    return header


class _Lines:
    """The lines of a file, remembering the last one given."""

    def __init__(self, handle: TextIO) -> None:
        self.handle = handle
        self.last = ""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self.last = next(self.handle)
        return self.last


def _csv_sources(names: Sequence[str]) -> list[str]:
    """Return SQL that selects all columns of the CSV file given as its parameter.

    The second statement has room for longer lines than the first.
    """
    described = ", ".join(f"'{name}': 'VARCHAR'" for name in names)
    not_null = ", ".join(f"'{name}'" for name in names)
    return [
        f"SELECT * FROM read_csv(?, columns = {{{described}}}, force_not_null = [{not_null}],"
        " auto_detect = false, header = true, delim = ',', quote = '\"', escape = '\"',"
        " new_line = '\\n', strict_mode = true, null_padding = false, ignore_errors = false,"
        f" hive_partitioning = false, max_line_size = {longest}, buffer_size = {8 * longest})"
        for longest in LINE_LIMITS
    ]


def _parquet_columns(connection: DuckDBPyConnection, paths: Sequence[Path]) -> list[str]:
    """Return the columns of files, the same for all and of the same types."""
    first: list[tuple[object, ...]] = []
    for path in paths:
        (root, *leaves) = connection.execute(
            "SELECT name, coalesce(num_children, 0), type, converted_type, scale, precision,"
            " logical_type FROM parquet_schema(?)",
            [glob.escape(str(path))],
        ).fetchall()
        if len(leaves) != root[1] or any(leaf[1] for leaf in leaves):
            raise UnreadableError(f"{_part(path, paths)}has a nested column")
        first = first or leaves
        if leaves != first:
            raise UnreadableError(
                f"{_part(path, paths)}has other columns than the parts before it, or other types"
            )
    return [str(leaf[0]) for leaf in first]


def _parquet_source(names: Sequence[str]) -> str:
    """Return SQL that selects all columns, as text, of the Parquet file given as its parameter."""
    cells = ", ".join(f"coalesce({name}::VARCHAR, '') AS {name}" for name in names)
    listed = ", ".join(names)
    return f"SELECT {cells} FROM read_parquet(?, hive_partitioning = false) AS file({listed})"


def _reason(error: Exception, paths: Sequence[Path]) -> str:
    """Return why DuckDB could not read a file: the line at most, never what stands in it."""
    line = re.search(r"CSV Error on Line: (\d+)", str(error))
    near = f" near line {line[1]}" if line else ""
    said = [path for path in paths if f"file = {path}\n" in str(error)]
    where = _part(said[0], paths) if said else ""
    return (
        f"{where}is not a whole table{near}: a row has too few or too many cells, a quote stays"
        " open, or the text is not UTF-8"
    )
