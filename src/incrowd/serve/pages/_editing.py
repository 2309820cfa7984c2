"""Changes of a draft, a plain mapping of the shape of a policy file: each gives a new mapping."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from incrowd.policy.units import ROW
from incrowd.privacy import KAnonymity
from incrowd.serve.workspace.attributes import (
    Draft,
    asked_of,
    entry_of,
    others_of,
    place_of,
    with_asked,
)
from incrowd.table.profiles import PATIENTS

ROLES = {
    "identifier": "Identifier: never published",
    "quasi": "Quasi-identifier: others may know it",
    "sensitive": "Sensitive: nobody should learn it",
    "target": "Target: analysts predict it",
    "keep": "Keep as it is: protected by nothing",
}
"""Every role, in words."""

OF_EVENTS = ("identifier", "sensitive", "keep")
"""The roles of columns that vary within a patient."""
_PATIENT = {"r": "patient", "R": "Patient"}
_OF_QUASI = ("weight", "rules")


def role_of(draft: Draft, name: str) -> str:
    """The role of a column; columns that are not named follow `other:`."""
    asked = asked_of(draft, name)
    if asked is None:
        return "keep" if others_of(draft, name) == "keep" else "identifier"
    return str(asked["role"] if isinstance(asked, Mapping) else asked)


def columns_of(draft: Draft, columns: Sequence[str], *roles: str) -> list[str]:
    """The columns that have one of these roles, in the order of the file."""
    return [name for name in columns if role_of(draft, name) in roles]


def hierarchy_of(draft: Draft, name: str) -> Any:
    """What the draft says of the hierarchy of a column; None where it says nothing."""
    asked = asked_of(draft, name)
    return asked.get("hierarchy") if isinstance(asked, Mapping) else None


def privacy_of(draft: Draft) -> list[tuple[str, dict[str, Any]]]:
    """The models of a draft with their parameters, in order."""
    return [
        (str(name), dict(entry or {}))
        for each in draft.get("privacy", [])
        for name, entry in each.items()
    ]


def method_of(draft: Draft) -> str:
    """The name of the method; `auto` where the draft says nothing, as in a policy."""
    asked = draft.get("method", "auto")
    return str(asked.get("name", "auto") if isinstance(asked, Mapping) else asked)


def with_role(draft: Draft, name: str, role: str) -> tuple[dict[str, Any], list[str]]:
    """The draft with another role of a column, and what else had to change for it.

    A model that protects a column which is no longer sensitive goes; where none is left,
    5-anonymity takes its place. A unit that is no longer an identifier goes too.
    """
    asked, gone = asked_of(draft, name), () if role == "quasi" else _OF_QUASI
    entry: Any = role
    if isinstance(asked, Mapping):
        entry = {**{key: value for key, value in asked.items() if key not in gone}, "role": role}
    changed = with_asked(draft, name, entry)
    notes = []
    if role != "identifier" and changed.get("unit") == name:
        del changed["unit"]
        notes.append(f"'{name}' told patients apart: say again what a row is.")
    if role in ("sensitive", "target"):
        return changed, notes
    kept = []
    for model, entry in privacy_of(changed):
        if name in _protected(entry):
            notes.append(f"{model} protected '{name}', so it was taken out of the privacy step.")
        else:
            kept.append({model: entry})
    if not kept:
        kept = [{KAnonymity.name: {"k": 5}}]
    changed["privacy"] = kept
    return changed, notes


def with_unit(draft: Draft, unit: str | None) -> dict[str, Any]:
    """The draft with another unit; what is said of the rows of one patient goes where none has any.

    None leaves open what a row is.
    """
    changed = with_setting(draft, "unit", unit, None)
    if unit in (None, ROW):
        changed.pop("most-events", None)
        for name, asked in changed.get("attributes", {}).items():
            if isinstance(asked, Mapping):
                changed["attributes"][name] = _short(asked, "level", "take")
    return changed


def varies(draft: Draft, name: str) -> bool:
    """Whether a column may differ between the rows of a patient."""
    if is_of_events(draft, name):
        return True
    asked = asked_of(draft, name)
    return isinstance(asked, Mapping) and asked.get("level") == "event"


def is_of_events(draft: Draft, name: str) -> bool:
    """Whether a column stands in a table of events, one of several tables."""
    return place_of(draft, name)[0] not in (None, PATIENTS)


def said_of(one: str, words: str) -> str:
    """What is said of records, said of patients where these are counted.

    Example
    -------
    >>> said_of("patient", "finds at least 5 records that fit")
    'finds at least 5 patients that fit'
    """
    if one == "record":
        return words
    return re.sub(r"\b([Rr])ecord(s?)\b", lambda found: _PATIENT[found[1]] + found[2], words)


def with_varying(draft: Draft, name: str, *, varying: bool) -> dict[str, Any]:
    """The draft where a column may differ between the rows of a patient, or may not."""
    entry = entry_of(draft, name, role_of(draft, name))
    level = {"level": "event"} if varying else {}
    return with_asked(draft, name, _short({**entry, **level}, "take" if varying else "level"))


def with_hierarchy(draft: Draft, name: str, hierarchy: object) -> dict[str, Any]:
    """The draft with another hierarchy of a column; None takes it away."""
    entry = entry_of(draft, name)
    if hierarchy is None:
        return with_asked(draft, name, _short(entry, "hierarchy"))
    return with_asked(draft, name, {**entry, "hierarchy": hierarchy})


def with_privacy(draft: Draft, models: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """The draft with these models and parameters."""
    changed = deepcopy(dict(draft))
    changed["privacy"] = [{name: dict(entry)} for name, entry in models]
    return changed


def with_setting(draft: Draft, key: str, value: object, default: object) -> dict[str, Any]:
    """The draft with one key at the top set; left out where it says what is so anyway."""
    changed = deepcopy(dict(draft))
    changed.pop(key, None)
    if value != default:
        changed[key] = value
    return changed


def _short(asked: Mapping[str, Any], *gone: str) -> dict[str, Any] | str:
    """What is said of a column without some keys; the role alone where nothing else is left."""
    entry = {key: value for key, value in asked.items() if key not in gone}
    return entry if set(entry) != {"role"} else str(entry["role"])


def _protected(entry: Mapping[str, Any]) -> list[str]:
    """The columns that the parameters of a model name."""
    named = entry.get("sensitive")
    return [] if named is None else [named] if isinstance(named, str) else list(named)
