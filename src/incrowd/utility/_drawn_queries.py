"""Random queries about a table, the same for every release of it, with their true counts.

A query has one to four conditions on different attributes: one on a sensitive attribute, the others
on quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.errors import SourceError
from incrowd.table.coding import code_column

if TYPE_CHECKING:
    import polars as pl

    from incrowd.table import Column

MOST_CONDITIONS = 4
SLOTS = 1 + MOST_CONDITIONS
"""A slot for a condition on a sensitive attribute, then those for quasi-identifiers."""

_AT_ONCE = 2048
_SHARES = 1000
_IDLE_ROUNDS = 8
_UP_TO = 1 << 62


@dataclass(frozen=True)
class Drawable:
    """A column of the original: its codes in the order of its values, and how it is asked about.

    `ranges` when it has an order; `numbers` when a release has numbers or dates there, too.
    """

    column: Column
    ranges: bool
    numbers: bool

    def condition(self, low: int, high: int) -> str:
        """The condition that codes lie from low to before high, in the language of queries."""
        name = '"' + self.column.name.replace('"', '""') + '"'
        values = ["'" + v.replace("'", "''") + "'" for v in self.column.values[low:high]]
        if len(values) == 1:
            return f"{name} = {values[0]}"
        if self.numbers:
            return f"{name} between {values[0]} and {values[-1]}"
        return f"{name} in ({', '.join(values)})"


@dataclass(frozen=True)
class Questions:
    """Random queries: `attribute[query, slot]` (-1 for none) from code `low` to before `high`.

    Attributes are numbered through: the `sensitive` ones, then the `quasi` ones.
    """

    sensitive: tuple[Drawable, ...]
    quasi: tuple[Drawable, ...]
    attribute: IntArray
    low: IntArray
    high: IntArray
    true: IntArray
    """How many records of the original satisfy each."""

    def text(self, query: int) -> str:
        """A query in the language that `incrowd.query.query` reads."""
        columns = (*self.sensitive, *self.quasi)
        return " and ".join(
            columns[a].condition(int(self.low[query, slot]), int(self.high[query, slot]))
            for slot, a in enumerate(self.attribute[query].tolist())
            if a >= 0
        )


def drawable(series: pl.Series, kind: str) -> Drawable:
    """A column of the original as it is drawn from; `kind` is its type in the release.

    A column that the release takes as text is still asked about by ranges where it has numbers or
    dates, each written in one way: how a release generalizes it must not change the queries.
    """
    if kind == "numeric":
        return Drawable(code_column(series, role="quasi", kind="numeric"), True, True)
    if kind == "date":
        return Drawable(_dates(series), True, True)
    column = code_column(series, role="quasi", kind="category")
    try:
        seen = code_column(series, role="quasi")
    except SourceError:
        return Drawable(column, False, False)
    if seen.kind not in ("numeric", "date") or len(seen.values) != len(column.values):
        return Drawable(column, False, False)
    if seen.kind == "numeric":
        column = column.reordered(sorted(column.values, key=lambda text: Fraction(text.strip())))
    return Drawable(column, True, False)


def draw(
    sensitive: Sequence[Drawable],
    quasi: Sequence[Drawable],
    *,
    queries: int,
    seed: int,
    equality: float = 0.0,
    progress: Callable[[int], None] = lambda _done: None,
) -> Questions:
    """Different random queries, each with at least one record that satisfies it.

    Notes
    -----
    The number of conditions is uniform from 1 to 4 (less where there are fewer attributes), the
    sensitive attribute uniform, the quasi-identifiers a uniform choice. On an attribute with an
    order, all conditions but the share `equality` are ranges between two values, ends included; on
    others all ask for one value. Values are those of records drawn at random, so frequent values
    are asked for often. Queries that no record satisfies are drawn again; fewer than asked for are
    returned where there are no more.
    """
    columns = [*sensitive, *quasi]
    index = _RecordIndex([each.column for each in columns])
    found: dict[bytes, tuple[IntArray, int]] = {}
    idle = 0
    ranges = [each.ranges for each in columns]
    for drawn in _candidates(index, len(sensitive), ranges, seed, equality):
        true = index.counts(drawn)
        before = len(found)
        for at in np.flatnonzero(true).tolist():
            if len(found) < queries:
                found.setdefault(drawn[at].tobytes(), (drawn[at], int(true[at])))
        idle = idle + 1 if len(found) == before else 0
        progress(len(found))
        if len(found) == queries or idle == _IDLE_ROUNDS:
            break
    rows = np.array([row for row, _ in found.values()]).reshape(-1, SLOTS, 3)
    parts = [np.ascontiguousarray(rows[:, :, part], dtype=np.int64) for part in range(3)]
    counts = np.array([count for _, count in found.values()], dtype=np.int64)
    return Questions(tuple(sensitive), tuple(quasi), parts[0], parts[1], parts[2], counts)


class _RecordIndex:
    """The codes of all records by attribute, and for each the records in the order of its codes."""

    def __init__(self, columns: Sequence[Column]) -> None:
        records = len(columns[0].codes)
        self.codes = np.empty((len(columns), records), dtype=np.int32)
        wide = records > np.iinfo(np.int32).max
        self.order = np.empty((len(columns), records), dtype=np.int64 if wide else np.int32)
        most = max(len(column.values) for column in columns)
        self.starts = np.zeros((len(columns), most + 1), dtype=np.int64)
        for at, column in enumerate(columns):
            self.codes[at] = column.codes
            self.order[at] = np.argsort(column.codes, kind="stable")
            held = np.bincount(column.codes, minlength=most + 1)[:most]
            held[len(column.values) :] = 0  # missing cells satisfy no condition
            self.starts[at, 1:] = np.cumsum(held)

    def counts(self, drawn: IntArray) -> IntArray:
        """How many records satisfy each query, given as [query, slot, (attribute, low, high)]."""
        from incrowd.query.loops import shared, true_counts

        attribute, low, high = (np.ascontiguousarray(drawn[:, :, part]) for part in range(3))
        found = np.zeros(len(drawn), dtype=np.int64)

        def work(run: slice) -> None:
            conditions = attribute[run], low[run], high[run]
            true_counts(*conditions, self.codes, self.order, self.starts, found[run])

        shared(len(drawn), work)
        return found

    def of_rank(self, attribute: int, rank: IntArray) -> IntArray:
        """The codes of the records at these places in the order of an attribute."""
        return np.searchsorted(self.starts[attribute], rank, side="right") - 1


def _candidates(
    index: _RecordIndex, sensitive: int, ranges: Sequence[bool], seed: int, equality: float
) -> Iterator[IntArray]:
    """Queries drawn at random without end, some at a time: [query, slot, (attribute, low, high)].

    Whole numbers from PCG64 alone, so that every machine draws the same.
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    quasi = len(ranges) - sensitive
    most = min(MOST_CONDITIONS, quasi + (1 if sensitive else 0))
    present = index.starts[:, -1]
    while True:
        raw = generator.integers(0, _UP_TO, size=(_AT_ONCE, 2 + MOST_CONDITIONS + 3 * SLOTS))
        many = 1 + raw[:, 0] % most
        attribute = np.full((_AT_ONCE, SLOTS), -1, dtype=np.int64)
        if sensitive:
            attribute[:, 0] = raw[:, 1] % sensitive
            many -= 1
        attribute[:, 1:] = _chosen(raw[:, 2 : 2 + MOST_CONDITIONS], quasi, many, sensitive)
        kind, first, second = np.split(raw[:, 2 + MOST_CONDITIONS :], 3, axis=1)
        drawn = np.zeros((_AT_ONCE, SLOTS, 3), dtype=np.int64)
        drawn[:, :, 0] = attribute
        for a, by_range in enumerate(ranges):
            at = attribute == a
            one = index.of_rank(a, first[at] % present[a])
            other = index.of_rank(a, second[at] % present[a])
            wide = kind[at] % _SHARES >= round(_SHARES * equality)
            other = np.where(wide & by_range, other, one)
            drawn[at, 1] = np.minimum(one, other)
            drawn[at, 2] = np.maximum(one, other) + 1
        yield drawn


def _chosen(raw: IntArray, quasi: int, many: IntArray, first: int) -> IntArray:
    """For each query `many` different quasi-identifiers in ascending order, -1 in other slots."""
    rows = np.arange(len(raw))
    pool = np.tile(np.arange(quasi), (len(raw), 1))
    places = min(raw.shape[1], quasi)
    for place in range(places):
        other = place + raw[:, place] % (quasi - place)
        pool[rows, place], pool[rows, other] = pool[rows, other], pool[rows, place].copy()
    unused = np.arange(places) >= many[:, None]
    picked = np.sort(np.where(unused, quasi, pool[:, :places]), axis=1)
    result = np.full(raw.shape, -1, dtype=np.int64)
    result[:, :places] = np.where(picked == quasi, -1, picked + first)
    return result


def _dates(series: pl.Series) -> Column:
    """The dates of a column, however they are written there."""
    from incrowd.table.date_formats import format_beside_release

    written = format_beside_release(series, "original")
    return code_column(series, role="quasi", kind="date", date_format=written)
