"""Published tables of records that stay in an SQL engine: sorted there, written piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.counts.sql.groups import SqlGroups
from incrowd.publish.anatomy import refuse_taken_names, sensitive_table
from incrowd.publish.lossy_join import refuse_taken_name
from incrowd.publish.original_records import Unshared
from incrowd.publish.rows import (
    Recoded,
    ShownColumn,
    ShownRows,
    escaped_texts,
    labelled,
    numbers_shown,
    shown_as_is,
)
from incrowd.published.escaping import escaped
from incrowd.published.layouts import CLASS, file_name
from incrowd.published.layouts import GROUP as GROUP_ID

if TYPE_CHECKING:
    import polars as pl

    from incrowd.methods.base import Outcome
    from incrowd.table import Column
    from incrowd.table.elsewhere import RowsElsewhere

GROUP = "grp"
Heading = tuple[str, tuple[str | None, ...], Literal["text", "whole", "date"]]


@dataclass(frozen=True)
class TextCodes:
    """A published column: how its texts' codes follow from a column of the engine."""

    source: str
    """A column of codes, or the group."""
    keys: IntArray
    shown: Recoded
    """For each of the keys the code of its text."""


@dataclass(frozen=True, repr=False)
class OutsideRows(Unshared, ShownRows):
    """The rows of a published table that the engine sorts and gives out piece by piece.

    `columns` have texts but no codes; `times` holds their number alone.
    """

    groups: SqlGroups
    told: tuple[TextCodes, ...]

    def pieces(self) -> Iterator[pl.DataFrame]:
        """The rows as texts of enumerated columns, some rows at a time."""
        with self.query() as query:
            listed = ", ".join(self.keys)
            for piece in self.groups.rows.engine.in_pieces(f"{query} ORDER BY {listed}"):
                columns = [piece[key] for key in self.keys]
                yield from shown(self.headings, columns, piece["n"]).pieces()

    def escaped(self) -> OutsideRows:
        """The same rows for a CSV file that no spreadsheet runs, sorted by what it shows."""
        told = []
        for each in self.told:
            texts, rank = escaped_texts(each.shown.texts)
            name, lookup = escaped(each.shown.name), rank[each.shown.lookup]
            told.append(
                replace(each, shown=replace(each.shown, name=name, texts=texts, lookup=lookup))
            )
        return outside_rows(self.groups, told, self.rows)

    @property
    def keys(self) -> list[str]:
        """The columns of the query, in the order in which they are published."""
        return [f"s{number}" for number in range(len(self.told))]

    @property
    def headings(self) -> list[Heading]:
        """The name, the texts and the type of every column."""
        return [(column.name, column.texts, column.kind) for column in self.columns]

    @contextmanager
    def query(self) -> Iterator[str]:
        """SQL, for the queries of one block: codes of texts by the `keys`, and records `n`."""
        engine = self.groups.rows.engine
        listed = ", ".join(self.keys)
        with ExitStack() as stack:
            source = stack.enter_context(self.groups.published())
            joins = []
            for name in dict.fromkeys(each.source for each in self.told):
                # One join for all that follows from one column: each takes memory of its own.
                columns: dict[str, IntArray] = {}
                for key, each in zip(self.keys, self.told, strict=True):
                    if each.source == name:
                        columns["from_code"] = each.keys
                        columns[key] = each.shown.codes().astype(np.int64)
                lent = stack.enter_context(engine.lent(columns))
                joins.append(f"JOIN {lent} ON r.{name} = {lent}.from_code")
            yield (
                f"SELECT {listed}, CAST(sum(n) AS BIGINT) AS n FROM (SELECT {listed}, r.n "
                f"FROM {source} r {' '.join(joins)}) GROUP BY {listed}"
            )


def shown(headings: Sequence[Heading], columns: Sequence[IntArray], times: IntArray) -> ShownRows:
    """Rows from the codes of their texts, and how often each is published."""
    return ShownRows(
        tuple(
            ShownColumn(name, texts, codes.astype(np.uint32), kind)
            for (name, texts, kind), codes in zip(headings, columns, strict=True)
        ),
        times.astype(np.int64),
    )


def outside_rows(groups: SqlGroups, told: Sequence[TextCodes], records: int) -> OutsideRows:
    """The rows of some columns, sorted by what they show."""
    none = np.zeros(0, dtype=np.uint8)
    columns = tuple(
        ShownColumn(each.shown.name, each.shown.texts, none, each.shown.kind) for each in told
    )
    return OutsideRows(columns, np.array([records], dtype=np.int64), groups, tuple(told))


def outside_tables(publish: str, table: RowsElsewhere, outcome: Outcome) -> dict[str, ShownRows]:
    """The published tables by the name of their file, as `published_tables` gives them."""
    groups, records = outcome.group_of_record, int(outcome.group_sizes.sum())
    assert isinstance(groups, SqlGroups)
    many = len(outcome.group_sizes)
    if publish == "generalized":
        told = [
            _labels(column, outcome) if column.role == "quasi" else _as_is(table, column)
            for column in table.columns
        ]
        return {"data": outside_rows(groups, told, records)}
    apart = [_as_is(table, column) for column in table.columns if column.role != "sensitive"]
    sensitive = table.of_role("sensitive")
    if publish == "lossy-join":
        refuse_taken_name(table)
        number = _number(CLASS, many)
        values = [_as_is(table, column) for column in sensitive]
        return {
            "nss": outside_rows(groups, [*apart, number], records),
            "ss": outside_rows(groups, [number, *values], records),
        }
    refuse_taken_names(table)
    tables: dict[str, ShownRows] = {
        "qit": outside_rows(groups, [*apart, _number(GROUP_ID, many)], records)
    }
    for column in sensitive:
        found = groups.histograms(column.name, many)
        group = np.repeat(np.arange(many), np.diff(found.offsets))
        codes = table.lookup(column.name)[found.codes]
        tables[f"st_{file_name(column.name)}"] = sensitive_table(
            column, group, codes, found.counts, many
        )
    return tables


def _labels(column: Column, outcome: Outcome) -> TextCodes:
    """A quasi-identifier, as its groups show it."""
    group = np.arange(len(outcome.group_sizes))
    return TextCodes(GROUP, group, labelled(column.name, outcome.labels[column.name], group))


def _as_is(table: RowsElsewhere, column: Column) -> TextCodes:
    """A column that is published untouched."""
    name = table.home.sql_name(column.name)
    return TextCodes(name, table.codes[column.name], shown_as_is(column, column.codes))


def _number(name: str, many: int) -> TextCodes:
    """The number of the group, from 1."""
    group = np.arange(many)
    return TextCodes(GROUP, group, numbers_shown(name, group + 1, many))
