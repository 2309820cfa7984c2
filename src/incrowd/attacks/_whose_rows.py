"""Whose the rows of a file are, for whoever asks how exposed its people are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.manifests import Manifest
from incrowd._runtime.sentences import listed
from incrowd.errors import InputError, ParameterError
from incrowd.table.people import ByPatient, HeldByPatients, by_patient, patients_of
from incrowd.table.person_names import numbers_people
from incrowd.table.repeats import Linking, repeats_in

if TYPE_CHECKING:
    import polars as pl

    from incrowd.attacks.targets import Target
    from incrowd.sources import Source
    from incrowd.sources.files import TextOptions

RELEASE_KNOWS = "unit: a release says itself whose its rows are. Leave the unit out."
ROW = "row"
"""The unit of who says that each row is another person."""


def numbering(source: Source, query: str | None, text: TextOptions) -> list[str]:
    """The columns of a source that are called as those that tell people apart; of a database none.

    A look at its first records tells the names of all columns.
    """
    if source.is_database:
        return []
    first = next(iter(source.pieces(query, text)), None)
    return [] if first is None else [name for name in first.columns if numbers_people(name)]


def rows_counted(frame: pl.DataFrame, identifiers: Sequence[str]) -> tuple[str, ...]:
    """What to know where rows are counted although an identifier repeats."""
    repeating = [each for each in repeats_in(frame, identifiers) if each.any]
    if not repeating:
        return ()
    first = repeating[0]
    return (
        f"Rows are counted here, not patients: '{first.column}' has {first.told}. A patient with "
        "several rows looks like a crowd, so the risk is higher than the figures say. If "
        f"'{first.column}' tells patients apart, say --unit {first.column} (in Python "
        f'unit="{first.column}"); if each row is another patient all the same, --unit row.',
    )


def not_looked_at(identifiers: Sequence[str]) -> tuple[str, ...]:
    """What to know where rows are counted on disk, and nobody looked whether they repeat."""
    if not identifiers:
        return ()
    return (
        f"Rows are counted here, and {listed(identifiers)} not looked at: where a patient has "
        "several rows, the risk is higher than the figures say.",
    )


def gathered(frame: pl.DataFrame, unit: str, quasi: Sequence[str], name: str) -> ByPatient:
    """A row for each patient, with what an attacker knows of them.

    Raises
    ------
    InputError
        A row lacks the unit, or a quasi-identifier differs between rows of one patient.
    """
    patient = patients_of(frame[unit], name)
    found = by_patient(frame, patient, quasi)
    if found.differing:
        told = [f"'{each}' (of {many:,} patients)" for each, many in found.differing.items()]
        raise InputError(
            f"Quasi-identifiers differ between the rows of one patient in {name}: "
            f"{listed(told, quoted=False)}; there are {found.frame.height:,} patients. What an "
            "attacker knows of a patient must be one value here: leave out what varies from visit "
            "to visit, and correct what should not vary."
        )
    return found


def whose_records(
    target: Target, quasi: Sequence[str], sensitive: Sequence[str], unit: str | None
) -> tuple[Target, tuple[str, ...]]:
    """A file as one of its patients, where a unit tells these apart; and what to know of its rows.

    Raises
    ------
    InputError
        The unit is none of the file, or does not fit; or the target is a release, which knows.
    """
    from incrowd.sources.columns import chosen

    if target.manifest is not None:
        if unit is not None:
            raise ParameterError(RELEASE_KNOWS)
        return target, ()
    if unit is None:
        named = (*quasi, *sensitive)
        frame = target.frame
        others = [name for name in frame.columns if numbers_people(name) and name not in named]
        return target, rows_counted(frame, others)
    if unit == ROW:
        return target, ()
    chosen(target.frame.columns, [unit], target.name)
    if unit in (*quasi, *sensitive):
        raise ParameterError(
            f"unit: '{unit}' tells patients apart; it is neither a quasi-identifier nor sensitive."
        )
    found = gathered(target.frame, unit, quasi, target.name)
    own, held, told = held_of(target.frame, found, sensitive)
    return replace(target, frame=found.frame.hstack(own), gathered=held), told


def held_of(
    frame: pl.DataFrame, found: ByPatient, names: Sequence[str]
) -> tuple[pl.DataFrame, dict[str, HeldByPatients], tuple[str, ...]]:
    """Sensitive columns by patient: those with one value each, and those of which several are held.

    With what to know of the latter.
    """
    from incrowd.attacks.targets import code_as_seen

    of_patients = by_patient(frame, found.patient, names)
    own = [name for name in names if name not in of_patients.differing]
    held = {
        name: HeldByPatients.of(code_as_seen(frame[name], sensitive=True), found.patient)
        for name in of_patients.differing
    }
    told = (
        f"{listed(held)}: patients have several values, and each is judged by itself, by the share "
        "of the patients of a group who have it."
    )
    return of_patients.frame.select(own), held, (told,) if held else ()


def people_of_list(
    people: pl.DataFrame, shared: Collection[str], manifest: Manifest | None
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """A list with a row for each of its people, as its identifiers tell, and what to know of it.

    `shared` are the columns that are linked, which may repeat. The unit of a release is an
    identifier too. Where rows of one person differ in what is linked, all stay, and that is said.
    """
    unit = (manifest or {}).get("unit")
    named = [
        name
        for name in people.columns
        if name not in shared and (name == unit or numbers_people(name))
    ]
    told = []
    for each in repeats_in(people, named):
        if not each.any:
            continue
        once = _once(people, each.column, shared)
        has = f"'{each.column}' of the list has {each.told}"
        if once is None:
            told.append(
                f"{has}. The list is one of people, a row for each: keep one row of each, since "
                "who stands there several times counts several times."
            )
        else:
            people = once
            told.append(f"{has}, alike in what is linked: each is taken for one person.")
    return people, tuple(told)


def _once(people: pl.DataFrame, column: str, shared: Collection[str]) -> pl.DataFrame | None:
    """The first row of each person, and those without an identifier; None where rows differ."""
    linking = Linking(column)
    numbers, found = linking.patients(linking.hashes(people[column]))
    linked = people.select(list(dict.fromkeys(shared)))
    whose = linked.rename({name: f"c{at}" for at, name in enumerate(linked.columns)})
    known = whose.with_columns(person=numbers).filter(numbers >= 0)
    if known.unique().height != found.distinct:
        return None
    first = np.unique(numbers, return_index=True)[1]
    keep = numbers < 0
    keep[first] = True
    return people.filter(keep)
