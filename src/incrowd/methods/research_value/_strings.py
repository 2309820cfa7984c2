"""Generalization strings: a level for every attribute, what each is worth, whether it is private.

A string is a node of the lattice of levels. Its research value is the sum of what its attributes
have at their levels, which falls as levels rise. Of strings of equal value that with the fewest
attributes at the root is better, then that with the fewest steps, then that of lowest levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from incrowd._runtime.arrays import FloatArray, IntArray
from incrowd.methods.base import RowTask
from incrowd.methods.lattice.metrics import Metric
from incrowd.methods.lattice.node_check import NodeCheck, NodeFinding
from incrowd.methods.lattice.rollup import FrequencySets, Levels, Rolled
from incrowd.research.rules import Interest
from incrowd.research.value import level_values

ROOT_PENALTY = 1e-9
"""What an attribute at the root takes off a score: values that differ by less count as equal."""
STEP_PENALTY = 1e-12
SAME = 1e-14
"""Scores that differ by less are equal."""


@dataclass(frozen=True)
class ScoredLevels:
    """A string that satisfies all models, its score, and how many records it drops."""

    score: float
    levels: Levels
    suppressed: int

    def is_better_than(self, other: ScoredLevels | None) -> bool:
        """Whether the string is to be preferred to another one."""
        if other is None:
            return True
        if abs(self.score - other.score) > SAME:
            return self.score > other.score
        return self.levels < other.levels


class Strings:
    """What the strings of a task are worth, and the models asked about one after the other.

    Notes
    -----
    Values are computed once for each level of each attribute. A string that is asked about costs
    one frequency set, rolled up from the smallest one known that is more specific.
    """

    def __init__(self, task: RowTask) -> None:
        self.task = task
        self.sets = FrequencySets(task, renewed=True)
        self.check = NodeCheck(task, self.sets, _Unpriced(), np.zeros(1))
        self.names = [column.name for column in task.columns]
        self.top: Levels = tuple(task.hierarchies[name].height for name in self.names)
        self.values = self._level_values()
        self.scores = [values - STEP_PENALTY * np.arange(len(values)) for values in self.values]
        for scores in self.scores:
            scores[-1] -= ROOT_PENALTY
        self._seen: dict[Levels, NodeFinding] = {}

    def look_at(self, levels: Sequence[int]) -> NodeFinding:
        """Judge a string; what was judged before is remembered."""
        at = tuple(int(level) for level in levels)
        if at not in self._seen:
            self._seen[at] = self.check.look_at(at)
        return self._seen[at]

    def value(self, levels: Sequence[int]) -> float:
        """The research value of a string."""
        return float(sum(self.values[a][level] for a, level in enumerate(levels)))

    def score(self, levels: Sequence[int]) -> float:
        """The research value of a string less what makes it the worse of equal ones."""
        return float(sum(self.scores[a][level] for a, level in enumerate(levels)))

    def roots(self, levels: Sequence[int]) -> list[str]:
        """The attributes that a string shows nothing of."""
        found = zip(self.names, levels, self.top, strict=True)
        return [name for name, level, top in found if level == top]

    def found(self, finding: NodeFinding) -> ScoredLevels:
        """A string that satisfies all models, with its score."""
        return ScoredLevels(self.score(finding.levels), finding.levels, finding.suppressed)

    def _level_values(self) -> list[FloatArray]:
        task = self.task
        equal = 1.0 / len(self.names)
        values = []
        for column in task.columns:
            interest = task.interests.get(column.name) or Interest(column.name, equal)
            hierarchy = task.hierarchies[column.name]
            # Never rising: rounding must not turn the order of levels around.
            found = level_values(interest, column, hierarchy, column.counts())
            values.append(np.minimum.accumulate(found))
        return values


class _Unpriced(Metric):
    """No price: a string is worth what its levels are, whatever its groups."""

    settled = False

    def prices(self, rolled: Rolled, groups: IntArray) -> FloatArray:  # noqa: ARG002
        """Nothing for any group."""
        return np.zeros(len(groups))

    def at_least(self) -> FloatArray:
        """Nothing."""
        return np.zeros(1)
