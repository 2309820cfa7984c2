"""What an analyst sees of each quasi-identifier: how much is as it was, how wide the rest is.

Invariant: all of it follows from the published labels, from how many records show each, and from
the manifest's entry of the attribute. So a release may show it anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._runtime.sentences import listed
from incrowd.hierarchies.labels import Anything, Members, Plain, Range
from incrowd.labels import LabelWriting, MaskedLabel
from incrowd.published.granularity import Seen
from incrowd.utility.count_error import count_error

if TYPE_CHECKING:
    from incrowd.methods.base import Outcome
    from incrowd.published.opened import ReleaseLike
    from incrowd.utility.published import Published

MOST_STEPS = 100_000
MOST_VALUES = 100
"""Of larger domains an NCP tells nothing: nearly any label is a small part of them."""

_YEAR, _MONTH = 365.25, 30.4375
_UNITS = {
    "years": ("year", "years", "yr", "yrs", "jahre", "ans"),
    "months": ("month", "months"),
    "weeks": ("week", "weeks"),
    "days": ("day", "days"),
    "hours": ("hour", "hours"),
    "minutes": ("minute", "minutes"),
    "kg": ("kg",),
    "cm": ("cm",),
    "mm": ("mm",),
    "km": ("km",),
    "%": ("percent", "pct"),
}


def seen(release: ReleaseLike | str | Path | Published) -> tuple[Seen, ...]:
    """What an analyst sees of each quasi-identifier of a release.

    A release that was just made knows it; of another one the cells are counted.

    Example
    -------
    >>> import polars
    >>> from types import SimpleNamespace
    >>> entry = {"name": "age", "role": "quasi", "published": True, "type": "numeric",
    ...          "labels": "set", "decimals": 0, "domain": 60}
    >>> release = SimpleNamespace(
    ...     data=polars.DataFrame({"age": ["[30-40)", "[30-40)", "52", "*"]}),
    ...     manifest={"attributes": [entry], "records": {
    ...         "source": 4, "published": 4, "suppressed": 0, "missing_dropped": 0}})
    >>> [(each.unchanged, each.typical, each.hidden) for each in seen(release)]
    [(0.25, '10 years', 0.25)]
    """
    from incrowd.publish.release import Release
    from incrowd.utility.published import open_published

    if isinstance(release, Release) and release.seen:
        return tuple(release.seen)
    published = open_published(release)
    return tuple(seen_cells(published.entries[n], published.cells(n)) for n in published.quasi)


def seen_by_groups(manifest: Mapping[str, Any], outcome: Outcome) -> tuple[Seen, ...]:
    """The same, of groups that are about to be published."""
    import numpy as np

    found = []
    for entry in manifest["attributes"]:
        if entry["role"] != "quasi" or not entry["published"]:
            continue
        cells: Mapping[str | None, int] = {None: int(outcome.group_sizes.sum())}
        if entry["labels"] != "exact":
            labels, sizes = outcome.shown(entry["name"])
            many = np.bincount(labels.text_of_group, sizes, len(labels.texts))
            cells = {text: int(n) for text, n in zip(labels.texts, many, strict=True) if n}
        found.append(seen_cells(entry, cells))
    return tuple(found)


def seen_cells(entry: Mapping[str, Any], records: Mapping[str | None, int]) -> Seen:
    """What is seen of an attribute, by its entry and how many records show each label."""
    whole = sum(records.values())
    writing = LabelWriting.of(entry)
    if writing.exact:
        return Seen(str(entry["name"]), 1.0, 0.0, None, 0.0, None)
    unchanged = hidden = 0
    widths: dict[str, list[tuple[float, int]]] = {}
    for label, many in records.items():
        kind, width = ("value", 1.0) if label is None else _width(label, entry, writing)
        if kind == "value":
            unchanged += many
        elif kind == "anything":
            hidden += many
        else:
            widths.setdefault(kind, []).append((width, many))
    loss = entry.get("ncp")
    return Seen(
        str(entry["name"]),
        unchanged / whole,
        hidden / whole,
        _typical(widths, entry),
        count_error(entry, records),
        float(loss) if isinstance(loss, int | float) and meaningful(entry) else None,
    )


def meaningful(entry: Mapping[str, Any]) -> bool:
    """Whether an NCP of the attribute means something: its domain is one that people look over.

    Numbers and dates of at most 100,000 steps, other values of at most 100. Codes that are numbers
    have domains of many digits, and names of thousands: a label that is of no use to anyone covers
    next to nothing of them.
    """
    domain = entry.get("domain")
    most = MOST_STEPS if entry.get("type") in ("numeric", "date") else MOST_VALUES
    return isinstance(domain, int) and domain <= most


def overall(found: Sequence[Seen]) -> tuple[float, float]:
    """The shares of all cells of quasi-identifiers that are as they were, and that are hidden."""
    return (
        sum(each.unchanged for each in found) / len(found),
        sum(each.hidden for each in found) / len(found),
    )


def in_words(found: Sequence[Seen]) -> str:
    """The release in one sentence: what is as it was, how wide the rest is, what is hidden."""
    from incrowd._runtime.console import percent

    unchanged, hidden = overall(found)
    wide = [f"{each.name} {each.typical}" for each in found if each.typical is not None]
    text = f"{percent(unchanged)} of the cells of quasi-identifiers are as they were"
    if hidden:
        text += f", {percent(hidden)} are hidden (*)"
    if not wide:
        return text + "."
    widths = listed(wide, _MOST_NAMED, quoted=False, between="; ", last="; ")
    return f"{text}. The others are typically this wide: {widths}."


_MOST_NAMED = 6


def _width(label: str, entry: Mapping[str, Any], writing: LabelWriting) -> tuple[str, float]:
    """What kind of label it is, and how many of its kind's units it spans."""
    found = writing.read(label, entry.get("type"))
    if isinstance(found, Anything):
        return "anything", 0.0
    if isinstance(found, Plain):
        return "value", 1.0
    if isinstance(found, Members):
        return "set", float(len(found.values))
    if isinstance(found, Range):
        return "range", float(found.high - found.low)
    if isinstance(found, MaskedLabel) and writing.rule == "mask":
        return "mask", float(found.hidden)
    return "label", float(writing.general.get(label, 1))


def _typical(widths: Mapping[str, list[tuple[float, int]]], entry: Mapping[str, Any]) -> str | None:
    """The median width of the kind of label that most of the records have."""
    if not widths:
        return None
    kind = max(widths, key=lambda each: sum(many for _, many in widths[each]))
    width = _median(widths[kind])
    if kind == "set":
        return f"sets of {width:,.0f} values"
    if kind == "label":
        return f"labels for {width:,.0f} values"
    if kind == "mask":
        return f"{width:.0f} character{'s' if width > 1 else ''} hidden"
    if entry.get("type") == "date":
        return _days(width)
    unit = unit_of(str(entry["name"]))
    number = f"{width:,.0f}" if width >= 100 else f"{width:,.3g}"
    return f"{number} {unit}" if unit else f"{number} wide"


def _median(widths: Sequence[tuple[float, int]]) -> float:
    """The width that half of the records do not exceed."""
    half, below = sum(many for _, many in widths) / 2, 0
    for width, many in sorted(widths):
        below += many
        if below >= half:
            return width
    return 0.0


def _days(days: float) -> str:
    """A span of days as people say it."""
    for size, unit in ((_YEAR, "year"), (_MONTH, "month"), (1.0, "day")):
        number = round(days / size)
        if days >= 0.95 * size and (number >= 2 or abs(days - size) <= 0.05 * size):
            return f"{number:,} {unit}{'s' if number > 1 else ''}"
    return f"{days:,.0f} days"


def unit_of(name: str) -> str | None:
    """The unit of a number, where the name of its attribute tells: `weight_kg`, `age`.

    Example
    -------
    >>> [unit_of(name) for name in ("weight_kg", "hours-per-week", "ageInDays", "age", "income")]
    ['kg', 'hours', 'days', 'years', None]
    """
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|%", name)
    known = [word.lower() for word in words]
    for word in known:
        for unit, spellings in _UNITS.items():
            if word in spellings:
                return unit
    return "years" if "age" in known else None
