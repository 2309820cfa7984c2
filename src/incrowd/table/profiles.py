"""Profiles: the rows of a source gathered to one record for each patient, and the patient's events.

A patient may have several rows. What is the same in all of them is a column of the patient, and
the table of these has one record for each patient; what varies stays with the rows, as events.
Every count of the table is then a count of patients, on whatever method and model.

Invariant: each row belongs to exactly one profile, and a profile has a row. Rows of one patient are
told by the numbers that `repeats.py` gives to equal identifiers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Literal, TypeVar

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray, Ints
from incrowd._runtime.sentences import listed
from incrowd.errors import PolicyError
from incrowd.table._table import ONE_EACH, Column, MemoryTable, NamedColumns, Table, Tally, narrow
from incrowd.table._taken_values import by_time, most_frequent
from incrowd.table.pseudonyms import Pseudonyms

PATIENT = "patient"
"""The column of a release that tells which of its rows are of one patient."""
FLAT = "data"
"""The table of rows where patients and events stand in one."""
PATIENTS = "patients"
"""The table of patients where events stand in others."""
REMEDY = (
    "If '{first}' varies within a patient, as a diagnosis or a date of a visit does, say `{first}: "
    "{{role: …, level: event}}`. If it should not, correct it, or say which value to take: `take: "
    "most-frequent`, or `first` or `last` by the one column of events with `type: date`. If each "
    "row is another patient all the same, say `unit: row`."
)
Take = Literal["first", "last", "most-frequent"]
"""Which of a patient's values stands for all of them."""


def of_table(table: str, column: str) -> str:
    """The name of a table's attribute among those of linked tables."""
    return f"{table}.{column}"


def column_of(table: str, attribute: str) -> str:
    """What an attribute of a table is called in the table itself."""
    return attribute.removeprefix(f"{table}.")


@dataclass(frozen=True)
class Events(NamedColumns):
    """The rows of patients in one table: what varies within a patient, and whose row each is.

    Parameters
    ----------
    columns
        What varies, with a row for each row of the source.
    patient
        For each row the place of its patient in the table of profiles.
    """

    patient: IntArray = field(repr=False)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.patient)

    @property
    def lengths(self) -> tuple[IntArray, IntArray]:
        """The numbers of rows that patients have, and how many have each; 0 rows are left out."""
        return np.unique(np.unique(self.patient, return_counts=True)[1], return_counts=True)

    def chosen(self, rows: BoolArray) -> Events:
        """Some of the rows."""
        return Events(self._taken(rows), self.patient[rows])

    def of_patients(self, kept: BoolArray) -> Events:
        """The rows of some patients, whose places are those among the patients that are kept."""
        rows = kept[self.patient]
        place = np.cumsum(kept) - 1
        return Events(self._taken(rows), place[self.patient[rows]])

    def at_most(self, most: int, drawn: IntArray) -> tuple[Events, int]:
        """The same with so many rows of each patient at most, and how many patients had more.

        `drawn` is an order of the rows: of each patient, the first ones in it are kept.
        """
        order = drawn[np.argsort(self.patient[drawn], kind="stable")]
        sizes = np.bincount(self.patient)
        place = np.arange(self.rows) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        kept = np.zeros(self.rows, dtype=np.bool_)
        kept[order[place < most]] = True
        return self.chosen(kept), int((sizes > most).sum())

    def moved(self, places: IntArray) -> Events:
        """The same rows where the patient of each place has moved to another."""
        return replace(self, patient=places[self.patient])

    def _taken(self, rows: BoolArray) -> tuple[Column, ...]:
        return tuple(column.take(rows) for column in self.columns)


OneTable = TypeVar("OneTable", bound=NamedColumns)


@dataclass(frozen=True)
class TablesOfEvents(Generic[OneTable]):
    """What patients have beside their profiles: the rows of the tables of their events.

    Parameters
    ----------
    tables
        The rows by the name of their table; those of one flat file under `FLAT`.
    names
        All columns in the order in which they are published, those of patients included.
    """

    tables: Mapping[str, OneTable]
    names: tuple[str, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of all tables of events."""
        return tuple(column for each in self.tables.values() for column in each.columns)

    @property
    def flat(self) -> bool:
        """Whether patients and events stand in one table, as in their source."""
        return FLAT in self.tables

    def __getitem__(self, name: str) -> Column:
        return self.holding(name)[name]

    def __contains__(self, name: object) -> bool:
        return any(name in each for each in self.tables.values())

    def holding(self, name: str) -> OneTable:
        """The rows of the table that has a column."""
        return next(each for each in self.tables.values() if name in each)


@dataclass(frozen=True)
class Histories(TablesOfEvents[Events]):
    """The rows of patients in memory.

    Parameters
    ----------
    unmatched
        How many rows of a table were left out because nobody among the patients is named by them.
    pseudonyms
        What stands for each patient, where a key says so; else they are numbered when published.
    """

    unmatched: Mapping[str, int] = field(default_factory=dict)
    pseudonyms: Pseudonyms | None = None

    @property
    def fingerprint(self) -> str | None:
        """What tells the key that pseudonyms follow from, where they do."""
        return None if self.pseudonyms is None else self.pseudonyms.fingerprint

    def of_patients(self, kept: BoolArray) -> Histories:
        """The rows of some patients, whose places are those among the patients that are kept."""
        left = None if self.pseudonyms is None else self.pseudonyms.of_patients(kept)
        return replace(self._each(lambda events: events.of_patients(kept)), pseudonyms=left)

    def moved(self, places: IntArray) -> Histories:
        """The same rows where the patient of each place has moved to another."""
        moved = None if self.pseudonyms is None else self.pseudonyms.moved(places)
        return replace(self._each(lambda events: events.moved(places)), pseudonyms=moved)

    def singled_out(self, table: Table, names: Sequence[str]) -> int:
        """How many patients have a row with values in some columns that no other patient has.

        Columns of patients count as if each of their rows had them, and by themselves.
        """
        assert isinstance(table, MemoryTable)
        found = np.zeros(table.records, dtype=np.bool_)
        own = [table[name] for name in names if name not in self]
        for events in self.tables.values():
            varying = [events[name] for name in names if name in events]
            if varying or (own and self.flat):
                found[_singled_out(own, varying, events.patient)] = True
        if own and not self.flat:  # also patients without events
            found[_singled_out(own, (), np.arange(table.records))] = True
        return int(found.sum())

    def with_columns(self, change: Callable[[Column], Column]) -> Histories:
        """The same rows with each column changed."""
        return self._each(lambda each: replace(each, columns=tuple(map(change, each.columns))))

    def _each(self, change: Callable[[Events], Events]) -> Histories:
        tables = {name: change(events) for name, events in self.tables.items()}
        return replace(self, tables=tables)


@dataclass(frozen=True)
class SetColumn(Column):
    """What each patient holds of an attribute of events: codes are sets of its values.

    The values of set s are `members[offsets[s]:offsets[s + 1]]`, ascending, as codes of the
    attribute; of which `cardinality_of_values` there are.
    """

    offsets: IntArray = field(kw_only=True, repr=False)
    members: IntArray = field(kw_only=True, repr=False)
    cardinality_of_values: int = field(kw_only=True)


def gathered(
    rows: MemoryTable,
    patient: IntArray,
    of_events: Collection[str],
    take: Mapping[str, Take],
    time: str | None,
    remedy: str = REMEDY,
) -> tuple[MemoryTable, Histories]:
    """The table of profiles, patients in the order of their first row, and their rows.

    Parameters
    ----------
    rows
        The rows of the source, each one record.
    patient
        The number of each row's patient, from 0 in the order of first rows.
    of_events
        The columns that may vary within a patient.
    take
        Which value stands for a patient, of columns of patients that differ between rows.
    time
        The column of events that tells which row of a patient is the first.
    remedy
        What to do where a column of patients differs, with a place for its name.

    Raises
    ------
    PolicyError
        When a column of patients differs between rows of one, and no `take` says what to do; it
        names the columns and how many patients.

    Notes
    -----
    One sort of the rows, and one pass over each column.
    """
    order = np.argsort(patient, kind="stable")
    starts = np.flatnonzero(np.diff(patient[order], prepend=-1))
    taken = by_time(rows, patient, time)
    columns, differing = [], {}
    for column in rows.columns:
        if column.name in of_events:
            continue
        codes = column.codes[order]
        chosen: Ints = codes[starts]
        differs = np.minimum.reduceat(codes, starts) != np.maximum.reduceat(codes, starts)
        if differs.any():
            asked = take.get(column.name)
            if asked is None:
                differing[column.name] = int(differs.sum())
            elif asked == "most-frequent":
                chosen = column.codes[most_frequent(column, patient)]
            else:
                chosen = column.codes[taken(asked)]
        columns.append(_of_patients(column, chosen))
    if differing:
        raise PolicyError(refusal(differing, len(starts), rows.name, remedy))
    names = tuple(column.name for column in rows.columns)
    varying = tuple(column for column in rows.columns if column.name in of_events)
    table = replace(rows, columns=tuple(columns), records=len(starts))
    return table, Histories({FLAT: Events(varying, patient)}, names)


def _of_patients(column: Column, codes: Ints) -> Column:
    """The column with a code for each patient, and a dictionary of the values that they have."""
    whole = replace(column, codes=narrow(codes, column.cardinality), tally=ONE_EACH)
    used = np.bincount(codes, minlength=column.cardinality)
    if not used.all():
        return whole.take(np.ones(len(codes), dtype=np.bool_))
    return replace(whole, missing=int(used[-1]) if column.missing else 0)


def told_by_column(patients: Mapping[str, int]) -> str:
    """Columns, and of how many patients each is spoken of."""
    told = [f"'{column}' (of {many:,} patients)" for column, many in patients.items()]
    return listed(told, quoted=False)


def refusal(differing: Mapping[str, int], patients: int, name: str, remedy: str = REMEDY) -> str:
    """Which columns of patients differ between rows of one, and what to do."""
    first = next(iter(differing))
    return (
        f"Columns of patients differ between the rows of one patient in {name}: "
        f"{told_by_column(differing)}; there are {patients:,} patients. "
        f"{remedy.format(first=first)}"
    )


def sets_of(events: Events, name: str, patients: int, within: IntArray | None = None) -> SetColumn:
    """The set of values of an attribute that each patient holds, equal sets with one code.

    Parameters
    ----------
    events
        The rows.
    name
        An attribute of them.
    patients
        How many patients there are.
    within
        The codes that count; the others are held by nobody. None for all.

    Notes
    -----
    O(pairs of patient and value), once for each value of the largest set.
    """
    column = events[name]
    cardinality = column.cardinality
    pair = np.unique(events.patient * cardinality + column.codes)
    whose, value = pair // cardinality, pair % cardinality
    if within is not None:
        counts = np.isin(value, within)
        whose, value = whose[counts], value[counts]
    return set_column(column, within, whose, value, patients)


def set_column(
    column: Column, within: IntArray | None, whose: IntArray, value: IntArray, patients: int
) -> SetColumn:
    """The sets of values of a column, given each pair of a patient and a value once, ascending.

    Sets are numbered by their values, so that neither the order of patients nor that of rows
    matters.
    """
    cardinality = column.cardinality
    begins = np.searchsorted(whose, np.arange(patients + 1))
    sizes = np.diff(begins)
    # A tree of the sorted values: patients with equal beginnings are at one node.
    node = np.zeros(patients, dtype=np.int64)
    nodes = 1
    for at in range(int(sizes.max(initial=0))):
        longer = np.flatnonzero(sizes > at)
        step = node[longer] * cardinality + value[begins[longer] + at]
        found, number = np.unique(step, return_inverse=True)
        node[longer] = nodes + number
        nodes += len(found)
    found, first, codes = np.unique(node, return_index=True, return_inverse=True)
    lengths = sizes[first]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    members = value[np.repeat(begins[first] - offsets[:-1], lengths) + np.arange(offsets[-1])]
    tally: Tally = ONE_EACH
    return SetColumn(
        name_of_sets(column.name, within), "sensitive", "category", narrow(codes, len(found)),
        tuple(map(str, range(len(found)))), tally=tally,
        offsets=offsets, members=members, cardinality_of_values=cardinality,
    )  # fmt: skip


def name_of_sets(name: str, within: IntArray | None) -> str:
    """The name under which homes count the sets, which no column of a source has."""
    listed_codes = "" if within is None else ",".join(map(str, within.tolist()))
    return f"\x1f{name}\x1f{listed_codes}"


def _singled_out(own: Sequence[Column], varying: Sequence[Column], patient: IntArray) -> IntArray:
    """The places of the patients with a row whose cells no other patient has, each once or more."""
    from incrowd.table.packing import distinct_rows

    codes = [*(column.codes[patient] for column in own), *(column.codes for column in varying)]
    cardinalities = [column.cardinality for column in (*own, *varying)]
    number, first = distinct_rows(codes, cardinalities, len(patient))
    shared = np.zeros(len(first), dtype=np.bool_)
    shared[number[patient != patient[first][number]]] = True
    alone: IntArray = patient[~shared[number]]
    return alone
