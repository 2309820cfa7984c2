"""What a task asks of histories, as arrays: facts of patients and of events, powers, holders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.errors import HierarchyError, PrivacyError
from incrowd.methods.histories._problem import (
    Facts,
    Power,
    Problem,
    ProtectedValues,
    TreeAxis,
    axis_of,
)
from incrowd.methods.histories._texts import label_of
from incrowd.privacy.base import SLACK
from incrowd.table.packing import distinct_rows

if TYPE_CHECKING:
    from incrowd.hierarchies import Hierarchy
    from incrowd.methods.base import RecordTask, TablesOfPatients
    from incrowd.privacy import Adversary
    from incrowd.table import Column
    from incrowd.table.profiles import Events


@dataclass(frozen=True, repr=False)
class KnownColumn:
    """A quasi-identifier as it is searched: its column, its hierarchy and the tree of both."""

    column: Column
    hierarchy: Hierarchy
    axis: TreeAxis

    @classmethod
    def of(cls, column: Column, hierarchy: Hierarchy) -> KnownColumn:
        """The column with its tree.

        Raises
        ------
        HierarchyError
            Two nodes of the tree have one label: who reads it could not tell one from the other.
        """
        found = cls(column, hierarchy, axis_of(hierarchy))
        texts = [found.text(node) for node in range(len(found.axis.parent))]
        twice = len(texts) - len({*texts})
        if twice:
            raise HierarchyError(
                f"Hierarchy of '{column.name}': {twice} of its labels stand in two places, so a "
                "published label would not tell which is meant. Give each place its own label."
            )
        return found

    def text(self, node: int) -> str | None:
        """What a node shows; None for missing cells."""
        level, number = int(self.axis.level[node]), int(self.axis.number[node])
        return label_of(self.column, self.hierarchy, level, number)


@dataclass(frozen=True, repr=False)
class KnownTable:
    """A table of events with quasi columns: which rows are the same fact, and which are none.

    Parameters
    ----------
    columns
        Its quasi columns.
    patient
        The patient of each row.
    protected
        For each row and column whether the cell is a protected value: then the row is no fact.
    fact
        The fact of each row, -1 of one that is none.
    facts
        The distinct facts: rows of a patient with equal cells are one.
    """

    name: str
    columns: tuple[KnownColumn, ...]
    patient: IntArray
    protected: BoolArray
    fact: IntArray
    facts: Facts


@dataclass(frozen=True, repr=False)
class AskedFacts:
    """All that is known of patients, from whom, and who holds what is protected."""

    patients: int
    own: tuple[KnownColumn, ...]
    own_facts: tuple[Facts, ...]
    tables: tuple[KnownTable, ...]
    powers: tuple[Power, ...]
    holders: tuple[tuple[int, IntArray], ...] = field(default=())
    """For each protected value the power it is protected from, and the patients who hold it."""

    def problem(self, kept: BoolArray) -> Problem:
        """What is searched among some of the patients, numbered anew."""
        place = np.cumsum(kept) - 1
        facts = [*self.own_facts, *(table.facts for table in self.tables)]
        held = [(power, place[members[kept[members]]]) for power, members in self.holders]
        held = [(power, members) for power, members in held if len(members)]
        return Problem(
            int(kept.sum()),
            tuple(_of_patients(each, kept, place) for each in facts),
            self.powers,
            ProtectedValues(
                np.cumsum([0, *(len(members) for _, members in held)], dtype=np.int64),
                np.concatenate([np.zeros(0, dtype=np.int64), *(members for _, members in held)]),
                np.array([power for power, _ in held], dtype=np.int64),
            ),
        )


def asked_of(task: RecordTask, tables: TablesOfPatients) -> AskedFacts:
    """What a task asks of the tables of its patients."""
    attackers = [model.attacker for model in task.models if model.attacker is not None]
    powers = tuple(Power(a.L, a.K, a.C, a.attributes, a.events) for a in attackers)
    own = tuple(KnownColumn.of(each, task.hierarchies[each.name]) for each in task.columns)
    known = tuple(
        _table(name, events, task, attackers)
        for name, events in tables.histories.tables.items()
        if any(column.role == "quasi" for column in events.columns)
    )
    holders = tuple(
        (power, members)
        for power, attacker in enumerate(attackers)
        if attacker.C < 1
        for name, values in attacker.protected.items()
        for members in _holders(tables, name, values)
    )
    jointly = any(attacker.jointly for attacker in attackers)
    own_facts = _own_facts(own, task.counts.records, jointly=jointly)
    return AskedFacts(task.counts.records, own, own_facts, known, powers, holders)


def refuse_impossible(task: RecordTask, asked: AskedFacts, kept: BoolArray) -> None:
    """Refuse what not even all patients together keep, who are the support of no fact at all.

    Raises
    ------
    PrivacyError
        With the best that can be asked for.
    """
    patients = int(kept.sum())
    models = [model for model in task.models if model.attacker is not None]
    for number, (model, power) in enumerate(zip(models, asked.powers, strict=True)):
        if patients < power.K:
            raise PrivacyError(
                f"The privacy asked for cannot be reached: {model.name} asks for {power.K:,} "
                f"patients whom any facts fit, and there are {patients:,} left. Ask for less."
            )
        held = [int(kept[members].sum()) for at, members in asked.holders if at == number]
        share = max(held, default=0) / patients
        if share > power.C + SLACK:
            raise PrivacyError(
                f"The privacy asked for cannot be reached: even of all patients the share "
                f"{share:.9g} holds one of the values that {model.name} protects, more than "
                f"{model.share} = {power.C:g}. Ask for that, or protect fewer values."
            )


def _own_facts(own: Sequence[KnownColumn], patients: int, *, jointly: bool) -> tuple[Facts, ...]:
    """The quasi-identifiers of patients: a fact each, or one together."""
    everybody = np.arange(patients)
    codes = [each.column.codes.astype(np.int64) for each in own]
    axes = [each.axis for each in own]
    if jointly:
        return (Facts(everybody, tuple(codes), tuple(axes), False),) if own else ()
    return tuple(
        Facts(everybody, (code,), (axis,), False) for code, axis in zip(codes, axes, strict=True)
    )


def _table(
    name: str, events: Events, task: RecordTask, attackers: Sequence[Adversary]
) -> KnownTable:
    columns = tuple(
        KnownColumn.of(column, task.hierarchies[column.name])
        for column in events.columns
        if column.role == "quasi"
    )
    protected = np.zeros((events.rows, len(columns)), dtype=np.bool_)
    for at, each in enumerate(columns):
        for attacker in attackers:
            values = attacker.protected.get(each.column.name, ())
            protected[:, at] |= np.isin(each.column.codes, _codes(each.column, values))
    known = ~protected.any(axis=1)
    codes = [each.column.codes[known].astype(np.int64) for each in columns]
    patient = events.patient[known]
    number, first = distinct_rows(
        [patient, *codes],
        [task.counts.records, *(each.column.cardinality for each in columns)],
        len(patient),
    )
    fact = np.full(events.rows, -1, dtype=np.int64)
    fact[known] = number
    facts = Facts(
        patient[first],
        tuple(code[first] for code in codes),
        tuple(each.axis for each in columns),
        True,
    )
    return KnownTable(name, columns, events.patient, protected, fact, facts)


def _holders(
    tables: TablesOfPatients, name: str, values: Sequence[str | None]
) -> Iterator[IntArray]:
    """The patients who hold each of some values of an attribute, in whatever table."""
    histories = tables.histories
    if name in histories:
        column, patient = histories[name], histories.holding(name).patient
    else:
        column = tables.patients[name]
        patient = np.arange(tables.patients.records)
    chosen = _codes(column, values)
    within = np.isin(column.codes, chosen)
    pair = np.unique(
        column.codes[within].astype(np.int64) * tables.patients.records + patient[within]
    )
    code, who = np.divmod(pair, tables.patients.records)
    begins = np.searchsorted(code, chosen)
    ends = np.searchsorted(code, chosen, side="right")
    for begin, end in zip(begins, ends, strict=True):
        if end > begin:
            yield who[begin:end]


def _codes(column: Column, values: Sequence[str | None]) -> IntArray:
    """The codes of values, ascending."""
    place = {value: code for code, value in enumerate(column.values)}
    missing = [column.missing_code] if None in values and column.missing_code is not None else []
    found = [place[value] for value in values if value is not None]
    return np.array(sorted([*found, *missing]), dtype=np.int64)


def _of_patients(facts: Facts, kept: BoolArray, place: IntArray) -> Facts:
    rows = kept[facts.patient]
    codes = tuple(code[rows] for code in facts.codes)
    return Facts(place[facts.patient[rows]], codes, facts.axes, facts.events)
