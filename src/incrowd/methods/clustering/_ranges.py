"""Ranges that all groups share, so that no two of them overlap in part.

Every attribute of numbers or dates gets one row of ranges: first each value by itself, then
neighbours are joined until every combination of ranges, a cell, satisfies the models. Groups show
whole ranges, hence the ranges of two groups are equal or disjoint. Other attributes are clustered
within the cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd.methods.base import Task
from incrowd.methods.clustering._axes import Axes, spans_of
from incrowd.methods.clustering._costs import Boxes
from incrowd.methods.clustering._members import DistinctRows
from incrowd.methods.clustering._pricing import Pricing
from incrowd.table.packing import distinct_rows

_JOINED_AT_ONCE = 0.05
"""The share of the gaps between ranges that may be closed in one step."""
_INDIRECT = 1e-3
"""What a join is worth to failing records that it does not bring together with others."""
_TRIED_AGAIN = 400
"""How many closed gaps are tried once more at the end."""


@dataclass
class _Ranges:
    """The ranges of one attribute: `of_code[code]`, with their first and last codes."""

    attribute: int
    records: IntArray
    axes: Axes
    first: IntArray
    last: IntArray
    rate: float = 0.0
    bend: float = 0.0
    apart: Sequence[tuple[int, int, float]] = ()

    @property
    def of_code(self) -> IntArray:
        """The range of every code."""
        return np.repeat(np.arange(len(self.first)), self.last - self.first + 1)

    def spanned(self, first: IntArray, last: IntArray) -> FloatArray:
        """What the labels of some ranges span, summed over their records."""
        running = np.concatenate(([0], np.cumsum(self.records)))
        low = np.zeros((len(first), len(self.axes.whole)), dtype=np.int32)
        high = low.copy()
        low[:, self.attribute], high[:, self.attribute] = first, last
        spans = spans_of(self.axes, low, high)[:, self.attribute]
        spanned: FloatArray = spans * (running[last + 1] - running[first])
        return spanned

    def broken(self, first: IntArray, last: IntArray) -> FloatArray:
        """The price of the rules that some ranges break."""
        price = np.zeros(len(first))
        for below, above, each in self.apart:
            price += np.where((first <= below) & (above <= last), each, 0.0)
        return price

    def priced(self, more: FloatArray) -> FloatArray:
        """What it costs to span so many values more."""
        return self.rate * more / (1.0 + self.bend * more)

    def joining(self) -> FloatArray:
        """What it costs to join each range with the next."""
        each = self.spanned(self.first, self.last)
        broken = self.broken(self.first, self.last)
        ends = (self.first[:-1], self.last[1:])
        more = np.maximum(self.spanned(*ends) - each[:-1] - each[1:], 0.0)
        rules = np.maximum(self.broken(*ends) - broken[:-1] - broken[1:], 0.0)
        return self.priced(more) + rules

    def join(self, gaps: IntArray) -> None:
        """Join ranges with those after them."""
        self.first = np.delete(self.first, gaps + 1)
        self.last = np.delete(self.last, gaps)

    def cut(self, code: int) -> tuple[IntArray, IntArray]:
        """The ranges with one more, which begins at a code."""
        at = int(np.searchsorted(self.first, code))
        return np.insert(self.first, at, code), np.insert(self.last, at - 1, code - 1)

    def gains(self) -> tuple[IntArray, FloatArray]:
        """The codes within ranges at which a range might begin, and what that would save."""
        code = np.setdiff1d(np.arange(len(self.records)), self.first)
        own = self.of_code[code]
        parts = ((self.first[own], code - 1), (code, self.last[own]))
        less = self.spanned(self.first, self.last)[own]
        rules = self.broken(self.first, self.last)[own]
        for part in parts:
            less = less - self.spanned(*part)
            rules = rules - self.broken(*part)
        return code, self.rate * less + rules


def shared_ranges(
    task: Task, members: DistinctRows, axes: Axes, pricing: Pricing, chosen: IntArray, least: int
) -> tuple[IntArray, IntArray]:
    """For each distinct row, the first and last codes of its ranges of the chosen attributes.

    Every cell satisfies the models and has at least so many records. Ranges are joined where that
    costs least for the failing records which come together with others by it; in the end gaps
    that were closed in vain are opened again.

    Notes
    -----
    O(d c log c) a step for c distinct rows and d attributes; the steps are about 20 times the
    logarithm of the number of values, and at most 400 at the end.
    """
    rows = members.codes[:, chosen].astype(np.int64)
    ranges = [_begin(members, axes, int(a)) for a in chosen]
    while True:
        cells, cell = _cells(rows, ranges)
        held = _held(task, members, cell, least)
        task.progress("joining ranges", int(held.sum()), len(held))
        _price(ranges, members, axes, pricing)
        if held.all():
            break
        sizes = np.bincount(cell, weights=members.records).astype(np.float64)
        _join_best(ranges, cells, sizes * ~held)
    _cut_again(task, members, rows, ranges, least)
    return _first_and_last(rows, ranges)


def _begin(members: DistinctRows, axes: Axes, a: int) -> _Ranges:
    records = np.bincount(members.codes[:, a], weights=members.records).astype(np.int64)
    every = np.arange(len(records), dtype=np.int64)
    return _Ranges(a, records, axes, every, every.copy())


def _first_and_last(rows: IntArray, ranges: list[_Ranges]) -> tuple[IntArray, IntArray]:
    """The first and the last codes of the ranges of every row, by attribute."""
    own = [each.of_code[rows[:, at]] for at, each in enumerate(ranges)]
    return (
        np.stack([each.first[o] for each, o in zip(ranges, own, strict=True)], axis=1),
        np.stack([each.last[o] for each, o in zip(ranges, own, strict=True)], axis=1),
    )


def _price(ranges: list[_Ranges], members: DistinctRows, axes: Axes, pricing: Pricing) -> None:
    """Set what values and rules cost, given the ranges so far."""
    chosen = [each.attribute for each in ranges]
    low, high = members.codes.copy(), members.codes.copy()
    low[:, chosen], high[:, chosen] = _first_and_last(
        members.codes[:, chosen].astype(np.int64), ranges
    )
    prices = pricing.prices(axes, Boxes(low, high, spans_of(axes, low, high), members.records))
    for each in ranges:
        a = each.attribute
        each.rate, each.bend = float(prices.rate[a]), float(prices.bend[a])
        rules = range(int(prices.rules[a]), int(prices.rules[a + 1]))
        each.apart = [
            (int(prices.first[r]), int(prices.second[r]), float(prices.price[r])) for r in rules
        ]


def _cells(rows: IntArray, ranges: list[_Ranges]) -> tuple[IntArray, IntArray]:
    """The combinations of ranges that occur, and the one of every row."""
    columns = [each.of_code[rows[:, at]] for at, each in enumerate(ranges)]
    number, first = distinct_rows(columns, [len(each.first) for each in ranges], len(rows))
    return np.stack([column[first] for column in columns], axis=1), number.astype(np.int64)


def _held(task: Task, members: DistinctRows, cell: IntArray, least: int) -> BoolArray:
    groups = members.groups(cell, np.arange(int(cell.max()) + 1))
    return task.satisfied(groups) & (groups.sizes >= min(least, task.counts.records))


def _join_best(ranges: list[_Ranges], cells: IntArray, failing: FloatArray) -> None:
    """Join some neighbouring ranges, those that cost least for the failing records they help."""
    scores, attributes, gaps = [], [], []
    for at, each in enumerate(ranges):
        if len(each.first) < 2:
            continue
        helped = _helped(cells, at, len(each.first), failing)
        cost = each.joining()
        scores.append(np.divide(cost, helped, out=np.full(len(cost), np.inf), where=helped > 0))
        attributes.append(np.full(len(cost), at))
        gaps.append(np.arange(len(cost)))
    score, attribute = np.concatenate(scores), np.concatenate(attributes)
    gap = np.concatenate(gaps)
    order = np.lexsort((gap, attribute, score))
    taken: set[tuple[int, int]] = set()
    for place in order[: max(1, int(_JOINED_AT_ONCE * len(order)))]:
        at, here = int(attribute[place]), int(gap[place])
        if np.isfinite(score[place]) and not {(at, here - 1), (at, here + 1)} & taken:
            taken.add((at, here))
    for at, each in enumerate(ranges):
        each.join(np.array(sorted(here for a, here in taken if a == at), dtype=np.int64))


def _helped(cells: IntArray, at: int, many: int, failing: FloatArray) -> FloatArray:
    """For each gap of an attribute, the failing records that a join brings together with others.

    Those that it brings no company count for very little.
    """
    others = [cells[:, i] for i in range(cells.shape[1]) if i != at]
    spans = [int(column.max()) + 1 for column in others]
    rest, _ = distinct_rows(others, spans, len(cells))
    order = np.lexsort((cells[:, at], rest))
    here, there = order[:-1], order[1:]
    beside = (rest[here] == rest[there]) & (cells[here, at] + 1 == cells[there, at])
    together = np.bincount(
        cells[here[beside], at],
        weights=failing[here[beside]] + failing[there[beside]],
        minlength=many - 1,
    )
    lonely = np.bincount(cells[:, at], weights=failing, minlength=many)
    return together[: many - 1] + _INDIRECT * (lonely[:-1] + lonely[1:])


def _cut_again(
    task: Task, members: DistinctRows, rows: IntArray, ranges: list[_Ranges], least: int
) -> None:
    """Open gaps again, the dearest first, where all cells hold with them.

    Each is tried once: cells only shrink, and what failed among larger ones fails for good.
    """
    vain: set[tuple[int, int]] = set()
    for tried in range(_TRIED_AGAIN):
        if tried % 20 == 0:
            task.progress("cutting ranges", tried, _TRIED_AGAIN)
        found = _dearest(ranges, vain)
        if found is None:
            return
        at, code = found
        each = ranges[at]
        before = (each.first, each.last)
        each.first, each.last = each.cut(code)
        _, cell = _cells(rows, ranges)
        if not _held(task, members, cell, least).all():
            each.first, each.last = before
            vain.add(found)


def _dearest(ranges: list[_Ranges], vain: set[tuple[int, int]]) -> tuple[int, int] | None:
    """The attribute and the code at which a new range saves most, those tried in vain aside."""
    best, most = None, 0.0
    for at, each in enumerate(ranges):
        codes, gains = each.gains()
        gains[np.isin(codes, [code for a, code in vain if a == at])] = 0.0
        if len(codes) and gains.max() > most:
            best, most = (at, int(codes[int(gains.argmax())])), float(gains.max())
    return best
