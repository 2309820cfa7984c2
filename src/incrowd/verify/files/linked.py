"""What a manifest says of tables of events that hang on a table of patients."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incrowd.verify.files._guards import is_count
from incrowd.verify.verdict import shown

if TYPE_CHECKING:
    from incrowd.verify.files.layout import Layout

PATIENTS = "patients"
"""The table of patients, where those of their events hang on it."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_TAKEN = frozenset({PATIENTS, "data", "manifest", "report", "qit", "nss", "ss"})


@dataclass(frozen=True)
class StatedTable:
    """A table of events as the manifest describes it.

    `steps` are the fewest and the most rows (None for no end) and how many patients have so many.
    """

    name: str
    rows: int
    steps: tuple[tuple[int, int | None, int], ...]


def read_linked(raw: Mapping[str, Any], problems: list[str]) -> tuple[StatedTable, ...] | None:
    """Return the tables of events that a manifest describes, or None where it has no tables."""
    if "tables" not in raw:
        if "unmatched" in raw:
            problems.append("'unmatched' rows are counted, and there are no 'tables'")
        return None
    described = raw["tables"] if isinstance(raw["tables"], dict) else {"": {}}
    tables = []
    for name, each in described.items():
        found = each if isinstance(each, dict) else {}
        steps = _steps(found.get("rows_per_patient"))
        rows = found.get("rows")
        if not _NAME.fullmatch(name) or name.lower() in _TAKEN or name.lower().startswith("st_"):
            problems.append(f"table {shown(name)} has a name that no table of events has")
        elif not is_count(rows) or steps is None:
            problems.append(f"table {shown(name)} must have 'rows' and 'rows_per_patient'")
        else:
            tables.append(StatedTable(name, int(rows or 0), steps))
    if len({each.name.lower() for each in tables}) != len(tables):
        problems.append("'tables' names one table twice")
    unmatched = raw.get("unmatched", {})
    if not isinstance(unmatched, dict) or not {*unmatched} <= {*described}:
        problems.append("'unmatched' rows are of tables that are not published")
    return tuple(tables)


def _steps(value: object) -> tuple[tuple[int, int | None, int], ...] | None:
    if not isinstance(value, list) or not value:
        return None
    steps: list[tuple[int, int | None, int]] = []
    for each in value:
        found = each if isinstance(each, dict) else {}
        begin, end, patients = (found.get(key) for key in ("from", "to", "patients"))
        if not is_count(begin) or not is_count(patients) or not (end is None or is_count(end)):
            return None
        steps.append((int(begin or 0), end, int(patients or 0)))
    return tuple(steps)


def least_told(sizes: Iterable[object]) -> int:
    """Return how many tell of nobody: as many as the largest of the promised sizes, and two."""
    return max([2, *(size for size in sizes if isinstance(size, int))])


def strange_tables(layout: Layout) -> list[str]:
    """Return every problem with what a manifest says of tables, and of columns in them."""
    if layout.linked is None:
        strange = [each for each in layout.attributes if each.table is not None]
        return [f"{shown(each.name)} is in a table, and there are no 'tables'" for each in strange]
    if not layout.of_patients:
        return ["'tables' hang on 'patients', and none are counted"]
    names = [each.name for each in layout.linked]
    problems = []
    for each in layout.attributes:
        inside = each.table is not None and each.name.startswith(f"{each.table}.")
        if each.table == PATIENTS:
            wrong = each.of_events or any(each.name.startswith(f"{name}.") for name in names)
        else:
            wrong = not inside or (each.published and not (each.of_events and each.table in names))
        if wrong:
            problems.append(f"{shown(each.name)} is not said to be in a table that has it")
    problems += [
        f"table {shown(name)} is published without a column"
        for name in names
        if not any(each.published and each.table == name for each in layout.attributes)
    ]
    return problems


def strange_left_out(raw: Mapping[str, Any], layout: Layout) -> list[str]:
    """Return every problem with what a manifest says of rows of events that it leaves out.

    They are told of tables whose events may be known, in steps that tell of nobody.
    """
    told = raw.get("events_left_out", {})
    found = told if isinstance(told, dict) else {"": told}
    if not {*found} <= {*layout.known_tables}:
        return ["'events_left_out' are of tables whose events nobody is said to know"]
    if not all(is_count(many) and many % layout.least_told == 0 for many in found.values()):
        return [f"'events_left_out' are not told in steps of {layout.least_told:,}"]
    return []
