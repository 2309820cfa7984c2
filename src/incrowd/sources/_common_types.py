"""One type for the columns of many files, so that equal cells are written alike in all of them.

A column may be whole numbers in one file and others in the next, or times in different units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from incrowd.errors import SourceError
from incrowd.sources._column_scan import look_at

_UNITS = ("ms", "us", "ns")


def common_types(schemas: Sequence[tuple[str, pl.Schema]]) -> dict[str, pl.DataType]:
    """The type of each column whose cells are written by a look at all of them.

    Parameters
    ----------
    schemas
        The name of each file, and the types of its columns.

    Raises
    ------
    SourceError
        When a column has types that cannot be written alike.
    """
    found = {}
    for name in dict.fromkeys(name for _, schema in schemas for name in schema):
        kinds = [(file, schema[name]) for file, schema in schemas if name in schema]
        kinds = [(file, kind) for file, kind in kinds if not isinstance(kind, pl.Null)]
        if any(look_at(kind) is not None for _, kind in kinds):
            found[name] = _common(name, kinds)
    return found


def fitted(cells: pl.Series, kind: pl.DataType, file: str) -> pl.Series:
    """The cells in the common type of their column; floating-point numbers stay as they are."""
    if cells.dtype == kind or (kind.is_float() and cells.dtype.is_float()):
        return cells
    made = cells.cast(kind, strict=False)
    if isinstance(kind, pl.Datetime) and isinstance(cells.dtype, pl.Datetime):
        changed = made.cast(cells.dtype).alias("cells").ne_missing(cells.alias("others"))
        if changed.any():
            raise SourceError(
                f"{file}: column '{cells.name}' holds a time that is too far away to be written "
                "as those of the other files. Save all files with the same types."
            )
    return made


def _common(name: str, kinds: Sequence[tuple[str, Any]]) -> pl.DataType:
    first: pl.DataType = kinds[0][1]
    if all(kind == first for _, kind in kinds):
        return first
    types = [kind for _, kind in kinds]
    if all(isinstance(kind, pl.Date | pl.Datetime) for kind in types):
        zones = {getattr(kind, "time_zone", None) for kind in types}
        units = [kind.time_unit for kind in types if isinstance(kind, pl.Datetime)]
        if len(zones) == 1:
            return pl.Datetime(max(units, key=_UNITS.index), zones.pop())
    elif all(kind.is_numeric() for kind in types):
        if any(kind.is_float() for kind in types):
            return pl.Float64()
        return pl.Decimal(38, max(getattr(kind, "scale", 0) for kind in types))
    file = next(file for file, kind in kinds if kind != first)
    raise SourceError(
        f"{file}: column '{name}' has another type than in the files before it, and its cells "
        "cannot be written alike. Save all files with the same types."
    )
