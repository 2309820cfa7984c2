"""What conditions ask of one attribute, as runs of positions on its axis.

Numbers stand on an axis of whole steps of their smallest decimal, dates on one of days, and other
values each at a position of its own. So every condition, and every published label, is some runs
of whole numbers, and to compare them is to count what they share.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.query.conditions import BY_ORDER, Condition, Value, refuse
from incrowd.table.coding import parse_date

Interval = tuple[int, int]
"""The positions from the first to before the second."""

FURTHEST = 1 << 61
_NUMBER = re.compile(r"[+-]?\d{1,40}(?:\.\d{0,40})?(?:[eE][+-]?\d{1,2})?", re.ASCII)


@dataclass(frozen=True)
class Wanted:
    """The positions that satisfy some conditions, and whether a missing cell does.

    `low[i]` to before `high[i]` are wanted; runs ascend and do not touch. `by_order` when an order
    comparison had its part in it.
    """

    low: IntArray
    high: IntArray
    missing: bool = False
    by_order: bool = False

    @classmethod
    def of(
        cls, runs: Iterable[Interval], *, missing: bool = False, by_order: bool = False
    ) -> Wanted:
        """These runs, in any order."""
        low, high = merged(runs)
        return cls(low, high, missing, by_order)

    @property
    def nothing(self) -> bool:
        """Whether no value satisfies it."""
        return not len(self.low)

    @property
    def everything(self) -> bool:
        """Whether every value satisfies it."""
        return len(self.low) == 1 and self.low[0] == -FURTHEST and self.high[0] == FURTHEST

    def both(self, other: Wanted) -> Wanted:
        """What satisfies this and the other."""
        runs, mine, theirs = [], 0, 0
        while mine < len(self.low) and theirs < len(other.low):
            low = max(int(self.low[mine]), int(other.low[theirs]))
            high = min(int(self.high[mine]), int(other.high[theirs]))
            if low < high:
                runs.append((low, high))
            if self.high[mine] < other.high[theirs]:
                mine += 1
            else:
                theirs += 1
        return Wanted.of(
            runs,
            missing=self.missing and other.missing,
            by_order=self.by_order or other.by_order,
        )

    def within(self, low: IntArray, high: IntArray) -> IntArray:
        """How many wanted positions lie in each of these runs."""
        return self._below(high) - self._below(low)

    def holds(self, position: int) -> bool:
        """Whether a position is wanted; the last of all stands for a value that nobody named."""
        at = np.array([position], dtype=np.int64)
        return bool(self.within(at, at + 1)[0])

    def _below(self, positions: IntArray) -> IntArray:
        """How many wanted positions lie below each of these."""
        if self.nothing:
            return np.zeros(len(positions), dtype=np.int64)
        before = np.concatenate(([0], np.cumsum(self.high - self.low)))
        run = np.searchsorted(self.low, positions, side="right")
        last = np.maximum(run - 1, 0)
        inside = np.minimum(positions, self.high[last]) - self.low[last]
        return np.where(run > 0, before[last] + inside, 0)


def merged(runs: Iterable[Interval]) -> tuple[IntArray, IntArray]:
    """The runs in ascending order, those that touch or overlap as one, empty ones left out."""
    low: list[int] = []
    high: list[int] = []
    for begin, end in sorted(run for run in runs if run[0] < run[1]):
        if low and begin <= high[-1]:
            high[-1] = max(high[-1], end)
        else:
            low.append(begin)
            high.append(end)
    return np.array(low, dtype=np.int64), np.array(high, dtype=np.int64)


@dataclass(frozen=True)
class NumberAxis:
    """The axis of a numeric attribute in steps of 10^-decimals, or of a date in days."""

    name: str
    dates: bool
    decimals: int = 0

    def wanted(self, condition: Condition) -> Wanted:
        """What one condition asks."""
        operator = condition.operator
        if operator in ("missing", "present"):
            return _presence(operator)
        at = [self._place(value) for value in condition.values]
        if operator in ("=", "in"):
            return Wanted.of(_points(at))
        if operator == "!=":
            return Wanted.of(_without(_points(at)))
        if operator == "between" and at[0] > at[1]:
            refuse(condition.values[0].position, "between needs the smaller value first.")
        low, high = -FURTHEST, FURTHEST
        if operator in (">", ">=", "between"):
            low = math.floor(at[0]) + 1 if operator == ">" else math.ceil(at[0])
        if operator in ("<", "<=", "between"):
            high = math.ceil(at[-1]) if operator == "<" else math.floor(at[-1]) + 1
        return Wanted.of([(_near(low), _near(high))], by_order=True)

    def _place(self, value: Value) -> Fraction:
        """Where a value of a condition stands."""
        text = value.text.strip()
        if self.dates:
            day = parse_date(text)
            if day is None:
                refuse(value.position, f"'{self.name}' has dates: expected one as YYYY-MM-DD.")
            return Fraction(day)
        if _NUMBER.fullmatch(text) is None:
            refuse(value.position, f"'{self.name}' has numbers: expected one.")
        return Fraction(text) * Fraction(10**self.decimals)


@dataclass(frozen=True)
class TextAxis:
    """The axis of other values: each has a position, in their order where it is known.

    `asked` values stand after the `known` ones: no cell is known to hold them.
    """

    name: str
    kind: str
    positions: Mapping[str, int]
    known: int
    in_order: bool = False

    def wanted(self, condition: Condition) -> Wanted:
        """What one condition asks."""
        operator = condition.operator
        if operator in ("missing", "present"):
            return _presence(operator)
        if operator in BY_ORDER:
            return self._by_order(condition)
        points = [_point(self.positions[value.text]) for value in condition.values]
        return Wanted.of(_without(points) if operator == "!=" else points)

    def _by_order(self, condition: Condition) -> Wanted:
        if not self.in_order:
            told = (
                "the release does not tell the order of its values; give the policy"
                if self.kind == "ordered"
                else "its values are text, which has no order"
            )
            refuse(
                condition.position,
                f"'{self.name}' cannot be compared by order: {told}. Use =, != or in (…).",
            )
        at = [self.positions[value.text] for value in condition.values]
        for value, position in zip(condition.values, at, strict=True):
            if position >= self.known:
                refuse(value.position, f"this is no value of '{self.name}', so it has no order.")
        operator = condition.operator
        if operator == "between" and at[0] > at[1]:
            refuse(condition.values[0].position, "between needs the smaller value first.")
        low, high = 0, self.known
        if operator in (">", ">=", "between"):
            low = at[0] + (operator == ">")
        if operator in ("<", "<=", "between"):
            high = at[-1] + (operator != "<")
        return Wanted.of([(low, high)], by_order=True)


AnyAxis = NumberAxis | TextAxis


def wanted_of(axis: AnyAxis, conditions: Sequence[Condition]) -> Wanted:
    """What satisfies all conditions on one attribute."""
    found = axis.wanted(conditions[0])
    for condition in conditions[1:]:
        found = found.both(axis.wanted(condition))
    return found


def _presence(operator: str) -> Wanted:
    if operator == "missing":
        return Wanted.of([], missing=True)
    return Wanted.of([(-FURTHEST, FURTHEST)])


def _point(position: int) -> Interval:
    return position, position + 1


def _points(places: Sequence[Fraction]) -> list[Interval]:
    """The places that are steps of the axis; no cell can be at another."""
    whole = [int(place) for place in places if place.denominator == 1]
    return [_point(place) for place in whole if abs(place) < FURTHEST]


def _without(points: Sequence[Interval]) -> list[Interval]:
    """Everything but these positions."""
    low, high = merged(points)
    begins = [-FURTHEST, *high.tolist()]
    ends = [*low.tolist(), FURTHEST]
    return list(zip(begins, ends, strict=True))


def _near(position: int) -> int:
    return max(-FURTHEST, min(FURTHEST, position))
