"""Releases of patients whose rows are in an SQL engine: labelled and sorted there.

The same as `_histories.py` for rows in memory: all rows of a patient show the labels of its group,
and pseudonyms are drawn from secret randomness, or follow from a key. What is of the size of the
patients is here, a number each; nothing is of the size of their rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace

import numpy as np

from incrowd._runtime import randomness
from incrowd.counts.placement import GroupOfRecord
from incrowd.counts.sql.groups import GROUP, published_profiles
from incrowd.engines.preparation import Prepared
from incrowd.methods.base import Outcome
from incrowd.publish._histories import refuse_emptied
from incrowd.publish._out_of_core import OutsideRows, TextCodes, without_codes
from incrowd.publish.rows import (
    Recoded,
    ShownRows,
    generalized_column,
    numbers_shown,
    shown_as_is,
    texts_shown,
)
from incrowd.table import Column, Table
from incrowd.table.profiles import FLAT, PATIENT, PATIENTS, column_of
from incrowd.table.pseudonyms import Pseudonyms, joined
from incrowd.table.sql_engine import SqlEngine
from incrowd.table.sql_histories import PROFILE, SqlEvents, SqlHistories, same_patient
from incrowd.table.sql_table import SqlTable

_NUMBER = "number"
"""The column with the number of a published patient, from 0."""


@dataclass(frozen=True)
class PublishedPatients:
    """A table of the published patients in an engine: their number and what is shown of them."""

    engine: SqlEngine
    table: str

    def published(self) -> AbstractContextManager[str]:
        """Its name."""
        return nullcontext(self.table)


@dataclass(frozen=True, repr=False)
class HistoryRows(OutsideRows):
    """The rows of the published patients, sorted by their pseudonym and by what varies."""

    events: SqlEvents

    @property
    def order(self) -> list[str]:
        """The pseudonym, from which follows what is shown of a patient, and what varies."""
        told = zip(self.keys, self.told, strict=True)
        return [key for key, each in told if each.source == _NUMBER or self._varies(each.source)]

    @contextmanager
    def query(self) -> Iterator[str]:
        """SQL, for the queries of one block: codes of texts by the `keys`, a row for each."""
        engine, people = self.engine, self.engine.fresh("shown")
        told = zip(self.keys, self.told, strict=True)
        own = ", ".join(key for key, each in told if not self._varies(each.source))
        with ExitStack() as stack:
            source = stack.enter_context(self.groups.published())
            joins = self.looked_up(stack, lambda each: not self._varies(each), "p")
            engine.keep(people, f"SELECT p.h0, p.h1, {own} FROM {source} p {joins}")
            stack.callback(engine.drop, people)
            joins = self.looked_up(stack, self._varies, "r")
            yield (
                f"SELECT {', '.join(self.keys)}, CAST(1 AS BIGINT) AS n "
                f"FROM {self.events.sql_rows.table} r JOIN {people} p "
                f"ON {same_patient('r', 'p')} {joins}"
            )

    def _varies(self, source: str) -> bool:
        """Whether a column of the engine is one of the rows, not of their patients."""
        return source in self.events.sql_rows.columns


@dataclass(frozen=True, repr=False)
class PatientRows(OutsideRows):
    """The published patients, a row each, sorted by their pseudonym."""

    @property
    def order(self) -> list[str]:
        """The pseudonym, from which follows what is shown of a patient."""
        return self.keys[:1]

    @contextmanager
    def query(self) -> Iterator[str]:
        """SQL, for the queries of one block: codes of texts by the `keys`, a row for each."""
        with ExitStack() as stack:
            source = stack.enter_context(self.groups.published())
            joins = self.looked_up(stack, lambda _source: True, "p")
            yield (f"SELECT {', '.join(self.keys)}, CAST(1 AS BIGINT) AS n FROM {source} p {joins}")


def published_from_engine(
    prepared: Prepared, histories: SqlHistories, outcome: Outcome
) -> dict[str, ShownRows]:
    """The published tables of all patients, none of whom is suppressed any more.

    The shape of the source is that of the release: one table of rows, or the table of patients
    followed by those of their events.
    """
    table, group = prepared.table, outcome.group_of_record
    people, own = _published(histories, table, group)
    patients = int(outcome.group_sizes.sum())
    engine = histories.engine
    if int(engine.ask(f"SELECT count(*) AS many FROM {people}")["many"][0]) != patients:
        raise AssertionError("a patient is in no group, or in two")
    named = TextCodes(_NUMBER, np.arange(patients), _pseudonyms(histories, people, patients))
    of_patients = PublishedPatients(engine, people)
    theirs = {
        name: _of_patients(histories, table, outcome, table[name], cell)
        for name, cell in own.items()
    }
    if histories.flat:
        events = histories.tables[FLAT]
        told = [
            _of_rows(events, name, name) if name in events else theirs[name]
            for name in histories.names
        ]
        rows = events.records if events.columns else events.rows_of(people)
        return {FLAT: _shown(of_patients, [named, *told], rows, events)}
    columns = [named, *theirs.values()]
    times = np.array([patients], dtype=np.int64)
    tables: dict[str, ShownRows] = {
        PATIENTS: PatientRows(without_codes(columns), times, of_patients, tuple(columns))
    }
    for name, events in histories.tables.items():
        refuse_emptied(name, events.records)
        told = [_of_rows(events, c.name, column_of(name, c.name)) for c in events.columns]
        tables[name] = _shown(of_patients, [named, *told], events.records, events)
    return tables


def _published(
    histories: SqlHistories, table: Table, group: GroupOfRecord
) -> tuple[str, dict[str, str]]:
    """The table of the published patients, numbered; and the name there of each column of theirs.

    A column has cells there where profiles are in the engine; else they follow from the profile.
    """
    engine = histories.engine
    people = engine.fresh("published")
    names = [name for name in histories.names if name not in histories]
    own = {name: f"o{i}" for i, name in enumerate(names)}
    shown = [f"p.h0, p.h1, p.{PROFILE}"]
    if isinstance(table, SqlTable):
        cells = (f"s.{table.sql_rows.sql_name(name)} AS {cell}" for name, cell in own.items())
        shown += [f"s.{GROUP}", *cells]
    with published_profiles(histories, group) as source:
        engine.numbered(
            people,
            f"SELECT {', '.join(shown)} FROM {histories.people} p JOIN {source} s "
            f"ON p.{PROFILE} = s.{PROFILE}",
            _NUMBER,
        )
    return people, own


def _of_rows(events: SqlEvents, name: str, called: str) -> TextCodes:
    """A column of events, as it is called in its table."""
    column = replace(events[name], name=called)
    shown = shown_as_is(column, column.codes)
    return TextCodes(events.sql_rows.sql_name(name), events.codes[name], shown)


def _shown(
    of_patients: PublishedPatients, told: list[TextCodes], rows: int, events: SqlEvents
) -> HistoryRows:
    times = np.array([rows], dtype=np.int64)
    return HistoryRows(without_codes(told), times, of_patients, tuple(told), events)


def _pseudonyms(histories: SqlHistories, people: str, patients: int) -> Recoded:
    """What stands for each published patient, by its number."""
    if histories.fingerprint is None:
        number = randomness.permutation(patients) + 1
        return numbers_shown(PATIENT, number, patients)
    found = histories.engine.ask(f"SELECT h0, h1 FROM {people} ORDER BY {_NUMBER}")
    names = Pseudonyms(joined(found["h0"], found["h1"]), histories.fingerprint)
    return texts_shown(PATIENT, names.texts, np.arange(patients))


def _of_patients(
    histories: SqlHistories, table: Table, outcome: Outcome, column: Column, cell: str
) -> TextCodes:
    """A column of patients as it is shown: it follows from their profile, or from their group."""
    group, quasi = outcome.group_of_record, column.role == "quasi"
    if isinstance(table, SqlTable):
        if not quasi:
            return TextCodes(cell, table.codes[column.name], shown_as_is(column, column.codes))
        each = np.arange(len(outcome.group_sizes))
        label = generalized_column(column.name, outcome.labels[column.name], each)
        return TextCodes(GROUP, each, label)
    assert histories.profile is not None
    shown = (
        generalized_column(column.name, outcome.labels[column.name], np.asarray(group))
        if quasi
        else shown_as_is(column, column.codes)
    )
    return TextCodes(PROFILE, histories.profile, shown)
