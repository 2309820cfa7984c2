"""What a published label stands for: how an attribute was written, where a label lies on its axis.

The text of a label alone is read by `incrowd.hierarchies.labels`; masks and parts of the calendar
count only where the manifest, or the lack of one, says that a label may be one. Ranges, sets,
masks and parts of the calendar say themselves what they stand for, `*` is the whole domain, and
other labels of a hierarchy mean what is given for them, and nothing without.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from incrowd.hierarchies.calendar import calendar_days
from incrowd.hierarchies.labels import Anything, Members, Plain, Range, parse
from incrowd.labels._masks import MaskedLabel, as_mask
from incrowd.table.coding import parse_date, parse_number

Meaning = Mapping[str, Collection[Any]]
"""For each label of a hierarchy the values under it, None or the empty text for missing."""

AxisSpan = tuple[Fraction, Fraction | None]
"""A half-open range of numbers or days, or with None a single one."""

LabelReading = Range | Members | MaskedLabel | Anything | Plain | None
"""A range of the axis, values, a mask, `*`, a value, or None: the label does not say."""

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
        weights = entry.get("weights")
        general = weights if isinstance(weights, Mapping) else {}
        return cls(labels, entry.get("hierarchy"), general, meaning)

    @property
    def exact(self) -> bool:
        """Whether cells are the values themselves, not labels."""
        return self.labels == "exact"

    def read(self, label: str, kind: object) -> LabelReading:
        """What a label stands for; None if it does not say, and nothing is given for it.

        `kind` is the type of the attribute: on an axis a range of another type says nothing, and
        parts of the calendar are ranges of dates, except where a hierarchy calls one value so.
        Values that are given go before those that a label lists, and ranges of the axis before
        both.

        Example
        -------
        >>> LabelWriting("hierarchy", "mask").read("142**", "category")
        MaskedLabel(shown='142', length=5, at_end=False)
        >>> LabelWriting("hierarchy", "tree", {"North": 3}).read("North", "category") is None
        True
        """
        if self.exact:
            return Plain(label)
        parsed, axis = parse(label), kind in ("numeric", "date")
        pattern = parsed == Plain(label) and self.may_be_pattern(label)
        calendar = kind == "date" and (pattern or self.labels != "hierarchy")
        if isinstance(parsed, Anything):
            return parsed
        if axis and isinstance(parsed, Range) and parsed.dates == (kind == "date"):
            return parsed
        if calendar and (days := calendar_days(label)) is not None:
            return Range(Fraction(days[0]), Fraction(days[1]), dates=True)
        members = self.listed(label)
        if members is not None:
            return Members(tuple(members))
        mask = as_mask(label) if pattern else None
        if mask is not None and mask.shown:
            return mask
        silent = axis if isinstance(parsed, Range) else label in self.general
        return None if silent else parsed

    def span(self, label: str, kind: object, written: str | None = None) -> AxisSpan | None:
        """Where a label lies on the axis of a numeric or date attribute; None if it does not say.

        A label of a hierarchy that is a number or a date lies there; `written` is the format of
        dates that are values, None for YYYY-MM-DD.

        Example
        -------
        >>> LabelWriting("set").span("[30-40)", "numeric")
        (Fraction(30, 1), Fraction(40, 1))
        >>> LabelWriting("hierarchy", "dates").span("1970-02", "date")
        (Fraction(31, 1), Fraction(59, 1))
        """
        found = self.read(label, kind)
        if isinstance(found, Range):
            return found.low, found.high
        place = place_of(found.text if isinstance(found, Plain) else label, kind, written)
        return None if place is None else (place, None)

    def listed(self, label: str) -> Sequence[str] | None:
        """The values given for a label, or those of a set; None if there are none.

        No values are given for a label that is a value itself.
        """
        if self.exact:
            return None
        values = None if self.meaning is None else self.meaning.get(label)
        if values is not None and (label in self.general or label not in map(str, values)):
            return as_texts(values)
        parsed = parse(label)
        return parsed.values if isinstance(parsed, Members) else None

    def may_be_pattern(self, label: str) -> bool:
        """Whether a label may be a mask, a comparison, or a part of the calendar."""
        if self.labels == "hierarchy":
            return label in self.general or self.rule in _RULED
        return self.labels is None


def place_of(text: str, kind: object, written: str | None = None) -> Fraction | None:
    """Where a number, or a date in days since 1970-01-01, lies; None if the text is none.

    `written` is the format of dates, None for YYYY-MM-DD.
    """
    if kind == "date":
        day = parse_date(text, written)
        return None if day is None else Fraction(day)
    number = parse_number(text)
    return None if number is None else Fraction(number[0], 10 ** number[1])


def as_texts(values: Collection[Any]) -> list[str]:
    """The values as text, the empty text for missing."""
    return ["" if value is None else str(value) for value in values]


def decimals_of(number: Fraction) -> int:
    """The decimals of a number that has finitely many."""
    decimals = 0
    while number.denominator != 1:
        number, decimals = number * 10, decimals + 1
    return decimals
