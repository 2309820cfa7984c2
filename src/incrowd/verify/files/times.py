"""What a manifest says of dates that were changed: the way, and all that the way has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from incrowd.verify.verdict import shown

if TYPE_CHECKING:
    from incrowd.verify.files.layout import Layout, ManifestAttribute

SHIFT, RELATIVE, COARSE = "shift", "relative", "coarse"
_KEYS = {
    SHIFT: ({"way", "days", "weeks"},),
    COARSE: ({"way", "period"},),
    RELATIVE: (
        {"way", "to", "unit"},
        {"way", "to", "unit", "widths"},
        {"way", "to", "column", "unit"},
        {"way", "to", "column", "unit", "widths"},
    ),
}
PERIODS = ("month", "quarter", "year")
_UNITS = ("days", "weeks", "months", "years")
_WEEK = 7
_MOST = 1_000_000


def strange_times(layout: Layout) -> Iterator[str]:
    """Every problem with what a manifest says of changed dates."""
    for each in layout.attributes:
        if each.time is not None:
            yield from _strange(each, layout)
    times = [each.time for each in layout.attributes if each.time is not None]
    shifts = [time for time in times if time.get("way") == SHIFT]
    if any(time != shifts[0] for time in shifts):
        yield "the shifts of dates differ, and a patient has one"


def _strange(each: ManifestAttribute, layout: Layout) -> Iterator[str]:
    time = each.time or {}
    where = f"'time' of {shown(each.name)}"
    known = each.role == "quasi" and each.of_events and time.get("way") == RELATIVE
    if not each.published or (each.role not in ("keep", "sensitive") and not known):
        yield f"{where}: dates are changed where they are published, kept or sensitive"
    if known and "widths" in time:
        yield f"{where}: ranges of what may be known are its labels"
    if layout.publish != "generalized":
        yield f"{where}: dates are changed in generalized releases alone"
    way = str(time.get("way"))
    if {*time} not in _KEYS.get(way, ()):
        yield f"{where} is not a way with all that it has"
    elif not _is_right(way, time, layout):
        yield f"{where} has a value that its way cannot have"
    elif each.kind != _kind(way, time):
        yield f"{where}: the type of the column is not {_kind(way, time)}"


def _kind(way: str, time: Mapping[str, Any]) -> str:
    """The type of the column that a way makes of dates."""
    if way == SHIFT:
        return "date"
    return "numeric" if way == RELATIVE and "widths" not in time else "ordered"


def _is_right(way: str, time: Mapping[str, Any], layout: Layout) -> bool:
    if way == COARSE:
        return time["period"] in PERIODS
    if way == SHIFT:
        least = _WEEK if time["weeks"] is True else 1
        return time["weeks"] in (True, False) and _is_size(time["days"], least)
    widths = time.get("widths", [1])
    if not (time["unit"] in _UNITS and isinstance(widths, list) and widths):
        return False
    if not all(_is_size(width) for width in widths) or widths != sorted({*widths}):
        return False
    if time["to"] == "first":
        return "column" not in time
    return time["to"] in ("column", "event") and any(
        other.published
        and other.name == time.get("column")
        and other.of_events == (time["to"] == "event")
        for other in layout.attributes
    )


def _is_size(value: object, least: int = 1) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= _MOST
