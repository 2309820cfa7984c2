"""How numbers and times of a column are written, when that hangs on all its cells.

A column that comes in pieces is looked at first, in a pass of its own: 3.0 is written as 3 where
all numbers are whole, a time as its date where all are midnights, a decimal as a number where no
digit is lost. Then each piece can be written as the whole column would be.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import polars as pl

from incrowd._runtime.arrays import MAX_EXACT
from incrowd.sources.columns import EXACT_DIGITS, WHOLE_DIGITS, significant_digits

_CELLS = "cells"
"""The name of columns that are worked on: polars takes some names for patterns."""


class Look(ABC):
    """A column of one type, seen piece by piece, and how it is to be written.

    `see` all pieces, then have each `written`. Columns without anything that speaks against it are
    `plain`: whole numbers, or dates.
    """

    def __init__(self) -> None:
        self.plain = True
        self.misled = False
        """Whether a piece was written that would have changed the look, had it been seen."""

    def see(self, cells: pl.Series) -> None:
        """Take the next piece into account."""
        self.plain = self.plain and self._is_plain(cells.alias(_CELLS))

    def written(self, cells: pl.Series) -> pl.Series:
        """The piece as it is written."""
        name, cells = cells.name, cells.alias(_CELLS)
        self.misled = self.misled or (self.plain and not self._is_plain(cells))
        return (self._plain(cells) if self.plain else self._other(cells)).alias(name)

    @abstractmethod
    def _is_plain(self, cells: pl.Series) -> bool: ...

    @abstractmethod
    def _plain(self, cells: pl.Series) -> pl.Series: ...

    @abstractmethod
    def _other(self, cells: pl.Series) -> pl.Series: ...


class _FloatNumbers(Look):
    """Floating-point numbers: whole ones, or text."""

    def _is_plain(self, cells: pl.Series) -> bool:
        known = cells.fill_nan(None).drop_nulls()
        return bool(((known == known.round(0)) & (known.abs() < MAX_EXACT)).all())

    def _plain(self, cells: pl.Series) -> pl.Series:
        return cells.fill_nan(None).cast(pl.Int64, strict=False)

    def _other(self, cells: pl.Series) -> pl.Series:
        return cells.fill_nan(None).cast(pl.String)


class _Times(Look):
    """Times of a day in a calendar: dates where all are midnights, or text."""

    def _is_plain(self, cells: pl.Series) -> bool:
        known = cells.drop_nulls()
        return bool((known == known.dt.truncate("1d")).all())

    def _plain(self, cells: pl.Series) -> pl.Series:
        return cells.dt.date()

    def _other(self, cells: pl.Series) -> pl.Series:
        return cells.dt.to_string("iso:strict")


class _Decimals(Look):
    """Decimals: whole numbers, floating-point numbers as text, or text with all their digits."""

    def __init__(self) -> None:
        super().__init__()
        self._digits = 0

    def see(self, cells: pl.Series) -> None:
        super().see(cells)
        self._digits = max(self._digits, self._longest(cells.alias(_CELLS)))

    def _longest(self, cells: pl.Series) -> int:
        found = significant_digits(cells.unique().cast(pl.String)).max()
        return 0 if found is None else int(str(found))

    def _is_plain(self, cells: pl.Series) -> bool:
        whole = not cells.unique().cast(pl.String).str.contains(r"\.\d*[1-9]").any()
        return whole and self._longest(cells) <= WHOLE_DIGITS

    def _plain(self, cells: pl.Series) -> pl.Series:
        return cells.cast(pl.String).str.replace(r"\..*$", "").cast(pl.Int64, strict=False)

    def _other(self, cells: pl.Series) -> pl.Series:
        texts = cells.cast(pl.String)
        if self._digits > EXACT_DIGITS:
            return texts
        self.misled = self.misled or self._longest(cells) > EXACT_DIGITS
        return texts.cast(pl.Float64).cast(pl.String)


def look_at(kind: pl.DataType) -> Look | None:
    """A look at a column of this type; None where a piece is written the same by itself."""
    if kind.is_float():
        return _FloatNumbers()
    if isinstance(kind, pl.Datetime):
        return _Times()
    return _Decimals() if isinstance(kind, pl.Decimal) else None
