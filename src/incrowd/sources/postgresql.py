"""PostgreSQL: records by query, in a read-only transaction that the query cannot leave.

The server takes one statement at a time, and lets no transaction become one that writes once a
query of it has begun. Which server is asked is said before (_servers.py).

Numbers, text, booleans, dates and timestamps arrive as such; `numeric` as numbers when no digit
is lost and as text otherwise; `uuid`, `json`, enumerations as text; the blanks that pad `char(n)`
are cut off. Types without plain cells are refused by name.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl

from incrowd._runtime.sentences import listed
from incrowd.errors import SourceError
from incrowd.sources._databases import Database
from incrowd.sources._drivers import driver
from incrowd.sources._servers import announce, named_by_person, refuse_in_policy, server_of
from incrowd.sources.columns import decimal_column
from incrowd.sources.source import Source

# Classes of SQLSTATE whose messages speak of the query, the schema or the server, not of cells.
_SAFE_CLASSES = {"08", "0A", "25", "28", "3D", "3F", "42", "53", "54", "55", "57"}

# What libpq or the server says, and what it means. Its own words may hold parts of the URL.
_CONNECTION = (
    (("connection refused", "no such file or directory"), "no server answers there"),
    (("could not translate host name",), "the host name is unknown"),
    (("timeout expired", "timed out"), "the server does not answer in time"),
    (("no route to host", "network is unreachable"), "the host cannot be reached"),
    (("password", "authentication", "pg_hba"), "the server refuses the user or the password"),
    (("database", "does not exist"), "the server has no such database, or no such user"),
    (("role",), "the server has no such user"),
    (("ssl",), "server and client do not agree about SSL"),
    (("invalid",), "a parameter of the URL has a value that is not legal"),
)


_PLAIN = (
    "integer", "floating", "boolean", "date", "timestamp", "time", "string", "large_string", "null",
)  # fmt: skip
"""Types of Arrow whose cells are plain."""


class Postgresql(Database):
    """Records of a PostgreSQL server."""

    kind, schemes, dialect = "postgresql", ("postgresql", "postgres"), "postgresql"
    remark = "Asked only where PGHOST and PGUSER name it, or you do: --source."

    def fetch(self, query: str) -> list[tuple[str, pl.Series]]:
        """The columns of a query's result, in order, names possibly repeated."""
        dbapi, arrow = driver("adbc_driver_postgresql")
        connection = _connect(dbapi, self.url, self.label)
        failure: Exception | None = None
        table: Any = None
        with closing(connection), closing(connection.cursor()) as cursor:
            try:
                cursor.execute("SET TRANSACTION READ ONLY")
                cursor.execute("SET LOCAL client_encoding TO 'UTF8'")
                # As `one_select` reads texts.
                cursor.execute("SET LOCAL standard_conforming_strings TO on")
                # The driver puts the query in parentheses: a comment must not swallow the last.
                cursor.execute(query.strip().rstrip(";") + "\n")
                table = cursor.fetch_arrow_table()
            except (dbapi.Error, arrow.ArrowException, OSError) as error:
                failure = error
        if failure is not None:
            raise _explained(failure, self.label)
        return _columns(table, self.label)

    def refuse_in_policy(self) -> None:
        """Refuse a password, parameters, several hosts."""
        refuse_in_policy(self.url)

    def in_policy(self) -> str:
        """The host, the user and the database, and never a password."""
        return server_of(self.url).plain

    def of_policy(self, base: Path, engine: str) -> Source:  # noqa: ARG002
        """The server, once the environment names the same."""
        return Postgresql(named_by_person(self.url))

    def unchecked(self, base: Path, query: str | None) -> tuple[str, ...]:
        """What is in the database, and whether it is there."""
        return (
            *super().unchecked(base, query),
            f"whether {self.label} answers. A run asks it only if PGHOST and PGUSER name the same "
            "host and user, or if you give the address with --source",
        )


def _connect(dbapi: Any, url: str, name: str) -> Any:
    server = server_of(url).with_defaults()
    announce(server)
    said = ""
    try:
        return dbapi.connect(server.url)
    except dbapi.Error as error:
        said = str(error).lower()
    reason = next(
        (meaning for words, meaning in _CONNECTION if any(word in said for word in words)),
        "the server refuses the connection",
    )
    raise SourceError(
        f"{name} cannot be reached: {reason}. Check host, port, database, user and password."
    )


def _columns(table: Any, name: str) -> list[tuple[str, pl.Series]]:
    labelled = []
    refused = []
    for field, column in zip(table.schema, table.columns, strict=True):
        kind = _kind(field)
        series = None if kind == "money" else _series(column, kind)
        if series is None:
            refused.append(f"'{field.name}' ({kind or field.type})")
        else:
            labelled.append((field.name, series.alias(field.name)))
    if refused:
        raise SourceError(
            f"{name}: no plain cells in column{'s' if len(refused) > 1 else ''} "
            f"{listed(refused, quoted=False)}. Leave out, or cast in the query, for example "
            "CAST(… AS text), or money to numeric."
        )
    return labelled


def _kind(field: Any) -> str:
    """Return PostgreSQL's name of a column's type."""
    metadata = field.metadata or {}
    kind = metadata.get(b"POSTGRESQL:type") or metadata.get(b"ADBC:postgresql:typname") or b""
    return str(kind.decode())


def _series(column: Any, kind: str) -> pl.Series | None:
    """Return one column of an Arrow table, or None when its type has no plain cells."""
    import pyarrow as pa

    if isinstance(column.type, pa.BaseExtensionType):
        storage = column.type.storage_type
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], type=storage)
    arrow = column.type
    if kind == "uuid" and pa.types.is_fixed_size_binary(arrow):
        return _uuid(_polars(column))
    if not any(getattr(pa.types, f"is_{plain}")(arrow) for plain in _PLAIN):
        return None
    series = _polars(column)
    if kind == "numeric":
        return decimal_column(series.cast(pl.String))
    return series.str.strip_chars_end(" ") if kind == "bpchar" else series


def _polars(column: Any) -> pl.Series:
    series = pl.from_arrow(column)
    assert isinstance(series, pl.Series)
    return series


def _uuid(series: pl.Series) -> pl.Series:
    digits = series.bin.encode("hex")
    parts = [
        digits.str.slice(start, length)
        for start, length in ((0, 8), (8, 4), (12, 4), (16, 4), (20, 12))
    ]
    joined = parts[0]
    for part in parts[1:]:
        joined = joined + "-" + part
    return joined


def _explained(error: Exception, name: str) -> SourceError:
    """Return the error with the server's words only where they cannot speak of cells."""
    state = str(getattr(error, "sqlstate", None) or "")
    if state[:2] in _SAFE_CLASSES:
        details = {_text(key): _text(value) for key, value in getattr(error, "details", None) or []}
        message = details.get("PG_DIAG_MESSAGE_PRIMARY", f"SQLSTATE {state}")
        return SourceError(f"{name}: PostgreSQL refuses the query: {message}. Correct the query.")
    if state:
        what = "a value cannot be converted or computed" if state[:2] == "22" else "it failed"
        return SourceError(
            f"{name}: PostgreSQL stopped in the middle of the query: {what} (SQLSTATE {state}). "
            "Try the query in psql."
        )
    return SourceError(
        f"{name}: the result of the query cannot be read. Write one SELECT, and cast columns of "
        "unusual types to text in it."
    )


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value)
