"""How the files of a published table are read: the columns they name, and SQL for their cells.

Text is kept as published: nothing is trimmed, and "NULL" or "NA" are words like any other. The
empty cell is missing.
"""

from __future__ import annotations

import csv
import glob
import re
from typing import TYPE_CHECKING, TextIO

from incrowd.verify.verdict import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from duckdb import DuckDBPyConnection

LINE_LIMITS = (500_000, 16_000_000)
"""The bytes that a row may have, tried in turn: labels can be long, but room for them costs."""
_NUMBER = "-?(0|[1-9][0-9]*)([.][0-9]*[1-9])?"
_FORMS = {
    "numeric": f"({_NUMBER})?",
    "date": "([0-9]{4}-[0-9]{2}-[0-9]{2})?",
    "whole": "0|[1-9][0-9]*",
}
"""What cells of each kind look like; a number has one spelling, and so has a day."""


class UnreadableError(Exception):
    """The data file is not the table it should be; the message holds no cell of it."""


def odd_sql(
    columns: Sequence[str], kinds: Mapping[str, str], texts: Sequence[str] | None = None
) -> str:
    """SQL that tells whether a row of `file` has a cell in another form than its column's kind.

    `texts` are the columns of a Parquet file that hold text, where an empty one is no cell.
    """
    told = []
    for number, name in enumerate(columns):
        if texts is not None and name not in texts:
            continue
        if texts is not None:
            told.append(f"file.c{number} = ''")
        if name in kinds:
            form = _FORMS[kinds[name]]
            told.append(f"NOT regexp_full_match(file.c{number}, '{form}')")
            if kinds[name] == "numeric":
                told.append(f"file.c{number} = '-0'")
    return f"coalesce({' OR '.join(told)}, false)" if told else "false"


def csv_columns(paths: Sequence[Path]) -> list[str]:
    """Return the columns of files, the same for all."""
    first = _header(paths[0], paths)
    for path in paths[1:]:
        if _header(path, paths) != first:
            raise UnreadableError(
                f"{part_told(path, paths)}has other columns than the parts before it"
            )
    return first


def _header(path: Path, paths: Sequence[Path]) -> list[str]:
    try:
        return _csv_header(path)
    except UnreadableError as error:
        raise UnreadableError(f"{part_told(path, paths)}{error}") from None


def part_told(path: Path, paths: Sequence[Path]) -> str:
    """Return the name of a part, for the beginning of a message; nothing of a lone file."""
    return "" if len(paths) == 1 else f"{shown(f'{path.parent.name}/{path.name}')} "


def _csv_header(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8", newline="") as handle:
            lines = _RememberedLines(handle)
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


class _RememberedLines:
    """The lines of a file, remembering the last one given."""

    def __init__(self, handle: TextIO) -> None:
        self.handle = handle
        self.last = ""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self.last = next(self.handle)
        return self.last


def csv_sources(names: Sequence[str], odd: str) -> list[str]:
    """Return SQL that selects all columns of the CSV file given as its parameter, and `odd`.

    The second statement has room for longer lines than the first.
    """
    described = ", ".join(f"'{name}': 'VARCHAR'" for name in names)
    not_null = ", ".join(f"'{name}'" for name in names)
    return [
        f"SELECT file.*, {odd} AS odd FROM read_csv(?, columns = {{{described}}},"
        f" force_not_null = [{not_null}],"
        " auto_detect = false, header = true, delim = ',', quote = '\"', escape = '\"',"
        " new_line = '\\n', strict_mode = true, null_padding = false, ignore_errors = false,"
        f" hive_partitioning = false, max_line_size = {longest}, buffer_size = {8 * longest})"
        " AS file"
        for longest in LINE_LIMITS
    ]


def parquet_columns(
    connection: DuckDBPyConnection, paths: Sequence[Path]
) -> tuple[list[str], list[str]]:
    """Return the columns of files, the same for all and of the same types, and which hold text."""
    first: list[tuple[object, ...]] = []
    for path in paths:
        (root, *leaves) = connection.execute(
            "SELECT name, coalesce(num_children, 0), type, converted_type, scale, precision,"
            " logical_type FROM parquet_schema(?)",
            [glob.escape(str(path))],
        ).fetchall()
        if len(leaves) != root[1] or any(leaf[1] for leaf in leaves):
            raise UnreadableError(f"{part_told(path, paths)}has a nested column")
        first = first or leaves
        if leaves != first:
            raise UnreadableError(
                f"{part_told(path, paths)}has other columns than the parts before it, or other"
                " types"
            )
    texts = [str(leaf[0]) for leaf in first if leaf[2] == "BYTE_ARRAY"]
    return [str(leaf[0]) for leaf in first], texts


def parquet_source(names: Sequence[str], odd: str) -> str:
    """Return SQL that selects all columns of a Parquet file, as text, and `odd`."""
    cells = ", ".join(f"coalesce(file.{name}::VARCHAR, '') AS {name}" for name in names)
    listed = ", ".join(names)
    return (
        f"SELECT {cells}, {odd} AS odd"
        f" FROM read_parquet(?, hive_partitioning = false) AS file({listed})"
    )


def reason(error: Exception, paths: Sequence[Path]) -> str:
    """Return why DuckDB could not read a file: the line at most, never what stands in it."""
    line = re.search(r"CSV Error on Line: (\d+)", str(error))
    near = f" near line {line[1]}" if line else ""
    said = [path for path in paths if f"file = {path}\n" in str(error)]
    where = part_told(said[0], paths) if said else ""
    return (
        f"{where}is not a whole table{near}: a row has too few or too many cells, a quote stays"
        " open, or the text is not UTF-8"
    )
