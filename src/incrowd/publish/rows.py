"""Published rows as codes: compact, sorted by what they show, turned into text piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from incrowd.counts.packing import distinct_rows
from incrowd.table import narrow

if TYPE_CHECKING:
    import polars as pl

    from incrowd.methods.base import Outcome
    from incrowd.table import Column, Table

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ShownColumn:
    """One published column: the distinct texts in ascending order (missing first), and codes."""

    name: str
    texts: tuple[str | None, ...]
    codes: npt.NDArray[np.unsignedinteger]
    kind: Literal["text", "whole", "date"] = "text"


@dataclass(frozen=True)
class ShownRows:
    """The rows of a published table, sorted by their texts, column by column."""

    columns: tuple[ShownColumn, ...]
    rows: int

    @property
    def names(self) -> list[str]:
        """The names of the published columns, in order."""
        return [column.name for column in self.columns]

    def coded_frame(self) -> pl.DataFrame:
        """All rows as texts of enumerated columns, a few bytes a cell; null where missing."""
        import polars as pl

        return pl.DataFrame([_enumerated(column) for column in self.columns])

    def frame(self) -> pl.DataFrame:
        """All rows as plain text, null where a cell is missing."""
        import polars as pl

        return self.coded_frame().cast(pl.String)

    def typed_frame(self) -> pl.DataFrame:
        """All rows; untouched columns of whole numbers and dates have that type.

        Decimals stay text: a 2 beside a 2.5 would turn into 2.0.
        """
        import polars as pl

        typed = {
            "whole": lambda column: column.cast(pl.Int64),
            "date": lambda column: column.str.to_date("%Y-%m-%d"),
        }
        return self.frame().with_columns(
            typed[column.kind](pl.col(column.name))
            for column in self.columns
            if column.kind != "text"
        )


def _enumerated(column: ShownColumn) -> pl.Series:
    import polars as pl

    codes = pl.Series(column.name, column.codes)
    texts = [text for text in column.texts if text is not None]
    if len(texts) < len(column.texts):
        # Missing comes first, with the code 0, and an enumeration knows only texts.
        codes = (codes.replace(0, None) - 1).alias(column.name)
    return codes.cat.to(pl.Enum(texts))


def generalized_rows(table: Table, outcome: Outcome) -> ShownRows:
    """The published rows of a grouping: labels for quasi-identifiers, the other columns as are."""
    group = outcome.partition.group_of_records(outcome.group_of_node)
    if bool((group == -2).any()):
        raise AssertionError("a record is in no group")
    kept = None if outcome.suppressed == 0 else np.flatnonzero(group >= 0)
    if kept is not None:
        group = group[kept]
    shown = []
    for column in table.columns:
        if column.role == "quasi":
            cells = outcome.labels[column.name]
            used, codes = _used_texts(cells.texts, cells.text_of_group)
            shown.append(ShownColumn(column.name, used, codes[group]))
        else:
            shown.append(_as_is(column, kept))
    return _sorted_rows(shown, len(group))


def _sorted_rows(shown: Sequence[ShownColumn], rows: int) -> ShownRows:
    """The rows in ascending order: each combination of texts as often as it occurs."""
    number, representative = distinct_rows(
        [column.codes for column in shown], [len(column.texts) for column in shown], rows
    )
    times = np.bincount(number, minlength=len(representative))
    return ShownRows(
        tuple(
            ShownColumn(c.name, c.texts, np.repeat(c.codes[representative], times), c.kind)
            for c in shown
        ),
        rows,
    )


def _used_texts(
    texts: Sequence[str | None], codes: npt.NDArray[np.integer]
) -> tuple[tuple[str | None, ...], npt.NDArray[np.unsignedinteger]]:
    used = np.bincount(codes, minlength=len(texts)) > 0
    dense = narrow(np.cumsum(used) - used, int(used.sum()))
    return tuple(text for text, kept in zip(texts, used, strict=True) if kept), dense[codes]


def _as_is(column: Column, kept: IntArray | None) -> ShownColumn:
    """A column that is published untouched, its texts in ascending order."""
    codes = column.codes if kept is None else column.codes[kept]
    texts: list[str | None] = [*column.values, *([None] if column.missing else [])]
    order = sorted(range(len(texts)), key=lambda i: (texts[i] is not None, texts[i] or ""))
    rank = np.empty(len(texts), dtype=np.int64)
    rank[order] = np.arange(len(texts))
    used, dense = _used_texts([texts[i] for i in order], narrow(rank, len(texts))[codes])
    return ShownColumn(column.name, used, dense, _shown_kind(column))


def _shown_kind(column: Column) -> Literal["text", "whole", "date"]:
    if column.kind == "date":
        return "date"
    return "whole" if column.kind == "numeric" and column.decimals == 0 else "text"
