"""What a manifest says of tables of events that hang on a table of patients."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from incrowd.verify.files._guards import is_count
from incrowd.verify.verdict import shown

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
