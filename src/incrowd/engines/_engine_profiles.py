"""Patients whose rows stay in an SQL engine: gathered there, and counted by their profiles.

What differs between patients comes into memory where it fits, as distinct records do: each profile
once, with how many patients have it. Their rows stay.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from incrowd._runtime import randomness
from incrowd._runtime.arrays import IntArray
from incrowd.engines.collapse import Stayed, fetched, fit
from incrowd.table import Column, MemoryTable, Table, Weighted, narrow
from incrowd.table.profiles import FLAT
from incrowd.table.sql_histories import DRAWN, FIRST, PROFILE, WHO, SqlEvents, SqlHistories
from incrowd.table.sql_profiles import TakenBy, gathered_in_engine
from incrowd.table.sql_rows import SqlRows
from incrowd.table.sql_table import SqlTable

if TYPE_CHECKING:
    from incrowd._runtime.secret_key import SecretKey
    from incrowd.policy import Policy


def with_draws(
    beside: Mapping[str, npt.NDArray[np.integer]], rows: int, policy: Policy
) -> dict[str, npt.NDArray[np.integer]]:
    """What rows keep beside their codes; a secret number each, where histories may be cut."""
    if not beside or policy.most_events is None:
        return dict(beside)
    return {**beside, DRAWN: randomness.keys(rows)}


def each_apart(before: int, rows: int) -> dict[str, npt.NDArray[np.uint64]]:
    """What the next rows keep where each is another's: the place of each, after those before."""
    place = np.arange(before, before + rows, dtype=np.uint64)
    return {WHO[0]: place, WHO[1]: np.zeros(rows, dtype=np.uint64)}


def records_apart(rows: SqlTable) -> SqlTable:
    """The table of records, each of which is one row of the engine until dates are changed."""
    given, engine = rows.sql_rows, rows.sql_rows.engine
    table = engine.fresh("apart")
    engine.keep(table, f"SELECT *, CAST(1 AS BIGINT) AS n FROM {given.table}")
    engine.drop(given.table)
    return replace(rows, sql_rows=replace(given, table=table))


def collapsed_records(rows: Table, stayed: Stayed) -> Table:
    """The same collapsed to distinct rows, in memory where they fit."""
    assert isinstance(rows, SqlTable)
    rows = rows.recoded()
    given, engine, table = rows.sql_rows, rows.sql_rows.engine, rows.sql_rows.engine.fresh("rows")
    listed = ", ".join(given.columns)
    engine.keep(
        table,
        f"SELECT {listed}, count(*) AS n, min({FIRST}) AS {FIRST} FROM {given.table} "
        f"GROUP BY {listed}",
    )
    engine.drop(given.table)
    cardinalities = [rows[name].cardinality for name in given.attributes]
    many = int(engine.ask(f"SELECT count(*) AS many FROM {table}")["many"][0])
    if not fit(many, cardinalities, stayed.memory):
        return replace(rows, sql_rows=SqlRows(engine, table, given.attributes))
    codes, others = fetched(engine, table, cardinalities, FIRST)
    engine.drop(table)
    tally = Weighted(*(others[each].astype(np.int64) for each in ("n", FIRST)))
    columns = [
        replace(rows[name], codes=narrow(cells, rows[name].cardinality), tally=tally)
        for name, cells in zip(given.attributes, codes, strict=True)
    ]
    return MemoryTable(tuple(columns), rows.records, rows.name, rows.missing_dropped)


def told_cut(cut: int, most: int, where: str = "") -> tuple[str, ...]:
    """What a person should know of histories that were cut to so many rows."""
    told = (
        f"most-events: of {cut:,} patients with more than {most:,} rows{where}, so many were drawn "
        "at random; the others are not published."
    )
    return (told,) if cut else ()


def profiles_in_engine(
    rows: SqlTable, of_events: Collection[str], taken: TakenBy
) -> tuple[SqlTable, SqlHistories]:
    """The table of patients, and their rows."""
    names = tuple(column.name for column in rows.columns)
    own = [name for name in names if name not in of_events]
    people = gathered_in_engine(rows, own, taken)
    events = SqlEvents(
        tuple(column for column in rows.columns if column.name in of_events),
        rows.records,
        rows.name,
        sql_rows=rows.sql_rows,
        codes=rows.codes,
    )
    return people, SqlHistories(
        {FLAT: events}, names, people.sql_rows.table, engine=people.sql_rows.engine
    )


def named_by(histories: SqlHistories, key: SecretKey | None) -> SqlHistories:
    """The histories of patients who are called by a key, where there is one."""
    return histories if key is None else replace(histories, fingerprint=key.fingerprint)


def histories_cut_short(histories: SqlHistories, most: int) -> tuple[SqlHistories, tuple[str, ...]]:
    """The rows of patients, at most so many of each, and what a person should know of others."""
    kept: dict[str, SqlEvents] = {}
    told: list[str] = []
    for name, events in histories.tables.items():
        kept[name], cut = events.at_most(most, DRAWN)
        told += told_cut(cut, most, "" if histories.flat else f" in {name}")
    return replace(histories, tables=kept), tuple(told)


def counted_profiles(
    people: Table, histories: SqlHistories, counted: Mapping[str, Column], stayed: Stayed | None
) -> tuple[Table, SqlHistories, dict[str, Column]]:
    """The table of the profiles, each with how many patients have it, in memory where they fit.

    Parameters
    ----------
    people
        The patients, each a row of the engine.
    histories
        Their rows.
    counted
        The columns that homes count beside those of the table, by name.
    stayed
        Where rows stay, and how many bytes profiles may take.

    Returns
    -------
    The table and the columns, with a row for each profile; and the histories, whose patients know
    theirs.
    """
    assert isinstance(people, SqlTable)
    assert stayed is not None
    given, engine = people.sql_rows, people.sql_rows.engine
    table, whose = engine.fresh("profiles"), engine.fresh("people")
    cells = given.columns
    listed = ", ".join(cells)
    engine.numbered(
        table,
        f"SELECT {listed}, count(*) AS n, min({FIRST}) AS {FIRST} FROM {given.table} "
        f"GROUP BY {listed}",
        PROFILE,
    )
    same = " AND ".join(f"p.{cell} = f.{cell}" for cell in cells)
    engine.keep(
        whose,
        f"SELECT p.h0, p.h1, f.{PROFILE} FROM {given.table} p JOIN {table} f ON {same}",
    )
    engine.drop(given.table)
    found = replace(histories, people=whose)
    by_name = {column.name: column for column in (*people.columns, *counted.values())}
    cardinalities = [by_name[name].cardinality for name in given.attributes]
    rows = int(engine.ask(f"SELECT count(*) AS many FROM {table}")["many"][0])
    if not fit(rows, cardinalities, stayed.memory):
        sql_rows = SqlRows(engine, table, given.attributes, (PROFILE,))
        return replace(people, sql_rows=sql_rows), found, dict(counted)
    codes, others = fetched(engine, table, cardinalities, FIRST, PROFILE)
    tally = Weighted(*(others[each].astype(np.int64) for each in ("n", FIRST)))
    made = {
        name: replace(by_name[name], codes=narrow(cells_of, by_name[name].cardinality), tally=tally)
        for name, cells_of in zip(given.attributes, codes, strict=True)
    }
    profile: IntArray = others[PROFILE].astype(np.int64)
    engine.drop(table)
    whole = MemoryTable(
        tuple(made[column.name] for column in people.columns),
        people.records,
        people.name,
        people.missing_dropped,
    )
    return whole, replace(found, profile=profile), {name: made[name] for name in counted}
