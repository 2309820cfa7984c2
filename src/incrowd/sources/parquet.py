"""Parquet files, with the types their columns have.

The index that pandas stores along under a name like `__index_level_0__` is left out, as the
index of a pandas frame is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from incrowd.errors import EngineError, SourceError
from incrowd.sources._column_scan import Look, look_at
from incrowd.sources._common_types import common_types, fitted
from incrowd.sources.columns import check_names, chosen, in_calendar, refuse_types, tidy
from incrowd.sources.files import require_file

_MAGIC = b"PAR1"
PANDAS_INDEX = re.compile(r"__index_level_\d+__")
"""The names of columns that pandas writes beside those of a table."""
_AT_ONCE = 1_000_000
_FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


def read_parquet(path: Path, *, columns: list[str] | None = None) -> pl.DataFrame:
    """Return the records of a Parquet file; `columns` chooses and orders, None means all."""
    schema, wanted = _checked(path, columns)
    try:
        frame = pl.read_parquet(
            path,
            columns=[list(schema).index(name) for name in wanted],  # a name may be a pattern
            glob=False,
            hive_partitioning=False,
        )
    except _FAILURES:
        frame = None
    if frame is None:
        raise _corrupt(path)
    return tidy(pl.DataFrame([frame.get_column(name) for name in wanted]), path.name)


def read_parquet_pieces(path: Path, rows: int = _AT_ONCE) -> Iterator[pl.DataFrame]:
    """Yield the records of a Parquet file, so many rows at a time."""
    some = False
    for piece in ParquetFiles([path], rows).pieces(path):
        some = True
        yield piece
    if not some:
        raise SourceError(f"{path.name} has columns but no records.")


class ParquetFiles:
    """Parquet files with the same columns, read piece by piece, and equal cells written alike.

    How a number or a time is written may hang on all cells of its column (3.0 is 3 where all are
    whole), so such columns are looked at first, in all files.
    """

    def __init__(self, files: Sequence[Path], rows: int = _AT_ONCE) -> None:
        self._rows = rows
        self._types = common_types([(file.name, read_parquet_schema(file)) for file in files])
        self._looks = {name: _look(kind) for name, kind in self._types.items()}
        if not self._looks:
            return
        for file in files:
            for piece in _read(file, list(self._looks), rows):
                for cells in piece:
                    kind = self._types[cells.name]
                    if cells.dtype.is_temporal():
                        in_calendar(cells.alias("cells"), cells.name, file.name, numbered=False)
                    self._looks[cells.name].see(fitted(cells, kind, file.name))

    def pieces(self, file: Path) -> Iterator[pl.DataFrame]:
        """Yield the records of one of the files; nothing where it has none."""
        for number, piece in enumerate(_read(file, None, self._rows)):
            columns = [self._written(cells, file.name) for cells in piece]
            if any(look.misled for look in self._looks.values()):
                raise EngineError(
                    f"{file.name} changed while it was read. Leave it alone during a run, and "
                    "start again."
                )
            yield tidy(pl.DataFrame(columns), file.name, numbered=not number)

    def _written(self, cells: pl.Series, file: str) -> pl.Series:
        look = self._looks.get(cells.name)
        if look is None or cells.dtype == pl.Null:
            return cells
        return look.written(fitted(cells, self._types[cells.name], file))


def _look(kind: pl.DataType) -> Look:
    look = look_at(kind)
    assert look is not None
    return look


def _read(path: Path, columns: list[str] | None, rows: int) -> Iterator[pl.DataFrame]:
    """Yield rows of a file as they are: all columns, or those of the chosen that it has."""
    _, wanted = _checked(path, None)
    names = wanted if columns is None else [name for name in wanted if name in columns]
    try:
        scan = pl.scan_parquet(path, glob=False, hive_partitioning=False).select(
            [pl.col(f"^{re.escape(name)}$") for name in names]  # a name may be a pattern
        )
        records = int(scan.select(pl.len()).collect().item())
        for begin in range(0, records, rows):
            yield scan.slice(begin, rows).collect()
    except _FAILURES:
        raise _corrupt(path) from None


def read_parquet_schema(path: Path) -> pl.Schema:
    """Return the names and types of the columns of a Parquet file, once they are legal."""
    schema, wanted = _checked(path, None)
    return pl.Schema({name: schema[name] for name in wanted})


def _checked(path: Path, columns: list[str] | None) -> tuple[pl.Schema, list[str]]:
    """The types of a file's columns, and the names of those that are wanted, in order."""
    require_file(path)
    _check_ends(path)
    schema = _schema(path)
    names = [name for name in schema if not PANDAS_INDEX.fullmatch(name)]
    check_names(names, path.name, "Give every column a name.")
    wanted = chosen(names, columns, path.name)
    refuse_types(pl.Schema({name: schema[name] for name in wanted}), path.name)
    return schema, wanted


def _check_ends(path: Path) -> None:
    with path.open("rb") as file:
        head = file.read(len(_MAGIC))
        file.seek(-min(path.stat().st_size, len(_MAGIC)), 2)
        tail = file.read()
    if head != _MAGIC:
        raise SourceError(
            f"{path.name} is not a Parquet file in spite of its name. Give it the ending that "
            "fits its content, or save it as Parquet again."
        )
    if tail != _MAGIC:
        raise SourceError(f"{path.name} is cut off: its end is missing. Copy or save it again.")


def _schema(path: Path) -> pl.Schema:
    twice = False
    try:
        with path.open("rb") as file:  # a path would be taken as a pattern
            return pl.Schema(pl.read_parquet_schema(file))
    except pl.exceptions.DuplicateError:
        twice = True
    except _FAILURES:
        pass
    if twice:
        raise SourceError(
            f"{path.name} has several columns of the same name. Give every column a name of its "
            "own."
        )
    raise _corrupt(path)


def _corrupt(path: Path) -> SourceError:
    return SourceError(f"{path.name} is damaged, or not readable here. Copy or save it again.")
