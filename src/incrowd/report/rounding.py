"""What is told of the source: in round numbers, and nothing that is about few.

A report goes where its release goes. Exact figures of the source could be compared with those of
the release: what is left over would tell of suppressed records, or of two patients who look alike
in the source whether they share a diagnosis. So counts of the source are rounded, and figures that
join quasi-identifiers with sensitive values are told of many records only: of few records, some
such figures and a list of the patients may leave a single way to deal out the values of a group.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from incrowd.console import percent

if TYPE_CHECKING:
    from incrowd.report.crowds import Crowds

LEAST = 5
"""No figure of the source stands for fewer records than this."""
TOLD_FROM = 100 * LEAST
"""How many records there must be to tell of quasi-identifiers and sensitive values together."""


def round_to(records: int, least: int = LEAST) -> int:
    """What numbers of records are rounded to: the least, or a hundredth of all records."""
    return max(least, -(-records // 100))


def rounded(records: float, unit: int) -> int:
    """The nearest multiple of a number of records."""
    return round(records / unit) * unit


def about(share: float) -> str:
    """A share with two digits: enough for a reader, too few to find a record by."""
    if share in (0, 1):
        return percent(share)
    return f"{100 * share:.0f} %" if 0.095 <= share <= 0.994 else f"{100 * share:.2g} %"


@dataclass(frozen=True)
class Before:
    """The crowds of the source, in multiples of `unit` records; all but the smallest is rounded."""

    _exact: Crowds

    @property
    def records(self) -> int:
        """How many records there are; the manifest states it as well."""
        return self._exact.records

    @property
    def unit(self) -> int:
        """What numbers of records are multiples of."""
        return min(round_to(self.records), self.records)

    @property
    def smallest(self) -> int:
        """The size of the smallest crowd."""
        return self._exact.smallest

    @property
    def count(self) -> int:
        """About how many crowds there are."""
        return rounded(self._exact.count, self.unit)

    @property
    def unique(self) -> int:
        """About how many records are alone."""
        return self.between(1, 1)

    def between(self, low: int, high: int | None) -> int:
        """About how many records are in crowds from one size to another, both included."""
        return rounded(self._exact.between(low, high), self.unit)

    def above(self, risk: float) -> int:
        """About how many records have a crowd that gives an attacker more than this chance."""
        return rounded(self._exact.above(risk), self.unit)

    def told(self, name: str, figure: str) -> int | None:
        """About how many records crowds tell a sensitive value of; None of too few records.

        `figure` is that of `Told`.
        """
        found = getattr(self._exact.told[name], figure)
        if found is None or self.records < TOLD_FROM:
            return None
        return rounded(found, self.unit)

    def share(self, number: int) -> str:
        """A rounded number of records as a share in words that are true."""
        step = math.ceil(100 * self.unit / self.records)
        if number <= 0:
            return f"< {step} %"
        if number + self.unit / 2 > self.records:
            return f"> {100 - step} %"
        return f"{min(99, round(100 * number / self.records))} %"
