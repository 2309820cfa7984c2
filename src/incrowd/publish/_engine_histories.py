"""Releases of patients whose rows are in an SQL engine: labelled and sorted there.

The same as `_histories.py` for rows in memory: all rows of a patient show the labels of its group,
and pseudonyms are drawn from secret randomness, or follow from a key. What is of the size of the
patients is here, a number each; nothing is of the size of their rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass

import numpy as np

from incrowd._runtime import randomness
from incrowd.counts.placement import GroupOfRecord
from incrowd.counts.sql.groups import SqlGroups
from incrowd.engines.preparation import Prepared
from incrowd.methods.base import Outcome
from incrowd.publish._out_of_core import GROUP, OutsideRows, TextCodes, without_codes
from incrowd.publish.rows import (
    Recoded,
    ShownRows,
    generalized_column,
    numbers_shown,
    shown_as_is,
    texts_shown,
)
from incrowd.table import Column, Table
from incrowd.table.profiles import FLAT, PATIENT
from incrowd.table.pseudonyms import Pseudonyms, joined
from incrowd.table.sql_engine import SqlEngine
from incrowd.table.sql_histories import PROFILE, SqlEvents, SqlHistories, same_patient
from incrowd.table.sql_table import SqlTable

_NUMBER = "number"
"""The column with the number of a published patient, from 0."""


@contextmanager
def published_profiles(histories: SqlHistories, group: GroupOfRecord) -> Iterator[str]:
    """SQL, for the queries of one block: the profiles that are not suppressed.

    Those that are in memory have their number; the others what the engine knows of them, too.
    """
    if isinstance(group, SqlGroups):
        with group.published() as source:
            yield source
        return
    assert histories.profile is not None
    with histories.engine.lent({PROFILE: histories.profile[np.asarray(group) >= 0]}) as lent:
        yield lent


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


def published_from_engine(
    prepared: Prepared, histories: SqlHistories, outcome: Outcome
) -> dict[str, ShownRows]:
    """The published table of the rows of all patients, none of whom is suppressed any more."""
    table, group = prepared.table, outcome.group_of_record
    events, engine = histories.tables[FLAT], histories.engine
    people = engine.fresh("published")
    own = {name: f"o{i}" for i, name in enumerate(histories.names) if name not in events}
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
    patients = int(outcome.group_sizes.sum())
    if int(engine.ask(f"SELECT count(*) AS many FROM {people}")["many"][0]) != patients:
        raise AssertionError("a patient is in no group, or in two")
    told = [TextCodes(_NUMBER, np.arange(patients), _pseudonyms(histories, people, patients))]
    for name in histories.names:
        if name in events:
            column = events[name]
            cells_of = shown_as_is(column, column.codes)
            told.append(TextCodes(events.sql_rows.sql_name(name), events.codes[name], cells_of))
        else:
            told.append(_of_patients(histories, table, outcome, table[name], own[name]))
    rows = events.records if events.columns else events.rows_of(people)
    times = np.array([rows], dtype=np.int64)
    of_patients = PublishedPatients(engine, people)
    return {FLAT: HistoryRows(without_codes(told), times, of_patients, tuple(told), events)}


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
