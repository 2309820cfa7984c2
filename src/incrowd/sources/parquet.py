"""Parquet files, with the types their columns have.

The index that pandas stores along under a name like `__index_level_0__` is left out, as the
index of a pandas frame is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from incrowd.errors import SourceError
from incrowd.sources.columns import check_names, chosen, refuse_types, tidy
from incrowd.sources.files import require_file

if TYPE_CHECKING:
    from pathlib import Path

_MAGIC = b"PAR1"
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")
_FAILURES = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


def read_parquet(path: Path, *, columns: list[str] | None = None) -> pl.DataFrame:
    """Return the records of a Parquet file; `columns` chooses and orders, None means all."""
    require_file(path)
    _check_ends(path)
    schema = _schema(path)
    names = [name for name in schema if not _PANDAS_INDEX.fullmatch(name)]
    check_names(names, path.name, "Give every column a name.")
    wanted = chosen(names, columns, path.name)
    refuse_types(pl.Schema({name: schema[name] for name in wanted}), path.name)
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
        return pl.Schema(pl.read_parquet_schema(path))
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
