"""A good string in little time: down from the root by the best bargain, then by trying again.

The best-first search needs none to find the best string, but leaves out regions that are worth
less than a string that is known, and gives this one where the best cannot be proven in time.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from incrowd.methods.lattice.rollup import Levels
from incrowd.methods.research_value._strings import ScoredLevels, Strings


class Climb:
    """From the root of all attributes to lower levels, as long as the models hold.

    Notes
    -----
    A descent looks at most at one string for each level of each attribute, since what fails once
    fails at all lower levels. Trying again raises one attribute after the other and descends anew.
    """

    def __init__(
        self, strings: Strings, lowest: Levels, is_ruled_out: Callable[[Levels], bool]
    ) -> None:
        self._strings = strings
        self._lowest = lowest
        self._is_ruled_out = is_ruled_out
        self._bits = _bits(strings)

    def first(self) -> ScoredLevels:
        """The better string of two descents from the root: by gain, and by gain per bit."""
        by_gain = self._descend(self._strings.top, None, per_bit=False)
        per_bit = self._descend(self._strings.top, None)
        return per_bit if per_bit.is_better_than(by_gain) else by_gain

    def improved(self, best: ScoredLevels, cells: float) -> ScoredLevels:
        """A string at least as good: again and again one attribute is put back to the root.

        Ends when no attribute leads to a better string, or so many cells of the table were read.
        """
        strings = self._strings
        last = strings.sets.cells + cells
        since, attribute = 0, 0
        many = len(strings.top)
        while since < many and strings.sets.cells < last:
            top = strings.top[attribute]
            since += 1
            if best.levels[attribute] < top:
                raised = (*best.levels[:attribute], top, *best.levels[attribute + 1 :])
                if strings.look_at(raised).solution:
                    other = self._descend(raised, attribute)
                    if other.is_better_than(best):
                        best, since = other, 0
            attribute = (attribute + 1) % many
        return best

    def _descend(self, start: Levels, held: int | None, *, per_bit: bool = True) -> ScoredLevels:
        """Down by the best step each time; one attribute may be held back until the end.

        The best step gains most score, or most for each bit that it tells of a record: records
        are told apart by what all attributes tell together.
        """
        strings = self._strings
        now = start
        tried: set[tuple[int, int]] = set()
        while True:
            steps = sorted(
                (-self._worth(a, now[a], level, per_bit), a, level)
                for a in range(len(now))
                for level in range(self._lowest[a], now[a])
                if a != held and (a, level) not in tried
            )
            for worth, a, level in steps:
                below = (*now[:a], level, *now[a + 1 :])
                if worth < 0 and not self._is_ruled_out(below) and strings.look_at(below).solution:
                    now = below
                    break
                tried.add((a, level))
            else:
                if held is None:
                    return strings.found(strings.look_at(now))
                held = None

    def _worth(self, a: int, level: int, lower: int, per_bit: bool) -> float:
        gain = float(self._strings.scores[a][lower] - self._strings.scores[a][level])
        return gain / (self._bits[a][lower] - self._bits[a][level] + 1e-6) if per_bit else gain


def _bits(strings: Strings) -> list[list[float]]:
    """What each attribute tells of a record at each level: the entropy of its labels, in bits."""
    found: list[list[float]] = []
    for column in strings.task.columns:
        shares = column.counts() / strings.task.counts.records
        found.append([])
        for node_of in strings.task.hierarchies[column.name].node_of:
            held = np.bincount(node_of, weights=shares)
            held = held[held > 0]
            found[-1].append(float(-(held * np.log2(held)).sum()))
    return found
