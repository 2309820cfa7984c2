"""The rows of patients in an SQL engine: what varies within a patient stays there.

Rows know their patient by `WHO`, the two halves of a keyed hash of 128 bits of what tells patients
apart in the source; it is forgotten with the engine. Where somebody gave a key it is what patients
are called in every release by that key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.table._table import Column, MemoryTable, Table
from incrowd.table.profiles import Histories, TablesOfEvents
from incrowd.table.sql_engine import SqlEngine
from incrowd.table.sql_table import SqlTable

WHO = ("h0", "h1")
"""The columns of an engine that tell patients apart."""
FIRST = "first"
"""The column with the place of a row in its source, or of the first of several; -1 without one."""
DRAWN = "drawn"
"""The column of random numbers by which rows of long histories are chosen."""
PROFILE = "profile"
"""The column with the number of a patient's profile."""


def same_patient(one: str, other: str) -> str:
    """SQL: whether rows of two tables are of the same patient."""
    return " AND ".join(f"{one}.{each} = {other}.{each}" for each in WHO)


def one_record_each(rows: str) -> str:
    """SQL: the rows of a table of events, each of which is one record."""
    return f"(SELECT *, CAST(1 AS BIGINT) AS n FROM {rows})"


@dataclass(frozen=True)
class SqlEvents(SqlTable):
    """The rows of patients in one table of an engine, which know their patient.

    Columns are what varies within a patient. `records` is how many rows there are, also of
    patients who have been left out since: those stay in the engine, and are no patients any more.
    """

    def of_patients(self, people: str) -> SqlEvents:
        """What the rows of the patients in a table of the engine show."""
        if not self.columns:
            return self
        rows = self.sql_rows.table
        source = (
            f"(SELECT r.*, CAST(1 AS BIGINT) AS n FROM {rows} r "
            f"JOIN {people} p ON {same_patient('r', 'p')})"
        )
        names = [column.name for column in self.columns]
        found = self.occurring(self.sql_rows.counts(within=source, names=names))
        assert isinstance(found, SqlEvents)
        return found

    def rows_of(self, people: str) -> int:
        """How many rows the patients in a table of the engine have."""
        found = self.sql_rows.engine.ask(
            f"SELECT count(*) AS many FROM {self.sql_rows.table} r "
            f"JOIN {people} p ON {same_patient('r', 'p')}"
        )
        return int(found["many"][0])

    def matched(self, people: str) -> tuple[SqlEvents, int]:
        """The rows of the patients in a table of the engine, and how many others there were."""
        others = self.records - self.rows_of(people)
        if not others or others == self.records:
            return self, others
        engine, rows = self.sql_rows.engine, self.sql_rows.table
        table = engine.fresh("events")
        engine.keep(table, f"SELECT r.* FROM {rows} r JOIN {people} p ON {same_patient('r', 'p')}")
        engine.drop(rows)
        left = replace(self, sql_rows=replace(self.sql_rows, table=table))
        return left.of_patients(people), others

    def lengths(self, people: str) -> tuple[IntArray, IntArray]:
        """The numbers of rows that patients in a table of the engine have, and how many have each.

        Those of whom there is no row are left out.
        """
        found = self.sql_rows.engine.ask(
            f"SELECT length, count(*) AS many FROM (SELECT count(*) AS length FROM "
            f"{self.sql_rows.table} r JOIN {people} p ON {same_patient('r', 'p')} "
            "GROUP BY r.h0, r.h1) GROUP BY length ORDER BY length"
        )
        return found["length"].astype(np.int64), found["many"].astype(np.int64)

    def at_most(self, most: int, drawn: str) -> tuple[SqlEvents, int]:
        """The same with so many rows of each patient at most, and how many patients had more.

        `drawn` is a column of random numbers: of each patient, the rows with the least are kept.
        """
        engine, rows = self.sql_rows.engine, self.sql_rows.table
        listed = ", ".join(WHO)
        found = engine.ask(
            f"SELECT count(*) AS cut FROM (SELECT count(*) AS n FROM {rows} GROUP BY {listed}) "
            f"WHERE n > {most}"
        )
        cut = int(found["cut"][0])
        if not cut:
            return self, 0
        table = engine.fresh("events")
        engine.keep(
            table,
            f"SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY {listed} ORDER BY {drawn}) "
            f"AS place FROM {rows}) WHERE place <= {most}",
        )
        engine.drop(rows)
        left = replace(self, sql_rows=replace(self.sql_rows, table=table))
        return left.of_patients(f"(SELECT DISTINCT {listed} FROM {table})"), cut

    def told_apart(self, name: str) -> bool:
        """Whether different codes in the engine are different values of an attribute."""
        lookup = self.lookup(name)
        known = lookup[lookup >= 0]
        return len(np.unique(known)) == len(known)


@dataclass(frozen=True)
class SqlHistories(TablesOfEvents[SqlEvents]):
    """The rows of patients that stay in an engine.

    Parameters
    ----------
    engine
        Where the rows are.
    people
        The table of the patients: each with the number of its `PROFILE`.
    profile
        For each row of the table of profiles its number, where that is in memory; else its rows in
        the engine have it beside them.
    fingerprint
        What tells the key, where `WHO` is what patients are called by it; else they are numbered
        when published.
    unmatched
        How many rows of a table were left out because nobody among the patients is named by them.
    """

    engine: SqlEngine = field(kw_only=True, repr=False)
    people: str = ""
    profile: IntArray | None = field(default=None, repr=False)
    fingerprint: str | None = None
    unmatched: Mapping[str, int] = field(default_factory=dict)

    def of_patients(self, people: str) -> SqlHistories:
        """The histories of the patients in a table of the engine."""
        tables = {name: each.of_patients(people) for name, each in self.tables.items()}
        return replace(self, tables=tables, people=people)

    def with_columns(self, change: Callable[[Column], Column]) -> SqlHistories:
        """The same rows with each column changed, whose codes in the engine stay."""
        tables = {
            name: replace(each, columns=tuple(map(change, each.columns)))
            for name, each in self.tables.items()
        }
        return replace(self, tables=tables)

    def of_profiles(self, source: str, profile: IntArray | None = None) -> SqlHistories:
        """The histories of the patients with some profiles.

        `source` is SQL of these, and `profile` their numbers where the table is in memory.
        """
        people = self.engine.fresh("people")
        self.engine.keep(
            people,
            f"SELECT p.* FROM {self.people} p JOIN {source} s ON p.{PROFILE} = s.{PROFILE}",
        )
        return replace(self.of_patients(people), profile=profile)

    def guessed(self, name: str, profiles: str, by: Sequence[str]) -> tuple[int, int]:
        """What groups of patients tell of an attribute of events, in patients.

        How many are in groups of whom all hold one value, and how many hold that which most of
        their group hold. `profiles` is SQL of the profiles, with the columns that make groups.
        """
        events, keys = self.holding(name), ", ".join(by)
        same = " AND ".join(f"m.{key} = z.{key}" for key in by)
        whose = f"{self.people} p JOIN {profiles} s ON p.{PROFILE} = s.{PROFILE}"
        with events.values(name) as lent:
            held = (
                f"SELECT DISTINCT r.h0, r.h1, {lent}.value FROM {events.sql_rows.table} r "
                f"JOIN {lent} ON r.{events.sql_rows.sql_name(name)} = {lent}.code"
            )
            found = self.engine.ask(
                "SELECT CAST(coalesce(sum(CASE WHEN most = size THEN size ELSE 0 END), 0) AS "
                "BIGINT) AS alone, CAST(coalesce(sum(most), 0) AS BIGINT) AS best FROM "
                f"(SELECT {keys}, max(n) AS most FROM (SELECT {keys}, value, count(*) AS n FROM "
                f"(SELECT {', '.join(f's.{key}' for key in by)}, d.value FROM ({held}) d JOIN "
                f"(SELECT p.h0, p.h1, s.* FROM {whose}) s ON {same_patient('d', 's')}) "
                f"GROUP BY {keys}, value) GROUP BY {keys}) m JOIN "
                f"(SELECT {keys}, count(*) AS size FROM {whose} GROUP BY {keys}) z ON {same}"
            )
        return int(found["alone"][0]), int(found["best"][0])

    def singled_out(self, table: Table, names: Sequence[str]) -> int:
        """How many patients have a row with values in some columns that no other patient has.

        Columns of patients count as if each of their rows had them, and by themselves.
        """
        own = [name for name in names if name not in self]
        alone = []
        with ExitStack() as stack:
            people, cells = self.people, [f"o{i}" for i in range(len(own))]
            if own and len(own) < len(names):
                # Their rows have a code of each, by their profile.
                if self.profile is None:
                    assert isinstance(table, SqlTable)
                    rows = table.sql_rows
                    known = [
                        f"o.{rows.sql_name(name)} AS {c}"
                        for name, c in zip(own, cells, strict=True)
                    ]
                    source = rows.table
                else:
                    assert isinstance(table, MemoryTable)
                    codes = {c: table[name].codes for name, c in zip(own, cells, strict=True)}
                    source = stack.enter_context(self.engine.lent({PROFILE: self.profile, **codes}))
                    known = [f"o.{c}" for c in cells]
                people = (
                    f"(SELECT p.h0, p.h1, {', '.join(known)} FROM {self.people} p JOIN {source} o "
                    f"ON p.{PROFILE} = o.{PROFILE})"
                )
            for events in self.tables.values():
                varying = [name for name in names if name in events]
                if varying:
                    alone.append(self._alone(stack, events, varying, people, cells))
            if not alone:
                return table.alike(own).alone
            if own and not self.flat:  # also patients without events
                alone.append(
                    f"SELECT min(h0) AS low0, min(h1) AS low1 FROM {people} "
                    f"GROUP BY {', '.join(cells)} HAVING count(*) = 1"
                )
            found = self.engine.ask(f"SELECT count(*) AS many FROM ({' UNION '.join(alone)})")
        return int(found["many"][0])

    def _alone(
        self,
        stack: ExitStack,
        events: SqlEvents,
        names: Sequence[str],
        people: str,
        own: Sequence[str],
    ) -> str:
        """SQL: the patients with a row whose cells no other patient has."""
        shown, joins = [], []
        for i, name in enumerate(names):
            cell = f"r.{events.sql_rows.sql_name(name)}"
            if not events.told_apart(name):
                lent = stack.enter_context(events.values(name))
                joins.append(f"JOIN {lent} ON {cell} = {lent}.code")
                cell = f"{lent}.value"
            shown.append(f"{cell} AS e{i}")
        keys = ", ".join([*(f"e{i}" for i in range(len(names))), *own])
        listed = ", ".join([*shown, *(f"p.{each}" for each in own)])
        return (
            f"SELECT DISTINCT low0, low1 FROM (SELECT {keys}, min(h0) AS low0, max(h0) AS high0, "
            f"min(h1) AS low1, max(h1) AS high1 FROM (SELECT {listed}, r.h0, r.h1 "
            f"FROM {events.sql_rows.table} r JOIN {people} p ON {same_patient('r', 'p')} "
            f"{' '.join(joins)}) GROUP BY {keys}) WHERE low0 = high0 AND low1 = high1"
        )


AnyHistories = Histories | SqlHistories
"""The rows of patients, wherever they are."""
