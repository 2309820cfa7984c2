"""Records in many files: a folder, or a pattern such as `visits/*.parquet`.

Files are read one after the other, in the order of their names. A folder such as `year=2024` inside
says that all its records have that value in a column `year`, as Spark, DuckDB and others write it.
"""

from __future__ import annotations

import glob
from collections.abc import Collection, Iterator
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from incrowd.errors import SourceError
from incrowd.sources.files import FILE_ENDINGS, PARQUET_ENDINGS, SUPPORTED, TextOptions, ending_of

_MISSING = "__HIVE_DEFAULT_PARTITION__"


def is_many(path: Path) -> bool:
    """Whether a path names a folder, or a pattern of files and no file itself."""
    return path.is_dir() or (glob.has_magic(str(path)) and not path.exists())


def files_of(path: Path) -> list[Path]:
    """The files of a folder or a pattern, all of one kind, in the order of their names."""
    try:
        if path.is_dir():
            found = [each for each in path.rglob("*") if each.is_file() and not _hidden(each, path)]
        else:
            matching = glob.glob(str(path), recursive=True)  # noqa: PTH207 - it may be absolute
            found = [each for each in map(Path, matching) if each.is_file()]
    except OSError as error:
        raise SourceError(f"{path} cannot be listed: {error.strerror}.") from None
    tables = [each for each in found if ending_of(each) in FILE_ENDINGS]
    if not tables:
        what = "is a folder without a table" if path.is_dir() else "matches no table"
        raise SourceError(f"{path} {what}. {SUPPORTED}.")
    kinds = {ending_of(each) in PARQUET_ENDINGS for each in tables}
    if len(kinds) > 1:
        raise SourceError(
            f"{path} has text files and Parquet files. Name those of one kind, as in "
            f"{path / '*.parquet' if path.is_dir() else '*.parquet'}."
        )
    return sorted(tables)


def read_many(path: Path, options: TextOptions) -> Iterator[pl.DataFrame]:
    """Yield the records of a folder or a pattern of files, piece by piece."""
    from incrowd.sources.csv import read_csv_pieces
    from incrowd.sources.parquet import ParquetFiles

    files = files_of(path)
    together = ParquetFiles(files) if ending_of(files[0]) in PARQUET_ENDINGS else None
    expected: list[str] | None = None
    for file in files:
        parts = partitions_of(file, path)
        several = together.pieces(file) if together else read_csv_pieces(file, options)
        for piece in several:
            refuse_clash(file, parts, piece.columns)
            whole = piece.with_columns(
                pl.lit(value, pl.String).alias(name) for name, value in parts.items()
            )
            expected = expected or whole.columns
            if whole.columns != expected:
                raise other_columns(file)
            yield whole
    if expected is None:
        raise SourceError(f"{path} has columns but no records.")


def refuse_clash(file: Path, parts: Collection[str], columns: Collection[str]) -> None:
    """Refuse a file with a column that its folder names as well."""
    clash = [name for name in parts if name in columns]
    if clash:
        raise SourceError(
            f"{file.name} has a column '{clash[0]}', and so has the name of its folder. "
            "Rename one of them."
        )


def other_columns(file: Path) -> SourceError:
    """What is wrong with a file whose columns are not those of the files before it."""
    return SourceError(
        f"{file.name} has other columns than the files before it, or the same in another order. "
        "All files of a source need the same columns; of tables that hang together name one."
    )


def _hidden(file: Path, folder: Path) -> bool:
    """Whether a file is one of those that engines leave beside their tables."""
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def partitions_of(file: Path, path: Path) -> dict[str, str | None]:
    """The columns that the folders of a file name, as in `year=2024`; none of one file."""
    if not is_many(path):
        return {}
    if path.is_dir():
        inside = file.relative_to(path).parts[:-1]
    else:
        fixed = next(i for i, part in enumerate(path.parts) if glob.has_magic(part))
        inside = file.parts[fixed:-1]
    named = [part.partition("=") for part in inside if "=" in part]
    return {
        unquote(name): None if value == _MISSING else unquote(value) for name, _, value in named
    }
