"""What is told of the source: nothing that is about few.

A report goes where its release goes, and the figures of the source that it tells could be compared
with the release. Where records were suppressed, what is left over would be about them, so counts of
the source are rounded then. Figures that join quasi-identifiers with sensitive values are always
rounded, and told of many records only: of few, some such figures and a list of the patients may
leave a single way to deal out the values of a group, or tell of two patients who look alike in the
source whether they share a diagnosis.
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
TOLD_IN_CROWDS = 20 * LEAST
"""How many of them must look like another: of those who are alone there is nothing to tell."""


def round_to(records: int, least: int = LEAST) -> int:
    """What numbers of records are rounded to: the least, or a hundredth of all records."""
    return max(least, -(-records // 100))


def rounded(records: float, unit: int) -> int:
    """The nearest multiple of a number of records."""
    return round(records / unit) * unit


def about(share: float) -> str:
    """A share, or an error that may be above 1, in whole percents, or with two digits below 10 %.

    Enough for a reader, too little to find a record by.
    """
    if share in (0, 1) or share < 0.0001:
        return percent(share)
    if 0.995 <= share < 1:
        return "> 99 %"
    return f"{100 * share:,.0f} %" if share >= 0.0995 else f"{100 * share:.2g} %"


@dataclass(frozen=True)
class Before:
    """The crowds of the source, numbers of records in multiples of `unit`.

    `compared` is whether records were suppressed, so that figures could be compared with those of
    the release.
    """

    exact: Crowds
    """As counted: for who holds the source, never for a report."""
    compared: bool

    @property
    def records(self) -> int:
        """How many records there are; the manifest states it as well."""
        return self.exact.records

    @property
    def unit(self) -> int:
        """What numbers of records are multiples of."""
        return min(round_to(self.records), self.records) if self.compared else 1

    @property
    def smallest(self) -> int:
        """The size of the smallest crowd."""
        return self.exact.smallest

    @property
    def count(self) -> int:
        """About how many crowds there are."""
        return rounded(self.exact.count, self.unit)

    @property
    def unique(self) -> int:
        """About how many records are alone."""
        return self.between(1, 1)

    def between(self, low: int, high: int | None) -> int:
        """About how many records are in crowds from one size to another, both included."""
        return min(rounded(self.exact.between(low, high), self.unit), self.records)

    def above(self, risk: float) -> int:
        """About how many records have a crowd that gives an attacker more than this chance."""
        return min(rounded(self.exact.above(risk), self.unit), self.records)

    def share(self, number: int) -> str:
        """A number of records as a share, in words that are true though it is rounded."""
        return _share(number, self.records, self.unit)

    @property
    def at_least(self) -> str:
        """The share of the records that are surely alone; whatever groups tell, they tell of these.

        A crowd of one record has one value, which is also the most frequent.
        """
        surely = self.unique if self.unit == 1 else max(0, self.unique - self.unit)
        return (
            percent(surely / self.records)
            if self.unit == 1
            else (f"{math.floor(100 * surely / self.records)} %")
        )

    def told(self, name: str, figure: str) -> str | None:
        """Of what share of the records crowds tell a sensitive value, `figure` being of `Told`.

        None of too few records: of all, or of those in crowds, for who is alone tells nothing.
        """
        found = getattr(self.exact.told[name], figure)
        together = self.records - self.exact.unique
        if found is None or self.records < TOLD_FROM or together < TOLD_IN_CROWDS:
            return None
        unit = round_to(self.records)
        return _share(rounded(found, unit), self.records, unit)


def _share(number: int, records: int, unit: int) -> str:
    if unit == 1:
        return percent(number / records)
    step = math.ceil(100 * unit / records)
    if number <= 0:
        return f"< {step} %"
    if number + unit / 2 > records:
        return f"> {100 - step} %"
    return f"{min(99, round(100 * number / records))} %"
