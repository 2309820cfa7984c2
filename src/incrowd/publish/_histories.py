"""Releases of patients with several rows: the rows of the source, each with its patient's labels.

Invariant: all rows of a patient show the same labels, those of its group, so that no two labels of
one pseudonym can be intersected; of linked tables that of the patients shows them, once. Pseudonyms
are the numbers from 1 on, given to the published patients in an order drawn from secret randomness;
or, with a key, names that follow from it. Either tells nothing but which rows are of one patient.
Rows are sorted by what they show, the pseudonym first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from incrowd._runtime import randomness
from incrowd._runtime.arrays import IntArray
from incrowd.engines.preparation import Prepared
from incrowd.errors import PolicyError
from incrowd.methods.base import Outcome
from incrowd.publish.rows import (
    Recoded,
    ShownRows,
    generalized_column,
    numbers_shown,
    rows_shown,
    shown_as_is,
    texts_shown,
)
from incrowd.table import Column, MemoryTable
from incrowd.table.profiles import FLAT, PATIENT, PATIENTS, Events, Histories, column_of

STEPS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Where steps of the number of a patient's rows may begin."""


def published_histories(
    prepared: Prepared, histories: Histories, outcome: Outcome
) -> dict[str, ShownRows]:
    """The published tables of all patients, none of whom is suppressed any more.

    The shape of the source is that of the release: one table of rows, or the table of patients
    followed by those of their events.
    """
    table = prepared.table
    assert isinstance(table, MemoryTable)
    group = np.asarray(outcome.group_of_record)
    who = _Naming(histories, table.records)
    if histories.flat:
        events = histories.tables[FLAT]
        shown = [
            _of_events(events[name], FLAT, outcome)
            if name in events
            else _of_patients(table[name], outcome, group, events.patient)
            for name in histories.names
        ]
        return {FLAT: who.before(shown, events.patient)}
    each = np.arange(table.records)
    own = [_of_patients(column, outcome, group, each) for column in table.columns]
    tables = {PATIENTS: who.before(own, each)}
    for name, events in histories.tables.items():
        if not events.rows:
            raise PolicyError(
                f"No row of {name} is left: all patients who have one there are suppressed. Leave "
                "the table out of `tables:`, or allow less `suppression:`."
            )
        found = [_of_events(column, name, outcome) for column in events.columns]
        shown = [replace(each, name=column_of(name, each.name)) for each in found]
        tables[name] = who.before(shown, events.patient)
    return tables


def _of_patients(column: Column, outcome: Outcome, group: IntArray, patient: IntArray) -> Recoded:
    """A column of patients in the rows of those whose places are given."""
    if column.role == "quasi":
        return generalized_column(column.name, outcome.labels[column.name], group[patient])
    return shown_as_is(column, column.codes[patient])


def _of_events(column: Column, table: str, outcome: Outcome) -> Recoded:
    """A column of events in its rows: what each shows of it where attackers may know it."""
    if column.role != "quasi":
        return shown_as_is(column, column.codes)
    labels = outcome.events[table].labels[column.name]
    return generalized_column(column.name, labels, np.arange(len(column.codes)))


class _Naming:
    """What tells which rows are of one patient, the same in all tables."""

    def __init__(self, histories: Histories, patients: int) -> None:
        self._stable, self._patients = histories.pseudonyms, patients
        self._number = randomness.permutation(patients) + 1

    def before(self, shown: Sequence[Recoded], patient: IntArray) -> ShownRows:
        """The rows of a table, that of each patient, with the pseudonym before its columns."""
        if self._stable is not None:
            who = texts_shown(PATIENT, self._stable.texts, patient)
        else:
            who = numbers_shown(PATIENT, self._number[patient], self._patients)
        return rows_shown([who, *shown], len(patient))


def rows_per_patient(events: Events, patients: int, least: int) -> list[dict[str, int]]:
    """How many patients have how many rows of a table, in a few steps.

    Neighbouring steps are joined until each has `least` patients, so that few rows, or very many,
    tell of no single one; the last step has no end.
    """
    rows = np.bincount(events.patient, minlength=patients)
    steps: list[dict[str, int]] = []
    begin = waiting = 0
    for at, edge in enumerate(STEPS):
        end = STEPS[at + 1] if at + 1 < len(STEPS) else None
        waiting += int(
            (rows >= edge).sum() if end is None else ((rows >= edge) & (rows < end)).sum()
        )
        if waiting >= least and end is not None:
            steps.append({"from": begin, "to": end - 1, "patients": waiting})
            begin, waiting = end, 0
    if steps and waiting < least:
        last = steps.pop()
        begin, waiting = last["from"], waiting + last["patients"]
    return [*steps, {"from": begin, "patients": waiting}]
