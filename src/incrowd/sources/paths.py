"""Sources that are named by a path: a file, a folder of files, or a pattern of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl

from incrowd.sources.columns import chosen
from incrowd.sources.csv import read_csv, read_csv_pieces
from incrowd.sources.files import (
    FILE_ENDINGS,
    PARQUET_ENDINGS,
    TEXT_ENDINGS,
    TextOptions,
    ending_of,
    refuse_text_options,
    require_file,
)
from incrowd.sources.folders import files_of, is_many, read_many
from incrowd.sources.parquet import read_parquet, read_parquet_pieces
from incrowd.sources.plain_paths import plain_path
from incrowd.sources.source import Selection, Source, strange_ending, url_scheme


class PathSource(Source):
    """A source named by the path of a file or folder; kinds say which endings they take."""

    by_path = True

    def __init__(self, given: str | Path) -> None:
        self._given = str(given)

    @classmethod
    def takes(cls, given: object) -> bool:
        """Whether it is a path with an ending of this kind."""
        is_path = isinstance(given, str | Path) and not url_scheme(given)
        return is_path and ending_of(Path(str(given))) in cls.endings

    @property
    def label(self) -> str:
        """The name of the file."""
        return Path(self._given).name or self._given

    @property
    def path(self) -> Path:
        """The file, the folder, or the pattern."""
        return Path(self._given).expanduser()

    def named(self, change: Callable[[str], str]) -> str:
        """The path, changed."""
        return change(self._given)

    def refuse_in_policy(self) -> None:
        """Refuse what is on a network."""
        plain_path(self._given)


class Files(PathSource):
    """Text files and Parquet files: one, those of a folder, or those that a pattern names."""

    kind = "files"
    endings = FILE_ENDINGS

    def for_spark(self) -> Path:
        """The file, the folder, or the pattern."""
        return self.path.absolute()

    def files(self) -> list[Path]:
        """The file itself, or those of the folder or pattern."""
        return files_of(self.path) if is_many(self.path) else [self.path]

    def refuse(self, wanted: Selection) -> None:
        """Refuse a query, a file of another kind, and options of text files where it is none."""
        super().refuse(wanted._replace(text=TextOptions()))
        path = self.path
        if is_many(path) or ending_of(path) in TEXT_ENDINGS:
            return None
        if ending_of(path) in PARQUET_ENDINGS:
            return refuse_text_options(wanted.text, self.label)
        require_file(path)
        raise strange_ending(path)

    def frame(self, wanted: Selection) -> pl.DataFrame:
        """The records at once; of one file no other column is read."""
        if is_many(self.path):
            whole = pl.concat(self.frames(wanted), how="vertical_relaxed")
            return whole.select(chosen(whole.columns, wanted.columns, "the files"))
        if ending_of(self.path) in TEXT_ENDINGS:
            return read_csv(self.path, wanted.text, wanted.columns)
        return read_parquet(self.path, columns=wanted.columns)

    def frames(self, wanted: Selection) -> Iterator[pl.DataFrame]:
        """The records piece by piece, file by file."""
        if is_many(self.path):
            return read_many(self.path, wanted.text)
        if ending_of(self.path) in TEXT_ENDINGS:
            return read_csv_pieces(self.path, wanted.text)
        return read_parquet_pieces(self.path)
