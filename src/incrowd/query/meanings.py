"""What is known of the labels of a published attribute: how they were written, what they mean.

Ranges, sets, masks and parts of the calendar say themselves what they stand for. `*` stands for
the whole domain of the attribute: what the release shows of it, or the values that are given.
Other labels of a hierarchy mean what is given for them, and nothing without.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from incrowd.query.wanted import Run

Meaning = Mapping[str, Collection[Any]]
"""For each label of a hierarchy the values under it."""

_CALENDAR = re.compile(r"(\d{4})(?:(s)|-(\d{2})|-Q([1-4]))?", re.ASCII)
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True)
class Column:
    """The different labels of a published attribute, and what is known of how it was written.

    `meaning` gives the values under labels; they are then all values of the attribute.
    """

    name: str
    labels: Sequence[str]
    shows_missing: bool
    entry: Mapping[str, Any]
    meaning: Meaning | None = None

    @property
    def exact(self) -> bool:
        """Whether cells are the values themselves, not labels."""
        return self.entry.get("role") != "quasi" or self.entry.get("labels") == "exact"

    @property
    def general(self) -> Mapping[str, int]:
        """How many values each label that is not a value stands for."""
        return self.entry.get("weights") or {}

    @property
    def domain(self) -> int:
        """How many values the attribute has, missing included."""
        return int(self.entry.get("domain") or 0)

    def given(self, label: str) -> Collection[Any] | None:
        """The values given for a label, None if there are none, or it is a value itself."""
        values = None if self.meaning is None else self.meaning.get(label)
        if values is None or (label not in self.general and label in map(str, values)):
            return None
        return values


def calendar_days(label: str) -> Run | None:
    """The days of a year (1950), a decade (1950s), a month (1950-03) or a quarter (1950-Q1)."""
    match = _CALENDAR.fullmatch(label)
    if match is None:
        return None
    year, month, months = int(match[1]), 1, 12
    if match[2]:
        months = 120
    elif match[3]:
        month, months = int(match[3]), 1
    elif match[4]:
        month, months = int(match[4]) * 3 - 2, 3
    if not (year >= 1 and 1 <= month <= 12):
        return None
    after = year * 12 + month - 1 + months
    last = date.max if after // 12 > date.max.year else date(after // 12, after % 12 + 1, 1)
    return (date(year, month, 1) - _EPOCH).days, (last - _EPOCH).days


def has_missing(column: Column) -> bool:
    """Whether the release shows or states, or it is given, that cells are missing."""
    given = (column.meaning or {}).values()
    shown = column.shows_missing or column.entry.get("missing") is True
    return shown or any("" in as_texts(values) for values in given)


def as_texts(values: Collection[Any]) -> list[str]:
    """The values as text, the empty text for missing."""
    return ["" if value is None else str(value) for value in values]
