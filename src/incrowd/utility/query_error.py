"""Query error: how far counts from a release are off, over many random queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd._runtime.arrays import FloatArray, IntArray
from incrowd._runtime.plain_fields import plain_fields
from incrowd._runtime.progress import Progress, silent
from incrowd.errors import InputError, ParameterError
from incrowd.policy.units import one_counted
from incrowd.published.parts import Parts, open_parts
from incrowd.query.estimates import known_meanings, published_column
from incrowd.query.published_columns import Reading, read_column

if TYPE_CHECKING:
    from incrowd.labels import Meaning
    from incrowd.published.opened import ReleaseLike
    from incrowd.query.loops import LabelRuns, ReleasedRows, SensitiveCounts
    from incrowd.sources import SourceLike
    from incrowd.utility._drawn_queries import Drawable, Questions

_FEW = 100
"""Queries that fewer than one in so many records satisfy are told apart from the others."""
_AT_ONCE = 1024
_NOWHERE = -(1 << 62)


@dataclass(frozen=True)
class Band:
    """Some of the queries, with the average and the median of their relative errors."""

    queries: int
    average: float | None
    median: float | None


@dataclass(frozen=True)
class QueryError:
    """The relative error of random counts from a release; see `query_error`."""

    all: Band
    few: Band
    """Queries that fewer than 1 % of the records of the original satisfy."""
    many: Band
    """Queries that 1 % of them or more satisfy."""
    seed: int
    records: int
    """How many records the original has."""

    def as_dict(self) -> dict[str, Any]:
        """The metric for JSON."""
        return plain_fields(self, names={"few": "below_1_percent", "many": "from_1_percent"})


def query_error(
    release: ReleaseLike | str | Path,
    original: SourceLike,
    *,
    queries: int = 8800,
    seed: int = 0,
    equality: float = 0.0,
    hierarchies: Mapping[str, Meaning] | None = None,
    progress: Progress = silent,
) -> QueryError:
    """The average relative error of random counts from a release, |estimate - true| / true.

    Parameters
    ----------
    release
        A release of any kind, or the folder of one.
    original
        The table it was made from, as a path or frame. True counts are over all its records, the
        suppressed ones included.
    queries
        How many different queries; fewer are asked where there are no more.
    seed
        The same original, roles and seed give the same queries, whatever the release.
    equality
        The share of conditions on numbers and dates that ask for one value instead of a range.
    hierarchies
        For an attribute, the values under each label of its hierarchy, as for
        `incrowd.query.query`; needed where labels do not say themselves what they stand for.

    Notes
    -----
    A query counts the records that satisfy 1 to 4 conditions (uniform) on different attributes:
    one on a sensitive attribute, the others on quasi-identifiers; all on quasi-identifiers where
    nothing is sensitive. A condition on numbers or dates is a range between two values, on others
    it asks for one value. Each value is that of a record drawn at random. Queries that no
    record satisfies are drawn again, for they have no relative error. Missing cells satisfy no
    condition. The analyst is taken to know which values an attribute has: `*` stands for those of
    the original. The estimate is that of `incrowd.query.query`. Of patients with several rows,
    patients are counted, by the columns that are theirs.

    O(queries x records) at worst; groups without a value that was asked for are skipped.

    References
    ----------
    Gal, Chen, Gangopadhyay (2008), A privacy protection model for patient data with multiple
    sensitive attributes, section Metrics: 8,800 different queries, also told apart by whether 1 %
    of the patients satisfy them. Which conditions are equalities and how values are drawn is not
    said there.
    """
    from incrowd.utility._drawn_queries import draw

    _refuse_bad_numbers(queries, seed)
    if not 0 <= equality <= 1:
        raise ParameterError("equality: must be a share from 0 to 1.")
    parts = open_parts(release)
    given = known_meanings(parts.entries, hierarchies)
    sensitive, quasi, records = _drawables(parts, original)
    asked = draw(
        sensitive,
        quasi,
        queries=queries,
        seed=seed,
        equality=equality,
        progress=lambda done: progress("drawing queries", done, queries),
    )
    if not len(asked.true):
        raise InputError("No query has a record that satisfies it; is the original all missing?")
    estimated = expected(parts, asked, with_values(given, asked), progress)
    error = np.abs(estimated - asked.true) / asked.true
    few = asked.true * _FEW < records
    return QueryError(_band(error), _band(error[few]), _band(error[~few]), seed, records)


def with_values(given: Mapping[str, Meaning], asked: Questions) -> dict[str, Meaning]:
    """The meanings of labels, and for `*` the values of the original, missing among them."""
    found: dict[str, Meaning] = dict(given)
    for each in (*asked.sensitive, *asked.quasi):
        column = each.column
        values = [*column.values, *([""] if column.missing else [])]
        found[column.name] = {**given.get(column.name, {}), "*": values}
    return found


def expected(
    parts: Parts, asked: Questions, meanings: Mapping[str, Meaning], progress: Progress = silent
) -> FloatArray:
    """What a release lets expect for each query, the same as `incrowd.query.query` one by one."""
    from incrowd.query.loops import Conditions, expected_counts, shared

    readings = [
        _reading(parts, each, meanings[each.column.name])
        for each in (*asked.sensitive, *asked.quasi)
    ]
    first_quasi = len(asked.sensitive)
    low, high = _positions(asked, readings)
    values, first_value, last_value = _values(parts, asked, readings, low, high)
    attribute = asked.attribute.copy()
    attribute[:, 1:] = np.where(attribute[:, 1:] >= 0, attribute[:, 1:] - first_quasi, -1)
    questions = Conditions(attribute, low, high, first_value, last_value)
    rows = _rows(parts, [each.column.name for each in asked.quasi])
    labels = _labels(readings[first_quasi:])
    found = np.zeros(len(attribute))
    for begin in range(0, len(found), _AT_ONCE):
        progress("asking the release", begin, len(found))
        part = slice(begin, begin + _AT_ONCE)
        some, out = Conditions(*(each[part] for each in questions)), found[part]

        def work(run: slice, some: Conditions = some, out: FloatArray = out) -> None:
            ours = Conditions(*(each[run] for each in some))
            expected_counts(ours, values, rows, labels, out[run])

        shared(len(out), work)
    return found


def _refuse_bad_numbers(queries: object, seed: object) -> None:
    for name, number, least in (("queries", queries, 1), ("seed", seed, 0)):
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise ParameterError(f"{name}: must be a whole number of at least {least}.")


def _drawables(parts: Parts, original: SourceLike) -> tuple[list[Drawable], list[Drawable], int]:
    """The columns of the original to ask about, in its order, and how many records it has."""
    from incrowd.sources import describe
    from incrowd.utility._drawn_queries import drawable
    from incrowd.utility.original import read_original

    roles = {name: str(parts.entries[name]["role"]) for name in parts.of_role("sensitive", "quasi")}
    frame = read_original(original, list(roles), parts)
    _refuse_other_table(parts, frame.height, describe(original))
    found = {
        name: drawable(frame[name], str(parts.entries[name].get("type")))
        for name in frame.columns
        if name in roles
    }
    found = {name: each for name, each in found.items() if each.column.values}
    sensitive = [each for name, each in found.items() if roles[name] == "sensitive"]
    quasi = [each for name, each in found.items() if roles[name] == "quasi"]
    if not found:
        raise InputError(f"{describe(original)}: all cells to ask about are missing.")
    return sensitive, quasi, frame.height


def _refuse_other_table(parts: Parts, records: int, name: str) -> None:
    """Refuse an original with another number of records than the release was made from."""
    counts = parts.manifest.get("records")
    stated = counts.get("source") if isinstance(counts, Mapping) else None
    if records != stated:
        told = f"{stated:,}" if isinstance(stated, int) else "no number of them"
        raise InputError(
            f"{name} has {records:,} {one_counted(parts.manifest)}s, but the manifest of the "
            f"release states {told}. Give the table that the release was made from."
        )


def _reading(parts: Parts, each: Drawable, meaning: Meaning) -> Reading:
    """What the labels of an attribute mean; text stands in the order of the original's values."""
    name = each.column.name
    found = read_column(published_column(parts, name, meaning), order=each.column.values)
    found.cells.refuse_unreadable()
    return found


def _positions(asked: Questions, readings: list[Reading]) -> tuple[IntArray, IntArray]:
    """Where on the axes of the attributes the conditions begin and end."""
    from incrowd.query.wanted import NumberAxis

    low, high = asked.low.copy(), asked.high.copy()
    for a, each in enumerate((*asked.sensitive, *asked.quasi)):
        axis, column = readings[a].axis, each.column
        if isinstance(axis, NumberAxis) and column.numbers is not None:
            at = asked.attribute == a
            steps = column.numbers * 10 ** (axis.decimals - column.decimals)
            low[at] = steps[asked.low[at]]
            high[at] = steps[asked.high[at] - 1] + 1
    return low, high


def _rows(parts: Parts, quasi: list[str]) -> ReleasedRows:
    """The distinct rows, and the rows of each label of each attribute."""
    from incrowd.query.loops import ReleasedRows

    columns = [parts.columns[name] for name in quasi]
    number, first = parts.distinct_rows(columns)
    labels = np.zeros((len(first), len(columns)), dtype=np.int32)
    rows_of, begins = [np.zeros(0, np.int64)], [np.zeros(1, np.int64)]
    for at, column in enumerate(columns):
        labels[:, at] = column.codes[first]
        rows_of.append(np.argsort(labels[:, at], kind="stable"))
        held = np.bincount(labels[:, at], minlength=len(column.values) + 1)
        begins.append(at * len(first) + np.cumsum(held))
    times = np.bincount(number, minlength=len(first)).astype(np.float64)
    return ReleasedRows(
        parts.group[first], times, labels, np.concatenate(rows_of), np.concatenate(begins)
    )


def _labels(quasi: list[Reading]) -> LabelRuns:
    """Where the labels of each attribute begin, their runs, and how many values each covers."""
    from incrowd.query.loops import LabelRuns

    cells = [each.cells for each in quasi]
    starts = np.cumsum([0, *(len(each.weight) for each in cells)])
    before = np.cumsum([0, *(len(each.low) for each in cells)])
    runs = [each.offsets[:-1] + at for each, at in zip(cells, before, strict=False)]
    runs.append(before[-1:])
    empty = np.zeros(0, dtype=np.int64)
    return LabelRuns(
        starts.astype(np.int64),
        np.concatenate(runs).astype(np.int64),
        np.concatenate([empty, *(each.low for each in cells)]),
        np.concatenate([empty, *(each.high for each in cells)]),
        np.concatenate([empty, *(each.weight for each in cells)]),
    )


def _values(
    parts: Parts, asked: Questions, readings: list[Reading], low: IntArray, high: IntArray
) -> tuple[SensitiveCounts, IntArray, IntArray]:
    """The sensitive values of groups, and which of them each query asks for.

    Those of one attribute stand together in the order of its axis, so that every query asks for
    the values from one place to another.
    """
    from incrowd.query.loops import SensitiveCounts

    groups, counts, before = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], 0
    first, last = (np.zeros(len(asked.attribute), dtype=np.int64) for _ in range(2))
    for at, each in enumerate(asked.sensitive):
        group, column, held = _standing(parts, each.column.name)
        cells = readings[at].cells
        # A label that is a value covers one position; a missing cell is nowhere.
        position = np.full(len(cells.weight), _NOWHERE, dtype=np.int64)
        position[: len(column.values)] = cells.low
        position = position[column.codes]
        order = np.argsort(position, kind="stable")
        groups.append(group[order])
        counts.append(held[order])
        of_query = asked.attribute[:, 0] == at
        first[of_query] = before + np.searchsorted(position[order], low[of_query, 0])
        last[of_query] = before + np.searchsorted(position[order], high[of_query, 0])
        before += len(order)
    values = SensitiveCounts(parts.group_sizes, np.concatenate(groups), np.concatenate(counts))
    return values, first, last


def _standing(parts: Parts, name: str) -> tuple[IntArray, Any, IntArray]:
    """The table that holds a sensitive attribute: groups, the column, and counts of its rows."""
    for apart in parts.apart:
        if name in apart.columns:
            return apart.group, apart.columns[name], apart.counts
    return parts.group, parts.columns[name], np.ones(parts.records, dtype=np.int64)


def _band(error: FloatArray) -> Band:
    if not len(error):
        return Band(0, None, None)
    return Band(len(error), float(error.mean()), float(np.median(error)))
