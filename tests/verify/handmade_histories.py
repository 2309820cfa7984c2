"""Releases of patients and their events written by hand, and the judgement by the definition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import Any

from handmade_release import csv_text, described, in_order, write_manifest

from incrowd.verify.layouts.linked import _steps

Row = tuple[str, ...]
Rows = Sequence[Row]
Atom = tuple[str, ...]
ORDER = (
    "format", "incrowd", "publish", "unit", "patients", "tables", "events_left_out",
    "suppression_limit", "attributes", "promises", "method", "files",
)  # fmt: skip


@dataclass(frozen=True)
class Table:
    """Columns with their roles, and rows whose first cell is the pseudonym."""

    roles: Mapping[str, str]
    rows: Rows = ()

    def places(self, role: str) -> dict[str, int]:
        """Where the columns of a role stand in a row."""
        return {name: at for at, name in enumerate(self.roles, 1) if self.roles[name] == role}


@dataclass(frozen=True)
class Published:
    """A release: its patients, and the tables of their events, by name."""

    patients: Table
    events: Mapping[str, Table]
    promises: Sequence[Mapping[str, Any]]

    def promising(self, *promises: Mapping[str, Any]) -> Published:
        return replace(self, promises=promises)


def lkc(known: int, k: int, **more: Any) -> dict[str, Any]:
    return {"model": "lkc", "parameters": {"L": known, "K": k, "C": 1.0, **more}}


def write(
    folder: Path,
    made: Published,
    *,
    flat: bool,
    told: Mapping[str, Any] = MappingProxyType({}),
    weights: Mapping[str, Any] = MappingProxyType({}),
) -> Path:
    """Write the release in a folder: linked tables, or one of rows that name their patients.

    `told` is what the manifest tells beside, and `weights` those of the labels of attributes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    manifest = (_flat if flat else _linked)(folder, made) | dict(told)
    for each in manifest["attributes"]:
        if each["name"] in weights:
            each["weights"] = weights[each["name"]]
    write_manifest(folder, {key: manifest[key] for key in ORDER if key in manifest})
    return folder


def _manifest(made: Published, patients: int) -> dict[str, Any]:
    counts = {"source": patients, "published": patients, "suppressed": 0, "missing_dropped": 0}
    return {
        "format": "incrowd-release/1",
        "incrowd": "0.1.0",
        "publish": "generalized",
        "unit": "id",
        "patients": counts,
        "suppression_limit": 0.0,
        "promises": [dict(each) for each in made.promises],
        "method": {"name": "histories", "options": {}},
    }


def _file(folder: Path, name: str, columns: Sequence[str], rows: Rows) -> dict[str, Any]:
    (folder / name).write_bytes(csv_text(columns, in_order(rows)))
    return {**described(folder / name), "rows": len(rows), "columns": [*columns]}


def _linked(folder: Path, made: Published) -> dict[str, Any]:
    manifest = _manifest(made, len(made.patients.rows))
    named = {"patients": made.patients, **made.events}
    manifest["files"] = {
        f"{name}.csv": _file(folder, f"{name}.csv", ["patient", *table.roles], table.rows)
        for name, table in named.items()
    }
    told: list[dict[str, Any]] = [{"name": "id", "role": "identifier", "table": "patients",
                                   "published": False}]  # fmt: skip
    for name, table in named.items():
        for column, role in table.roles.items():
            of_events = {} if name == "patients" else {"level": "event"}
            full = column if name == "patients" else f"{name}.{column}"
            told.append({"name": full, "role": role, **of_events, "table": name, "published": True})
    manifest["attributes"] = told
    sizes = [each["parameters"].get(key) for each in made.promises for key in ("k", "K")]
    least = max(2, *(size for size in sizes if size is not None))
    manifest["tables"] = {
        name: {"rows": len(table.rows), "rows_per_patient": steps(made, table, least)}
        for name, table in made.events.items()
    }
    return manifest


def steps(made: Published, table: Table, least: int) -> list[dict[str, int]]:
    """How many patients have how many rows, as a manifest tells it."""
    rows = Counter(row[0] for row in table.rows)
    held = Counter(rows[row[0]] for row in made.patients.rows)
    return [
        {"from": begin, **({} if end is None else {"to": end}), "patients": many}
        for begin, end, many in _steps(held, least)
    ]


def _flat(folder: Path, made: Published) -> dict[str, Any]:
    (events,) = made.events.values()
    own = {row[0]: row[1:] for row in made.patients.rows}
    rows = [(row[0], *own[row[0]], *row[1:]) for row in events.rows]
    columns = ["patient", *made.patients.roles, *events.roles]
    manifest = _manifest(made, len({row[0] for row in rows}))
    manifest["files"] = {"data.csv": _file(folder, "data.csv", columns, rows)}
    manifest["attributes"] = [
        {"name": "id", "role": "identifier", "published": False},
        *(
            {"name": name, "role": role, "published": True}
            for name, role in made.patients.roles.items()
        ),
        *(
            {"name": name, "role": role, "level": "event", "published": True}
            for name, role in events.roles.items()
        ),
    ]
    return manifest


# The definition, followed word by word


@dataclass(frozen=True)
class Known:
    """The atoms of a patient, and the protected values it holds."""

    own: frozenset[Atom]
    joint: Atom
    events: frozenset[Atom]


@dataclass(frozen=True)
class Judged:
    """The least support, and the largest share of a protected value."""

    size: int
    share: Fraction


def sensitive_of(parameters: Mapping[str, Any]) -> list[str]:
    named = parameters.get("sensitive")
    return named if isinstance(named, list) else [] if named is None else [named]


def known_of(made: Published, *, flat: bool) -> dict[str, Known]:
    """The atoms of each patient."""
    protected = {
        (name, value)
        for promise in made.promises
        for name in sensitive_of(promise["parameters"])
        for value in promise["parameters"].get("values") or ()
    }
    own_places = made.patients.places("quasi")
    found = {}
    for row in made.patients.rows:
        events: set[Atom] = set()
        for table, held in made.events.items():
            places = held.places("quasi")
            full = {name: name if flat else f"{table}.{name}" for name in places}
            for event in held.rows:
                cells = {full[name]: event[at] for name, at in places.items()}
                if event[0] == row[0] and places and not protected & {*cells.items()}:
                    events.add((table, *cells.values()))
        labels = {name: row[at] for name, at in own_places.items()}
        own = frozenset(labels.items())
        found[row[0]] = Known(own, tuple(labels.values()), frozenset(events))
    return found


def holders_of(made: Published, parameters: Mapping[str, Any], *, flat: bool) -> list[set[str]]:
    """The patients who hold each protected value."""
    found: dict[tuple[str, str], set[str]] = {}
    for table, held in {"": made.patients, **made.events}.items():
        for at, column in enumerate(held.roles, 1):
            name = f"{table}.{column}" if table and not flat else column
            for row in held.rows if name in sensitive_of(parameters) else ():
                values = parameters.get("values")
                if values is None or row[at] in values:
                    found.setdefault((name, row[at]), set()).add(row[0])
    return [*found.values()]


def judged(
    made: Published,
    parameters: Mapping[str, Any],
    limits: tuple[int, int, int],
    *,
    joint: bool = False,
    flat: bool = False,
) -> Judged:
    """All combinations of all patients, one after the other."""
    known, attributes, events = limits
    atoms = known_of(made, flat=flat)
    holders = holders_of(made, parameters, flat=flat)
    has = {
        who: frozenset({("joint", *each.joint)} if joint else each.own) | each.events
        for who, each in atoms.items()
    }
    size, share = len(atoms), Fraction(0)
    for q in {
        q for each in atoms.values() for q in _within(each, known, attributes, events, joint)
    }:
        support = {who for who, held in has.items() if q <= held}
        size = min(size, len(support))
        for holding in holders:
            share = max(share, Fraction(len(support & holding), len(support)))
    return Judged(size, share)


def _within(
    each: Known, known: int, attributes: int, events: int, joint: bool
) -> Iterator[frozenset[Atom]]:
    own = [("joint", *each.joint)] if joint else sorted(each.own)
    for some in range(min(attributes, known) + 1):
        for more in range(min(events, known - some) + 1):
            for mine in combinations(own, some):
                for theirs in combinations(sorted(each.events), more):
                    yield frozenset({*mine, *theirs})
