"""Releases of linked tables: patients once each, and tables whose rows name them by pseudonyms.

Every count is one of different pseudonyms. A row whose pseudonym the table of patients does not
have belongs to nobody, so the tables do not fit together, and no model is judged. An attribute of
events has, for each of its values, the number of patients of a group who hold it: those with a row
that shows it, found by the pseudonym alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from incrowd._runtime.unchanged import promised_in
from incrowd.verify.counting.facts import EventTable, PatientFacts, facts_of
from incrowd.verify.counting.groups import HistogramTables, PublishedGroups, build_groups
from incrowd.verify.counting.records import TABLE, Asked, PublishedRecords, load, shut
from incrowd.verify.files.layout import PATIENT, Layout
from incrowd.verify.files.linked import PATIENTS
from incrowd.verify.files.published import whole_tables
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
from incrowd.verify.layouts.patients import pseudonyms_in
from incrowd.verify.layouts.tables import judge_orders, paths_of, table_of
from incrowd.verify.layouts.times import judge_firsts, judge_times
from incrowd.verify.verdict import (
    COLUMNS,
    HISTORIES,
    READABLE,
    TIED,
    Finding,
    counted,
    listed,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from incrowd.verify.counting.spellings import Spellings

_EDGES = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True)
class Linked:
    """The table of patients, the patients as records, and the tables of their events."""

    layout: Layout
    own: PublishedRecords
    people: PublishedRecords
    events: dict[str, PublishedRecords]
    facts: PatientFacts

    @property
    def who(self) -> str:
        """The SQL name of the pseudonym in the table of patients."""
        return self.own.sql_name(PATIENT)


def open_linked(
    connection: DuckDBPyConnection, folder: Path, layout: Layout, spellings: Spellings
) -> tuple[Linked | None, list[Finding]]:
    """Return the tables, or None where they cannot be read or joined, and what was found."""
    names = [PATIENTS, *(each.name for each in layout.linked or ())]
    views = {name: layout.of_one(name) for name in names}
    try:
        files = {name: table_of(layout, name) for name in names}
        found = {
            name: load(
                connection,
                paths_of(folder, files[name]),
                Asked(view.columns, view.kinds),
                f"rows_{number}",
            )
            for number, (name, view) in enumerate(views.items())
        }
        shut(connection)
        for name, records in found.items():
            if PATIENT not in records.columns:
                told = f"has no column '{PATIENT}' that tells patients apart"
                raise UnreadableError(f"{shown(files[name].name)} {told}")
    except UnreadableError as error:
        return None, [Finding(READABLE, False, str(error))]
    own = found[PATIENTS]
    events = dict([*found.items()][1:])
    facts = _facts(layout, own, views, events)
    tables = Linked(layout, own, _people(views[PATIENTS], own), events, facts)
    tied = _judge_ties(tables)
    columns = _joined(judge_columns(views[name], files[name], found[name]) for name in names)
    findings = [
        Finding(READABLE, True, whole_tables(layout.tables)),
        _joined(judge_identifiers(views[name], found[name]) for name in names),
        columns,
        tied,
        judge_records(
            layout,
            files[PATIENTS],
            tables.people,
            [(files[name], records) for name, records in tables.events.items()],
            one="patient",
        ),
        *judge_orders([*found.values()]),
        *judge_form([*found.values()]),
        *judge_labels(layout, tables.people, facts.events),
        *judge_firsts(
            _timed(judge_times(views[name], found[name]) for name in names),
            [(views[name], found[name]) for name in names],
        ),
    ]
    if not columns.holds or not tied.holds:
        return None, findings
    findings += [_judge_histories(tables), *judge_atoms(facts)]
    findings += judge_untouched(layout, replace(tables.people, alone=_alone(tables, views)))
    _respell(connection, spellings, tables, views)
    return tables, findings


def _joined(found: Iterable[Finding]) -> Finding:
    """Return one finding for all tables: what is wrong, or what was found of the first."""
    several = [*found]
    wrong = [each for each in several if not each.holds]
    if not wrong:
        return several[0] if several[0].promise != COLUMNS else _as_promised(len(several))
    return Finding(wrong[0].promise, False, "; ".join(each.detail for each in wrong))


def _timed(found: Iterable[list[Finding]]) -> list[Finding]:
    """Return one finding for the changed dates of all tables, where there are any."""
    several = [each for judged in found for each in judged]
    if not several:
        return []
    told = [each for each in several if not each.holds] or several
    detail = "; ".join(each.detail for each in told)
    return [Finding(told[0].promise, told[0].holds, detail)]


def _as_promised(tables: int) -> Finding:
    return Finding(COLUMNS, True, f"those of {counted(tables, 'table')} as promised, and no other")


def _people(view: Layout, own: PublishedRecords) -> PublishedRecords:
    """Return the patients as records, of the attributes that are theirs."""
    keys = tuple(name for name in view.published if name in own.columns)
    columns = "".join(f"{own.sql_name(name)}, " for name in keys)
    own.connection.execute(
        f"CREATE TABLE {TABLE} AS SELECT {columns}sum(n)::BIGINT AS n FROM {own.table}"
        f"{' GROUP BY ALL' if keys else ''}"
    )
    return replace(own, keys=keys, table=TABLE)


def _facts(
    layout: Layout,
    own: PublishedRecords,
    views: dict[str, Layout],
    events: dict[str, PublishedRecords],
) -> PatientFacts:
    """Return what may be known of patients: what their table says, and each row of another."""
    tables = []
    for name, rows in events.items():
        columns, known = (
            {f"{name}.{each}": rows.sql_name(each) for each in names if each in rows.columns}
            for names in (views[name].events, views[name].known_events)
        )
        tables.append(EventTable(name, rows.table, rows.sql_name(PATIENT), columns, known))
    names = {"columns": views[PATIENTS].published, "quasi": views[PATIENTS].quasi}
    who = own.sql_name(PATIENT)
    return facts_of(own, own.table, who, names, tuple(tables), layout.promises)


def _judge_ties(tables: Linked) -> Finding:
    """Return the judgement on pseudonyms: each is one patient, and rows name no other."""
    own, who = tables.own, tables.who
    different, problem = pseudonyms_in(own, stable=tables.layout.stable)
    if own.rows != different:
        twice = counted(own.rows - different, "row")
        return Finding(TIED, False, f"a patient stands twice: {twice} too many in '{PATIENTS}'")
    if problem:
        return Finding(TIED, False, problem)
    wrong = []
    for name, rows in tables.events.items():
        ((strange,),) = own.connection.execute(
            f"SELECT coalesce(sum(n), 0)::BIGINT FROM {rows.table} AS named"
            f" ANTI JOIN {own.table} AS known ON named.{rows.sql_name(PATIENT)} = known.{who}"
        ).fetchall()
        if strange:
            wrong.append(f"{counted(strange, 'row')} of {shown(name)} name no patient")
    if wrong:
        return Finding(TIED, False, listed(wrong))
    detail = (
        f"{counted(different, 'patient')} with one row each, and"
        f" {counted(sum(each.rows for each in tables.events.values()), 'row')} of"
        f" {counted(len(tables.events), 'table')}, each of a patient"
    )
    return Finding(TIED, True, detail)


def _judge_histories(tables: Linked) -> Finding:
    """Return the judgement on how many rows tables have, and how many patients have how many."""
    layout, wrong, most = tables.layout, [], 0
    least = layout.least_told
    for each in layout.linked or ():
        rows = tables.events[each.name]
        held = _held(tables, rows)
        longest = max(held)
        most = max(most, longest)
        if rows.rows != each.rows:
            wrong.append(f"{shown(each.name)} has {counted(rows.rows, 'row')}, not {each.rows:,}")
        elif each.steps != _steps(held, least):
            wrong.append(f"patients have other numbers of rows in {shown(each.name)} than stated")
        if layout.most_events is not None and longest > layout.most_events:
            wrong.append(
                f"a patient has {counted(longest, 'row')} in {shown(each.name)}, promised at most"
                f" {layout.most_events:,}"
            )
    if wrong:
        return Finding(HISTORIES, False, listed(wrong))
    told = f"at most {most:,} in one table" if layout.linked else "there is no table of events"
    return Finding(HISTORIES, True, told)


def _held(tables: Linked, rows: PublishedRecords) -> dict[int, int]:
    """Return how many patients have so many rows of a table, by the number of rows."""
    found = tables.own.connection.execute(
        "SELECT held, count(*) FROM (SELECT coalesce(sum(named.n), 0)::BIGINT AS held"
        f" FROM {tables.own.table} AS known LEFT JOIN {rows.table} AS named"
        f" ON named.{rows.sql_name(PATIENT)} = known.{tables.who} GROUP BY known.{tables.who})"
        " GROUP BY held"
    ).fetchall()
    return {int(many): int(patients) for many, patients in found}


def _steps(held: dict[int, int], least: int) -> tuple[tuple[int, int | None, int], ...]:
    """Return the steps in which numbers of rows are told: fixed ones, joined from below."""
    pieces: list[list[int]] = []  # of each the fewest rows, and the patients
    for edge, beyond in zip(_EDGES, (*_EDGES[1:], None), strict=True):
        many = sum(
            patients
            for rows, patients in held.items()
            if edge <= rows and (beyond is None or rows < beyond)
        )
        if pieces and pieces[-1][1] < least:
            pieces[-1][1] += many
        else:
            pieces.append([edge, many])
    if len(pieces) > 1 and pieces[-1][1] < least:
        pieces[-2][1] += pieces.pop()[1]
    ends = [*(begin - 1 for begin, _ in pieces[1:]), None]
    return tuple((begin, end, many) for (begin, many), end in zip(pieces, ends, strict=True))


def groups_of_linked(tables: Linked) -> PublishedGroups:
    """Return the groups of patients, with a histogram of each attribute of events."""
    layout, connection = tables.layout, tables.own.connection
    sensitive = promised_in(promise.parameters for promise in layout.promises)
    of_events = {
        each.name: each.table
        for each in layout.attributes
        if each.published and each.of_events and each.name in sensitive
    }
    groups = build_groups(
        tables.people,
        layout.quasi,
        sensitive - {*of_events},
        keyed=True,
        undivided=bool(layout.known_events),
    )
    keys = ", ".join(tables.own.sql_name(name) for name in groups.quasi)
    alike = f"USING ({keys})" if keys else "ON true"
    connection.execute(
        f"CREATE TABLE members AS SELECT {tables.who} AS patient, g, groups.n AS size"
        f" FROM {tables.own.table} JOIN groups {alike}"
    )
    made = {}
    for number, (name, table) in enumerate(of_events.items()):
        rows = tables.events[str(table)]
        value = rows.sql_name(name.removeprefix(f"{table}."))
        counts = HistogramTables(f"histogram_{number}", f"totals_{number}")
        connection.execute(
            f"CREATE TABLE {counts.groups} AS SELECT g, size, value, count(*)::BIGINT AS n"
            f" FROM (SELECT DISTINCT {rows.sql_name(PATIENT)} AS patient, {value} AS value"
            f" FROM {rows.table}) JOIN members USING (patient) GROUP BY g, size, value"
        )
        connection.execute(
            f"CREATE TABLE {counts.totals} AS SELECT value, value AS text, sum(n)::BIGINT AS n"
            f" FROM {counts.groups} GROUP BY value"
        )
        made[name] = counts
    return replace(groups, _histograms=made, events=frozenset(of_events), facts=tables.facts)


def _alone(tables: Linked, views: dict[str, Layout]) -> int:
    """Return how many patients have untouched cells, with those of a row, that no other has."""
    own = tables.own
    mine = [f"known.{own.sql_name(name)}" for name in views[PATIENTS].untouched]
    found = []
    if mine:
        found.append(
            f"SELECT min({tables.who}) AS one FROM {own.table} AS known"
            f" GROUP BY {', '.join(mine)} HAVING count(*) = 1"
        )
    for name, rows in tables.events.items():
        theirs = [f"named.{rows.sql_name(each)}" for each in views[name].untouched]
        if theirs:
            found.append(
                f"SELECT min(known.{tables.who}) AS one FROM {own.table} AS known"
                f" JOIN {rows.table} AS named"
                f" ON named.{rows.sql_name(PATIENT)} = known.{tables.who}"
                f" GROUP BY {', '.join([*mine, *theirs])}"
                f" HAVING count(DISTINCT known.{tables.who}) = 1"
            )
    if not found:
        return 0
    ((alone,),) = own.connection.execute(
        f"SELECT count(DISTINCT one) FROM ({' UNION ALL '.join(found)})"
    ).fetchall()
    return int(alone)


def _respell(
    connection: DuckDBPyConnection,
    spellings: Spellings,
    tables: Linked,
    views: dict[str, Layout],
) -> None:
    """Let spellings of a value be one, in the tables that models are judged by."""
    people = tables.people
    columns = {name: people.sql_name(name) for name in people.keys}
    spellings.take_for_one(connection, people.table, columns)
    for name, rows in tables.events.items():
        theirs = {f"{name}.{each}": rows.sql_name(each) for each in views[name].published}
        spellings.take_for_one(connection, rows.table, theirs)
