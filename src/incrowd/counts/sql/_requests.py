"""The aggregations that answer a method about nodes, each one pass over the rows of these nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.counts.base import Splits
from incrowd.counts.sql._nodes import NodeTables
from incrowd.table.sql_engine import BITS, SqlEngine

_MOST_WORDS = 4
"""Beyond so many whole numbers of bits, codes that occur are counted one by one."""


@dataclass(frozen=True)
class Entries:
    """What occurs in nodes, ascending: the place of the node, its codes, and the records."""

    place: IntArray
    codes: tuple[IntArray, ...]
    counts: IntArray

    def offsets(self, many: int) -> IntArray:
        """Where the entries of each of `many` nodes begin."""
        return np.concatenate(([0], np.cumsum(np.bincount(self.place, minlength=many))))

    def of(self, places: IntArray, many: int) -> Entries:
        """The entries of some of the `many` nodes, in the given order."""
        offsets = self.offsets(many)
        lengths = np.diff(offsets)[places]
        ends = np.cumsum(lengths)
        total = int(lengths.sum())
        rows = np.repeat(offsets[places] - ends + lengths, lengths) + np.arange(total)
        place = np.repeat(np.arange(len(places)), lengths)
        return Entries(place, tuple(each[rows] for each in self.codes), self.counts[rows])


@contextmanager
def recoded(
    engine: SqlEngine, lookups: Iterable[tuple[str, IntArray | None]]
) -> Iterator[tuple[list[str], str]]:
    """SQL, for one block: columns of the rows `r` as their lookups show them, and the joins."""
    shown, joins = [], []
    with ExitStack() as stack:
        for column, lookup in lookups:
            if lookup is None:
                shown.append(f"r.{column}")
                continue
            codes = np.flatnonzero(lookup >= 0)
            lent = stack.enter_context(engine.lent({"code": codes, "shown": lookup[codes]}))
            shown.append(f"{lent}.shown")
            joins.append(f"JOIN {lent} ON r.{column} = {lent}.code")
        yield shown, " ".join(joins)


def counted(
    nodes: IntArray, tables: NodeTables, columns: Sequence[str], lookups: Sequence[IntArray | None]
) -> Entries:
    """The codes of columns that occur in nodes, recoded where there is a lookup."""
    engine = tables.engine
    parts, wanted = tables.asked(nodes), zip(columns, lookups, strict=True)
    with engine.lent(parts) as asked, recoded(engine, wanted) as (cells, joins):
        shown = [f"{cell} AS k{number}" for number, cell in enumerate(cells)]
        keys = ", ".join(["place", *(f"k{number}" for number in range(len(columns)))])
        found = engine.ask(
            f"SELECT {keys}, CAST(sum(n) AS BIGINT) AS n FROM (SELECT {asked}.place, "
            f"{', '.join(shown)}, r.n FROM ({tables.of(parts['node'])}) r JOIN {asked} "
            f"ON r.node = {asked}.node {joins}) GROUP BY {keys} ORDER BY {keys}"
        )
    return _entries(found, [f"k{number}" for number in range(len(columns))])


def counted_at_once(
    nodes: IntArray, tables: NodeTables, columns: Sequence[str], value: str | None
) -> list[Entries]:
    """The codes of each of some columns that occur in nodes, perhaps with those of another."""
    names = [f"k{number}" for number in range(len(columns))]
    also = "" if value is None else ", v"
    shown = ", ".join(f"r.{column} AS k{number}" for number, column in enumerate(columns))
    read = shown if value is None else f"{shown}, r.{value} AS v"
    sets = ", ".join(f"(place, {name}{also})" for name in names)
    which = " ".join(f"WHEN {name} IS NOT NULL THEN {a}" for a, name in enumerate(names))
    parts = tables.asked(nodes)
    rows = tables.of(parts["node"])
    with tables.engine.lent(parts) as asked:
        found = tables.engine.ask(
            f"SELECT CASE {which} END AS attribute, place, coalesce({', '.join(names)}, 0) AS code"
            f"{also}, n FROM (SELECT place, {', '.join(names)}{also}, CAST(sum(n) AS BIGINT) AS n "
            f"FROM (SELECT {asked}.place, {read}, r.n FROM ({rows}) r JOIN {asked} "
            f"ON r.node = {asked}.node) GROUP BY GROUPING SETS ({sets})) "
            f"ORDER BY attribute, place, code{also}"
        )
    keys = ["code"] if value is None else ["code", "v"]
    bounds = np.searchsorted(found["attribute"], np.arange(len(names) + 1)).tolist()
    return [
        _entries({name: cells[begin:end] for name, cells in found.items()}, keys)
        for begin, end in pairwise(bounds)
    ]


def left_codes(splits: Splits) -> dict[str, IntArray]:
    """The codes that go to the left, each with the place of its split."""
    places = np.repeat(np.arange(len(splits)), np.diff(splits.offsets))
    return {"place": places, "code": splits.left}


def half_extents(
    splits: Splits,
    tables: NodeTables,
    attribute: str,
    columns: Sequence[str],
    to_count: Mapping[int, int],
) -> dict[str, IntArray]:
    """What occurs in the halves of splits on one attribute.

    By `place` of the split and `side` (0: left): records `n`, and for column number i `low{i}`,
    `high{i}` and, where `to_count` has its cardinality, `distinct{i}`.
    """
    places = np.arange(len(splits))
    engine = tables.engine
    told = []
    for i, name in enumerate(columns):
        told += [f"min({name}) AS low{i}", f"max({name}) AS high{i}"]
        if i not in to_count:
            continue
        words = _words(to_count[i])
        told += [f"bit_or({engine.bit(name, w * BITS)}) AS bits{i}_{w}" for w in range(words)]
        if not words:
            told.append(f"count(DISTINCT {name}) AS distinct{i}")
    listed = ", ".join(f"r.{name}" for name in columns)
    asked_of = {"node": splits.nodes, "place": places}
    with engine.lent(asked_of) as asked, engine.lent(left_codes(splits)) as left:
        found = engine.ask(
            f"SELECT place, side, CAST(sum(n) AS BIGINT) AS n, {', '.join(told)} FROM "
            f"(SELECT {asked}.place, CASE WHEN {left}.code IS NULL THEN 1 ELSE 0 END AS side, "
            f"{listed}, r.n FROM ({tables.of(splits.nodes)}) r JOIN {asked} "
            f"ON r.node = {asked}.node LEFT JOIN {left} ON {left}.place = {asked}.place "
            f"AND {left}.code = r.{attribute}) GROUP BY place, side"
        )
    for i, cardinality in to_count.items():
        if words := _words(cardinality):
            found[f"distinct{i}"] = _bits(found, i, words)
    return found


def _bits(found: Mapping[str, IntArray], number: int, words: int) -> IntArray:
    """How many codes of a column occur, each a bit of some whole numbers."""
    marks = [found[f"bits{number}_{word}"].astype(np.uint64) for word in range(words)]
    total: IntArray = np.sum([np.bitwise_count(each) for each in marks], axis=0, dtype=np.int64)
    return total


def _words(cardinality: int) -> int:
    """Into how many whole numbers codes fit as bits; 0 if into too many."""
    words = -(-cardinality // BITS)
    return words if words <= _MOST_WORDS else 0


def _entries(found: Mapping[str, IntArray], keys: Sequence[str]) -> Entries:
    return Entries(
        found["place"].astype(np.int64),
        tuple(found[key].astype(np.int64) for key in keys),
        found["n"].astype(np.int64),
    )
