"""What a published label stands for: how an attribute was written, where a label lies on its axis.

The text of a label alone is read by `incrowd.hierarchies.labels`; masks and parts of the calendar
count only where the manifest, or the lack of one, says that a label may be one. Ranges, sets,
masks and parts of the calendar say themselves what they stand for, `*` is the whole domain, and
other labels of a hierarchy mean what is given for them, and nothing without.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from incrowd.hierarchies.calendar import calendar_days
from incrowd.hierarchies.labels import Plain, Range, parse
from incrowd.table.coding import parse_date, parse_number

Meaning = Mapping[str, Collection[Any]]
"""For each label of a hierarchy the values under it, None or the empty text for missing."""

AxisSpan = tuple[Fraction, Fraction | None]
"""A half-open range of numbers or days, or with None a single one."""

_RULED = ("mask", "dates", "intervals")


@dataclass(frozen=True)
class LabelWriting:
    """What is known of how the labels of an attribute were written.

    `labels` is "set", "hierarchy" or "exact" in a release, None in a table without a manifest;
    `rule` the kind of its hierarchy; `general` how many values each label stands for that is not
    a value; `meaning` the values under labels, which are then all values of the attribute.
    """

    labels: str | None = None
    rule: str | None = None
    general: Mapping[str, int] = field(default_factory=dict)
    meaning: Meaning | None = None

    @classmethod
    def of(cls, entry: Mapping[str, Any], meaning: Meaning | None = None) -> LabelWriting:
        """What the manifest's entry of the attribute says; quasi-identifiers alone have labels."""
        labels = str(entry.get("labels", "set")) if entry.get("role") == "quasi" else "exact"
        return cls(labels, entry.get("hierarchy"), general_labels(entry), meaning)

    @property
    def exact(self) -> bool:
        """Whether cells are the values themselves, not labels."""
        return self.labels == "exact"

    def may_be_pattern(self, label: str) -> bool:
        """Whether a label may be a mask, a comparison, or a part of the calendar."""
        if self.labels == "hierarchy":
            return label in self.general or self.rule in _RULED
        return self.labels is None

    def given(self, label: str) -> list[str] | None:
        """The values given for a label, None if there are none, or it is a value itself."""
        values = None if self.meaning is None else self.meaning.get(label)
        if values is None or (label not in self.general and label in map(str, values)):
            return None
        return as_texts(values)


def general_labels(entry: Mapping[str, Any] | None) -> Mapping[str, int]:
    """How many values each label of the hierarchy stands for that is not a value."""
    weights = (entry or {}).get("weights")
    return weights if isinstance(weights, Mapping) else {}


def span_of(label: str, kind: object, *, calendar: bool) -> AxisSpan | None:
    """Where a label lies on the axis of a numeric or date attribute; None if it does not say.

    A range of the attribute's type, with `calendar` also a year, a decade, a quarter or a month,
    or else the value itself.

    Example
    -------
    >>> span_of("[30-40)", "numeric", calendar=False)
    (Fraction(30, 1), Fraction(40, 1))
    >>> span_of("1970-02", "date", calendar=True)
    (Fraction(31, 1), Fraction(59, 1))
    """
    parsed = parse(label)
    if isinstance(parsed, Range):
        return (parsed.low, parsed.high) if parsed.dates == (kind == "date") else None
    if not isinstance(parsed, Plain):
        return None
    if calendar and kind == "date" and (days := calendar_days(label)) is not None:
        return Fraction(days[0]), Fraction(days[1])
    place = place_of(parsed.text, kind)
    return None if place is None else (place, None)


def place_of(text: str, kind: object, written: str | None = None) -> Fraction | None:
    """Where a number, or a date in days since 1970-01-01, lies; None if the text is none.

    `written` is the format of dates, None for YYYY-MM-DD.
    """
    if kind == "date":
        day = parse_date(text, written)
        return None if day is None else Fraction(day)
    number = parse_number(text)
    return None if number is None else Fraction(number[0], 10 ** number[1])


def value_of(label: str) -> str | None:
    """The value that a label is by its text, None if it stands for several."""
    parsed = parse(label)
    return parsed.text if isinstance(parsed, Plain) else None


def as_texts(values: Collection[Any]) -> list[str]:
    """The values as text, the empty text for missing."""
    return ["" if value is None else str(value) for value in values]


def decimals_of(number: Fraction) -> int:
    """The decimals of a number that has finitely many."""
    decimals = 0
    while number.denominator != 1:
        number, decimals = number * 10, decimals + 1
    return decimals
