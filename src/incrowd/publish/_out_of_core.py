"""Published tables of records that stay in an SQL engine: sorted there, written piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Literal, Protocol, Self

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd._runtime.arrays import IntArray
from incrowd.counts.placed import SqlPlaced
from incrowd.counts.sql.groups import GROUP
from incrowd.methods.base import Outcome
from incrowd.publish._showing import Showing
from incrowd.publish.original_records import Unshared
from incrowd.publish.rows import (
    Recoded,
    ShownColumn,
    ShownRows,
    enumerations,
    escaped_texts,
    generalized_column,
    numbers_shown,
    shown_as_is,
)
from incrowd.published.escaping import escaped
from incrowd.table import Column
from incrowd.table.sql_engine import SqlEngine
from incrowd.table.sql_rows import sizes_of_groups

Heading = tuple[str, tuple[str | None, ...], Literal["text", "whole", "date"]]


@dataclass(frozen=True)
class TextCodes:
    """A published column: how its texts' codes follow from a column of the engine."""

    source: str
    """A column of codes, or the group."""
    keys: IntArray
    shown: Recoded
    """For each of the keys the code of its text."""


class PublishedInEngine(Protocol):
    """Records in an engine, of which those that are published are asked for."""

    @property
    def engine(self) -> SqlEngine:
        """Where they are."""

    def published(self) -> AbstractContextManager[str]:
        """SQL, for the queries of one block: the published ones, `n` equal ones in a row."""


@dataclass(frozen=True, repr=False)
class OutsideRows(Unshared, ShownRows):
    """The rows of a published table that the engine sorts and gives out piece by piece.

    `columns` have texts but no codes; `times` holds their number alone.
    """

    groups: PublishedInEngine
    told: tuple[TextCodes, ...]

    @property
    def engine(self) -> SqlEngine:
        """Where the rows are."""
        return self.groups.engine

    def alone(self, names: Sequence[str]) -> int:
        """How many rows have texts in some columns that no other row has."""
        if not names:
            return 0
        keys = [self.keys[self.names.index(name)] for name in names]
        with self.query() as query:
            sizes, groups = sizes_of_groups(self.engine, f"({query})", keys)
        return int(groups[sizes == 1].sum())

    def pieces(self) -> Iterator[pl.DataFrame]:
        """The rows as texts of enumerated columns, some rows at a time."""
        types = enumerations(self.columns)
        with self.query() as query:
            in_order = f"{query} ORDER BY {', '.join(self.order)}"
            for piece in self.engine.in_pieces(in_order):
                columns = [piece[key] for key in self.keys]
                yield from shown(self.headings, columns, piece["n"]).pieces_of(types)

    def escaped(self) -> Self:
        """The same rows for a CSV file that no spreadsheet runs, sorted by what it shows."""
        told = []
        for each in self.told:
            texts, rank = escaped_texts(each.shown.texts)
            name, lookup = escaped(each.shown.name), rank[each.shown.lookup]
            told.append(
                replace(each, shown=replace(each.shown, name=name, texts=texts, lookup=lookup))
            )
        return replace(self, columns=without_codes(told), told=tuple(told))

    @property
    def keys(self) -> list[str]:
        """The columns of the query, in the order in which they are published."""
        return [f"s{number}" for number in range(len(self.told))]

    @property
    def order(self) -> list[str]:
        """The columns of the query by which rows are sorted: all that they do not follow from."""
        return self.keys

    @property
    def headings(self) -> list[Heading]:
        """The name, the texts and the type of every column."""
        return [(column.name, column.texts, column.kind) for column in self.columns]

    @contextmanager
    def query(self) -> Iterator[str]:
        """SQL, for the queries of one block: codes of texts by the `keys`, and records `n`."""
        listed = ", ".join(self.keys)
        with ExitStack() as stack:
            source = stack.enter_context(self.groups.published())
            joins = self.looked_up(stack, lambda _source: True, "r")
            yield (
                f"SELECT {listed}, CAST(sum(n) AS BIGINT) AS n FROM (SELECT {listed}, r.n "
                f"FROM {source} r {joins}) GROUP BY {listed}"
            )

    def looked_up(self, stack: ExitStack, wanted: Callable[[str], bool], rows: str) -> str:
        """SQL: joins that give rows the codes of the texts of columns with some sources."""
        joins = []
        for name in dict.fromkeys(each.source for each in self.told if wanted(each.source)):
            # One join for all that follows from one column: each takes memory of its own.
            columns: dict[str, npt.NDArray[np.integer]] = {}
            for key, each in zip(self.keys, self.told, strict=True):
                if each.source == name:
                    columns["from_code"] = each.keys
                    columns[key] = each.shown.codes()
            lent = stack.enter_context(self.engine.lent(columns))
            joins.append(f"JOIN {lent} ON {rows}.{name} = {lent}.from_code")
        return " ".join(joins)


def shown(headings: Sequence[Heading], columns: Sequence[IntArray], times: IntArray) -> ShownRows:
    """Rows from the codes of their texts, and how often each is published."""
    return ShownRows(
        tuple(
            ShownColumn(name, texts, codes.astype(np.uint32), kind)
            for (name, texts, kind), codes in zip(headings, columns, strict=True)
        ),
        times.astype(np.int64),
    )


def without_codes(told: Sequence[TextCodes]) -> tuple[ShownColumn, ...]:
    """The columns as they are shown; their codes are in the engine."""
    none = np.zeros(0, dtype=np.uint8)
    return tuple(
        ShownColumn(each.shown.name, each.shown.texts, none, each.shown.kind) for each in told
    )


def outside_rows(groups: PublishedInEngine, told: Sequence[TextCodes], records: int) -> OutsideRows:
    """The rows of some columns, sorted by what they show."""
    times = np.array([records], dtype=np.int64)
    return OutsideRows(without_codes(told), times, groups, tuple(told))


class SqlShowing(Showing[TextCodes]):
    """The published columns of rows in an engine."""

    def __init__(self, outcome: Outcome, placed: SqlPlaced) -> None:
        super().__init__(outcome)
        self._table, self._groups = placed.table, placed.group
        self._group = np.arange(placed.many)

    def labels(self, column: Column) -> TextCodes:
        """A quasi-identifier, as the groups show it."""
        cells = self.outcome.labels[column.name]
        return TextCodes(GROUP, self._group, generalized_column(column.name, cells, self._group))

    def as_is(self, column: Column) -> TextCodes:
        """A column that is published untouched."""
        name = self._table.sql_rows.sql_name(column.name)
        return TextCodes(name, self._table.codes[column.name], shown_as_is(column, column.codes))

    def number(self, name: str) -> TextCodes:
        """The number of the group, from 1, under a name."""
        group = self._group
        return TextCodes(GROUP, group, numbers_shown(name, group + 1, len(group)))

    def rows(self, columns: Sequence[TextCodes]) -> OutsideRows:
        """The rows of some columns, sorted by what they show."""
        return outside_rows(self._groups, columns, int(self.outcome.group_sizes.sum()))
