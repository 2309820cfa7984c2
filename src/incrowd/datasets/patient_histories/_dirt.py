"""Makes rows wrong on purpose, in known ways, and counts them.

Each row of a table is wrong with the same chance, and in one way at most. What is done to a row is
drawn by the number of the row, so the same rows are wrong in whatever pieces they are made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from incrowd._runtime.arrays import BoolArray, IntArray, Ints, Uints
from incrowd.datasets.numbered_draws import NumberedDraws

BLANK, CASE, NO_KEY = "blanks around the key", "key in other case", "no key"
TWICE, EMPTY = "row twice", "empty cell"
FUTURE, UNBORN, ENDED = "date in the future", "date before birth", "end before start"
_DIFFERING = ("zip", "marital status", "birth date")
OTHER_ZIP, OTHER_STATUS, OTHER_BIRTH = (
    f"patient again, with another {what}" for what in _DIFFERING
)
SHOWN_OTHER = tuple(f"row with another {what} of the patient" for what in _DIFFERING)
"""What becomes of the three in a flat file, in which some of a patient's rows differ."""
LEFT_OUT = "patient left out, whose events remain"
STRANGER = "row of a patient who is left out"
OF_PATIENTS = (OTHER_ZIP, OTHER_STATUS, OTHER_BIRTH, LEFT_OUT, EMPTY)
OF_EVENTS = (BLANK, CASE, NO_KEY, TWICE, EMPTY, FUTURE, UNBORN, ENDED)
EMPTIED = {
    "patients": ("birth_date", "sex", "zip", "race"),
    "encounters": ("start", "class", "department"),
    "conditions": ("encounter", "start", "code"),
    "prescriptions": ("start", "days", "atc"),
    "visits": ("encounter", "start", "code"),
}
"""The columns of each table that cells are missing of; otherwise they have none missing."""
CENTURY = 36_525
LONG_BEFORE, SOON_BEFORE = 3000, 30
OTHER_SHOWN = 0.4  # of the rows of a patient with two values, in a flat file

WrongRows = dict[str, int]
"""How many rows of a table are wrong, by the way in which they are."""


@dataclass(frozen=True)
class Dirt:
    """How rows are made wrong: which share of them, by which draws."""

    draws: NumberedDraws
    share: float

    def kinds(self, table: str, own: Uints, ways: Sequence[str]) -> IntArray:
        """Return for each row in which of some ways it is wrong; -1 for none."""
        if not self.share:
            return np.full(len(own), -1)
        wrong = self.draws.chance(f"{table} wrong", own, self.share)
        return np.where(wrong, self.draws.below(f"{table} how wrong", own, len(ways)), -1)

    def events(
        self,
        table: str,
        frame: pl.DataFrame,
        own: Uints,
        born: Ints,
        marked: dict[str, BoolArray],
    ) -> tuple[pl.DataFrame, WrongRows]:
        """Return a table of events, some of them wrong, and how many in which way.

        Parameters
        ----------
        table, frame
            The table, by its name and as it is right.
        own
            A number for each row.
        born
            The day of birth of its patient.
        marked
            Rows whose patient is wrong, which count where they name a patient.
        """
        if not self.share:
            return frame, {}
        ways = [way for way in OF_EVENTS if way != ENDED or "end" in frame.columns]
        kind = self.kinds(table, own, ways)
        is_ = {way: pl.Series(kind == place) for place, way in enumerate(ways)}
        frame = self._keys(table, frame, own, is_)
        frame = self._dates(table, frame, own, born, is_)
        frame = self.emptied(table, frame, own, is_[EMPTY])
        counts = {way: int(is_[way].sum()) for way in ways}
        twice = is_[TWICE].to_numpy()
        for way, rows in marked.items():
            shown = rows & ~is_[NO_KEY].to_numpy()
            counts[way] = int(shown.sum() + (shown & twice).sum())
        return frame[np.repeat(np.arange(len(own)), 1 + twice)], counts

    def emptied(
        self, table: str, frame: pl.DataFrame, own: Uints, where: pl.Series
    ) -> pl.DataFrame:
        """Return a table with one cell missing in some of its rows."""
        columns = EMPTIED[table]
        which = pl.Series(self.draws.below(f"{table} which cell", own, len(columns)))
        return frame.with_columns(
            pl.when(~(where & (which == place))).then(pl.col(column)).alias(column)
            for place, column in enumerate(columns)
        )

    def _keys(
        self, table: str, frame: pl.DataFrame, own: Uints, is_: dict[str, pl.Series]
    ) -> pl.DataFrame:
        key = pl.col("patient")
        before = pl.Series(self.draws.chance(f"{table} blank before", own, 0.5))
        return frame.with_columns(
            pl.when(is_[BLANK] & before)
            .then(" " + key)
            .when(is_[BLANK])
            .then(key + " ")
            .when(is_[CASE])
            .then(key.str.to_uppercase())
            .when(~is_[NO_KEY])
            .then(key)
            .alias("patient")
        )

    def _dates(
        self, table: str, frame: pl.DataFrame, own: Uints, born: Ints, is_: dict[str, pl.Series]
    ) -> pl.DataFrame:
        start = frame["start"].to_physical().to_numpy().astype(np.int64)
        before = born - 1 - self.draws.below(f"{table} days before", own, LONG_BEFORE)
        moved = pl.Series(np.where(is_[UNBORN].to_numpy(), before - start, CENTURY))
        wrong = is_[UNBORN] | is_[FUTURE]
        dates = [name for name in ("start", "end") if name in frame.columns]
        days = pl.duration(days=pl.when(wrong).then(moved).otherwise(0))
        frame = frame.with_columns(pl.col(name) + days for name in dates)
        if ENDED not in is_:
            return frame
        soon = pl.Series(1 + self.draws.below(f"{table} ended before", own, SOON_BEFORE))
        ended = pl.col("start") - pl.duration(days=pl.lit(soon))
        return frame.with_columns(
            end=pl.when(is_[ENDED]).then(ended).otherwise(pl.col("end")).cast(pl.Date)
        )
