"""What a published cell stands for, read from its text alone, without the package's own parser."""

from __future__ import annotations

import re
from datetime import date
from fractions import Fraction

_RANGE = re.compile(
    r"\[(?:(\d{4}-\d\d-\d\d)-(\d{4}-\d\d-\d\d)|(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?))\)"
)


def bounds(label: str) -> tuple[Fraction, Fraction] | None:
    """The ends of a half-open range of numbers or days; None for any other label."""
    match = _RANGE.fullmatch(label)
    if match is None:
        return None
    if match[1] is not None:
        return day(match[1]), day(match[2])
    return Fraction(match[3]), Fraction(match[4])


def day(text: str) -> Fraction:
    return Fraction(date.fromisoformat(text).toordinal())


def members(label: str) -> list[str | None] | None:
    """The values of a set, None among them for missing; None for any other label."""
    if not (label.startswith("{") and label.endswith("}")):
        return None
    found = [""]
    for token in re.findall(r"\\.|[^\\]", label[1:-1], re.DOTALL):
        if token == "|":
            found.append("")
        else:
            found[-1] += token[-1]
    return [text or None for text in found]


def covers(label: str | None, cell: str | None, *, above: tuple[str, ...] = ()) -> bool:
    """Whether a published cell may stand for a value; `above` are its labels in the hierarchy."""
    if label is None:
        return cell is None
    if label == "*":
        return True
    if label.startswith("\\"):
        return cell == label[1:]
    listed = members(label)
    if listed is not None:
        return cell in listed
    ends = bounds(label)
    if ends is not None:
        if cell is None:
            return False
        place = day(cell) if "-" in cell[1:] else Fraction(cell)
        return ends[0] <= place < ends[1]
    return label == cell or label in above


def weight(label: str | None, domain: int, decimals: int) -> Fraction:
    """How many values of the domain a label without a hierarchy stands for."""
    if label is None or label.startswith("\\"):
        return Fraction(1)
    if label == "*":
        return Fraction(domain)
    listed, ends = members(label), bounds(label)
    if listed is not None:
        return Fraction(len(listed))
    if ends is not None:
        return (ends[1] - ends[0]) * 10**decimals
    return Fraction(1)


def penalty(weight: Fraction, domain: int) -> Fraction:
    """The NCP of one cell."""
    return Fraction(0) if domain == 1 else min(Fraction(1), (weight - 1) / (domain - 1))
