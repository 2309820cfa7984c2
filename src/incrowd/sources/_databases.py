"""Databases by URL and query: the records arrive as Arrow, not row by row.

The query is one SELECT (_selecting.py), and the connection only reads: files of SQLite and DuckDB
are opened read-only, PostgreSQL runs it in a read-only transaction that is never committed. The
ADBC drivers of SQLite and PostgreSQL, and the Arrow library, are the extra `incrowd[databases]`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote

import polars as pl

from incrowd.errors import PolicyError, SourceError, nearest
from incrowd.sources._selecting import Dialect, one_select
from incrowd.sources.columns import check_names, chosen, tidy
from incrowd.sources.files import refuse_text_options, require_file
from incrowd.sources.plain_paths import plain_path
from incrowd.sources.source import KINDS, Selection, Source, url_scheme

_FORMS = (
    "sqlite:///file.db, sqlite:////folder/file.db, duckdb:///file.duckdb and "
    "postgresql://user@host:5432/database"
)
_OTHERS = ("mysql", "mariadb", "jdbc", "oracle")
"""Databases that nothing here reads."""


class Address(Source):
    """An address that nothing here reads, and Spark perhaps; kinds of databases are made from it.

    Of a URL messages show the scheme, the host and the database: user, password and parameters
    (which may carry a password too) are left out.
    """

    def __init__(self, given: str) -> None:
        self.url, self.scheme = given, url_scheme(given)
        self._rest = given.partition("://")[2]

    @property
    def label(self) -> str:
        """The scheme, the host and the database."""
        # A password may itself hold "/", "?" or "@" that nobody escaped, so everything up to the
        # last "@" goes; when that "@" stands among the parameters nothing is safe to show.
        secrets, at, place = self._rest.rpartition("@")
        place = place.partition("?")[0].rstrip("/")
        if not place or (at and "?" in secrets):
            return f"a {self.scheme} database"
        return f"{self.scheme}://{place}"

    @property
    def is_database(self) -> bool:
        """Whether it is one, which nothing here reads."""
        return self.scheme in _OTHERS

    def for_spark(self) -> Path | str | None:
        """The address, or the path where it is one of this machine."""
        if self.scheme == "file":
            path = Path(unquote(self._rest.removeprefix("localhost")))
            return path.expanduser().absolute()
        return None if self.is_database else self.url

    def refuse(self, wanted: Selection) -> None:
        """Refuse options of text files."""
        refuse_text_options(wanted.text, self.label)

    def frames(self, wanted: Selection) -> Iterator[pl.DataFrame]:
        """The records in one frame."""
        yield self.frame(wanted)

    def frame(self, wanted: Selection) -> pl.DataFrame:  # noqa: ARG002
        """None: nothing here reads it."""
        known = [scheme for kind in KINDS.values() for scheme in kind.schemes]
        raise SourceError(
            f"'{self.scheme}' is not a database that can be read here."
            f"{nearest(self.scheme, known)} Write {_FORMS}; give a file by its path alone."
        )

    def named(self, change: Callable[[str], str]) -> str:  # noqa: ARG002
        """The address: it has no path of this machine."""
        return self.url

    def refuse_in_policy(self) -> None:
        """Refuse a user and a password."""
        if "@" in self._rest.partition("/")[0]:
            raise ValueError("a policy holds no user and no password in an address")

    def of_policy(self, base: Path, engine: str) -> Source:  # noqa: ARG002
        """Nothing that is ever opened: an address that a kind or Spark reads is refused."""
        if self.schemes or (engine == "spark" and self.scheme != "file"):
            raise PolicyError(
                f"The policy names an address on a network ({self.scheme}://…). A policy alone "
                "connects to nothing: if you know the place and trust it, give the address "
                "yourself with --source (in Python as the source)."
            )
        return self

    def unchecked(self, base: Path, query: str | None) -> tuple[str, ...]:  # noqa: ARG002
        """All of it."""
        return (
            f"anything of {self.label}: a policy alone opens no address on a network. Give it to "
            "the run with --source",
        )


class Database(Address):
    """A database that is asked by URL and query, in the SQL that its kind says."""

    dialect: ClassVar[Dialect]

    @property
    def is_database(self) -> bool:
        """It is one."""
        return True

    def check_query(self, query: str) -> None:
        """Refuse all but one SELECT."""
        self.select(query)

    def select(self, query: str | None) -> str:
        """The one SELECT that a query is; the name of a table selects all its records."""
        return one_select(query, self.dialect, self.label)

    def frame(self, wanted: Selection) -> pl.DataFrame:
        """The result of the query."""
        labelled = self.fetch(self.select(wanted.query))
        labels = [label for label, _ in labelled]
        source = f"the query of {self.label}"
        check_names(labels, source, "Name it in the query with AS.")
        by_label: dict[str, pl.Series] = dict(labelled)
        frame = pl.DataFrame([by_label[each] for each in chosen(labels, wanted.columns, source)])
        if not frame.height:
            raise SourceError(f"{self.label}: the query returns no records. Check its conditions.")
        return tidy(frame, source)

    @abstractmethod
    def fetch(self, query: str) -> list[tuple[str, pl.Series]]:
        """The columns of a query's result, in order, names possibly repeated."""

    def unchecked(self, base: Path, query: str | None) -> tuple[str, ...]:  # noqa: ARG002
        """What is in the database; the query is looked at."""
        self.select(query)
        return (f"whether the columns and values of {self.label} fit: a check opens no database",)


class FileDatabase(Database):
    """A database in a file: `scheme:///file`, or `scheme:////folder/file` with its full path."""

    ending: ClassVar[str]
    of_policy = Source.of_policy

    def __init__(self, given: str) -> None:
        super().__init__(given)
        before, _, file = self._rest.partition("?")[0].partition("/")
        self._file = "" if before else file

    @property
    def label(self) -> str:
        """The name of the file."""
        return Path(self._rest.partition("?")[0]).name or f"a {self.scheme} database"

    @property
    def path(self) -> Path | None:
        """The file; None where the address names none."""
        return Path(self._file).expanduser() if self._file else None

    def existing(self) -> Path:
        """The file, once it is there."""
        if self.path is None:
            raise SourceError(
                f"A database in a file is written {self.kind}:///file.{self.ending}, or "
                f"{self.kind}:////folder/file.{self.ending} with its full path."
            )
        require_file(self.path)
        return self.path

    def named(self, change: Callable[[str], str]) -> str:
        """The address with the path of the file changed."""
        return f"{self.scheme}:///{change(self._file)}" if self._file else self.url

    def refuse_in_policy(self) -> None:
        """Refuse a file on a network."""
        plain_path(self._rest.removeprefix("/") or ".")

    def unchecked(self, base: Path, query: str | None) -> tuple[str, ...]:
        """What is in the file, which must be there."""
        left = super().unchecked(base, query)
        if self.path is not None:
            require_file((base / self._file).expanduser())
        return left
