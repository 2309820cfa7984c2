r"""The text of generalized cells: ranges, sets and `*`, written and read back.

A label is a plain value, a hierarchy's own label, a half-open range `[30-60)`, a set
`{Divorced|Separated}` or `*`. Inside a set, `\`, `|`, `{` and `}` are escaped by a backslash and
an empty member stands for a missing cell. A plain value that would itself read as one of these,
or begins with a backslash, is written with a backslash in front.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from incrowd.table import Column
from incrowd.table.coding import format_date, format_number, parse_date
from incrowd.table.dates import ISO_DATE

NUMBER = r"[+-]?\d+(?:\.\d+)?"
_RANGE = re.compile(rf"\[(?:({ISO_DATE})-({ISO_DATE})|({NUMBER})-({NUMBER}))\)", re.ASCII)
_SPECIAL = re.compile(r"([\\|{}])")


@dataclass(frozen=True)
class Range:
    """A half-open range of numbers, or of days since 1970-01-01."""

    low: Fraction
    high: Fraction
    dates: bool

    def covers(self, position: Fraction) -> bool:
        """Whether a number (or day) lies in the range."""
        return self.low <= position < self.high


@dataclass(frozen=True)
class Members:
    """A set of values; the empty text stands for a missing cell."""

    values: tuple[str, ...]


@dataclass(frozen=True)
class Anything:
    """The label `*`, which stands for every value."""


@dataclass(frozen=True)
class Plain:
    """A value, or a label of a hierarchy."""

    text: str


def range_label(column: Column, low: int, high: int) -> str:
    """The label of low <= x < high, both on the axis of a numeric or date column."""
    if column.kind == "date":
        return f"[{format_date(low)}-{format_date(high)})"
    return f"[{format_number(low, column.decimals)}-{format_number(high, column.decimals)})"


def set_label(values: Sequence[str]) -> str:
    """The label of a set of values; a single value is just that value."""
    if len(values) == 1:
        return plain_label(values[0])
    return "{" + "|".join(_SPECIAL.sub(r"\\\1", value) for value in values) + "}"


def plain_label(value: str) -> str:
    """The label of a single value, with a backslash in front where it would be misread."""
    if value.startswith("\\") or not isinstance(parse(value), Plain):
        return "\\" + value
    return value


def parse(label: str) -> Range | Members | Anything | Plain:
    """What a published cell stands for."""
    if label == "*":
        return Anything()
    if label.startswith("\\"):
        return Plain(label[1:])
    if label.startswith("{") and label.endswith("}"):
        return Members(tuple(_split_members(label[1:-1])))
    match = _RANGE.fullmatch(label)
    if match is None:
        return Plain(label)
    if match[1] is not None:
        low, high = parse_date(match[1]), parse_date(match[2])
        if low is None or high is None:
            return Plain(label)
        return Range(Fraction(low), Fraction(high), dates=True)
    return Range(Fraction(match[3]), Fraction(match[4]), dates=False)


def _split_members(inside: str) -> list[str]:
    members, current, escaped = [], "", False
    for character in inside:
        if escaped:
            current, escaped = current + character, False
        elif character == "\\":
            escaped = True
        elif character == "|":
            members.append(current)
            current = ""
        else:
            current += character
    return [*members, current]
