"""The distribution that a release lets expect, at the points that the original has.

A row of labels spreads the records that show it evenly over the points of its box: all combinations
of values that its labels may stand for. Boxes may overlap, so a point gets its share of every row
that covers it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from incrowd._runtime.arrays import FloatArray, IntArray
from incrowd._runtime.compiling import compiled
from incrowd._runtime.manifests import ManifestEntry
from incrowd.attacks.compatibility import SharedAttribute, compatible_pairs
from incrowd.attacks.known_values import KnownValues, iso_dates
from incrowd.attacks.label_meanings import LabelCoverage, read_labels
from incrowd.labels import LabelWriting, Meaning, cell_weights
from incrowd.published.parts import Parts
from incrowd.query.cells import refuse_unreadable_labels
from incrowd.table import Column
from incrowd.table.coding import code_column
from incrowd.table.packing import distinct_rows


@dataclass(frozen=True)
class Points:
    """The distinct rows of the original: of quasi-identifiers, and of these with sensitive values.

    Row i of the quasi-identifiers has the points from `begin[i]` to before `begin[i + 1]`;
    `counts[p]` records are at point p.
    """

    quasi: tuple[KnownValues, ...]
    sensitive: tuple[KnownValues, ...]
    record_of_row: IntArray
    begin: IntArray
    record_of_point: IntArray
    counts: IntArray


class _AsWritten(KnownValues):
    """Values that are text: 1 and 1.0 are two of them."""

    def _canonical(self, text: str) -> str:
        return text


def known_values(series: pl.Series, entry: ManifestEntry) -> KnownValues:
    """A column of the original, its values written as the release writes them."""
    kind, written = entry.get("type"), entry.get("format")
    if kind == "date" and written is not None and series.dtype == pl.String:
        column = code_column(series, role="quasi", kind="date", date_format=str(written))
        series = pl.Series(series.name, [*column.values, None], dtype=pl.String)[
            column.codes.astype(np.int64)
        ]
    elif kind == "date":
        series = iso_dates(series)
    if kind in ("numeric", "date"):
        return KnownValues(series, declared_numeric=kind == "numeric")
    return _AsWritten(series)


def points_of(quasi: Sequence[KnownValues], sensitive: Sequence[KnownValues]) -> Points:
    """The distinct rows of a table whose columns these are."""
    records = len(quasi[0].people)
    row, first = distinct_rows(
        [each.people for each in quasi], [each.cardinality for each in quasi], records
    )
    point, chosen = distinct_rows(
        [row, *(each.people for each in sensitive)],
        [len(first), *(each.cardinality for each in sensitive)],
        records,
    )
    begin = np.searchsorted(row[chosen], np.arange(len(first) + 1))
    counts = np.bincount(point).astype(np.int64)
    return Points(tuple(quasi), tuple(sensitive), first, begin, chosen, counts)


def log_expected(
    parts: Parts,
    points: Points,
    meanings: Mapping[str, Meaning],
    entries: Mapping[str, ManifestEntry],
) -> FloatArray:
    """For each point the logarithm of how many published records are expected there.

    `entries` are those of the quasi-identifiers in the order of `points`. Minus infinity where no
    row of the release covers a point.

    Notes
    -----
    Rows of labels and rows of the original are matched attribute by attribute, and only pairs that
    match so far are kept: see `compatible_pairs`. Then every pair adds to the points of its row, in
    logarithms, for a box may have more points than a float can count.
    """
    columns = [parts.columns[name] for name in entries]
    row_of_record, record = parts.distinct_rows(columns)
    shared, log_mass = [], np.log(np.bincount(row_of_record))
    for (name, entry), column, values in zip(entries.items(), columns, points.quasi, strict=True):
        coverage, weights = _read(entry, column, values, meanings.get(name))
        labels = column.codes[record].astype(np.int64)
        log_mass -= np.log(weights)[labels]
        people = values.people[points.record_of_row]
        shared.append(SharedAttribute(people, values.cardinality, labels, coverage))
    shares = _shares(parts, points)
    highest = np.full(len(points.counts), -np.inf)
    total = np.zeros(len(points.counts))
    for pairs in compatible_pairs(shared, len(points.record_of_row)):
        _spread(
            pairs.people, pairs.offsets, pairs.rows, points.begin,
            parts.group[record], log_mass, shares, highest, total,
        )  # fmt: skip
    with np.errstate(divide="ignore"):
        result: FloatArray = np.where(total > 0, highest + np.log(total), -np.inf)
    return result


def _read(
    entry: ManifestEntry, column: Column, values: KnownValues, meaning: Meaning | None
) -> tuple[LabelCoverage, FloatArray]:
    """Which values of the original each label covers, and how many of the domain."""
    labels: list[str | None] = [*column.values, None]
    writing = LabelWriting.of(entry, meaning)
    coverage = read_labels(labels, values, writing)
    if writing.exact:
        return coverage, np.ones(len(labels))
    refuse_unreadable_labels(coverage.unreadable, column.name)
    return coverage, cell_weights(labels, entry)


class _LogShares(NamedTuple):
    """The logarithm of the share of each value in its group, table by table, and what points ask.

    A table holds one code for all its attributes together. `asked[p, t]` is the code of point p in
    table t; the codes of group g in table t are those from `begin[t, g]` on, ascending.
    """

    asked: IntArray
    begin: IntArray
    code: IntArray
    log_share: FloatArray


def _shares(parts: Parts, points: Points) -> _LogShares:
    names = parts.of_role("sensitive")
    groups = len(parts.group_sizes)
    asked, begins, codes, logs = [], [], [np.zeros(0, np.int64)], [np.zeros(0)]
    before = 0
    for columns, group, held in _tables(parts, names):
        ours = [points.sensitive[names.index(name)] for name in columns]
        theirs = [_codes(column, each) for column, each in zip(columns.values(), ours, strict=True)]
        joint, _ = distinct_rows(
            [
                np.concatenate((each.people[points.record_of_point], code))
                for each, code in zip(ours, theirs, strict=True)
            ],
            [each.cardinality + 1 for each in ours],
            len(points.counts) + len(group),
        )
        asked.append(joint[: len(points.counts)].astype(np.int64))
        code = joint[len(points.counts) :].astype(np.int64)
        entry, first = distinct_rows([group, code], [groups, int(joint.max()) + 1], len(group))
        counts = np.bincount(entry, weights=held)
        begins.append(before + np.searchsorted(group[first], np.arange(groups + 1)))
        codes.append(code[first])
        logs.append(np.log(counts) - np.log(parts.group_sizes[group[first]]))
        before += len(first)
    return _LogShares(
        np.array(asked, dtype=np.int64).reshape(len(asked), len(points.counts)).T.copy(),
        np.array(begins, dtype=np.int64).reshape(len(begins), groups + 1),
        np.concatenate(codes),
        np.concatenate(logs),
    )


def _tables(
    parts: Parts, names: Sequence[str]
) -> list[tuple[Mapping[str, Column], IntArray, IntArray]]:
    """The tables that hold sensitive values: their columns, groups, and counts of their rows."""
    if parts.kind != "generalized":
        return [(table.columns, table.group, table.counts) for table in parts.apart]
    if not names:
        return []
    ones = np.ones(parts.records, dtype=np.int64)
    return [({name: parts.columns[name] for name in names}, parts.group, ones)]


def _codes(column: Column, values: KnownValues) -> IntArray:
    """The published values as codes of the original; one code more for what it lacks."""
    lookup = [
        low if low < high else values.cardinality
        for low, high in (*map(values.equal_to, column.values), values.missing)
    ]
    return np.array(lookup, dtype=np.int64)[column.codes]


@compiled
def _spread(
    people: IntArray, offsets: IntArray, rows: IntArray, point_begin: IntArray,
    group_of_row: IntArray, log_mass: FloatArray, shares: _LogShares, highest: FloatArray,
    total: FloatArray,
) -> None:  # fmt: skip
    """Add what every row gives to the points of the people it covers.

    A point holds exp(highest) * total so far.
    """
    asked, share_begin, share_code, log_share = shares
    for at in range(len(people)):
        person = people[at]
        for place in range(offsets[at], offsets[at + 1]):
            row = rows[place]
            group = group_of_row[row]
            for point in range(point_begin[person], point_begin[person + 1]):
                given = log_mass[row]
                found = True
                for table in range(asked.shape[1]):
                    code = asked[point, table]
                    low, high = share_begin[table, group], share_begin[table, group + 1]
                    while low < high:
                        middle = (low + high) // 2
                        if share_code[middle] < code:
                            low = middle + 1
                        else:
                            high = middle
                    if low == share_begin[table, group + 1] or share_code[low] != code:
                        found = False
                        break
                    given += log_share[low]
                if not found:
                    continue
                if given > highest[point]:
                    total[point] = total[point] * np.exp(highest[point] - given) + 1.0
                    highest[point] = given
                else:
                    total[point] += np.exp(given - highest[point])
