"""Frames of other libraries: pandas, polars, Arrow, and all that Narwhals takes.

The index of a pandas frame is ignored, named or not: `frame.reset_index()` makes columns of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from incrowd.errors import SourceError
from incrowd.sources.columns import check_names, chosen, tidy
from incrowd.sources.source import Selection, Source

# What pandas finds in a column of Python objects that can become one column of plain cells.
_UNIFORM = {
    "boolean",
    "date",
    "datetime",
    "datetime64",
    "decimal",
    "empty",
    "floating",
    "integer",
    "mixed-integer-float",
    "string",
    "time",
}
_NAME_THEM = "Give every column a name."


class Frame(Source):
    """A frame in memory, or something that is none and is refused when it is read."""

    kind = "frame"

    def __init__(self, given: Any) -> None:
        self.native = given

    @classmethod
    def takes(cls, given: object) -> bool:
        """Whether it has columns."""
        return hasattr(type(given), "columns") or hasattr(given, "__arrow_c_stream__")

    @property
    def label(self) -> str:
        """The library, and what it calls it."""
        return _label(self.native)

    def frames(self, wanted: Selection) -> Iterator[pl.DataFrame]:
        """The records in one frame."""
        yield self.frame(wanted)

    def frame(self, wanted: Selection) -> pl.DataFrame:
        """The frame as one of polars."""
        import narwhals as nw

        source = nw.to_native(self.native, pass_through=True)
        name = _label(source)
        if isinstance(source, pl.DataFrame):
            frame = source
        elif nw.dependencies.is_pandas_dataframe(source):
            frame = _from_pandas(source, wanted.columns, name)
        else:
            if nw.dependencies.is_pyarrow_table(source):
                check_names(source.column_names, name, _NAME_THEM)
            frame = _from_any(source, name)
        check_names(frame.columns, name, _NAME_THEM)
        columns = chosen(frame.columns, wanted.columns, name)
        return tidy(pl.DataFrame([frame.get_column(each) for each in columns]), name)


def _label(frame: Any) -> str:
    library = type(frame).__module__.partition(".")[0]
    kind = {"Table": "table", "Series": "series"}.get(type(frame).__name__, "frame")
    return f"a {library} {kind}" if library != "builtins" else f"a {type(frame).__name__}"


def _from_any(source: Any, name: str) -> pl.DataFrame:
    """Return what Narwhals, or the Arrow stream of the object itself, makes of a frame."""
    import narwhals as nw

    failed = False
    frame: Any = None
    one_column = nw.dependencies.is_into_series(source)
    try:
        wrapped = nw.from_native(source, pass_through=True)
        if isinstance(wrapped, nw.LazyFrame):
            frame = wrapped.collect("polars").to_native()
        elif isinstance(wrapped, nw.DataFrame):
            frame = wrapped.to_polars()
        elif hasattr(source, "__arrow_c_stream__") and not one_column:
            frame = pl.DataFrame(source)
    except (Exception, pl.exceptions.PanicException):  # a foreign library may raise anything
        failed = True
    if failed:
        raise SourceError(
            f"{name[0].upper()}{name[1:]} cannot be turned into a table. Compute it first, and "
            "give every column a name of its own and cells of one plain type."
        )
    if not isinstance(frame, pl.DataFrame):
        raise SourceError(
            f"Cannot read records from {name}. Give a path, a database URL with a query, or a "
            "frame of pandas, polars or pyarrow."
        )
    return frame


def _from_pandas(source: Any, columns: list[str] | None, name: str) -> pl.DataFrame:
    """Return a pandas frame column by column, so that an error can name the column."""
    if source.columns.nlevels > 1:
        raise SourceError(
            f"{name} has column names of {source.columns.nlevels} levels. Join them into one, "
            "for example with frame.columns = frame.columns.map('_'.join)."
        )
    missing = source.columns.isna()
    names = ["" if missing[at] else str(each) for at, each in enumerate(source.columns)]
    check_names(names, name, _NAME_THEM)
    wanted = chosen(names, columns, name)
    return pl.DataFrame(
        [_pandas_column(source.iloc[:, names.index(each)], each, name) for each in wanted]
    )


def _pandas_column(column: Any, label: str, name: str) -> pl.Series:
    import pandas as pd

    if column.dtype == object:
        kind = pd.api.types.infer_dtype(column, skipna=True)
        if kind not in _UNIFORM:
            raise SourceError(
                f"{name}: column '{label}' holds Python objects of several types, or of a type "
                f"without plain cells ({kind}). Give it one type, for example with "
                f"frame['{label}'].astype(str)."
            )
    converted: Any = None
    without_arrow = False
    try:
        if not str(column.dtype).startswith(("interval", "period")):  # ordinals without meaning
            converted = pl.from_pandas(column.rename("column"))
    except ImportError:
        without_arrow = True
    except (Exception, pl.exceptions.PanicException):  # Arrow's messages show cells
        converted = None
    if without_arrow:
        raise SourceError(f"{name} needs pyarrow to be read: pip install pyarrow.")
    if not isinstance(converted, pl.Series):
        raise SourceError(
            f"{name}: column '{label}' of type {column.dtype} cannot be read. Give it a plain "
            f"type, for example with frame['{label}'].astype(str)."
        )
    return converted.alias(label)
