"""SQLite: records of a file by query, opened read-only, with an authorizer.

SQLite types cells, not columns. A column of whole numbers and floats is read as floats, one of
text and whole numbers as text. Text mixed with floats is refused: the driver would round them.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.errors import SourceError
from incrowd.sources._databases import FileDatabase
from incrowd.sources._drivers import driver
from incrowd.sources._selecting import reaches_beyond

_MAGIC = b"SQLite format 3\x00"
_BATCH = "adbc.sqlite.query.batch_rows"
_BATCH_ROWS = 1 << 16
_ROUNDED = r"^-?\d\.\d{6}e[+-]\d{2,3}$"  # how the driver writes a float among text


class Sqlite(FileDatabase):
    """Records of an SQLite file."""

    kind, schemes, dialect, ending = "sqlite", ("sqlite",), "sqlite", "db"

    def fetch(self, query: str) -> list[tuple[str, pl.Series]]:
        """The columns of a query's result, in order, names possibly repeated."""
        path, name = self.existing(), self.label
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise SourceError(f"{name} is not an SQLite database. Check the path of the URL.")
        _refuse_all_but_reading(path, query, name)
        dbapi, arrow = driver("adbc_driver_sqlite")
        failure: Exception | None = None
        labelled: list[tuple[str, pl.Series]] = []
        try:
            with (
                closing(dbapi.connect(_read_only(path))) as connection,
                closing(connection.cursor()) as cursor,
            ):
                labelled = _columns(_table(cursor, query), name)
                mixed = _mixed_with_floats(cursor, query, labelled)
        except (dbapi.Error, arrow.ArrowException, OSError) as error:
            failure = error
        if failure is not None:
            raise _explained(failure, name)
        if mixed is not None:
            raise _mixed(mixed, name)
        return labelled


def _read_only(path: Path) -> str:
    """The file as SQLite opens it without writing anything, beside it neither.

    A file with a log of changes gets two files at its side when it is opened. Where there is no log
    nobody else has it open, and it is read as a file that does not change; whether it did is looked
    at when the run ends (source_guard.py).
    """
    real = path.resolve()
    with real.open("rb") as file:
        logged = file.read(20)[18:] == b"\2\2"
    alone = logged and not real.with_name(real.name + "-wal").exists()
    return real.as_uri() + ("?mode=ro&immutable=1" if alone else "?mode=ro")


def _refuse_all_but_reading(path: Path, query: str, name: str) -> None:
    """Refuse a query of which SQLite itself says that it does more than read tables.

    It is compiled here and not run: ATTACH would make a file even of a connection that only reads.
    What is wrong with the query otherwise, the driver says.
    """
    refused = False

    def allow(action: int, _first: str | None, second: str | None, *_: str | None) -> int:
        nonlocal refused
        reads = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE)
        computes = action == sqlite3.SQLITE_FUNCTION and not reaches_beyond(second or "", "sqlite")
        # Some tables of extensions look at settings of the file while they are opened.
        looks = action == sqlite3.SQLITE_PRAGMA and second is None
        if reads or computes or looks:
            return sqlite3.SQLITE_OK
        refused = True
        return sqlite3.SQLITE_DENY

    try:
        with closing(sqlite3.connect(_read_only(path), uri=True)) as connection:
            connection.set_authorizer(allow)
            connection.execute(f"EXPLAIN {query}").close()
    except (sqlite3.Error, sqlite3.Warning, ValueError):
        pass
    if refused:
        raise SourceError(
            f"{name}: the query does more than read the tables of this file. Write one SELECT."
        )


def _table(cursor: Any, query: str) -> Any:
    """Return the result as an Arrow table.

    The driver takes the type of a column from the first batch alone, and fails when a later one
    does not fit; only then the records are counted, to make one batch of them all.
    """
    cursor.adbc_statement.set_options(**{_BATCH: str(_BATCH_ROWS)})
    cursor.execute(query)
    try:
        return cursor.fetch_arrow_table()
    except OSError:
        cursor.execute(f"SELECT count(*) FROM (\n{_bare(query)}\n)")
        records = int(cursor.fetchone()[0])
    cursor.adbc_statement.set_options(**{_BATCH: str(records + 1)})
    cursor.execute(query)
    return cursor.fetch_arrow_table()


def _bare(query: str) -> str:
    return query.strip().rstrip(";")


def _columns(table: Any, name: str) -> list[tuple[str, pl.Series]]:
    """Return an Arrow table as series, once its text is known to be UTF-8."""
    import pyarrow as pa

    labelled = []
    for label, column in zip(table.column_names, table.columns, strict=True):
        valid = True
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            valid = False
        if not valid:
            raise SourceError(
                f"{name}: column '{label}' holds text that is not UTF-8. Read it with "
                f'hex("{label}") in the query, or repair it in the database.'
            )
        series = pl.from_arrow(column)
        assert isinstance(series, pl.Series)
        labelled.append((label, series.alias(label)))
    return labelled


def _mixed_with_floats(
    cursor: Any, query: str, labelled: list[tuple[str, pl.Series]]
) -> str | None:
    """Return the first text column in which the driver rounded a float, if any."""
    for label, series in labelled:
        if series.dtype == pl.String and series.str.contains(_ROUNDED).any():
            quoted = label.replace('"', '""')
            cursor.execute(
                f"SELECT 1 FROM (\n{_bare(query)}\n) WHERE typeof(\"{quoted}\") = 'real' LIMIT 1"
            )
            if cursor.fetchone() is not None:
                return label
    return None


def _mixed(label: str, name: str) -> SourceError:
    return SourceError(
        f"{name}: column '{label}' mixes text and floating-point numbers. Give it one type in "
        f'the query: CAST("{label}" AS TEXT) AS "{label}".'
    )


def _explained(error: Exception, name: str) -> SourceError:
    """Return the error without data: what SQLite says on preparing knows the query only."""
    _, prepared, message = str(error).partition("Failed to prepare query: ")
    if prepared:
        message = message.partition("\nquery:")[0].strip()
        return SourceError(f"{name}: SQLite refuses the query: {message}. Correct the query.")
    if "readonly" in str(error):
        return SourceError(f"{name}: the query would change the database. Only SELECT is allowed.")
    if "Type mismatch" in str(error):
        return SourceError(
            f"{name}: a column of the result mixes text and binary cells. Give it one type in "
            "the query with CAST(… AS TEXT)."
        )
    if "failed to open" in str(error):
        return SourceError(f"{name} cannot be opened. Check the permissions of file and folder.")
    return SourceError(
        f"{name}: SQLite stopped in the middle of the query. Try the query in the sqlite3 shell."
    )
