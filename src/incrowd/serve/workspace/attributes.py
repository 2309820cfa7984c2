"""What a draft says of each column, wherever it stands: at the top, or in one of several tables.

Columns have the names that a policy gives them elsewhere: those of patients, and of a flat file,
their own; those of a table of events `table.column`.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from incrowd.table.profiles import PATIENTS, column_of

Draft = Mapping[str, Any]
"""A policy in work, of the shape of a policy file."""


def tables_in(draft: Draft) -> dict[str, Mapping[str, Any]]:
    """What a draft says of each of its tables, that of the patients first; of one file, nothing."""
    if PATIENTS not in draft:
        return {}
    return {PATIENTS: draft[PATIENTS], **(draft.get("tables") or {})}


def place_of(draft: Draft, name: str) -> tuple[str | None, str]:
    """The table of a column and its name there; no table where a draft is of one file.

    Example
    -------
    >>> place_of({"patients": {}, "tables": {"drugs": {}}}, "drugs.code")
    ('drugs', 'code')
    >>> place_of({"attributes": {}}, "drugs.code")
    (None, 'drugs.code')
    """
    tables = tables_in(draft)
    if not tables:
        return None, name
    table, _, column = name.partition(".")
    table = table if column and table in tables and table != PATIENTS else PATIENTS
    return table, column_of(table, name)


def asked_of(draft: Draft, name: str) -> Any:
    """What a draft says of a column: a role, or a mapping; None where it names no such column."""
    table, column = place_of(draft, name)
    part = draft if table is None else tables_in(draft)[table]
    return (part.get("attributes") or {}).get(column)


def entry_of(draft: Draft, name: str, role: str = "quasi") -> dict[str, Any]:
    """What a draft says of a column, as a mapping to be changed; its role where it says nothing."""
    asked = asked_of(draft, name) or role
    return dict(asked) if isinstance(asked, Mapping) else {"role": asked}


def others_of(draft: Draft, name: str) -> str | None:
    """What becomes of a column that a draft does not name: drop or keep; None where it is open."""
    table, _ = place_of(draft, name)
    part = draft if table is None else tables_in(draft)[table]
    return part.get("other")


def with_asked(draft: Draft, name: str, asked: object) -> dict[str, Any]:
    """The draft that says something else of a column."""
    changed = deepcopy(dict(draft))
    table, column = place_of(changed, name)
    part = changed if table is None else _part(changed, table)
    part["attributes"] = {**(part.get("attributes") or {}), column: asked}
    return changed


def names_patients(draft: Draft, name: str) -> bool:
    """Whether a column is the one by which a table of several names the patient of a row."""
    table, column = place_of(draft, name)
    if table is None:
        return False
    part = tables_in(draft)[table]
    return column == part.get("key" if table == PATIENTS else "unit")


def with_unmatched(draft: Draft, table: str, *, drop: bool) -> dict[str, Any]:
    """The draft that leaves out the rows of a table whose patient is not there, or refuses them."""
    changed = deepcopy(dict(draft))
    part = changed["tables"][table]
    part.pop("unmatched", None)
    if drop:
        part["unmatched"] = "drop"
    return changed


def _part(draft: dict[str, Any], table: str) -> dict[str, Any]:
    found: dict[str, Any] = draft[PATIENTS] if table == PATIENTS else draft["tables"][table]
    return found
