"""Columns of text turned into codes piece by piece, so that the text never lies in memory whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import MAX_EXACT
from incrowd.table._table import ONE_EACH, Tally, code_dtype

if TYPE_CHECKING:
    import polars as pl

_ROWS_TOGETHER = 1 << 20


class ColumnDictionary:
    """The distinct texts of one column, and the code of every cell added so far.

    Codes are given as texts are first seen, 0 for a missing cell; `finish` puts them in order.
    """

    def __init__(self, series: pl.Series) -> None:
        import polars as pl

        self.name = series.name
        self.numeric = series.dtype.is_numeric()
        self.temporal = series.dtype.is_temporal()
        self._type = pl.Categorical(pl.Categories.random())
        self._keep_alive = pl.Series([], dtype=self._type)
        self._pieces: list[npt.NDArray[np.unsignedinteger]] = []
        self._small: list[npt.NDArray[np.unsignedinteger]] = []
        self.tally: Tally = ONE_EACH
        """How many records each row stands for."""

    @classmethod
    def of(cls, series: pl.Series) -> Self:
        """The dictionary of a whole column."""
        made = cls(series)
        made.add(series)
        return made

    def add(self, series: pl.Series) -> None:
        """Code the cells of the next piece of the column, and keep the codes."""
        self.keep(self.code(series))

    def code(self, series: pl.Series) -> npt.NDArray[np.unsignedinteger]:
        """The codes of the next piece of the column."""
        import polars as pl

        cells = series.alias("cells")  # polars takes some names for patterns
        physical = as_text(cells).cast(self._type).to_physical()
        codes = (physical.cast(pl.UInt32) + 1).fill_null(0).to_numpy()
        return codes.astype(code_dtype(int(codes.max(initial=0)) + 1))

    @property
    def seen(self) -> int:
        """How many codes were given so far, that of missing cells included."""
        return len(self._type.categories.to_series()) + 1

    def keep(self, codes: npt.NDArray[np.unsignedinteger]) -> None:
        """Keep the codes of the next rows."""
        self._small.append(codes)
        # Large arrays go back to the system when they are freed; many small ones do not.
        if sum(map(len, self._small)) >= _ROWS_TOGETHER:
            self._join()

    def keep_distinct(self, rows: npt.NDArray[np.integer], tally: Tally) -> None:
        """Keep rows that each stand for several records."""
        self.keep(rows.astype(code_dtype(self.seen), copy=False))
        self.tally = tally

    def _join(self) -> None:
        if self._small:
            self._pieces.append(np.concatenate(self._small))
            self._small.clear()

    def kept(self) -> npt.NDArray[np.unsignedinteger]:
        """The codes of all rows kept so far, as they were given."""
        self._join()
        return np.concatenate(self._pieces)

    def finish(self) -> tuple[list[str], npt.NDArray[np.unsignedinteger], int]:
        """The texts in ascending order, the code of every cell (missing = last), the missing."""
        self._join()
        seen = self._type.categories.to_series().drop_nulls()
        order = seen.arg_sort().to_numpy()
        texts = seen.gather(order).to_list()
        empty = int(texts[:1] == [""])
        lookup: npt.NDArray[np.unsignedinteger] = np.empty(
            len(texts) + 1, dtype=code_dtype(len(texts) + 1)
        )
        lookup[order + 1] = np.arange(len(texts)) - empty
        lookup[0] = len(texts) - empty
        if empty:
            lookup[order[0] + 1] = lookup[0]
        codes: npt.NDArray[np.unsignedinteger] = np.empty(
            sum(len(piece) for piece in self._pieces), dtype=lookup.dtype
        )
        begin = 0
        for piece in self._pieces:
            codes[begin : begin + len(piece)] = lookup[piece]
            begin += len(piece)
        self._pieces.clear()
        return texts[empty:], codes, self.tally.records(codes == lookup[0])[0]


def as_text(series: pl.Series) -> pl.Series:
    """The cells as the text they would be published as; empty text is missing."""
    import polars as pl

    dtype = series.dtype
    if dtype == pl.String:
        return series
    if dtype.is_float():
        series = series.fill_nan(None)
        whole = series.drop_nulls()
        if bool((whole == whole.round(0)).all()) and bool((whole.abs() < MAX_EXACT).all()):
            return series.cast(pl.Int64).cast(pl.String)
        return series.cast(pl.String)
    if isinstance(dtype, pl.Datetime):
        days = series.dt.truncate("1d")
        if bool((series.drop_nulls() == days.drop_nulls()).all()):
            return series.dt.date().cast(pl.String)
        return series.dt.to_string("iso:strict")
    return series.cast(pl.String)
