"""Several tables that hang together, as one source: watched together, and read one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from incrowd.errors import SourceError
from incrowd.sources.source import Selection, Source


class LinkedTables(Source):
    """The sources of several tables by their names, that of the patients first.

    Parameters
    ----------
    given
        The sources.
    """

    def __init__(self, given: Mapping[str, Source]) -> None:
        self._given = given

    @property
    def tables(self) -> Mapping[str, Source]:
        """The sources of the tables by their names."""
        return self._given

    @property
    def label(self) -> str:
        """The first table, and how many there are beside it."""
        first, *others = self._given.values()
        return f"{first.label} and {len(others)} more table{'s' * (len(others) != 1)}"

    def frames(self, wanted: Selection) -> Iterator[pl.DataFrame]:  # noqa: ARG002
        """Refused: each table has columns of its own."""
        raise SourceError(f"{self.label} are several tables, and one is worked on here. Name it.")

    @property
    def paths(self) -> list[Path]:
        """The files and folders of all tables."""
        return [path for each in self._given.values() for path in each.paths]

    def files(self) -> list[Path]:
        """The files of all tables."""
        return [file for each in self._given.values() for file in each.files()]
