"""What a published cell stands for, read from its text alone, without the package's own parser."""

from __future__ import annotations

import re
from collections.abc import Iterable
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


def weight(label: str | None, domain: int | None, decimals: int) -> Fraction:
    """How many values of the domain a label without a hierarchy stands for."""
    if label is None or label.startswith("\\"):
        return Fraction(1)
    if label == "*":
        return Fraction(1 if domain is None else domain)
    listed, ends = members(label), bounds(label)
    if listed is not None:
        return Fraction(len(listed))
    if ends is not None:
        return (ends[1] - ends[0]) * Fraction(10**decimals)
    return Fraction(1)


def penalty(label: str | None, weight: Fraction, domain: int | None) -> Fraction:
    """The NCP of one cell; without a domain there is nothing but `*` and missing cells."""
    if domain is None:
        assert label in (None, "*")
        return Fraction(label is not None)
    return Fraction(0) if domain == 1 else min(Fraction(1), (weight - 1) / (domain - 1))


def calendar_bounds(label: str) -> tuple[Fraction, Fraction] | None:
    """The first day of a year, decade, quarter or month, and the first after it."""
    match = re.fullmatch(r"(\d{4})(?:(s)|-(\d\d)|-Q(\d))?", label)
    if match is None:
        return None
    year, month, months = int(match[1]), 1, 12
    if match[2]:
        months = 120
    elif match[3] or match[4]:
        month, months = (int(match[3]), 1) if match[3] else (int(match[4]) * 3 - 2, 3)
    years, after = divmod(month - 1 + months, 12)
    first, last = f"{year:04}-{month:02}-01", f"{year + years:04}-{after + 1:02}-01"
    return day(first), day(last)


def shown_spans(
    labels: Iterable[str | None], *, dates: bool
) -> list[tuple[Fraction, Fraction | None]]:
    """The ranges, and with None the single values, that labels of numbers or dates show."""
    found: list[tuple[Fraction, Fraction | None]] = []
    for label in labels:
        if label is None or label == "*":
            continue
        for text in members(label) or [label]:
            if text is None:
                continue
            ends = bounds(text) or (calendar_bounds(text) if dates else None)
            found.append(ends or (day(text) if dates else Fraction(text), None))
    return found


def shown_decimals(labels: Iterable[str | None]) -> int:
    """The decimals that labels of numbers show; a range of one step shows that there are more."""
    spans = shown_spans(labels, dates=False)
    decimals = 0
    while any(
        (end * 10**decimals).denominator != 1 for span in spans for end in span if end is not None
    ):
        decimals += 1
    while any(high is not None and (high - low) * 10**decimals < 2 for low, high in spans):
        decimals += 1
    return decimals


def shown_size(labels: Iterable[str | None], kind: str) -> int | None:
    """How many values labels span, and one more where `*` or a missing cell is shown.

    Of numbers and dates the steps from the first to the last. None without any value to see.
    """
    different = set(labels)
    listed = {value for label in different if label for value in members(label) or ()}
    more = "*" in different or None in different or None in listed
    if kind not in ("numeric", "date"):
        plain = {label for label in different if label and members(label) is None}
        seen = len({p.removeprefix("\\") for p in plain - {"*"}} | (listed - {None}))
    else:
        dates = kind == "date"
        step = 1 if dates else 10 ** shown_decimals(different)
        spans = [
            (a * step, a * step + 1 if b is None else b * step)
            for a, b in shown_spans(different, dates=dates)
        ]
        seen = int(max(b for _, b in spans) - min(a for a, _ in spans)) if spans else 0
    return seen + more if seen or "*" not in different else None
