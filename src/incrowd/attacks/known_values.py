"""The values that an identified list holds of one attribute, in an order that ranges can use."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from incrowd._runtime.arrays import FloatArray, IntArray
from incrowd.attacks.targets import code_as_text
from incrowd.labels import MaskedLabel, MaskedTexts
from incrowd.table.coding import (
    format_date,
    format_number,
    looks_numeric,
    number_text,
    parse_date,
    parse_number,
)

Span = tuple[int, int]
"""The codes from the first to before the second."""

NOBODY: Span = (0, 0)


def iso_dates(series: pl.Series) -> pl.Series:
    """The dates of a column of the list as YYYY-MM-DD, however they are written there.

    A column that cannot be read as dates is refused: it would match everyone, and the attack would
    look harmless.
    """
    from incrowd.table.date_formats import format_beside_release

    written = format_beside_release(series, "list")
    if written is None:
        return series
    days = {text: parse_date(text, written) for text in series.unique().drop_nulls()}
    iso = {text: format_date(day) for text, day in days.items() if day is not None}
    return series.replace(iso)


class KnownValues:
    """The different values of one column of the list, and the code of every person.

    Numbers come first and ascend, then dates, then other texts, then missing: whatever a range of
    numbers or dates covers is a run of neighbouring codes. `numeric` says that every value is a
    number, `dates` that every value is a date. `as_numbers` compares numbers as numbers (38 is
    38.0), as they are when all values are numbers, or the release says that they are.
    """

    def __init__(self, series: pl.Series, *, declared_numeric: bool = False) -> None:
        column = code_as_text(series)
        self.numeric = looks_numeric(column.values)
        self.as_numbers = self.numeric or declared_numeric
        found: dict[str, tuple[int, float, str]] = {}
        for text in column.values:
            value = self._canonical(text)
            found.setdefault(value, self._place(value))
        self.texts = sorted(found, key=found.__getitem__)
        self._codes = {text: code for code, text in enumerate(self.texts)}
        kinds = [found[text][0] for text in self.texts]
        positions = np.array([found[text][1] for text in self.texts], dtype=np.float64)
        self._first_date = kinds.count(0)
        self._first_text = self._first_date + kinds.count(1)
        self._numbers = positions[: self._first_date]
        self._days = positions[self._first_date : self._first_text]
        self.dates = bool(len(self._days)) and len(self._days) == len(self.texts)
        self.has_missing = column.missing > 0
        lookup = [self._codes[self._canonical(text)] for text in column.values]
        self.people = np.array([*lookup, len(self.texts)], dtype=np.int64)[column.codes]

    @property
    def cardinality(self) -> int:
        """How many codes there are, missing included."""
        return len(self.texts) + 1

    @property
    def everyone(self) -> Span:
        """All codes, missing included."""
        return 0, self.cardinality

    @property
    def missing(self) -> Span:
        """The code of people whose value is missing, if there are any."""
        return (len(self.texts), self.cardinality) if self.has_missing else NOBODY

    def equal_to(self, text: str) -> Span:
        """The code of this value, if the list holds it."""
        code = self._codes.get(self._canonical(text))
        return NOBODY if code is None else (code, code + 1)

    def is_a_value(self, text: str) -> bool:
        """Whether a text can only be a value of this column, on the list or not."""
        if self.dates:
            return parse_date(text) is not None
        return self.as_numbers and parse_number(text) is not None

    def numbers_between(self, low: float, high: float, *, closed: str) -> Span | None:
        """The numbers from low to high, with the ends in `closed`; None if there are no numbers."""
        return self._between(self._numbers, 0, low, high, closed)

    def days_between(self, low: float, high: float, *, closed: str = "low") -> Span | None:
        """The dates from low to high in days since 1970; None if there are no dates."""
        return self._between(self._days, self._first_date, low, high, closed)

    def behind(self, mask: MaskedLabel) -> IntArray:
        """The codes of the texts that a mask may stand for."""
        # Spreadsheets drop leading zeros: 1234 on a list of numbers is 01234 behind 012**.
        padded = self.numeric and mask.shown.startswith("0") and not mask.at_end
        return np.array(self._masked.behind(mask, padded=padded), dtype=np.int64)

    def codes_of(self, texts: Iterable[object]) -> IntArray:
        """The codes of these values (None or empty for missing) that the list holds."""
        spans = {
            self.missing if text is None or text == "" else self.equal_to(str(text))
            for text in texts
        }
        return np.array(sorted(low for low, high in spans if low < high), dtype=np.int64)

    @cached_property
    def _masked(self) -> MaskedTexts:
        return MaskedTexts(self.texts)

    def _between(
        self, positions: FloatArray, first: int, low: float, high: float, closed: str
    ) -> Span | None:
        if not len(positions):
            return None
        begins: Literal["left", "right"] = "left" if closed in ("low", "both") else "right"
        ends: Literal["left", "right"] = "right" if closed in ("high", "both") else "left"
        begin = np.searchsorted(positions, low, side=begins)
        end = np.searchsorted(positions, high, side=ends)
        return first + int(begin), first + max(int(begin), int(end))

    def _canonical(self, text: str) -> str:
        return number_text(text) if self.as_numbers else text

    def _place(self, text: str) -> tuple[int, float, str]:
        """Where a value stands: numbers, dates, texts, each in their order."""
        if self.as_numbers or looks_numeric([text]):
            parsed = parse_number(text)
            if parsed is not None:
                return 0, float(format_number(*parsed)), text
        day = parse_date(text)
        return (2, 0.0, text) if day is None else (1, float(day), text)
