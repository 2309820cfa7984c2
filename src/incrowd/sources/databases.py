"""Databases by URL and query, over ADBC: the records arrive as Arrow, not row by row.

The connection only reads: SQLite files are opened read-only, PostgreSQL runs the query in a
read-only transaction that is never committed. The drivers are the extra `incrowd[databases]`.
"""

from __future__ import annotations

import polars as pl

from incrowd.errors import SourceError, nearest
from incrowd.sources import postgresql, sqlite
from incrowd.sources.columns import check_names, chosen, tidy
from incrowd.sources.naming import describe, url_scheme

_HOMES = {"sqlite": sqlite.fetch, "postgresql": postgresql.fetch, "postgres": postgresql.fetch}
_FORMS = "sqlite:///file.db, sqlite:////folder/file.db and postgresql://user@host:5432/database"


def read_database(url: str, query: str | None, *, columns: list[str] | None = None) -> pl.DataFrame:
    """Return the records that `query` selects from the database at `url`.

    `columns` chooses among the columns of the result and orders them; None means all.
    """
    scheme = url_scheme(url)
    name = describe(url)
    fetch = _HOMES.get(scheme)
    if fetch is None:
        raise SourceError(
            f"'{scheme}' is not a database that can be read here.{nearest(scheme, _HOMES)} "
            f"Write {_FORMS}; give a file by its path alone."
        )
    if query is None or not query.strip():
        raise SourceError(
            f"{name} is a database: say which records to read with a query, for example "
            "SELECT * FROM patients."
        )
    labelled = fetch(url, query, name)
    labels = [label for label, _ in labelled]
    source = f"the query of {name}"
    check_names(labels, source, "Name it in the query with AS.")
    wanted = chosen(labels, columns, source)
    by_label: dict[str, pl.Series] = dict(labelled)
    frame = pl.DataFrame([by_label[label] for label in wanted])
    if not frame.height:
        raise SourceError(f"{name}: the query returns no records. Check its conditions.")
    return tidy(frame, source)
