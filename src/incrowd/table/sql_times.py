"""Dates in an SQL engine, changed there: each row by what is known of its patient.

What `times.py` does to rows in memory is done here by one join of the rows with a table of their
patients, who have a shift, or a day to count from. Texts are made here, of the days and times that
occur.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.table._table import Column, Weighted
from incrowd.table.sql_engine import Columns, SqlEngine
from incrowd.table.sql_histories import WHO, SqlEvents, one_record_each, same_patient
from incrowd.table.sql_rows import CodeCounts
from incrowd.table.sql_table import SqlTable
from incrowd.table.times import TimeUnit, elapsed, in_months, months_of, on_days, passed

RowsT = TypeVar("RowsT", bound=SqlTable)
_LISTED = ", ".join(WHO)


@dataclass(frozen=True)
class ShiftOfPatients:
    """A table of an engine with the shift of each patient, in days, at most so many either way."""

    table: str
    most: int


@dataclass(frozen=True)
class DayOfPatients:
    """A table of an engine with the day to count from, for each patient who has one."""

    table: str
    patients: int
    first: int
    last: int
    """The earliest and the latest of these days."""


@dataclass(frozen=True)
class DateChange:
    """What becomes of a column of dates: by what of the patient, and in which units."""

    name: str
    by: ShiftOfPatients | DayOfPatients
    unit: TimeUnit = "days"
    width: int | None = None

    def bounds(self, days: IntArray) -> tuple[int, int]:
        """Between what the days of a column, or the times since another day, will lie."""
        if not len(days):
            return 0, 0
        ends = np.array([days.min(), days.max()], dtype=np.int64)
        if isinstance(self.by, ShiftOfPatients):
            return int(ends[0]) - self.by.most, int(ends[1]) + self.by.most
        origins = np.array([self.by.last, self.by.first], dtype=np.int64)
        low, high = elapsed(ends, origins, self.unit).tolist()
        return low, high

    def cell(self, day: str) -> str:
        """SQL: the new day, or the time; null where there is none. `day` is the table of days."""
        whose = self.by.table
        if isinstance(self.by, ShiftOfPatients):
            return f"{day}.on_day + {whose}.shift"
        if not in_months(self.unit):
            return f"{day}.on_day - {whose}.on_day"
        short = f"CASE WHEN {day}.of_month < {whose}.of_month THEN 1 ELSE 0 END"
        return f"{day}.in_month - {whose}.in_month - {short}"

    def made(self, column: Column, found: CodeCounts, low: int, none: int) -> Column:
        """The column with a row for each code that occurs, counted from `low`."""
        column = replace(column, tally=Weighted.unordered(found.records))
        lacks, places = found.codes == none, found.codes + low
        if isinstance(self.by, ShiftOfPatients):
            return on_days(column, places, lacks)
        return passed(column, places, lacks, self.unit, self.width)


@dataclass(frozen=True)
class DatedRows:
    """Rows that tell days of their patients: those of a column, where another has some codes."""

    rows: SqlTable
    name: str
    where: tuple[str, IntArray] | None = None

    def query(self, stack: ExitStack) -> str:
        """SQL, for the queries of one block: patients and days."""
        given, engine = self.rows.sql_rows, self.rows.sql_rows.engine
        codes, days = _days_there(self.rows, self.name)
        lent = stack.enter_context(engine.lent({"code": codes, "on_day": days}))
        joins = f"JOIN {lent} ON r.{given.sql_name(self.name)} = {lent}.code"
        if self.where is not None:
            name, wanted = self.where
            only = stack.enter_context(engine.lent({"code": wanted}))
            joins += f" JOIN {only} ON r.{given.sql_name(name)} = {only}.code"
        return f"SELECT r.h0, r.h1, {lent}.on_day FROM {given.table} r {joins}"


def earliest_in_engine(found: Sequence[DatedRows]) -> DayOfPatients:
    """The earliest day of each patient in some rows."""
    engine = found[0].rows.sql_rows.engine
    table = engine.fresh("days")
    days = np.unique(np.concatenate([_days_there(each.rows, each.name)[1] for each in found]))
    with ExitStack() as stack:
        every = " UNION ALL ".join(each.query(stack) for each in found)
        lent = stack.enter_context(engine.lent(_calendar(days)))
        engine.keep(
            table,
            f"SELECT f.h0, f.h1, f.on_day, {lent}.in_month, {lent}.of_month FROM (SELECT {_LISTED},"
            f" min(on_day) AS on_day FROM ({every}) GROUP BY {_LISTED}) f "
            f"JOIN {lent} ON f.on_day = {lent}.on_day",
        )
    told = engine.ask(
        "SELECT count(*) AS patients, coalesce(min(on_day), 0) AS low, coalesce(max(on_day), 0) "
        f"AS high FROM {table}"
    )
    return DayOfPatients(table, *(int(told[each][0]) for each in ("patients", "low", "high")))


def shifts_in_engine(
    engine: SqlEngine, who: Columns, shifts: IntArray, most: int
) -> ShiftOfPatients:
    """The shifts of patients, told apart by two numbers each, as a table of the engine."""
    table = engine.fresh("shifts")
    engine.put(table, {**{each: who[each] for each in WHO}, "shift": shifts})
    return ShiftOfPatients(table, most)


def with_dates_changed(rows: RowsT, changes: Sequence[DateChange]) -> RowsT:
    """The rows with some columns of dates changed, wherever else they stay.

    Parameters
    ----------
    rows
        Rows that know their patient. Those before are dropped.
    changes
        What becomes of each of the columns.

    Notes
    -----
    One pass over the rows, and one that counts what came out.
    """
    given, engine = rows.sql_rows, rows.sql_rows.engine
    table = engine.fresh("dated")
    cells = {name: f"r.{name}" for name in (*given.columns, *given.beside)}
    if not isinstance(rows, SqlEvents):
        cells["n"] = "r.n"
    joins, bounds = [], {}
    with ExitStack() as stack:
        for change in changes:
            codes, days = _days_there(rows, change.name)
            lent = stack.enter_context(engine.lent({"code": codes, **_calendar(days)}))
            cell = given.sql_name(change.name)
            joins.append(f"LEFT JOIN {lent} ON r.{cell} = {lent}.code")
            low, high = bounds[change.name] = change.bounds(days)
            cells[cell] = (
                f"CAST(coalesce({change.cell(lent)} - ({low}), {high - low + 1}) AS INTEGER)"
            )
        by = dict.fromkeys(change.by.table for change in changes)
        joins += [f"LEFT JOIN {whose} ON {same_patient('r', whose)}" for whose in by]
        shown = ", ".join(f"{cell} AS {name}" for name, cell in cells.items())
        engine.keep(table, f"SELECT {shown} FROM {given.table} r {' '.join(joins)}")
    engine.drop(given.table)
    new = replace(given, table=table)
    within = one_record_each(table) if isinstance(rows, SqlEvents) else table
    found = new.counts(within=within, names=[change.name for change in changes])
    made, there = {}, dict(rows.codes)
    for change in changes:
        name, (low, high) = change.name, bounds[change.name]
        made[name] = change.made(rows[name], found[name], low, high - low + 1)
        there[name] = found[name].codes
    columns = tuple(made.get(column.name, column) for column in rows.columns)
    return replace(rows, columns=columns, sql_rows=new, codes=there)


def _days_there(rows: SqlTable, name: str) -> tuple[IntArray, IntArray]:
    """The codes in the engine that stand for days, and these."""
    column, lookup = rows[name], rows.lookup(name)
    assert column.numbers is not None, "a column of dates"
    codes = np.flatnonzero((lookup >= 0) & (lookup < len(column.values)))
    return codes, column.numbers[lookup[codes]].astype(np.int64)


def _calendar(days: IntArray) -> dict[str, IntArray]:
    """Days with their month, and their place in it."""
    months, day = months_of(days)
    return {"on_day": days, "in_month": months, "of_month": day}
