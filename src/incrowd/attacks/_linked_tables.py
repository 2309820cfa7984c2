"""Linked tables as they are, looked at as one table of their patients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.sentences import listed
from incrowd.attacks._whose_rows import ROW, gathered, held_of
from incrowd.attacks.targets import Target, code_as_seen
from incrowd.errors import InputError, ParameterError, nearest
from incrowd.sources.folders import tables_in
from incrowd.table.people import HeldByPatients
from incrowd.table.person_names import numbers_people
from incrowd.table.profiles import PATIENTS, column_of, of_table
from incrowd.table.repeats import Linking

if TYPE_CHECKING:
    import polars as pl

    from incrowd.sources import SourceLike


def linked_tables(source: SourceLike) -> Mapping[str, SourceLike]:
    """The tables of a mapping, or of a folder that has a file of patients and others; else none."""
    return source if isinstance(source, Mapping) else tables_in(source, PATIENTS)


def patients_of_tables(
    tables: Mapping[str, SourceLike],
    name: str,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    unit: str | None,
) -> tuple[Target, int, tuple[str, ...]]:
    """The patients of linked tables with what they hold, and how many rows that was read from.

    With what to know of them.

    Parameters
    ----------
    tables
        The sources by their names, that of the patients as `patients`.
    name
        What they are called.
    quasi, sensitive
        Columns of the patients; sensitive ones also of events, as `table.column`.
    unit
        The column that tells patients apart. In other tables that column of identifiers names them
        by which most rows find a patient.

    Raises
    ------
    InputError
        A table or a column is not there, or a table names no patient.
    """
    from incrowd.sources import describe, read

    if PATIENTS not in tables:
        raise InputError(
            f"{name} has several tables ({listed(tables)}), and none is called '{PATIENTS}'. Name "
            "the table to look at."
        )
    if unit in (None, ROW):
        raise InputError(
            f"{name} has several tables. Say which column of '{PATIENTS}' tells patients apart "
            "(--unit COLUMN, in Python unit=), or name one table."
        )
    of_events = {each: table for each in sensitive if (table := _table_of(each, tables))}
    own = [each for each in sensitive if each not in of_events]
    if unit in (*quasi, *own):
        raise ParameterError(
            f"unit: '{unit}' tells patients apart; it is neither a quasi-identifier nor sensitive."
        )
    assert unit is not None
    frame = read(tables[PATIENTS], columns=list(dict.fromkeys([unit, *quasi, *own])))
    found = gathered(frame, unit, quasi, describe(tables[PATIENTS]))
    beside, held, told = held_of(frame, found, own)
    linking = Linking(unit)
    linking.patients(linking.hashes(frame[unit]))
    rows, remarks = frame.height, list(told)
    for table in dict.fromkeys(of_events.values()):
        events = read(tables[table])
        named = [column for column, at in of_events.items() if at == table]
        patient = linking.named_best(events, _naming(events, unit))
        if patient is None:
            raise InputError(
                f"No row of {describe(tables[table])} names a patient of the table '{PATIENTS}' by "
                "a column of identifiers."
            )
        others = int((patient < 0).sum())
        if others:
            remarks.append(f"{others:,} rows of {table} name nobody, and are not looked at.")
        rows += events.height - others
        held |= _held(events, table, named, patient)
    if of_events:
        remarks.append(
            f"{listed(of_events)}: patients may have several values, and each is judged by itself, "
            "by the share of the patients of a group who have it."
        )
    return Target(found.frame.hstack(beside), name, gathered=held), rows, tuple(remarks)


def _table_of(column: str, tables: Iterable[str]) -> str | None:
    """The table of events that a column is of."""
    table = column.partition(".")[0]
    return table if table in tables and table != PATIENTS and "." in column else None


def _naming(events: pl.DataFrame, unit: str) -> list[str]:
    """The columns that may name patients: those called as the unit, or as numbers of people."""
    called = [each for each in events.columns if each.casefold() == unit.casefold()]
    return called or [each for each in events.columns if numbers_people(each)] or events.columns


def _held(
    events: pl.DataFrame, table: str, named: Sequence[str], patient: IntArray
) -> dict[str, HeldByPatients]:
    """What patients hold of the columns of a table, by the rows that name one."""
    known = patient >= 0
    found = {}
    for name in named:
        column = column_of(table, name)
        if column not in events.columns:
            near = nearest(name, [of_table(table, each) for each in events.columns])
            raise InputError(f"No column '{column}' in the table '{table}'.{near}")
        cells = code_as_seen(events[column].filter(known).alias(name), sensitive=True)
        found[name] = HeldByPatients.of(cells, patient[known])
    return found
