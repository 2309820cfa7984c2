"""Validity: whether the table stays private when one value is specialized.

Only crowds that contain a child of the value change, so only the records of the value are counted
and only combinations that include its attribute (Mohammed et al. 2010, section 4.3.2). Models
that bound sizes and shares alone are judged by the compiled walk over combinations, which stops
at the first bad crowd and begins with the combination that failed last; others judge the groups
over all quasi-identifiers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd.counts import CodeRange
from incrowd.methods.base import Task
from incrowd.methods.top_down_specialization.below import Below
from incrowd.methods.top_down_specialization.cut import Cut, child_of_code
from incrowd.privacy.base import CrowdBounds
from incrowd.privacy.counting.combinations import bad_positions, first_violation


@dataclass(frozen=True)
class _Failure:
    """The bounds that are violated, and the other attributes (by position) of a bad crowd."""

    bounds: CrowdBounds
    others: list[int]
    choice: tuple[int, ...]


class Validity:
    """The models of a task, asked about one specialization after the other."""

    def __init__(self, task: Task, cuts: Sequence[Cut]) -> None:
        self._cuts = cuts
        self._bounds = [m.bounds for m in task.models if m.bounds is not None]
        self._models = [m for m in task.models if m.bounds is None]
        counted = dict.fromkeys(n for m in self._models for n in m.counted_attributes)
        self._totals = {name: task.counts.totals(name) for name in counted}
        self._smallest = max([m.smallest_group for m in self._models], default=1)
        self._hints: dict[tuple[int, int], tuple[int, ...]] = {}

    def holds(self, attribute: int, below: Below, children: Sequence[CodeRange]) -> bool:
        """Whether a value may be specialized into children."""
        child = below.numbering(children)
        if self._first_failure(attribute, below, child, len(children)) is not None:
            return False
        return self._models_hold(below, child, len(children))

    def best_cut(
        self, attribute: int, below: Below, low: int, scores: FloatArray,
        bad: BoolArray,
    ) -> int | None:  # fmt: skip
        """The best-scored valid cut of an interval, as the last code on its left; None if none is.

        `scores[i]` is that of the cut after code low + i. Cuts found to be invalid are marked in
        `bad`, where they stay: no later specialization makes them valid.
        """
        high = low + len(scores)
        bad |= np.isneginf(scores)
        if self._models and not bad.all():
            bad |= self._bad(
                _Failure(CrowdBounds(None, self._smallest), [], (0,)), below, low, high
            )
        while not bad.all():
            best = int(np.argmax(np.where(bad, -np.inf, scores)))
            sides = child_of_code([(low, low + best), (low + best + 1, high)])
            failure = self._first_failure(attribute, below, sides, 2)
            if failure is not None:
                bad |= self._bad(failure, below, low, high)
                if not bad[best]:
                    raise AssertionError("an invalid cut is not among the bad ones")
            elif self._models_hold(below, sides, 2):
                return low + best
            else:
                bad[best] = True
        return None

    def _first_failure(
        self, attribute: int, below: Below, child: IntArray, children: int
    ) -> _Failure | None:
        varied = [a for a, cut in enumerate(self._cuts) if a != attribute and cut.shown > 1]
        for number, bounds in enumerate(self._bounds):
            all_known = bounds.known is None or bounds.known > len(varied)
            others = [] if all_known else varied
            known = 1 if bounds.known is None or all_known else bounds.known - 1
            hint = self._hints.get((attribute, number), ())
            places = tuple(varied.index(a) for a in hint if a in varied) if others else ()
            rows = below.rows(bounds, child, children, others)
            choice = first_violation(rows, known, bounds.K, bounds.C, places)
            if choice is not None:
                if others:
                    self._hints[attribute, number] = tuple(others[place] for place in choice)
                return _Failure(bounds, others, choice)
        return None

    def _models_hold(self, below: Below, child: IntArray, children: int) -> bool:
        if not self._models:
            return True
        groups = below.groups(child, children, self._totals)
        return all(bool(model.holds(groups).all()) for model in self._models)

    def _bad(self, failure: _Failure, below: Below, low: int, high: int) -> BoolArray:
        rows, codes = below.rows_by_code(failure.bounds, failure.others)
        return bad_positions(
            rows, codes, failure.choice, failure.bounds.K, failure.bounds.C, low, high
        )
