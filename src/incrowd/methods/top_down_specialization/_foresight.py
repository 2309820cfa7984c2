"""Foresight: specializations that cannot be valid, told from crowds of one or two values.

Where counts are opened to others, a value that may not be specialized should cost as little as can
be. A crowd of few attributes is a union of crowds of more: where it is too small, or holds too much
of a protected value, so does one of those. So children are counted alone, then with each other
attribute, and only what passes is counted by groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.counts import CodeRange, run_of_code
from incrowd.methods.base import Task
from incrowd.methods.top_down_specialization.cut import Cut, child_of_code
from incrowd.methods.top_down_specialization.leaves import Leaves
from incrowd.privacy.base import SLACK, CrowdBounds
from incrowd.privacy.counting.combinations import protected_numbers


@dataclass(frozen=True)
class _CountedBounds:
    """Bounds with what they count: the sensitive attribute, and the number of each value of it."""

    bounds: CrowdBounds
    values: dict[str, IntArray]
    protected: int


class Foresight:
    """The bounds of a task, asked about crowds of a child alone, or with one other attribute."""

    def __init__(self, task: Task, cuts: Sequence[Cut]) -> None:
        self._task = task
        self._cuts = cuts
        self._asked = [_asked(m.bounds) for m in task.models if m.bounds is not None]

    def alone(self, attribute: int, families: Sequence[Sequence[CodeRange]]) -> list[bool]:
        """For several lists of children of values, whether each child may stand alone."""
        runs = [run for family in families for run in family]
        if not runs or not self._asked:
            return [True] * len(families)
        column = self._cuts[attribute].column
        recoding = run_of_code(runs, column.cardinality)
        found = self._task.counts.frequency_sets(
            [{column.name: recoding, **asked.values} for asked in self._asked]
        )
        bad = np.zeros(int(recoding.max()) + 1, np.bool_)
        for asked, one in zip(self._asked, found, strict=True):
            values = _span(asked)
            counts = np.zeros((len(bad), values), dtype=np.int64)
            counts[one.codes[:, 0], one.codes[:, 1] if asked.values else 0] = one.groups.sizes
            bad |= _bad(asked, counts)
        place, told = 0, []
        for family in families:
            told.append(not bad[place : place + len(family)].any())
            place += len(family)
        return told

    def in_pairs(
        self, leaves: Leaves, attribute: int, value: int, children: Sequence[CodeRange]
    ) -> bool:
        """Whether the children of a value may stand with each value of each other attribute."""
        varied = [a for a, cut in enumerate(self._cuts) if a != attribute and cut.shown > 1]
        shows = leaves.showing(attribute, value)
        shown = leaves.values(shows)[:, varied].astype(np.int64)
        numbers = [np.unique(each, return_inverse=True)[1] for each in shown.T]
        for asked in self._asked:
            if asked.bounds.known == 1 or not varied:
                continue
            sensitive, values = next(iter(asked.values.items()), (None, None))
            found = leaves.partition.crowds(
                attribute,
                leaves.nodes(shows),
                numbers,
                recoding=child_of_code(children),
                sensitive=sensitive,
                values=values,
            )
            if any(_bad(asked, one.reshape(-1, one.shape[-1])).any() for one in found):
                return False
        return True


def _asked(bounds: CrowdBounds) -> _CountedBounds:
    if bounds.sensitive is None:
        return _CountedBounds(bounds, {}, 0)
    numbers, protected = protected_numbers(bounds.listed, bounds.cardinality)
    return _CountedBounds(bounds, {bounds.sensitive: numbers.astype(np.int64)}, protected)


def _span(asked: _CountedBounds) -> int:
    """How many numbers the sensitive values have; one where none is counted."""
    return max((int(numbers.max()) + 1 for numbers in asked.values.values()), default=1)


def _bad(asked: _CountedBounds, counts: IntArray) -> BoolArray:
    """For each crowd, whether it has records but too few, or too much of a protected value.

    `counts` are by (crowd, number of the sensitive value).
    """
    sizes = counts.sum(axis=1)
    bad: BoolArray = (sizes > 0) & (sizes < asked.bounds.K)
    if asked.protected:
        most = counts[:, : asked.protected].max(axis=1)
        bad |= most > (asked.bounds.C + SLACK) * sizes
    return bad
