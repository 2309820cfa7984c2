"""Columns that are nearly all numbers, or dates, with a few other cells: said, never passed over.

One `NA` among thousands of numbers makes a column categories, and a release then lists exact values
where ranges would do. Whoever drafts a policy and whoever runs it is told how many such cells there
are and what can be done. No cell is shown, except marks for unknown from a fixed list.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import polars as pl

from incrowd._runtime.sentences import listed
from incrowd.sources.missing_marks import MARKS
from incrowd.table._table import Column
from incrowd.table.date_formats import DATE_LIKE

NEARLY_ALL = 0.8
"""The share of the cells that must be numbers, or look like dates, for the rest to be told."""
NUMBER = r"^[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,3})?$"
_NAMED = 5


@dataclass(frozen=True)
class Nearly:
    """What nearly all cells of a column are, and how many of those with a value are not."""

    kind: Literal["numeric", "date"]
    odd: int
    cells: int
    marks: tuple[str, ...] = ()
    """Marks for unknown among the other cells, as they are written."""

    @property
    def told(self) -> str:
        """How many cells are other than the rest, and what to do about them, in words."""
        what = "number" if self.kind == "numeric" else "date"
        not_what = f"are not {what}s" if self.odd > 1 else f"is not a {what}"
        them = "them" if self.odd > 1 else "it"
        named = listed(self.marks[:_NAMED], last=", ")
        marks = f" (such as {named})" if named else ""
        missing = f" (in text files also by `missing-values: [{named}]`)" if named else ""
        return (
            f"{self.odd:,} of {self.cells:,} cells {not_what}{marks}, so all are read as "
            f"categories, and a release lists exact values. For ranges make {them} empty, which "
            f"counts as missing{missing}, or correct {them}: `type: {self.kind}` names the first "
            "row at fault. To leave it so, say `type: category`."
        )


def nearly(texts: pl.Series, counts: pl.Series) -> Nearly | None:
    """What nearly all cells are, given the distinct texts and how often each occurs.

    None where all are of one kind, and where fewer than nearly all are numbers or dates.
    """
    cells = int(counts.sum())
    stripped = texts.str.strip_chars()
    kinds: tuple[tuple[Literal["numeric", "date"], str], ...] = (
        ("numeric", NUMBER),
        ("date", DATE_LIKE),
    )
    for kind, pattern in kinds:
        other = ~stripped.str.contains(pattern)
        odd = int(counts.filter(other).sum())
        if odd > 0 and cells - odd >= NEARLY_ALL * cells:
            written = stripped.filter(other).unique().sort()
            marks = written.filter(written.str.to_lowercase().is_in(MARKS))
            return Nearly(kind, odd, cells, tuple(marks))
    return None


def told_of(columns: Iterable[Column], decided: Iterable[str]) -> tuple[str, ...]:
    """What to say of coded columns, those left aside whose type a person decided."""
    told = []
    for column in columns:
        chosen = column.name in decided or column.role == "keep"
        if column.kind != "category" or chosen or len(column.values) < 2:
            continue
        counts = pl.Series(column.counts()[: len(column.values)])
        found = nearly(pl.Series(column.values, dtype=pl.String), counts)
        if found is not None:
            told.append(f"Column '{column.name}': {found.told}")
    return tuple(told)
