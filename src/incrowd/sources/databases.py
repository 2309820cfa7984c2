"""Databases by URL and query: the records arrive as Arrow, not row by row.

The query is one SELECT (selecting.py), and the connection only reads: files of SQLite and DuckDB
are opened read-only, PostgreSQL runs it in a read-only transaction that is never committed. The
ADBC drivers of SQLite and PostgreSQL, and the Arrow library, are the extra `incrowd[databases]`.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from incrowd.errors import SourceError, nearest
from incrowd.sources import postgresql, sqlite
from incrowd.sources.columns import check_names, chosen, tidy
from incrowd.sources.duckdb_files import read_duckdb, read_duckdb_pieces
from incrowd.sources.naming import describe, url_scheme
from incrowd.sources.selecting import DIALECTS, one_select

_HOMES = {"sqlite": sqlite.fetch, "postgresql": postgresql.fetch, "postgres": postgresql.fetch}
_DUCKDB = "duckdb"
_FORMS = (
    "sqlite:///file.db, sqlite:////folder/file.db, duckdb:///file.duckdb and "
    "postgresql://user@host:5432/database"
)


def read_database(url: str, query: str | None, *, columns: list[str] | None = None) -> pl.DataFrame:
    """Return the records that `query` selects from the database at `url`.

    A query that is the name of a table selects all its records. `columns` chooses among the
    columns of the result and orders them; None means all.
    """
    scheme, name, query = _understood(url, query)
    if scheme == _DUCKDB:
        return read_duckdb(url, query, columns=columns)
    labelled = _HOMES[scheme](url, query, name)
    labels = [label for label, _ in labelled]
    source = f"the query of {name}"
    check_names(labels, source, "Name it in the query with AS.")
    wanted = chosen(labels, columns, source)
    by_label: dict[str, pl.Series] = dict(labelled)
    frame = pl.DataFrame([by_label[label] for label in wanted])
    if not frame.height:
        raise SourceError(f"{name}: the query returns no records. Check its conditions.")
    return tidy(frame, source)


def read_database_pieces(url: str, query: str | None) -> Iterator[pl.DataFrame]:
    """Yield the records of a query: those of a DuckDB file piece by piece, others in one frame."""
    scheme, _, understood = _understood(url, query)
    if scheme == _DUCKDB:
        yield from read_duckdb_pieces(url, understood)
    else:
        yield read_database(url, understood)


def _understood(url: str, query: str | None) -> tuple[str, str, str]:
    """The scheme of a URL that can be read here, a short name of it, and the query in SQL."""
    scheme, name = url_scheme(url), describe(url)
    dialect = DIALECTS.get(scheme)
    if dialect is None:
        raise SourceError(
            f"'{scheme}' is not a database that can be read here.{nearest(scheme, DIALECTS)} "
            f"Write {_FORMS}; give a file by its path alone."
        )
    return scheme, name, one_select(query, dialect, name)
