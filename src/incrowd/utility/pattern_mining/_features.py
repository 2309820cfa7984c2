"""What a tree may split an attribute by, raw or published, and the condition that each side is.

Every label stands for runs of positions (see `incrowd.query`), so ranges, sets, `*`, masks and
labels of hierarchies with given values are all understood. Where labels lie is kept as ranks, which
a tree splits as it would split the numbers, without their rounding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import FloatArray, IntArray
from incrowd.query.meanings import LabelColumn
from incrowd.query.published_columns import Reading, read_column
from incrowd.query.wanted import FURTHEST, NumberAxis, TextAxis, Wanted
from incrowd.table.coding import format_date, format_number
from incrowd.utility.pattern_mining._rules import RuleCondition, chances, shares, surely

Ranks = npt.NDArray[np.float32]

MOST_SETS = 200
"""Of one attribute, the most frequent values and sets that a tree may split by."""


@dataclass(frozen=True)
class CodedLabels:
    """A column of records: its labels, and for each record the code of its label.

    The code after the last label is that of a missing cell.
    """

    column: LabelColumn
    codes: IntArray

    @property
    def name(self) -> str:
        """The name of the attribute."""
        return self.column.name

    @cached_property
    def reading(self) -> Reading:
        """What the labels stand for; read once."""
        return read_column(self.column)

    def chances(self, conditions: Sequence[RuleCondition]) -> FloatArray:
        """For each label the chance that it satisfies all conditions, see `chances`."""
        return chances(self.column, conditions, self.reading)


@dataclass(frozen=True)
class Feature:
    """A number for each label by which a tree may split, and what the two sides of a split say.

    `low` is the rank of the least value that a label may stand for: labels on the right surely lie
    at or above the bound. `high` is that of the end of a label: those on the left surely lie below.
    `inside` is 1 where all values of a label are in a set, `touches` where any is.
    """

    attribute: str
    kind: Literal["low", "high", "inside", "touches"]
    by_label: Ranks
    bound: Callable[[int], str] | None = None
    values: tuple[str, ...] = ()
    label: str | None = None
    crisp: bool = False
    """Whether no label may lie on both sides of a split."""

    def sides(self, left_most: float, right_least: float) -> tuple[RuleCondition, RuleCondition]:
        """What records on the left and on the right satisfy, given the numbers next to the split.

        A side is sure where the other side's labels are all that may lie elsewhere.
        """
        name = self.attribute
        if self.bound is not None:
            low = self.kind == "low"
            at = (self.bound(int(right_least if low else left_most)),)
            return (
                RuleCondition(name, "<", at, sure=not low),
                RuleCondition(name, ">=", at, sure=low),
            )
        inside = self.kind == "inside"
        return (
            RuleCondition(name, "not in", self.values, self.label, not inside),
            RuleCondition(name, "in", self.values, self.label, inside),
        )


def features_of(attribute: CodedLabels, fewest: int) -> list[Feature]:
    """The features of an attribute that part off at least `fewest` records on both sides.

    Notes
    -----
    O(records + labels) for numbers and dates, O(records + sets x labels) for others, of which the
    200 most frequent values and sets are tried.
    """
    reading = attribute.reading
    counts = np.bincount(attribute.codes, minlength=len(attribute.column.labels) + 1)
    if isinstance(reading.axis, NumberAxis):
        found = [*_bounds(attribute, reading, reading.axis), *_missing(attribute, reading)]
    else:
        found = list(_sets(attribute, reading, reading.axis, counts, fewest))
    found += _unreadable(attribute, reading, counts)
    return _useful(found, counts, fewest)


def _bounds(attribute: CodedLabels, reading: Reading, axis: NumberAxis) -> Iterable[Feature]:
    """The ranks of the least values of labels, and of their ends unless they rank alike."""
    cells = reading.cells
    labels = len(cells.weight)
    low, high = np.full(labels, FURTHEST), np.full(labels, -FURTHEST)
    of_run = np.repeat(np.arange(labels), np.diff(cells.offsets))
    np.minimum.at(low, of_run, cells.low)
    np.maximum.at(high, of_run, cells.high)
    # Of a missing cell, or a label that cannot be read, nothing is sure; it is never a bound.
    unknown = (low > high) | cells.missing.astype(bool)
    low[unknown], high[unknown] = -FURTHEST, FURTHEST
    lows, low_rank = np.unique(low, return_inverse=True)
    highs, high_rank = np.unique(high, return_inverse=True)

    def text(position: int) -> str:
        return format_date(position) if axis.dates else format_number(position, axis.decimals)

    yield Feature(
        attribute.name, "low", low_rank.astype(np.float32), lambda rank: text(int(lows[rank]))
    )
    if not np.array_equal(low_rank, high_rank):
        yield Feature(
            attribute.name,
            "high",
            high_rank.astype(np.float32),
            lambda rank: text(int(highs[rank])),
        )


def _missing(attribute: CodedLabels, reading: Reading) -> Iterable[Feature]:
    """Whether the cell of a number or date is missing, or may be."""
    yield from _both(attribute.name, reading, Wanted.of([], missing=True), ("",), None)


def _sets(
    attribute: CodedLabels, reading: Reading, axis: TextAxis, counts: IntArray, fewest: int
) -> Iterable[Feature]:
    """The sets that labels stand for, and the single values of those that have several."""
    cells, column = reading.cells, attribute.column
    texts = {position: text for text, position in axis.positions.items()}
    weighed: Counter[frozenset[str]] = Counter()
    called: dict[frozenset[str], str] = {}
    for code in np.flatnonzero(counts).tolist():
        if cells.unreadable[code] or code in cells.vague:
            continue
        runs = slice(cells.offsets[code], cells.offsets[code + 1])
        members = [
            texts[position]
            for low, high in zip(cells.low[runs].tolist(), cells.high[runs].tolist(), strict=True)
            for position in range(low, high)
        ]
        if cells.missing[code]:
            members.append("")
        for part in {frozenset(members), *(frozenset([member]) for member in members)}:
            weighed[part] += int(counts[code])
        if code < len(column.labels) and column.labels[code] in column.writing.general:
            called[frozenset(members)] = column.labels[code]
    # A set touches at most as many records as its values do.
    able = [
        part for part in weighed if sum(weighed[frozenset([member])] for member in part) >= fewest
    ]
    able.sort(key=lambda part: (-weighed[part], sorted(part)))
    for part in able[:MOST_SETS]:
        at = [axis.positions[text] for text in part if text]
        wanted = Wanted.of(((place, place + 1) for place in at), missing="" in part)
        yield from _both(attribute.name, reading, wanted, tuple(sorted(part)), called.get(part))


def _both(
    name: str, reading: Reading, wanted: Wanted, values: tuple[str, ...], label: str | None
) -> Iterable[Feature]:
    """Whether all values of a label are wanted, and whether any is."""
    chance = shares(reading, wanted)
    label = None if label == "*" else label
    inside, touches = surely(chance).astype(np.float32), (chance > 0).astype(np.float32)
    crisp = np.array_equal(inside, touches)
    yield Feature(name, "inside", inside, None, values, label, crisp)
    yield Feature(name, "touches", touches, None, values, label, crisp)


def _unreadable(attribute: CodedLabels, reading: Reading, counts: IntArray) -> list[Feature]:
    """Labels of a hierarchy whose values are not given, each as itself."""
    codes = np.flatnonzero(reading.cells.unreadable)
    most = codes[np.argsort(-counts[codes], kind="stable")][:MOST_SETS]
    found = []
    for code in most.tolist():
        by_label = np.zeros(len(counts), dtype=np.float32)
        by_label[code] = 1
        label = attribute.column.labels[code]
        found.append(Feature(attribute.name, "inside", by_label, None, (), label))
    return found


def _useful(found: Iterable[Feature], counts: IntArray, fewest: int) -> list[Feature]:
    """Those that part off enough records, each way to part them once, the surest word first."""
    seen: set[bytes] = set()
    result = []
    held = counts > 0
    weights = counts[held]
    for feature in sorted(found, key=lambda each: not each.crisp):
        numbers = feature.by_label[held].astype(np.int64)
        below = np.cumsum(np.bincount(numbers, weights=weights))[:-1]
        if not ((below >= fewest) & (below <= weights.sum() - fewest)).any():
            continue
        if feature.bound is None:
            inside = numbers.astype(np.bool_)
            if inside.tobytes() in seen or (~inside).tobytes() in seen:
                continue
            seen.add(inside.tobytes())
        result.append(feature)
    return result
