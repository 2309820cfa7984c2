"""Published rows as codes: compact, sorted by what they show, turned into text piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd._runtime.arrays import IntArray
from incrowd.labels import ranked
from incrowd.methods.base import CellLabels
from incrowd.published.escaping import escaped
from incrowd.table import ONE_EACH, Column, Tally, narrow
from incrowd.table.packing import distinct_rows

_ROWS_AT_ONCE = 500_000


@dataclass(frozen=True)
class ShownColumn:
    """One published column: its texts in ascending order (missing first), and codes into them."""

    name: str
    texts: tuple[str | None, ...]
    codes: npt.NDArray[np.unsignedinteger]
    kind: Literal["text", "whole", "date"] = "text"


@dataclass(frozen=True)
class ShownRows:
    """The rows of a published table, sorted by their texts, column by column.

    Each distinct row is held once, with how many `times` it is published.
    """

    columns: tuple[ShownColumn, ...]
    times: IntArray

    @property
    def names(self) -> list[str]:
        """The names of the published columns, in order."""
        return [column.name for column in self.columns]

    @property
    def rows(self) -> int:
        """How many rows are published."""
        return int(self.times.sum())

    def alone(self, names: Sequence[str]) -> int:
        """How many rows have texts in some columns that no other row has."""
        if not names:
            return 0
        shown = [self.columns[self.names.index(name)] for name in names]
        number, _ = distinct_rows(
            [column.codes for column in shown],
            [len(column.texts) for column in shown],
            len(self.times),
        )
        return int((np.bincount(number, self.times) == 1).sum())

    def pieces(self) -> Iterator[pl.DataFrame]:
        """The rows as texts of enumerated columns, a few bytes a cell, some rows at a time."""
        yield from self.pieces_of(enumerations(self.columns))

    def pieces_of(self, types: Sequence[pl.Enum]) -> Iterator[pl.DataFrame]:
        """The same where the types of the columns are known."""
        upto = np.cumsum(self.times)
        for begin in range(0, self.rows, _ROWS_AT_ONCE):
            end = min(begin + _ROWS_AT_ONCE, self.rows)
            first, last = np.searchsorted(upto, [begin, end - 1], side="right").tolist()
            part = slice(first, last + 1)
            # A row that stands often may begin before the piece, or end behind it.
            before = upto[part] - self.times[part]
            times = np.minimum(upto[part], end) - np.maximum(before, begin)
            yield pl.DataFrame(
                [
                    _enumerated(column, np.repeat(column.codes[part], times), kind)
                    for column, kind in zip(self.columns, types, strict=True)
                ]
            )

    def frame(self) -> pl.DataFrame:
        """All rows as plain text, null where a cell is missing."""
        return pl.concat([piece.cast(pl.String) for piece in self.pieces()])

    def typed_pieces(self) -> Iterator[pl.DataFrame]:
        """The rows some at a time; untouched columns of whole numbers and dates have that type.

        Decimals stay text: a 2 beside a 2.5 would turn into 2.0.
        """
        typed = {
            "text": lambda cells: cells,
            "whole": lambda cells: cells.cast(pl.Int64),
            "date": lambda cells: cells.str.to_date("%Y-%m-%d"),
        }
        for piece in self.pieces():
            yield pl.DataFrame(
                [
                    # Polars takes some names for patterns.
                    typed[c.kind](cells.alias("cells").cast(pl.String)).alias(c.name)
                    for c, cells in zip(self.columns, piece, strict=True)
                ]
            )

    def escaped(self) -> ShownRows:
        """The same rows for a CSV file that no spreadsheet runs, sorted by what it shows."""
        columns = []
        for column in self.columns:
            texts, rank = escaped_texts(column.texts)
            columns.append(
                ShownColumn(escaped(column.name), texts, rank[column.codes], column.kind)
            )
        order = np.lexsort([column.codes for column in reversed(columns)])
        return ShownRows(
            tuple(replace(column, codes=column.codes[order]) for column in columns),
            self.times[order],
        )

    def schema(self) -> pl.Schema:
        """The types of `typed_pieces`."""
        types = {"text": pl.String(), "whole": pl.Int64(), "date": pl.Date()}
        return pl.Schema({column.name: types[column.kind] for column in self.columns})


def enumerations(columns: Sequence[ShownColumn]) -> list[pl.Enum]:
    """The types that have the texts of columns."""
    return [pl.Enum([text for text in column.texts if text is not None]) for column in columns]


def escaped_texts(
    texts: Sequence[str | None],
) -> tuple[tuple[str | None, ...], npt.NDArray[np.unsignedinteger]]:
    """The texts escaped and in ascending order again, and the new code of each."""
    changed = [None if text is None else escaped(text) for text in texts]
    ordered, place = ranked(changed)
    return ordered, narrow(place, len(texts))


def generalized_column(name: str, cells: CellLabels, group: npt.NDArray[np.integer]) -> Recoded:
    """A quasi-identifier with the label of its group in the cell of each row."""
    return _recoded(name, cells.texts, cells.text_of_group, group)


def rows_shown(columns: Sequence[Recoded], rows: int, tally: Tally = ONE_EACH) -> ShownRows:
    """The rows of some columns, sorted by what they show, each distinct one once."""
    number, representative = distinct_rows(
        (each.codes() for each in columns), [len(each.texts) for each in columns], rows
    )
    return ShownRows(
        tuple(
            ShownColumn(each.name, each.texts, each.codes(representative), each.kind)
            for each in columns
        ),
        tally.count(number, len(representative)),
    )


def numbers_shown(name: str, numbers: IntArray, largest: int) -> Recoded:
    """A column of whole numbers from 0 to `largest`, in the order of their texts."""
    if largest > len(numbers):  # most of them do not occur
        known, numbers = np.unique(numbers, return_inverse=True)
    else:
        known = np.arange(largest + 1)
    texts = list(map(str, known.tolist()))
    order = sorted(range(len(texts)), key=texts.__getitem__)
    text_of = np.empty(len(texts), dtype=np.int64)
    text_of[order] = np.arange(len(texts))
    return _recoded(name, [texts[i] for i in order], text_of, numbers, "whole")


def texts_shown(name: str, texts: Sequence[str], codes: IntArray) -> Recoded:
    """A column of texts, given for each row which of them it shows."""
    return _recoded(name, *ranked(texts), codes)


@dataclass(frozen=True)
class Recoded:
    """A published column before its rows are sorted: `lookup` turns its codes into texts' codes."""

    name: str
    texts: tuple[str | None, ...]
    lookup: npt.NDArray[np.unsignedinteger]
    base: npt.NDArray[np.integer]
    kind: Literal["text", "whole", "date"]

    def codes(self, rows: IntArray | slice = slice(None)) -> npt.NDArray[np.unsignedinteger]:
        """The codes of some rows; made when asked for, for all columns at once are large."""
        codes: npt.NDArray[np.unsignedinteger] = self.lookup[self.base[rows]]
        return codes


def _recoded(
    name: str,
    texts: Sequence[str | None],
    text_of: npt.NDArray[np.integer],
    base: npt.NDArray[np.integer],
    kind: Literal["text", "whole", "date"] = "text",
) -> Recoded:
    """The column with only the texts that it shows; `text_of` gives the text of each code."""
    occurs = np.bincount(base, minlength=len(text_of)) > 0
    used = np.zeros(len(texts), dtype=np.bool_)
    used[text_of[occurs]] = True
    dense = narrow(np.cumsum(used) - used, int(used.sum()))
    shown = tuple(text for text, kept in zip(texts, used, strict=True) if kept)
    return Recoded(name, shown, dense[text_of], base, kind)


def shown_as_is(column: Column, codes: npt.NDArray[np.integer]) -> Recoded:
    """A column that is published untouched, its texts in ascending order."""
    texts: list[str | None] = [*column.values, *([None] if column.missing else [])]
    return _recoded(column.name, *ranked(texts), codes, _shown_kind(column))


def _shown_kind(column: Column) -> Literal["text", "whole", "date"]:
    if column.kind == "date":
        return "date"
    return "whole" if column.kind == "numeric" and column.decimals == 0 else "text"


def _enumerated(
    column: ShownColumn, codes: npt.NDArray[np.unsignedinteger], kind: pl.Enum
) -> pl.Series:
    series = pl.Series("codes", codes)  # polars takes some names for patterns
    if column.texts[:1] == (None,):
        # Missing comes first, with the code 0, and an enumeration knows only texts.
        series = series.replace(0, None) - 1
    return series.cat.to(kind).alias(column.name)
