"""Patients and their events, as somebody finds them who asks how exposed they are.

They stand in a release, in linked tables (a folder, several files, frames by name) or in one file
whose rows a column tells apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.manifests import Manifest
from incrowd._runtime.sentences import listed
from incrowd.attacks._whose_rows import RELEASE_KNOWS, ROW, gathered
from incrowd.attacks.atom_sets import AtomsOfPatients
from incrowd.attacks.targets import code_as_seen, code_as_text, name_list
from incrowd.errors import InputError, ParameterError
from incrowd.published.events import EventRows
from incrowd.published.opened import as_release, event_rows, is_release
from incrowd.table.packing import distinct_rows_of
from incrowd.table.person_names import PEOPLE, numbers_people, speaks_of
from incrowd.table.profiles import PATIENTS
from incrowd.table.repeats import Linking

if TYPE_CHECKING:
    import polars as pl

    from incrowd.sources import SourceLike

_ONE_TABLE = "data"
WhereEvents = Any
"""A path, a folder, paths, a frame, frames by name, or a release."""


@dataclass(frozen=True)
class PeopleAndEvents:
    """Patients with what an attacker may know of them.

    Parameters
    ----------
    name
        What their source is called.
    patients
        How many there are.
    people
        The patient-level columns that were asked for, a row for each patient.
    events
        The event columns that were asked for, table by table.
    manifest
        That of a release, None of raw data.
    remarks
        What to know of whose the rows are.
    """

    name: str
    patients: int
    people: pl.DataFrame
    events: tuple[EventRows, ...]
    manifest: Manifest | None = None
    remarks: tuple[str, ...] = ()

    @property
    def event_columns(self) -> tuple[str, ...]:
        """The event columns, those of one table one after the other."""
        return tuple(name for rows in self.events for name in rows.frame.columns)

    def atoms(self) -> AtomsOfPatients:
        """The events of each patient, by all asked columns of a table together, each kind once.

        A row that has nothing in any of these columns is no event that somebody could know.
        """
        whose, which, many = [], [], 0
        for rows in self.events:
            number, known, found = self._kinds(rows)
            whose.append(rows.patient[known])
            which.append(number[known] + many)
            many += found
        return AtomsOfPatients.of(self.patients, many, np.concatenate(whose), np.concatenate(which))

    def groups(self) -> AtomsOfPatients:
        """All patient-level columns of a patient together, as one atom."""
        columns = [self._coded(self.people[name]) for name in self.people.columns]
        number, first = distinct_rows_of(columns, self.patients)
        everybody = np.arange(self.patients)
        return AtomsOfPatients(self.patients, len(first), everybody, number.astype(np.int64))

    def _kinds(self, rows: EventRows) -> tuple[IntArray, IntArray, int]:
        columns = [self._coded(rows.frame[name]) for name in rows.frame.columns]
        number, first = distinct_rows_of(columns, rows.rows)
        lacking = [each.codes == len(each.values) for each in columns]
        known = np.flatnonzero(~np.logical_and.reduce(lacking))
        return number.astype(np.int64), known, len(first)

    def _coded(self, cells: pl.Series) -> Any:
        return code_as_seen(cells) if self.manifest is None else code_as_text(cells)


def people_and_events(
    source: WhereEvents,
    events: Sequence[str] | None,
    quasi: Sequence[str] | None,
    unit: str | None,
    *,
    query: str | None = None,
    header: bool | None = None,
) -> PeopleAndEvents:
    """The patients of a source with the columns that an attacker may know.

    Parameters
    ----------
    source
        A release or the folder of one, a folder or several files of linked tables, frames by their
        names, or one file, frame or database.
    events
        Columns of events: in linked tables `table.column`. Of a release by default its
        quasi-identifiers among them, or where there are none all of them.
    quasi
        Columns of patients. Of a release its quasi-identifiers by default.
    unit
        The column that tells patients apart; where it is called otherwise in another table, all of
        them as `patients.Id,conditions.PATIENT`. In linked tables it is found by its name.

    Raises
    ------
    InputError
        A column is not there, or nothing tells whose the rows are.
    """
    events, quasi = name_list(events, "events"), name_list(quasi, "quasi")
    if events is not None and not events:
        raise ParameterError("events: must name at least one column.")
    if not isinstance(source, Mapping | list | tuple) and is_release(source):
        if unit is not None:
            raise ParameterError(RELEASE_KNOWS)
        return _of_release(source, events, quasi)
    if events is None:
        raise ParameterError("events: name the columns of events, as in conditions.CODE.")
    tables = _tables(source, events)
    if tables is not None:
        return _linked(tables, events, quasi or [], unit, header)
    return _flat(source, events, quasi or [], unit, query, header)


def unit_of_source(manifest: Manifest) -> str:
    """What tells patients apart in the source of a release, as far as its manifest says.

    Of linked tables the key of the patients, and the identifiers of tables that have only one.
    """
    unit = str(manifest.get("unit"))
    if "tables" not in manifest:
        return unit
    told = [f"{PATIENTS}.{unit}"]
    for table in manifest["tables"]:
        named = [
            str(each["name"])
            for each in manifest["attributes"]
            if each.get("table") == table and each.get("role") == "identifier"
        ]
        told += named if len(named) == 1 else []
    return ",".join(told)


def _of_release(source: Any, events: list[str] | None, quasi: list[str] | None) -> PeopleAndEvents:
    from incrowd.published.entries import published_entries
    from incrowd.sources import describe
    from incrowd.sources.columns import chosen

    release = as_release(source)
    name = describe(source) if isinstance(source, str | Path) else "the release"
    rows = event_rows(release)
    if not rows:
        raise InputError(
            f"{name} has no events: each of its records is one row. `incrowd risk` without --events"
            " asks how exposed those are."
        )
    entries = {each: entry for table in rows for each, entry in table.entries.items()}
    if events is None:
        events = [each for each, entry in entries.items() if entry.get("role") == "quasi"]
        events = events or list(entries)
    else:
        events = _full_names(events, {rows[0].table: list(entries)}, name)
    own = published_entries(release.manifest)
    if quasi is None:
        quasi = [each for each, entry in own.items() if entry.get("role") == "quasi"]
    if quasi:
        chosen(release.data.columns, quasi, name)
    asked = [
        EventRows(table.table, table.frame.select(named), table.patient, table.entries)
        for table in rows
        if (named := [each for each in events if each in table.frame.columns])
    ]
    shifted = [each for each in events if "time" in entries[each]]
    told = [
        f"{listed(shifted)}: the days were changed for this release. Who knows the true days cannot"
        " look these up; the risk is that of who knows what is published."
    ] * bool(shifted)
    height = release.data.height
    people = release.data.select(quasi)
    return PeopleAndEvents(name, height, people, tuple(asked), release.manifest, tuple(told))


def _tables(source: WhereEvents, events: Sequence[str]) -> dict[str, Any] | None:
    """Linked tables by their names; None where the source is one table."""
    from incrowd.sources.files import FILE_ENDINGS, ending_of

    if isinstance(source, Mapping):
        return dict(source)
    if isinstance(source, list | tuple):
        paths = [Path(each) for each in source]
    elif isinstance(source, str | Path) and Path(source).is_dir():
        paths = sorted(
            each
            for each in Path(source).iterdir()
            if each.is_file() and ending_of(each) in FILE_ENDINGS and each.name[0] not in "._"
        )
        named = {each.name.split(".")[0] for each in paths}
        if not any(each.split(".")[0] in named for each in events):
            return None
    else:
        return None
    found = {each.name.split(".")[0]: each for each in paths}
    if len(found) < len(paths):
        raise InputError("Two of the files have one name, so nothing tells their columns apart.")
    return found


def _full_names(names: Sequence[str], tables: Mapping[str, list[str]], source: str) -> list[str]:
    """Names of columns of tables in full: one that only one table has needs no `table.`."""
    from incrowd.sources.columns import chosen

    every = [column for columns in tables.values() for column in columns]
    full = []
    for name in names:
        ending = [each for each in every if each == name or each.endswith(f".{name}")]
        full.append(ending[0] if name not in every and len(ending) == 1 else name)
    chosen(every, full, source)
    return full


def _flat(
    source: SourceLike,
    events: list[str],
    quasi: list[str],
    unit: str | None,
    query: str | None,
    header: bool | None,
) -> PeopleAndEvents:
    from incrowd.sources import describe, read

    name = describe(source)
    if unit is None or unit == ROW:
        raise ParameterError(
            "events: a patient has several of them, so say which column tells patients apart: "
            '--unit COLUMN (in Python unit="COLUMN").'
        )
    if unit in (*events, *quasi) or {*events} & {*quasi}:
        raise ParameterError("unit, quasi, events: name each column once, in one of them.")
    frame = read(source, query=query, header=header, columns=[unit, *quasi, *events])
    found = gathered(frame, unit, quasi, name)
    patients = int(found.patient.max()) + 1
    rows = EventRows(_ONE_TABLE, frame.select(events), found.patient, {})
    return PeopleAndEvents(name, patients, found.frame, (rows,))


def _linked(
    tables: Mapping[str, Any],
    events: list[str],
    quasi: list[str],
    unit: str | None,
    header: bool | None,
) -> PeopleAndEvents:
    """Linked tables: the patients are those of the table of patients, or else all who are named."""
    from incrowd.sources.columns import chosen

    columns = {name: _columns_of(each, header) for name, each in tables.items()}
    whole = {name: [f"{name}.{each}" for each in of] for name, of in columns.items()}
    label = listed(tables, 4, quoted=False)
    people = next((name for name in tables if speaks_of(name, PEOPLE)), None)
    of_events = {name: of for name, of in whole.items() if name != people}
    asked = _full_names(events, of_events, label)
    used = {name: [each for each in asked if each in of] for name, of in of_events.items()}
    used = {name: of for name, of in used.items() if of}
    units = _units(columns, [*filter(None, [people]), *used], unit)
    told: list[str] = []
    own = None
    if people is None:
        if quasi:
            raise InputError(
                f"quasi: {label} has no table of patients. Call it patients, or leave quasi out."
            )
        told.append("Patients without an event are in none of these tables, and are not counted.")
    else:
        quasi = [each.removeprefix(f"{people}.") for each in quasi]
        if quasi:
            chosen(columns[people], quasi, people)
        own = _read(tables[people], [units[people], *quasi], header)
    frames = {
        name: _read(tables[name], [units[name], *(each[len(name) + 1 :] for each in of)], header)
        for name, of in used.items()
    }
    linking = Linking(units.get(people or "", ""))
    hashes = {name: linking.hashes(frame[units[name]]) for name, frame in frames.items()}
    import polars as pl

    if own is not None:
        found = gathered(own, units[str(people)], quasi, str(people))
        _, repeats = linking.patients(linking.hashes(own[units[str(people)]]))
        patients, frame = repeats.distinct, found.frame
    else:
        _, repeats = linking.patients(pl.concat(hashes.values()))
        patients, frame = repeats.distinct, pl.DataFrame()
    rows = []
    for name, each in frames.items():
        place = linking.numbers(hashes[name])
        known = np.flatnonzero(place >= 0)
        if not len(known):
            raise InputError(
                f"No row of {name} names a patient of {people}. Say by which columns they do: "
                f"--unit {people}.{units[str(people)]},{name}.COLUMN"
            )
        if len(known) < len(place):
            told.append(
                f"{len(place) - len(known):,} rows of {name} name nobody"
                f"{'' if people is None else f' of {people}'}, and are left out."
            )
        renamed = each.drop(units[name])
        renamed.columns = [f"{name}.{column}" for column in renamed.columns]
        rows.append(EventRows(name, renamed[known], place[known], {}))
    return PeopleAndEvents(label, patients, frame, tuple(rows), remarks=tuple(told))


def _columns_of(source: Any, header: bool | None) -> list[str]:
    from incrowd.sources import as_source
    from incrowd.sources.files import TextOptions

    first = next(iter(as_source(source).pieces(None, TextOptions(header=header))), None)
    return [] if first is None else list(first.columns)


def _read(source: Any, columns: Sequence[str], header: bool | None) -> pl.DataFrame:
    from incrowd.sources import read

    return read(source, header=header, columns=list(dict.fromkeys(columns)))


def _units(
    columns: Mapping[str, list[str]], tables: Sequence[str], unit: str | None
) -> dict[str, str]:
    """By which column each table names patients."""
    given = [each.strip() for each in (unit or "").split(",") if each.strip()]
    found: dict[str, str] = {}
    for name in tables:
        own = [each[len(name) + 1 :] for each in given if each.startswith(f"{name}.")]
        own = own or [each for each in given if each in columns[name]]
        if not own:
            named = [each for each in columns[name] if numbers_people(each)]
            own = [each for each in named if speaks_of(each, PEOPLE)] or named
        if len(own) != 1 or own[0] not in columns[name]:
            raise InputError(
                f"Nothing tells by which column {name} names patients. Say it for each table: "
                f"--unit {','.join(f'{each}.COLUMN' for each in tables)}"
            )
        found[name] = own[0]
    return found
