"""DuckDB files: records of a table or query, opened read-only and read piece by piece.

The query sees the database file and nothing else: no other file, no network, no variable of the
program that asks, and no extension is loaded for it. What it needs beyond a fixed share of memory,
to sort for example, goes to a private folder on disk.
"""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING, Any

import polars as pl

from incrowd._runtime.scratch import scratch
from incrowd.errors import SourceError
from incrowd.sources._column_scan import Look, look_at
from incrowd.sources._databases import FileDatabase
from incrowd.sources.columns import check_names, chosen, refuse_types, tidy
from incrowd.sources.source import Selection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import duckdb

_MAGIC, _MAGIC_AT = b"DUCK", 8
_AT_ONCE = 1 << 18
_MEMORY = "1GB"
"""What the database may take; it works on disk beyond that."""


class Duckdb(FileDatabase):
    """Records of a DuckDB file."""

    kind, schemes, dialect, ending = "duckdb", ("duckdb",), "duckdb", "duckdb"

    def fetch(self, query: str) -> list[tuple[str, pl.Series]]:
        """The columns of a query's result, in order."""
        return [(cells.name, cells) for cells in self.frame(Selection(query))]

    def frame(self, wanted: Selection) -> pl.DataFrame:
        """The records as one frame, with the types their columns have."""
        name = self.label

        def frames(relation: duckdb.DuckDBPyRelation) -> Iterator[pl.DataFrame]:
            columns = chosen(relation.columns, wanted.columns, f"the query of {name}")
            yield from _batches(relation.project(_listed(columns)), name)

        whole = pl.concat(self._computed(wanted.query, frames), how="vertical_relaxed")
        return tidy(whole, f"the query of {name}")

    def frames(self, wanted: Selection) -> Iterator[pl.DataFrame]:
        """The records of a query, some at a time.

        How a number or a time is written may hang on all cells of its column (3.0 is 3 where all
        are whole), so such columns are looked at first, in a pass of their own.
        """
        name = self.label

        def frames(relation: duckdb.DuckDBPyRelation) -> Iterator[pl.DataFrame]:
            source = f"the query of {name}"
            looks = _looks(relation, name, source)
            for frame in _batches(relation, name):
                written = frame.with_columns([look.written(frame[c]) for c, look in looks.items()])
                if any(look.misled for look in looks.values()):
                    raise SourceError(
                        f"{name}: the query gives other records each time it is run. Make a table "
                        "of its result and read that."
                    )
                yield tidy(written, source)

        return self._computed(wanted.query, frames)

    def _computed(
        self,
        query: str | None,
        frames: Callable[[duckdb.DuckDBPyRelation], Iterator[pl.DataFrame]],
    ) -> Iterator[pl.DataFrame]:
        """The frames made from the result of a query, at least one."""
        import duckdb

        name, selected = self.label, self.select(query)
        _require_arrow()
        path = self.existing()
        _require_duckdb(path, name)
        failure: Exception | None = None
        some = False
        with scratch("query") as folder, closing(_connect(path, folder, name)) as connection:
            try:
                relation = _relation(connection, selected, name)
                _check(relation, f"the query of {name}")
                for frame in frames(relation):
                    some = True
                    yield frame
            except duckdb.Error as error:
                failure = error
        if failure is not None:
            raise _explained(failure, name)
        if not some:
            raise SourceError(f"{name}: the query returns no records. Check its conditions.")


def _require_arrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        missing = True
    else:
        missing = False
    if missing:
        raise SourceError(
            "Reading from a database needs a library that is not installed: "
            "pip install 'incrowd[databases]'"
        )


def _require_duckdb(path: Path, name: str) -> None:
    with path.open("rb") as file:
        head = file.read(_MAGIC_AT + len(_MAGIC))
    if head[_MAGIC_AT:] != _MAGIC:
        raise SourceError(f"{name} is not a DuckDB database. Check the path of the URL.")


def _connect(path: Path, folder: Path, name: str) -> duckdb.DuckDBPyConnection:
    import duckdb

    settings: dict[str, Any] = {
        "access_mode": "READ_ONLY",
        "enable_external_access": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "python_enable_replacements": False,
        "memory_limit": _MEMORY,
        "temp_directory": str(folder / "spill"),
    }
    said = ""
    try:
        connection = duckdb.connect(str(path), config=settings)
        connection.execute("SET enable_progress_bar = false; SET lock_configuration = true")
        return connection
    except duckdb.ConnectionException:
        said = "it is open in this program already. Close that connection first"
    except duckdb.IOException as error:
        said = (
            "another program has it open for writing. Close it there first, or copy the file"
            if "lock" in str(error)
            else "it is damaged or written by another version of DuckDB. Export it anew"
        )
    except duckdb.Error:
        said = "it is damaged, or encrypted. Try it in the duckdb shell"
    raise SourceError(f"{name} cannot be opened: {said}.")


def _relation(
    connection: duckdb.DuckDBPyConnection, query: str, name: str
) -> duckdb.DuckDBPyRelation:
    """The result of the one SELECT that the query must be."""
    import duckdb

    statements = connection.extract_statements(query)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise SourceError(
            f"{name}: the query must be one SELECT, or the name of a table. Only reading is "
            "allowed."
        )
    return connection.sql(statements[0].query)


def _check(relation: duckdb.DuckDBPyRelation, source: str) -> None:
    """Refuse columns without names of their own, and types that Arrow readers stumble over."""
    check_names(relation.columns, source, "Name it in the query with AS.")
    types = zip(relation.columns, map(str, relation.types), strict=True)
    refuse_types(
        pl.Schema({c: pl.Duration("us") for c, kind in types if "INTERVAL" in kind}), source
    )


def _batches(relation: duckdb.DuckDBPyRelation, name: str) -> Iterator[pl.DataFrame]:
    import pyarrow

    failed = False
    try:
        for batch in relation.to_arrow_reader(_AT_ONCE):
            frame = pl.from_arrow(batch)
            assert isinstance(frame, pl.DataFrame)
            yield frame
    except (pyarrow.ArrowException, pl.exceptions.PolarsError, OSError):
        failed = True
    if failed:
        raise SourceError(
            f"{name}: the result of the query cannot be read. Cast columns of unusual types to "
            "text in it, and try it in the duckdb shell."
        )


def _looks(relation: duckdb.DuckDBPyRelation, name: str, source: str) -> dict[str, Look]:
    """How to write the columns that must be looked at as a whole, by their names."""
    empty = pl.from_arrow(relation.limit(0).to_arrow_table())
    assert isinstance(empty, pl.DataFrame)
    refuse_types(empty.schema, source)
    looks = {each: look for each, kind in empty.schema.items() if (look := look_at(kind))}
    if looks:
        for frame in _batches(relation.project(_listed(looks)), name):
            for column, look in looks.items():
                look.see(frame[column])
    return looks


def _listed(columns: Iterable[str]) -> str:
    return ", ".join('"' + column.replace('"', '""') + '"' for column in columns)


def _explained(error: Exception, name: str) -> SourceError:
    """Return the error without data: what DuckDB says on preparing knows the query only."""
    import duckdb

    if isinstance(error, duckdb.PermissionException):
        return SourceError(
            f"{name}: the query may read nothing but this database. Copy what it needs into it."
        )
    if isinstance(error, duckdb.ParserException | duckdb.BinderException | duckdb.CatalogException):
        message = re.split(r"\n\s*\n|\nLINE ", str(error))[0].replace("\n", " ")
        return SourceError(f"{name}: DuckDB refuses the query: {message.rstrip('.')}. Correct it.")
    if isinstance(error, duckdb.IOException):
        return SourceError(f"{name} is damaged, or no room is left on disk to work on the query.")
    return SourceError(
        f"{name}: DuckDB stopped in the middle of the query ({type(error).__name__}). Try the "
        "query in the duckdb shell."
    )
