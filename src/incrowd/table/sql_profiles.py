"""Profiles of patients whose rows stay in an SQL engine: gathered there, one row for each patient.

What `profiles.py` does to rows in memory is done here by aggregations, which work on disk. Rows
know their patient by `WHO`, the two halves of a keyed hash of 128 bits; where sets of values are
told apart, it is by sums of secret numbers of 126 bits. Two different ones are taken for equal
with a chance of about n^2 / 2^127.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from incrowd._runtime import randomness
from incrowd._runtime.arrays import IntArray
from incrowd.errors import PolicyError
from incrowd.table._table import Column, Weighted, narrow
from incrowd.table.profiles import REMEDY, SetColumn, Take, refusal, set_column, told_by_column
from incrowd.table.sql_histories import FIRST, WHO, SqlEvents, same_patient
from incrowd.table.sql_rows import SqlRows
from incrowd.table.sql_table import SqlTable

_MANY = 1 << 32
_LISTED = ", ".join(WHO)


@dataclass(frozen=True)
class TakenBy:
    """Which value stands for a patient, of columns of patients that differ between rows.

    Parameters
    ----------
    take
        How to choose, by column.
    time
        The column of events that tells which row of a patient is the first.
    """

    take: Mapping[str, Take]
    time: str | None

    @property
    def by_time(self) -> bool:
        """Whether a column is chosen by the first row or the last."""
        return any(each != "most-frequent" for each in self.take.values())


def gathered_in_engine(
    rows: SqlTable, own: Sequence[str], taken: TakenBy, remedy: str = REMEDY
) -> SqlTable:
    """The table of patients, each of whom is a row in the engine.

    Parameters
    ----------
    rows
        The rows of the source, which know their patient and their place in it.
    own
        The columns of patients.
    taken
        Which value stands for a patient.
    remedy
        What to do where a column of patients differs, with a place for its name.

    Raises
    ------
    PolicyError
        When a column of patients differs between rows of one, as rows in memory are refused.

    Notes
    -----
    One aggregation over the rows; all else is done to what differs between patients.
    """
    engine = rows.sql_rows.engine
    found = _variants(rows, own, taken)
    patients, variants = _counted(found)
    if variants > patients:
        people = _one_each(rows, found, taken, (patients, remedy))
    else:
        people = engine.fresh("people")
        kept = ", ".join([*found.columns, *WHO, FIRST])
        engine.keep(people, f"SELECT {kept}, CAST(1 AS BIGINT) AS n FROM {found.table}")
    engine.drop(found.table)
    sql_rows = SqlRows(engine, people, tuple(own), (*WHO, FIRST))
    columns = tuple(_for_codes(rows[name]) for name in own)
    codes = {column.name: np.arange(column.cardinality) for column in columns}
    whole = replace(rows, columns=columns, records=patients, sql_rows=sql_rows, codes=codes)
    return whole.occurring(sql_rows.counts())


def _for_codes(column: Column) -> Column:
    """The column with a row for each code; how many records have it is counted then."""
    none = Weighted.unordered(np.zeros(column.cardinality, dtype=np.int64))
    return replace(
        column, codes=narrow(np.arange(column.cardinality), column.cardinality), tally=none
    )


def _variants(rows: SqlTable, own: Sequence[str], taken: TakenBy) -> SqlRows:
    """What differs in the columns of patients, for each of them, in the codes of the columns.

    Beside them is the earliest and the latest row of each, where values are chosen by time.
    """
    given, engine = rows.sql_rows, rows.sql_rows.engine
    cells = [given.sql_name(name) for name in own]
    shown = ", ".join(f"{cell} AS c{i}" for i, cell in enumerate(cells))
    grouped = ", ".join([*WHO, *cells])
    told = f"count(*) AS n, min({FIRST}) AS {FIRST}"
    table = engine.fresh("variants")
    beside: tuple[str, ...] = (*WHO, FIRST)
    if not taken.by_time:
        engine.keep(
            table, f"SELECT {_LISTED}, {shown}, {told} FROM {given.table} GROUP BY {grouped}"
        )
    else:
        assert taken.time is not None, "the policy was asked for a column of times"
        cell, when = given.sql_name(taken.time), rows[taken.time]
        lookup = rows.lookup(taken.time)
        codes = np.flatnonzero(lookup >= 0)
        early = lookup[codes]
        late = np.where(early == len(when.values), -1, early)
        listed = ", ".join(f"r.{name}" for name in (*WHO, FIRST, *cells))
        with engine.lent({"code": codes, "early": early, "late": late}) as lent:
            places = f"CAST({rows.records} AS BIGINT)"
            engine.keep(
                table,
                f"SELECT {_LISTED}, {shown}, {told}, min(early) AS early, max(late) AS late FROM "
                f"(SELECT {listed}, {lent}.early * {places} + r.{FIRST} AS early, "
                f"{lent}.late * {places} + r.{FIRST} AS late FROM {given.table} r "
                f"JOIN {lent} ON r.{cell} = {lent}.code) GROUP BY {grouped}",
            )
        beside = (*beside, "early", "late")
    found = SqlRows(engine, table, tuple(own), beside)
    return found.recoded({name: rows.lookup(name) for name in own})


def _counted(found: SqlRows) -> tuple[int, int]:
    """How many patients there are, and how many different rows of them."""
    asked = found.engine.ask(
        "SELECT count(*) AS patients, CAST(coalesce(sum(n), 0) AS BIGINT) AS variants FROM "
        f"(SELECT count(*) AS n FROM {found.table} GROUP BY {_LISTED})"
    )
    return int(asked["patients"][0]), int(asked["variants"][0])


def _one_each(rows: SqlTable, found: SqlRows, taken: TakenBy, refused_with: tuple[int, str]) -> str:
    """The table of patients where some differ between their rows; refused where nobody chose."""
    engine, names = found.engine, found.attributes
    spans = engine.fresh("spans")
    told = [f"min({c}) AS low{i}, max({c}) AS high{i}" for i, c in enumerate(found.columns)]
    if taken.by_time:
        told += ["min(early) AS early", "max(late) AS late"]
    for i, name in enumerate(names):
        if taken.take.get(name) == "first":
            told.append(f"min_by(c{i}, early) AS taken{i}")
        elif taken.take.get(name) == "last":
            told.append(f"max_by(c{i}, late) AS taken{i}")
    engine.keep(
        spans,
        f"SELECT {_LISTED}, min({FIRST}) AS {FIRST}, {', '.join(told)} FROM {found.table} "
        f"GROUP BY {_LISTED}",
    )
    asked = ", ".join(
        f"CAST(sum(CASE WHEN low{i} <> high{i} THEN 1 ELSE 0 END) AS BIGINT) AS differ{i}"
        for i in range(len(names))
    )
    counted = engine.ask(f"SELECT {asked} FROM {spans}")
    differing = {name: int(counted[f"differ{i}"][0]) for i, name in enumerate(names)}
    refused = {name: n for name, n in differing.items() if n and name not in taken.take}
    if refused:
        patients, remedy = refused_with
        raise PolicyError(refusal(refused, patients, rows.name, remedy))
    if not engine.ordered:
        _refuse_without_order(found, spans, taken, rows.name)
    shown, joins, made = [], [], [spans]
    for i, name in enumerate(names):
        cell = f"s.low{i}"
        if differing[name] and taken.take[name] == "most-frequent":
            made.append(_most_frequent(found, i, rows[name]))
            joins.append(f"JOIN {made[-1]} ON {same_patient('s', made[-1])}")
            cell = f"{made[-1]}.taken"
        elif differing[name]:
            cell = f"s.taken{i}"
        shown.append(f"{cell} AS c{i}")
    people = engine.fresh("people")
    engine.keep(
        people,
        f"SELECT {', '.join(shown)}, s.h0, s.h1, s.{FIRST}, CAST(1 AS BIGINT) AS n "
        f"FROM {spans} s {' '.join(joins)}",
    )
    for table in made:
        engine.drop(table)
    return people


def _refuse_without_order(found: SqlRows, spans: str, taken: TakenBy, name: str) -> None:
    """Refuse a first or a last row that only the order of the source would tell."""
    unclear = {}
    for i, attribute in enumerate(found.attributes):
        place = {"first": "early", "last": "late"}.get(taken.take.get(attribute, ""))
        if place is None:
            continue
        asked = found.engine.ask(
            f"SELECT count(*) AS many FROM (SELECT v.h0, v.h1 FROM {found.table} v JOIN {spans} s "
            f"ON {same_patient('v', 's')} AND v.{place} = s.{place} GROUP BY v.h0, v.h1 "
            f"HAVING min(v.c{i}) <> max(v.c{i}))"
        )
        if int(asked["many"][0]):
            unclear[attribute] = int(asked["many"][0])
    if unclear:
        raise PolicyError(
            f"`take: first` and `last`: rows of one day differ in {name}: "
            f"{told_by_column(unclear)}, and records in {found.engine.name} have no order. Say "
            "`take: most-frequent`, or `engine: memory` or `duckdb`, which take the order of the "
            "source."
        )


def _most_frequent(found: SqlRows, number: int, column: Column) -> str:
    """A table of the most frequent value of each patient; of equally frequent ones the lowest.

    Missing cells count only where a patient has no other.
    """
    table, cell = found.engine.fresh("taken"), f"c{number}"
    often = f"CASE WHEN {cell} = {len(column.values)} THEN {cell} ELSE {cell} - many * {_MANY} END"
    found.engine.keep(
        table,
        f"SELECT {_LISTED}, min_by({cell}, {often}) AS taken FROM (SELECT {_LISTED}, {cell}, "
        f"CAST(sum(n) AS BIGINT) AS many FROM {found.table} GROUP BY {_LISTED}, {cell}) "
        f"GROUP BY {_LISTED}",
    )
    return table


def with_sets(
    people: SqlTable, events: SqlEvents, name: str, within: IntArray | None
) -> tuple[SqlTable, SetColumn]:
    """The table whose patients can be counted by the sets of values that they hold, and these.

    Parameters
    ----------
    people
        The patients, each a row.
    events
        Their rows; those of other patients are left out.
    name
        An attribute of events.
    within
        The codes of its values that count. None for all.

    Notes
    -----
    A set is known by the sum (exclusive or) of two secret numbers of each of its values. In memory
    there are the sets that differ, each once.
    """
    given, engine, column = people.sql_rows, people.sql_rows.engine, events[name]
    pairs, held, sets = engine.fresh("pairs"), engine.fresh("held"), engine.fresh("sets")
    with events.values(name, within) as lent:
        engine.keep(
            pairs,
            f"SELECT DISTINCT r.h0, r.h1, {lent}.value FROM {events.sql_rows.table} r "
            f"JOIN {lent} ON r.{events.sql_rows.sql_name(name)} = {lent}.code",
        )
    secret = (randomness.keys(2 * column.cardinality) >> np.uint64(1)).astype(np.int64)
    numbers = {"value": np.arange(column.cardinality), "x0": secret[::2], "x1": secret[1::2]}
    kept = ", ".join(f"p.{each}" for each in given.kept)
    with engine.lent(numbers) as lent:
        engine.keep(
            held,
            f"SELECT {kept}, coalesce(s.x0, 0) AS x0, coalesce(s.x1, 0) AS x1 FROM {given.table} p "
            f"LEFT JOIN (SELECT h0, h1, bit_xor(x0) AS x0, bit_xor(x1) AS x1 FROM (SELECT q.h0, "
            f"q.h1, {lent}.x0, {lent}.x1 FROM {pairs} q JOIN {lent} ON q.value = {lent}.value) "
            f"GROUP BY h0, h1) s ON {same_patient('p', 's')}",
        )
    engine.numbered(
        sets,
        "SELECT x0, x1, min(h0) AS h0, min_by(h1, h0) AS h1, count(*) AS n FROM "
        f"{held} GROUP BY x0, x1",
        "number",
    )
    found = engine.ask(f"SELECT number, x0, x1, n FROM {sets} ORDER BY number")
    members = engine.ask(
        f"SELECT s.number, q.value FROM {pairs} q JOIN {sets} s ON {same_patient('q', 's')} "
        "ORDER BY number, value"
    )
    whose, value = (members[each].astype(np.int64) for each in ("number", "value"))
    column_of_sets = set_column(column, within, whose, value, len(found["n"]))
    number_of = column_of_sets.codes.astype(np.int64)
    table, added = engine.fresh("people"), f"c{len(given.attributes)}"
    with engine.lent({"x0": found["x0"], "x1": found["x1"], "number": number_of}) as lent:
        engine.keep(
            table,
            f"SELECT {kept}, {lent}.number AS {added} FROM {held} p "
            f"JOIN {lent} ON p.x0 = {lent}.x0 AND p.x1 = {lent}.x1",
        )
    for left in (pairs, held, sets, given.table):
        engine.drop(left)
    weights = np.zeros(len(number_of), dtype=np.int64)
    weights[number_of] = found["n"]
    named = (*given.attributes, column_of_sets.name)
    return (
        replace(people, sql_rows=replace(given, table=table, attributes=named)),
        replace(
            column_of_sets,
            codes=narrow(np.arange(len(weights)), len(weights)),
            tally=Weighted.unordered(weights),
        ),
    )
