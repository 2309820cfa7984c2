"""Known facts of people, looked up in a release: which of its patients show labels that fit.

Invariant: a patient fits a known event when one row of theirs covers all that is known of it, and a
person when each known fact of the person fits. What a release shows in two rows is never put
together into one event.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd._runtime.manifests import ManifestEntry
from incrowd.attacks.atom_sets import Atoms, AtomsOfPatients
from incrowd.attacks.compatibility import SharedAttribute, compatible_pairs
from incrowd.attacks.known_values import KnownValues, iso_dates
from incrowd.attacks.label_meanings import read_labels
from incrowd.attacks.targets import code_as_text
from incrowd.labels import LabelWriting, Meaning
from incrowd.table.packing import distinct_rows, distinct_rows_of

if TYPE_CHECKING:
    import polars as pl

    from incrowd.attacks.event_sources import PeopleAndEvents
    from incrowd.table import Column

_AT_ONCE = 1 << 25
"""So many facts of patients are looked into at a time."""


@dataclass(frozen=True)
class _ColumnsOfMany:
    """Columns of one side, and whose each row is."""

    frame: pl.DataFrame
    whose: IntArray


@dataclass(frozen=True)
class _Fitting:
    """What is known in one table, and what it fits: each by numbers.

    `known` are the pairs of a person and a fact. `fits` and `labels` are pairs of a fact and a
    row of labels that covers it, ascending by fact; `shown` the pairs of a row of labels and a
    patient who shows it, ascending by row, and `begins` where those of each row begin.
    """

    facts: int
    person: IntArray
    known: IntArray
    fits: IntArray
    labels: IntArray
    shown: IntArray
    begins: IntArray

    def patients_of_facts(self) -> IntArray:
        """How many pairs of a label row and a patient fit each fact."""
        sizes = np.diff(self.begins)[self.labels]
        return np.bincount(self.fits, sizes, minlength=self.facts).astype(np.int64)

    def patients(self, wanted: IntArray) -> tuple[IntArray, IntArray]:
        """Pairs of a fact, of those that are wanted, and a patient whom it fits."""
        chosen = np.zeros(self.facts, dtype=np.bool_)
        chosen[wanted] = True
        pairs = np.flatnonzero(chosen[self.fits])
        labels = self.labels[pairs]
        sizes = np.diff(self.begins)[labels]
        first = np.repeat(self.begins[labels] - np.cumsum(sizes) + sizes, sizes)
        places = first + np.arange(int(sizes.sum()))
        return np.repeat(self.fits[pairs], sizes), self.shown[places]


class Lookup:
    """People with facts that are known of them, and a release in which they are looked up.

    Parameters
    ----------
    people
        Whose facts are known: patient-level columns and events, called as the release calls them.
        A cell that is missing is not known.
    release
        The release, with the same columns.
    hierarchies
        For attributes of the release the values under each label of their hierarchies.
    """

    def __init__(
        self,
        people: PeopleAndEvents,
        release: PeopleAndEvents,
        entries: Mapping[str, ManifestEntry],
        hierarchies: Mapping[str, Meaning],
    ) -> None:
        self.people, self.release = people, release
        self._entries, self._hierarchies = entries, hierarchies
        self._unreadable: dict[str, int] = {}
        by_table = {rows.table: rows for rows in release.events}
        self._events = [
            self._fitting(
                _ColumnsOfMany(known.frame, known.patient),
                _ColumnsOfMany(
                    by_table[known.table].frame.select(known.frame.columns),
                    by_table[known.table].patient,
                ),
            )
            for known in people.events
        ]
        everybody = np.arange(people.patients)
        patients = np.arange(release.patients)
        self._own = [
            self._fitting(
                _ColumnsOfMany(people.people.select(name), everybody),
                _ColumnsOfMany(release.people.select(name), patients),
            )
            for name in people.people.columns
        ]

    @property
    def unreadable(self) -> tuple[tuple[str, int], ...]:
        """Attributes with labels that could not be read, which fit everything, and how many."""
        return tuple(self._unreadable.items())

    def events(self) -> AtomsOfPatients:
        """The events that are known of each person."""
        return _together(self.people.patients, self._events)

    def own(self) -> AtomsOfPatients:
        """What is known of each person at the level of patients, with numbers after the events."""
        first = sum(each.facts for each in self._events)
        found = _together(self.people.patients, self._own)
        return AtomsOfPatients(
            found.patients, first + found.atoms, found.patient, found.atom + first
        )

    def supports(self, sets: Atoms) -> IntArray:
        """How many patients of the release each set of facts fits; ascending by whose they are."""
        parts = [*self._events, *self._own]
        offsets = np.cumsum([0, *(each.facts for each in parts)])
        sizes = np.concatenate([each.patients_of_facts() for each in parts] + [np.zeros(1)])
        found = np.empty(len(sets), dtype=np.int64)
        whole = sizes.sum() <= _AT_ONCE
        for begin, end in [(0, len(sets))] if whole else _pieces(sizes[sets].sum(axis=1)):
            piece = sets[begin:end]
            wanted = np.unique(piece[piece >= 0]).astype(np.int64)
            whose, which = [], []
            for part, first, last in zip(parts, offsets, offsets[1:], strict=False):
                fact, patient = part.patients(wanted[(first <= wanted) & (wanted < last)] - first)
                whose.append(patient)
                which.append(np.searchsorted(wanted, fact + first))
            atoms = AtomsOfPatients.of(
                self.release.patients, len(wanted), np.concatenate(whose), np.concatenate(which)
            )
            place = np.searchsorted(wanted, piece)
            found[begin:end] = atoms.supports(np.where(piece < 0, -1, place).astype(np.int32))
        return found

    def _fitting(self, known: _ColumnsOfMany, shown: _ColumnsOfMany) -> _Fitting:
        """What is known in some columns, against what the release shows in these."""
        names = known.frame.columns
        values = [self._values(known.frame[name], name) for name in names]
        number, first = distinct_rows(
            [each.people for each in values],
            [each.cardinality for each in values],
            known.frame.height,
        )
        columns = [code_as_text(shown.frame[name]) for name in names]
        row, row_first = distinct_rows_of(columns, shown.frame.height)
        shared = [
            self._shared(name, each, column, row_first, first)
            for name, each, column in zip(names, values, columns, strict=True)
        ]
        missing: BoolArray = np.column_stack(
            [each.people == len(value.texts) for each, value in zip(shared, values, strict=True)]
        )
        fits, labels = _pairs(shared, missing)
        order = np.argsort(fits, kind="stable")
        is_known = ~np.asarray(missing.all(axis=1))[number]
        _, held = distinct_rows(
            [row, shown.whose], [len(row_first), int(shown.whose.max(initial=0)) + 1], len(row)
        )
        begins = np.searchsorted(row[held], np.arange(len(row_first) + 1))
        return _Fitting(
            len(first),
            known.whose[is_known],
            number[is_known].astype(np.int64),
            fits[order],
            labels[order],
            shown.whose[held],
            begins.astype(np.int64),
        )

    def _values(self, cells: pl.Series, name: str) -> KnownValues:
        kind = self._entries.get(name, {}).get("type")
        dates = iso_dates(cells) if kind == "date" else cells
        return KnownValues(dates, declared_numeric=kind == "numeric")

    def _shared(
        self,
        name: str,
        values: KnownValues,
        column: Column,
        rows: IntArray,
        first: IntArray,
    ) -> SharedAttribute:
        writing = LabelWriting.of(
            self._entries.get(name, {"role": "quasi"}), self._hierarchies.get(name)
        )
        coverage = read_labels([*column.values, None], values, writing)
        if coverage.unreadable:
            self._unreadable[name] = coverage.unreadable
        return SharedAttribute(
            values.people[first],
            values.cardinality,
            column.codes[rows].astype(np.int64),
            coverage,
        )


def _pairs(shared: Sequence[SharedAttribute], missing: BoolArray) -> tuple[IntArray, IntArray]:
    """Pairs of a fact and a row of labels that covers all that is known of it."""
    patterns, which = np.unique(missing, axis=0, return_inverse=True)
    fits, labels = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for at, pattern in enumerate(patterns):
        facts = np.flatnonzero(which.ravel() == at)
        columns = [each for each, lacks in zip(shared, pattern, strict=True) if not lacks]
        if not columns:
            continue  # nothing is known: no fact
        asked = [
            SharedAttribute(each.people[facts], each.cardinality, each.rows, each.coverage)
            for each in columns
        ]
        for found in compatible_pairs(asked, len(facts)):
            fits.append(np.repeat(facts[found.people], np.diff(found.offsets)))
            labels.append(found.rows)
    return np.concatenate(fits), np.concatenate(labels)


def _together(people: int, parts: Sequence[_Fitting]) -> AtomsOfPatients:
    """The known facts of several tables, one after the other."""
    offsets = np.cumsum([0, *(each.facts for each in parts)])
    none = np.zeros(0, dtype=np.int64)
    return AtomsOfPatients.of(
        people,
        int(offsets[-1]),
        np.concatenate([none, *(each.person for each in parts)]),
        np.concatenate(
            [none, *(each.known + first for each, first in zip(parts, offsets, strict=False))]
        ),
    )


def _pieces(sizes: IntArray) -> Iterator[tuple[int, int]]:
    """Runs of sets that look into about so many facts of patients, at least one set each."""
    ends = np.cumsum(sizes)
    begin = 0
    while begin < len(sizes):
        limit = (ends[begin - 1] if begin else 0) + _AT_ONCE
        end = max(int(np.searchsorted(ends, limit, side="right")), begin + 1)
        yield begin, end
        begin = end
