"""Releases of patients with several rows: every count is one of different pseudonyms.

The table of records is read row by row, into two: what varies between the rows of a pseudonym, and
what is said of its patient. All rows must agree on that; each patient then counts once, in the
table that all models are judged by. An attribute of events has, for each of its values, the number
of pseudonyms in a group that show it in some row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from incrowd._runtime.unchanged import promised_in
from incrowd.verify.counting.facts import EventTable, PatientFacts, facts_of
from incrowd.verify.counting.groups import HistogramTables, PublishedGroups, build_groups
from incrowd.verify.counting.records import (
    TABLE,
    Asked,
    PublishedRecords,
    by_spark,
    judge_order,
    load,
    shut,
)
from incrowd.verify.files.layout import PATIENT, Layout
from incrowd.verify.files.readers import UnreadableError
from incrowd.verify.layouts._facts import judge_atoms
from incrowd.verify.layouts.contents import (
    judge_columns,
    judge_form,
    judge_identifiers,
    judge_labels,
    judge_records,
    judge_untouched,
)
from incrowd.verify.layouts.tables import data_table, paths_of
from incrowd.verify.layouts.times import judge_firsts, judge_times
from incrowd.verify.verdict import PATIENTS, READABLE, Finding, counted, shown

if TYPE_CHECKING:
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from incrowd.verify.counting.spellings import Spellings

ROWS = "rows_of_patients"
"""The rows with all of their columns."""
EVENTS = "events_of_patients"
"""What varies between the rows of a pseudonym, and the number `n` of equal ones."""
PEOPLE = "people"
"""What is said of the patient of each pseudonym."""
_BY_KEY = "[0-9a-f]{32}"


@dataclass(frozen=True)
class PatientTables:
    """The table of rows, and the patients whose they are, as one record each."""

    layout: Layout
    rows: PublishedRecords
    people: PublishedRecords
    facts: PatientFacts


def open_patients(
    connection: DuckDBPyConnection, folder: Path, layout: Layout, spellings: Spellings
) -> tuple[PatientTables | None, list[Finding]]:
    """Return the rows and their patients, or None where they cannot be read, and what was found."""
    try:
        table = data_table(layout)
        own, events = [PATIENT, *_of_patients(layout)], [PATIENT, *layout.events]
        asked = Asked(events, layout.kinds, beside=own, aside=PEOPLE)
        with by_spark(False):  # each row is needed, and they come to this machine
            rows = load(connection, paths_of(folder, table), asked, EVENTS)
        shut(connection)
        if PATIENT not in rows.columns:
            raise UnreadableError(f"has no column '{PATIENT}' that tells patients apart")
        who = rows.sql_name(PATIENT)
        connection.execute(
            f"CREATE VIEW {ROWS} AS SELECT * FROM {EVENTS} JOIN {PEOPLE} USING ({who})"
        )
        known = [name for name in dict.fromkeys([*own, *events]) if name in rows.columns]
        rows = replace(rows, keys=tuple(known), table=ROWS)
    except UnreadableError as error:
        return None, [Finding(READABLE, False, str(error))]
    people = patients_of(layout, rows)
    facts = _facts(layout, rows)
    found = [
        Finding(READABLE, True, table.described()),
        judge_identifiers(layout, rows),
        judge_columns(layout, table, rows),
        judge_patients(layout, rows, people),
        judge_records(layout, table, people, one="patient"),
        *judge_atoms(facts),
        judge_order(rows),
        *judge_form([rows]),
        *judge_labels(layout, people, facts.events),
        *judge_untouched(layout, people),
        *judge_firsts(judge_times(layout, rows), [(layout, rows)]),
    ]
    for names, among in ((layout.events, EVENTS), (people.keys, TABLE)):
        columns = {name: rows.sql_name(name) for name in names if name in rows.columns}
        spellings.take_for_one(connection, among, columns)
    return PatientTables(layout, rows, people, facts), found


def _facts(layout: Layout, rows: PublishedRecords) -> PatientFacts:
    """Return what may be known of patients: what all of their rows say, and each by itself."""
    who = rows.sql_name(PATIENT)
    columns, known = (
        {name: rows.sql_name(name) for name in names if name in rows.columns}
        for names in (layout.events, layout.known_events)
    )
    (table,) = {each.stem for each in layout.data_tables}
    events = EventTable(table, EVENTS, who, columns, known)
    names = {"columns": _of_patients(layout), "quasi": layout.quasi}
    return facts_of(rows, PEOPLE, who, names, (events,), layout.promises)


def patients_of(layout: Layout, rows: PublishedRecords) -> PublishedRecords:
    """Return the patients as records, of the attributes that are theirs, one for each pseudonym.

    Where rows of a pseudonym disagree it is counted as often as it disagrees, and `judge_patients`
    says so. `alone` is how many patients have a row whose untouched cells no other patient has.
    """
    keys = tuple(name for name in _of_patients(layout) if name in rows.columns)
    connection = rows.connection
    listed = "".join(f", {rows.sql_name(name)}" for name in keys)
    connection.execute(
        f"CREATE TABLE {TABLE} AS SELECT count(*) AS n{listed} FROM {PEOPLE} GROUP BY ALL"
    )
    ((many,),) = connection.execute(f"SELECT count(*) FROM {PEOPLE}").fetchall()
    alone = _alone(layout, rows, rows.sql_name(PATIENT))
    return replace(rows, keys=keys, rows=int(many), alone=alone, table=TABLE)


def judge_patients(layout: Layout, rows: PublishedRecords, people: PublishedRecords) -> Finding:
    """Return the judgement on pseudonyms: numbers from 1 on, each of which is one patient."""
    who = rows.sql_name(PATIENT)
    named = replace(rows, table=PEOPLE)
    different, problem = pseudonyms_in(named, stable=layout.stable)
    if problem:
        return Finding(PATIENTS, False, problem)
    if people.rows != different:
        detail = (
            "rows of one pseudonym differ in what is said of its patient, of"
            f" {counted(people.rows - different, 'pseudonym')} or fewer"
        )
        return Finding(PATIENTS, False, detail)
    ((most,),) = rows.connection.execute(
        f"SELECT max(held) FROM (SELECT sum(n) AS held FROM {EVENTS} GROUP BY {who})"
    ).fetchall()
    if layout.most_events is not None and most > layout.most_events:
        detail = (
            f"a patient has {counted(int(most), 'row')}, promised at most {layout.most_events:,}"
        )
        return Finding(PATIENTS, False, detail)
    of_events = f" and differ in {', '.join(map(shown, layout.events))}" if layout.events else ""
    detail = (
        f"{counted(rows.rows, 'row')} of {counted(different, 'patient')}, at most {int(most):,} of"
        f" one: the rows of one agree in all that is said of the patient{of_events}"
    )
    return Finding(PATIENTS, True, detail)


def pseudonyms_in(rows: PublishedRecords, *, stable: bool) -> tuple[int, str]:
    """Return how many pseudonyms a table of patients has, and why they are not as promised."""
    return (_stable if stable else _numbered)(rows, rows.sql_name(PATIENT))


def _numbered(rows: PublishedRecords, who: str) -> tuple[int, str]:
    """Return how many pseudonyms there are, and why they are not the numbers from 1 on."""
    ((different, least, largest, without),) = rows.connection.execute(
        f"SELECT count(DISTINCT {who}), min(TRY_CAST({who} AS BIGINT)),"
        f" max(TRY_CAST({who} AS BIGINT)), count_if(TRY_CAST({who} AS BIGINT) IS NULL)"
        f" FROM {rows.table}"
    ).fetchall()
    if without or (least, largest) != (1, different):
        told = f"the pseudonyms are not the whole numbers from 1 to {different:,}, each once used"
        return int(different), told
    return int(different), ""


def _stable(rows: PublishedRecords, who: str) -> tuple[int, str]:
    """Return how many pseudonyms there are, and why they cannot follow from a key."""
    ((different, other),) = rows.connection.execute(
        f"SELECT count(DISTINCT {who}),"
        f" count_if({who} IS NULL OR NOT regexp_full_match({who}, '{_BY_KEY}')) FROM {rows.table}"
    ).fetchall()
    told = "the pseudonyms are said to follow from a key, and are not all of 32 hexadecimal digits"
    return int(different), told if other else ""


def groups_of_patients(tables: PatientTables) -> PublishedGroups:
    """Return the groups of patients, with a histogram of each attribute of events."""
    layout, rows, people = tables.layout, tables.rows, tables.people
    sensitive = promised_in(promise.parameters for promise in layout.promises)
    of_events = [name for name in layout.events if name in sensitive]
    groups = build_groups(
        people,
        layout.quasi,
        sensitive - {*of_events},
        keyed=True,
        undivided=bool(layout.known_events),
    )
    keys = ", ".join(rows.sql_name(name) for name in groups.quasi)
    alike = f"USING ({keys})" if keys else "ON true"
    who, connection = rows.sql_name(PATIENT), rows.connection
    connection.execute(
        f"CREATE TABLE members AS SELECT {who}, g, groups.n AS size FROM {PEOPLE}"
        f" JOIN groups {alike}"
    )
    made = {}
    for name in of_events:
        column = rows.sql_name(name)
        counts = HistogramTables(f"histogram_{column}", f"totals_{column}")
        connection.execute(
            f"CREATE TABLE {counts.groups} AS SELECT g, size, value, count(*)::BIGINT AS n"
            f" FROM (SELECT DISTINCT {who}, {column} AS value FROM {EVENTS})"
            f" JOIN members USING ({who}) GROUP BY g, size, value"
        )
        connection.execute(
            f"CREATE TABLE {counts.totals} AS SELECT value, value AS text, sum(n)::BIGINT AS n"
            f" FROM {counts.groups} GROUP BY value"
        )
        made[name] = counts
    return replace(
        groups,
        _histograms=made,
        events=frozenset(of_events),
        one="patient",
        facts=tables.facts,
    )


def _of_patients(layout: Layout) -> list[str]:
    return [name for name in layout.published if name not in layout.events]


def _alone(layout: Layout, rows: PublishedRecords, who: str) -> int:
    named = [name for name in layout.untouched if name in rows.columns]
    if not named:
        return 0
    apart = ", ".join(map(rows.sql_name, named))
    of_events = {*named} & {*layout.events}
    among = EVENTS if of_events == {*named} else ROWS if of_events else PEOPLE
    ((alone,),) = rows.connection.execute(
        f"SELECT count(DISTINCT one) FROM (SELECT min({who}) AS one FROM {among}"
        f" GROUP BY {apart} HAVING min({who}) = max({who}))"
    ).fetchall()
    return int(alone)
