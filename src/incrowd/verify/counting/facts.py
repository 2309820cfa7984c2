"""What may be known of patients, read from published tables: numbered atoms, and who holds what.

An atom is a label of a patient's own quasi-identifier, or the labels together that a row of events
shows in the quasi-identifiers of its table. A row that shows a protected value is none: what is
protected is in no combination. Labels are taken as they stand; the missing cell is a label, and so
is `*`: where others show a value that is not the known one, those who show `*` are alone with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from incrowd.verify.counting.spellings import reading

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from duckdb import DuckDBPyConnection

    from incrowd.verify.counting.records import PublishedRecords
    from incrowd.verify.files.layout import Promise

ROOT = "*"
"""The label that covers every value."""
OWN, JOINT, EVENTS = "own_atoms", "joint_atoms", "event_atoms"
"""Tables of atoms, `p` and `a`: attributes one by one, or all of a patient as one; events."""
_NUMBERS = "patient_numbers"


@dataclass(frozen=True)
class EventTable:
    """Published rows of events, with the SQL names of their columns; `who` is the pseudonym.

    `columns` and `quasi` are by the names that the manifest has. `rows` is a table or view in which
    each different row stands once, with the number `n` of equal ones.
    """

    name: str
    rows: str
    who: str
    columns: Mapping[str, str]
    quasi: Mapping[str, str]


@dataclass(frozen=True)
class AtomRun:
    """What a run of numbers of atoms is made of: the first number, how many, and the columns."""

    first: int
    many: int
    columns: tuple[str, ...]


@dataclass(frozen=True)
class PatientFacts:
    """The tables from which atoms and holders are read; `people` has a row for each patient.

    `protected` are the values of quasi-identifiers of events that some promise protects.
    """

    connection: DuckDBPyConnection
    people: str
    who: str
    columns: Mapping[str, str]
    quasi: Mapping[str, str]
    events: tuple[EventTable, ...]
    protected: Mapping[str, frozenset[str]] = field(default_factory=dict)
    _made: dict[str, tuple[AtomRun, ...]] = field(default_factory=dict, compare=False)

    @property
    def patients(self) -> int:
        """How many patients are published."""
        self._number()
        ((many,),) = self.connection.execute(f"SELECT count(*) FROM {_NUMBERS}").fetchall()
        return int(many)

    @property
    def known(self) -> tuple[EventTable, ...]:
        """The tables of events that have quasi-identifiers."""
        return tuple(each for each in self.events if each.quasi)

    def table_of(self, attribute: str) -> EventTable | None:
        """Return the table of events that has an attribute; None for one of the patients."""
        return next((each for each in self.events if attribute in each.columns), None)

    def is_shown(self, attribute: str) -> bool:
        """Whether an attribute is published, of patients or of events."""
        return attribute in self.columns or self.table_of(attribute) is not None

    def atoms(self, kind: str) -> tuple[AtomRun, ...]:
        """Return what atoms of a kind are made of, once their table is there."""
        if kind not in self._made:
            self._number()
            self.connection.execute(f"CREATE TABLE {kind} (p INTEGER, a INTEGER)")
            self._made[kind] = tuple(self._numbered(kind))
        return self._made[kind]

    def hold(self, table: str, attributes: Collection[str], values: Collection[str] | None) -> int:
        """Make a table of which patient `p` holds which protected value `s`; return how many.

        A value of one attribute is another than that of the next, and spellings of one are one. Of
        quasi-identifiers it must be listed, and stand there as it is listed.
        """
        self._number()
        wanted = None if values is None else {reading(value) for value in values}
        self.connection.execute(f"CREATE TABLE {table} (p INTEGER, s INTEGER)")
        many = 0
        for attribute in attributes:
            rows, who, column, exact = self._column(attribute)
            found = self.connection.execute(f"SELECT DISTINCT {column} FROM {rows}").fetchall()
            shown = sorted(str(text) for (text,) in found)
            if exact:
                shown = [text for text in shown if text in (values or ())]
            ones = {text: reading(text) for text in shown}
            if wanted is not None:
                ones = {text: one for text, one in ones.items() if one in wanted}
            numbers = {one: many + at for at, one in enumerate(dict.fromkeys(ones.values()))}
            many += len(numbers)
            self.connection.execute(
                f"INSERT INTO {table} SELECT DISTINCT p, s FROM {rows} JOIN {_NUMBERS}"
                f" ON {who} = patient JOIN"
                " (SELECT unnest($texts::VARCHAR[]) AS text, unnest($numbers::INTEGER[]) AS s)"
                f" ON {column} = text",
                {"texts": [*ones], "numbers": [numbers[one] for one in ones.values()]},
            )
        return many

    def _column(self, attribute: str) -> tuple[str, str, str, bool]:
        """Return where an attribute stands in SQL: rows, pseudonym, column; and if it is quasi."""
        table = self.table_of(attribute)
        if table is None:
            return self.people, self.who, self.columns[attribute], attribute in self.quasi
        return table.rows, table.who, table.columns[attribute], attribute in table.quasi

    def _number(self) -> None:
        self.connection.execute(
            f"CREATE TABLE IF NOT EXISTS {_NUMBERS} AS SELECT {self.who} AS patient,"
            f" (row_number() OVER ())::INTEGER AS p FROM"
            f" (SELECT DISTINCT {self.who} FROM {self.people})"
        )

    def _numbered(self, kind: str) -> Iterable[AtomRun]:
        first = 0
        if kind == OWN:
            for name, column in self.quasi.items():
                yield (made := self._enter(kind, first, self.people, self.who, {name: column}))
                first += made.many
        elif kind == JOINT:
            yield self._enter(kind, first, self.people, self.who, self.quasi)
        else:
            for each in self.known:
                yield (made := self._enter(kind, first, each.rows, each.who, each.quasi))
                first += made.many

    def _enter(
        self, kind: str, first: int, rows: str, who: str, columns: Mapping[str, str]
    ) -> AtomRun:
        """Enter the atoms that rows show in some columns, numbered from the first on."""
        listed = ", ".join(columns.values())
        kept = f"NOT ({self.protecting(columns)})" if kind == EVENTS else "true"
        self.connection.execute(
            f"CREATE OR REPLACE TEMP TABLE labels AS SELECT *, {first} - 1 +"
            f" row_number() OVER (ORDER BY {listed or '1'}) AS a FROM"
            f" (SELECT DISTINCT {listed or '0 AS nothing'} FROM {rows} WHERE {kept})"
        )
        joined = f" USING ({listed})" if listed else " ON true"
        self.connection.execute(
            f"INSERT INTO {kind} SELECT DISTINCT p, a FROM {rows} JOIN labels{joined}"
            f" JOIN {_NUMBERS} ON {who} = patient"
        )
        ((many,),) = self.connection.execute("SELECT count(*) FROM labels").fetchall()
        return AtomRun(first, int(many), tuple(columns))

    def protecting(self, columns: Mapping[str, str]) -> str:
        """Return the SQL condition that a row shows a protected value in one of the columns."""
        shown = [
            f"{column} IN ({', '.join(map(quoted, sorted(self.protected[name])))})"
            for name, column in columns.items()
            if self.protected.get(name)
        ]
        return " OR ".join(shown) or "false"


def quoted(text: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def facts_of(
    records: PublishedRecords,
    people: str,
    who: str,
    names: Mapping[str, Collection[str]],
    events: tuple[EventTable, ...],
    promises: Iterable[Promise],
) -> PatientFacts:
    """Return the facts of patients whose attributes, and which are `quasi`, are `names`d."""
    columns, quasi = (
        {name: records.sql_name(name) for name in names[key] if name in records.columns}
        for key in ("columns", "quasi")
    )
    facts = PatientFacts(records.connection, people, who, columns, quasi, events)
    return replace(facts, protected=_protected(facts, promises))


def _protected(facts: PatientFacts, promises: Iterable[Promise]) -> dict[str, frozenset[str]]:
    """Return the values that promises protect in quasi-identifiers of events."""
    found: dict[str, set[str]] = {}
    for promise in promises:
        named, values = promise.parameters.get("sensitive"), promise.parameters.get("values")
        listed = (
            [value for value in values if isinstance(value, str)]
            if isinstance(values, list)
            else []
        )
        for name in named if isinstance(named, list) else [named]:
            if any(name in each.quasi for each in facts.known):
                found.setdefault(str(name), set()).update(listed)
    return {name: frozenset(values) for name, values in found.items()}
