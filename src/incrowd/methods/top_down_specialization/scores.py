"""Scores: how good it is to specialize a value, for a goal and an order.

| order  | classification                              | general                               |
|--------|---------------------------------------------|---------------------------------------|
| greedy | information gain per record of the value    | sum of squared sizes of its groups    |
|        | (as published, eq. 2)                       | (as published, eq. 4)                 |
| gain   | gain of all its records, given what the     | fall of the sum of squared sizes      |
|        | sensitive attributes tell, less chance      |                                       |
| frugal | the same per bit of identity it uses up     | the same per bit of identity          |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from incrowd._runtime.arrays import FloatArray, IntArray
from incrowd.counts import CodeRange
from incrowd.errors import ParameterError
from incrowd.methods.base import Task
from incrowd.methods.top_down_specialization import Order
from incrowd.methods.top_down_specialization._class_counts import (
    CountsOfCodes,
    chance_bits,
    class_counts,
    gain_bits,
    identity_bits,
)
from incrowd.methods.top_down_specialization.below import Below

_DIGITS = 12
"""Scores are rounded, so that equal ones tie on every machine."""
_MOST_CUTS = 4_096
"""Of an interval with more cuts, so many that divide its records evenly are scored."""
_PATIENCE = 0.2
"""Bits of identity per record that a specialization may use before its score falls by half."""


@dataclass(frozen=True)
class CutScores:
    """The scores of the cuts of an interval, the first after its first code.

    A cut that is not considered has the score -inf. The interval is worth its best valid cut, or
    `whole` whatever the cut where that is given.
    """

    cuts: FloatArray
    whole: float | None = None

    def worth(self, cut: int) -> float:
        """What the interval is worth when cut there."""
        return float(self.cuts[cut]) if self.whole is None else self.whole


class Scores(ABC):
    """What specializations are worth; higher is better."""

    falling: ClassVar[bool]
    """Whether a score falls as other values are specialized. If not it never changes."""

    def expect(self, attribute: int, runs: Sequence[CodeRange]) -> None:  # noqa: B027 - nothing to do
        """Be told of which children the scores will be asked next."""

    @abstractmethod
    def of_children(
        self, attribute: int, children: Sequence[CodeRange], below: Below | None
    ) -> float:
        """The score of a specialization into children."""

    @abstractmethod
    def of_cuts(self, attribute: int, run: CodeRange, below: Below | None) -> CutScores:
        """The scores of all cuts of an interval."""


def scores_for(task: Task, order: Order, *, stratified: bool = True) -> Scores:
    """The scores of a task's goal under an order.

    Without `stratified`, gains are not those given the sensitive attributes: fewer cells to count.
    """
    if task.goal == "general":
        return DiscernibilityScores(task, order)
    if task.target is None:
        raise ParameterError(
            "goal: classification needs one attribute with the role target, the class that "
            "analysts will predict."
        )
    return _Gain(task, task.target, order, stratified)


class _Gain(Scores):
    """Information gain on the target.

    Greedy: per record of the value (eq. 2). Gain: of all records of the value, given the
    sensitive attributes, less what chance alone would show. Frugal: that, divided by the bits of
    identity that the specialization gives away per record of the table, plus a constant. Crowds
    are finite: a split that tells an attacker little leaves room for others.
    """

    falling = False

    def __init__(self, task: Task, target: str, order: Order, stratified: bool) -> None:
        self._records = task.counts.records
        self._order = order
        self._classes = class_counts(task, target, stratified=stratified and order != "greedy")

    def expect(self, attribute: int, runs: Sequence[CodeRange]) -> None:
        self._classes.expect(attribute, runs)

    def of_children(
        self,
        attribute: int,
        children: Sequence[CodeRange],
        below: Below | None,  # noqa: ARG002
    ) -> float:
        return float(self._scores(list(self._classes.of(attribute, children))))

    def of_cuts(self, attribute: int, run: CodeRange, below: Below | None) -> CutScores:  # noqa: ARG002
        assert isinstance(self._classes, CountsOfCodes)
        cuts = self._classes.spread_cuts(attribute, run, _MOST_CUTS)
        scores = np.full(run[1] - run[0], -np.inf)
        scores[cuts] = self._scores(self._classes.halves(attribute, run, cuts))
        return CutScores(scores)

    def _scores(self, parts: Sequence[IntArray]) -> FloatArray:
        sizes = [part.sum(axis=(-2, -1)) for part in parts]
        bits = gain_bits(parts)
        if self._order == "greedy":
            return _rounded(bits / np.maximum(np.sum(sizes, axis=0), 1))
        bits = (bits - chance_bits(parts)) / self._records
        if self._order == "gain":
            return _rounded(bits)
        return _per_identity(bits, sizes, self._records)


class DiscernibilityScores(Scores):
    """The discernibility cost, the sum of squared group sizes.

    Greedy: the squares of the groups that show the value (eq. 4), and of the cuts of an interval
    the one after which the cost is least. Gain: how much the cost falls. Frugal: that, divided as
    information gain is.
    """

    falling = True

    def __init__(self, task: Task, order: Order) -> None:
        self._records = task.counts.records
        self._order = order

    def of_children(
        self,
        attribute: int,  # noqa: ARG002
        children: Sequence[CodeRange],
        below: Below | None,
    ) -> float:
        """The score of a specialization into children."""
        assert below is not None
        records = below.records(below.numbering(children), len(children))
        return self.of_squares(*squares(records))

    def of_squares(self, before: float, after: float, sizes: IntArray) -> float:
        """The score of a specialization from the cost before and after it, and its children."""
        if self._order == "greedy":
            return before
        return float(self._worth(np.array(before - after), list(sizes)))

    def of_cuts(self, attribute: int, run: CodeRange, below: Below | None) -> CutScores:  # noqa: ARG002
        """The scores of all cuts of an interval."""
        assert below is not None
        left, fall, before = below.squares_by_cut(*run)
        if self._order == "greedy":
            return CutScores(fall, before)
        return CutScores(self._worth(fall, [left, below.touched - left]))

    def _worth(self, fall: FloatArray, sizes: Sequence[IntArray]) -> FloatArray:
        share = fall / float(self._records) ** 2
        return (
            _rounded(share) if self._order == "gain" else _per_identity(share, sizes, self._records)
        )


def squares(records: IntArray) -> tuple[float, float, IntArray]:
    """The sums of squared sizes of groups, before and after they are split, and of each child.

    `records` has how many records each group has under each child.
    """
    before = float((records.sum(axis=1).astype(np.float64) ** 2).sum())
    return before, float((records.astype(np.float64) ** 2).sum()), records.sum(axis=0)


def _per_identity(worth: FloatArray, sizes: Sequence[IntArray], records: int) -> FloatArray:
    """Worth per bit of identity used up; what is worth nothing stays so, whatever it uses."""
    used = identity_bits(sizes) / records
    return _rounded(np.where(worth > 0, worth / (_PATIENCE + used), worth))


def _rounded(scores: FloatArray) -> FloatArray:
    return np.asarray(np.round(scores, _DIGITS), dtype=np.float64)
