"""Parquet files, with the types their columns have.

The index that pandas stores along under a name like `__index_level_0__` is left out, as the
index of a pandas frame is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from incrowd.dictionary import MAX_EXACT
from incrowd.errors import SourceError
from incrowd.sources.columns import check_names, chosen, refuse_types, tidy
from incrowd.sources.files import require_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_MAGIC = b"PAR1"
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")
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


def read_parquet_pieces(path: Path, rows: int = 1_000_000) -> Iterator[pl.DataFrame]:
    """Yield the records of a Parquet file, so many rows at a time.

    How a number or a time is written may hang on all cells of its column (3.0 is 3 where all are
    whole), so such columns are looked at first, and come as they will be written.
    """
    _, wanted = _checked(path, None)
    try:
        scan = pl.scan_parquet(path, glob=False, hive_partitioning=False).select(
            [pl.col(f"^{re.escape(name)}$") for name in wanted]  # a name may be a pattern
        )
        scan = _as_written(scan)
        records = int(scan.select(pl.len()).collect().item())
        for begin in range(0, max(records, 1), rows):
            yield tidy(scan.slice(begin, rows).collect(), path.name)
    except _FAILURES:
        raise _corrupt(path) from None


def read_parquet_schema(path: Path) -> pl.Schema:
    """Return the names and types of the columns of a Parquet file, once they are legal."""
    schema, wanted = _checked(path, None)
    return pl.Schema({name: schema[name] for name in wanted})


def _as_written(scan: pl.LazyFrame) -> pl.LazyFrame:
    """Columns of floats and times as whole numbers and dates where all cells are, else as text."""
    schema = scan.collect_schema()
    floats = [name for name, kind in schema.items() if kind.is_float()]
    times = [name for name, kind in schema.items() if isinstance(kind, pl.Datetime)]
    if not floats and not times:
        return scan
    found = scan.select(
        *(
            _is_whole(pl.col(name).fill_nan(None)).all().alias(f"f{i}")
            for i, name in enumerate(floats)
        ),
        *(
            (pl.col(name) == pl.col(name).dt.truncate("1d")).all().alias(f"t{i}")
            for i, name in enumerate(times)
        ),
    ).collect(engine="streaming")
    changes = []
    for i, name in enumerate(floats):
        whole = bool(found[f"f{i}"][0])
        column = pl.col(name).fill_nan(None)
        changes.append(column.cast(pl.Int64) if whole else column.cast(pl.String))
    for i, name in enumerate(times):
        column = pl.col(name)
        dates = bool(found[f"t{i}"][0])
        changes.append(column.dt.date() if dates else column.dt.to_string("iso:strict"))
    return scan.with_columns(changes)


def _is_whole(number: pl.Expr) -> pl.Expr:
    return (number == number.round(0)) & (number.abs() < MAX_EXACT)


def _checked(path: Path, columns: list[str] | None) -> tuple[pl.Schema, list[str]]:
    """The types of a file's columns, and the names of those that are wanted, in order."""
    require_file(path)
    _check_ends(path)
    schema = _schema(path)
    names = [name for name in schema if not _PANDAS_INDEX.fullmatch(name)]
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
