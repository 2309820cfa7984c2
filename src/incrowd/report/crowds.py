"""The crowds that an attacker meets: groups of records that look alike, and what they give away.

Everything is counted, so that it is the same wherever the records live: in memory, or in an SQL
engine that answers with counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import IntArray
from incrowd.table.elsewhere import RowsElsewhere
from incrowd.table.packing import distinct_rows, distinct_rows_of

if TYPE_CHECKING:
    from incrowd.attacks.categories import Categories
    from incrowd.methods.base import Outcome
    from incrowd.table import Column, Table
    from incrowd.table.sql_rows import SqlRows


@dataclass(frozen=True)
class Told:
    """What crowds tell of one sensitive attribute, in records."""

    alone: int
    """In crowds that have one value of it."""
    two: int
    """In crowds with at most two: who rules out one knows the other."""
    best: int
    """Whose value is the most frequent one of their crowd: how often the best guess is right."""
    similar: int | None = None
    """In crowds whose values are all of one category, where there are categories."""


@dataclass(frozen=True)
class Crowds:
    """How many crowds there are of each size, and what they tell of sensitive attributes.

    `groups[i]` crowds have `sizes[i]` records; sizes ascend.
    """

    sizes: IntArray
    groups: IntArray
    told: Mapping[str, Told]

    @property
    def records(self) -> int:
        """How many records there are."""
        return int((self.sizes * self.groups).sum())

    @property
    def count(self) -> int:
        """How many crowds there are."""
        return int(self.groups.sum())

    @property
    def smallest(self) -> int:
        """The size of the smallest crowd."""
        return int(self.sizes[0])

    @property
    def largest(self) -> int:
        """The size of the largest crowd."""
        return int(self.sizes[-1])

    @property
    def unique(self) -> int:
        """The records that are alone."""
        return self.between(1, 1)

    def between(self, low: int, high: int | None) -> int:
        """The records in crowds from one size to another, both included."""
        held = (self.sizes >= low) & (self.sizes <= (self.largest if high is None else high))
        return int((self.sizes * self.groups)[held].sum())

    def below(self, size: int) -> int:
        """The records in crowds of fewer than so many: an attacker's chance is above 1 / size."""
        return self.between(1, size - 1)


def crowds_of_sizes(sizes: IntArray, told: Mapping[str, Told]) -> Crowds:
    """The crowds with these sizes, one for each."""
    different, groups = np.unique(sizes, return_counts=True)
    return Crowds(different.astype(np.int64), groups.astype(np.int64), told)


@dataclass(frozen=True)
class Alike:
    """Rows in memory that agree: the crowd of every row, a row of every crowd, and its records."""

    crowd: npt.NDArray[np.integer]
    first: IntArray
    sizes: IntArray


def rows_alike(table: Table, quasi: Sequence[str]) -> Alike | None:
    """The rows of a table that agree on all quasi-identifiers; None of rows in an engine."""
    if isinstance(table, RowsElsewhere):
        return None
    columns = [table[name] for name in quasi]
    crowd, first = distinct_rows_of(columns, table.rows)
    return Alike(crowd, first, np.bincount(crowd, table.weights).astype(np.int64))


def crowds_of_table(
    table: Table,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    categories: Mapping[str, Categories],
    alike: Alike | None = None,
) -> Crowds:
    """The records of a table that agree on all quasi-identifiers as they are.

    `alike` is what `rows_alike` gives, where that is known.

    Notes
    -----
    In memory one sort of the rows, and one more for each sensitive attribute; in an engine one
    aggregation each, of which only sums come back.
    """
    if isinstance(table, RowsElsewhere):
        return _in_engine(table.home, quasi, sensitive, categories)
    rows = alike or rows_alike(table, quasi)
    assert rows is not None
    told = {
        name: _told_by_rows(
            table[name], rows.crowd, rows.sizes, table.weights, categories.get(name)
        )
        for name in sensitive
    }
    return crowds_of_sizes(rows.sizes, told)


def crowds_of_published(table: Table, outcome: Outcome, quasi: Sequence[str]) -> Crowds:
    """The published records that agree on all quasi-identifiers as they are."""
    from incrowd.counts.sql.groups import SqlGroups

    group = outcome.group_of_record
    if not isinstance(group, SqlGroups):
        return crowds_of_table(table, quasi, [], {})
    with group.published() as source:
        return Crowds(*_sizes(group.rows, source, quasi), {})


def crowds_of_outcome(
    table: Table,
    outcome: Outcome,
    sensitive: Sequence[str],
    categories: Mapping[str, Categories],
) -> Crowds:
    """The groups of a release, `table` being that of the published records."""
    from incrowd.counts.sql.groups import SqlGroups

    sizes, group = outcome.group_sizes, outcome.group_of_record
    told = {}
    for name in sensitive:
        column = table[name]
        if isinstance(group, SqlGroups) and isinstance(table, RowsElsewhere):
            found = group.histograms(name, len(sizes))
            place = np.repeat(np.arange(len(sizes)), np.diff(found.offsets))
            codes = table.lookup(name)[found.codes]
            told[name] = _told(place, codes, found.counts, sizes, categories.get(name))
        else:
            assert isinstance(group, np.ndarray)
            told[name] = _told_by_rows(column, group, sizes, table.weights, categories.get(name))
    return crowds_of_sizes(sizes, told)


def _told_by_rows(
    column: Column,
    group: npt.NDArray[np.integer],
    sizes: IntArray,
    weights: IntArray | None,
    categories: Categories | None,
) -> Told:
    pair, first = distinct_rows(
        [group, column.codes], [len(sizes), column.cardinality], len(column.codes)
    )
    counts = np.bincount(pair, weights).astype(np.int64)
    place, codes = group[first].astype(np.int64), column.codes[first].astype(np.int64)
    return _told(place, codes, counts, sizes, categories)


def _told(
    group: IntArray,
    values: IntArray,
    counts: IntArray,
    sizes: IntArray,
    categories: Categories | None,
) -> Told:
    """What crowds tell when `counts[i]` records of `group[i]` have `values[i]`, each pair once."""
    different = np.bincount(group, minlength=len(sizes))
    most = np.zeros(len(sizes), dtype=np.int64)
    np.maximum.at(most, group, counts)
    similar = None
    if categories is not None:
        kind = categories.of_code[values]
        low = np.full(len(sizes), categories.number)
        high = np.full(len(sizes), -1)
        np.minimum.at(low, group, kind)
        np.maximum.at(high, group, kind)
        similar = int(sizes[low == high].sum())
    return Told(
        alone=int(sizes[different == 1].sum()),
        two=int(sizes[different <= 2].sum()),
        best=int(most.sum()),
        similar=similar,
    )


def _in_engine(
    rows: SqlRows,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    categories: Mapping[str, Categories],
) -> Crowds:
    sizes, groups = _sizes(rows, rows.table, quasi)
    listed = _listed(rows, quasi)
    told = {}
    for name in sensitive:
        value = rows.sql_name(name)
        alone, two, best = _alike(rows, rows.table, listed, value)
        similar = None
        if name in categories:
            kinds = categories[name].of_code
            with rows.engine.lent({"code": np.arange(len(kinds)), "kind": kinds}) as lent:
                joined = f"(SELECT r.*, {lent}.kind FROM {rows.table} r JOIN {lent} ON "
                joined += f"r.{value} = {lent}.code)"
                similar, _, _ = _alike(rows, joined, listed, "kind")
        told[name] = Told(alone, two, best, similar)
    return Crowds(sizes, groups, told)


def _listed(rows: SqlRows, names: Sequence[str]) -> str:
    return ", ".join(rows.sql_name(name) for name in names)


def _sizes(rows: SqlRows, source: str, quasi: Sequence[str]) -> tuple[IntArray, IntArray]:
    """The sizes of the crowds among some rows, and how many there are of each."""
    found = rows.engine.ask(
        "SELECT n AS size, count(*) AS number FROM (SELECT CAST(sum(n) AS BIGINT) AS n FROM "
        f"{source} GROUP BY {_listed(rows, quasi)}) GROUP BY n ORDER BY n"
    )
    return found["size"].astype(np.int64), found["number"].astype(np.int64)


def _alike(rows: SqlRows, source: str, quasi: str, value: str) -> tuple[int, int, int]:
    """The records in crowds with one value, with at most two, and those with the most frequent."""
    found = rows.engine.ask(
        "SELECT different, CAST(sum(size) AS BIGINT) AS size, CAST(sum(most) AS BIGINT) AS most "
        "FROM (SELECT least(count(*), 3) AS different, sum(n) AS size, max(n) AS most FROM "
        f"(SELECT {quasi}, {value}, CAST(sum(n) AS BIGINT) AS n FROM {source} "
        f"GROUP BY {quasi}, {value}) GROUP BY {quasi}) GROUP BY different"
    )
    sizes = dict(zip(found["different"].tolist(), found["size"].tolist(), strict=True))
    alone = int(sizes.get(1, 0))
    return alone, alone + int(sizes.get(2, 0)), int(found["most"].sum())
