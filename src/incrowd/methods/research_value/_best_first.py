"""Best-first: the string of the highest research value, without listing the strings.

The best string that nothing rules out is looked at next. If it fails, the fewest and highest levels
are sought that fail by themselves; they rule out all strings below them, and the next best string
is one that escapes. The first string that holds is the best there is.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.methods.lattice.node_check import NodeFinding
from incrowd.methods.lattice.rollup import Levels
from incrowd.methods.research_value._clauses import EMPTY, OPEN, branched, tightened
from incrowd.methods.research_value._climbing import Climb
from incrowd.methods.research_value._pruning import doomed_pairs, lowest_levels
from incrowd.methods.research_value._strings import SAME, ScoredLevels, Strings

_MOST_CELLS = 3e9
"""So many cells are read before the search settles for what it has: half a minute or so."""
_MOST_REGIONS = 1_500_000
"""So many regions are made at most, which take half a gigabyte."""
_DIVE_AFTER = 3_000
"""So many regions without a look at a string, and one is looked at out of turn."""

Region = npt.NDArray[np.int16]
"""The lowest or the highest levels of a region."""
_Entry = tuple[float, int, Region, Region]


@dataclass(frozen=True)
class Answer:
    """The best strings found, best first, and what no other string exceeds.

    `most` is the highest score that may be left; where it is below the last of `found`, these are
    proven to be the best.
    """

    found: list[ScoredLevels]
    most: float

    @property
    def proven(self) -> bool:
        """Whether no string is better than the best one found."""
        return self.most <= self.found[0].score + SAME


class BestFirst:
    """The search through regions of strings, the most promising first.

    Invariant: every string that may be better than the best one found lies in a region of the
    heap, and is worth no more than the region's bound. The bound of the first region is thus what
    is still possible; the search ends when that is no more than what was found.

    Notes
    -----
    The work is in the frequency sets of strings that are looked at: some dozens for each doomed
    string that is made as general as it can be. How many of these are needed depends on the table;
    where attributes are many and all matter, a proof may need too many. The search then stops after
    a fixed amount of work, the same on every machine, and says how much better a string might be.

    References
    ----------
    Takes the place of the list of all strings in Morton (2012), Figure 4, with the same optimum.
    Doomed strings as clauses and the choice among what satisfies them: implicit hitting sets, as in
    Moreno-Centeno and Karp (2013).
    """

    def __init__(self, strings: Strings) -> None:
        self._strings = strings
        d = len(strings.top)
        self._top = np.array(strings.top, dtype=np.int16)
        self._scores = np.zeros((d, max(strings.top) + 1))
        for a, scores in enumerate(strings.scores):
            self._scores[a, : len(scores)] = scores
        self._doomed = np.zeros((1024, d), dtype=np.int16)
        self._many = 0
        self._made = 0

    def best(self, wanted: int = 1) -> Answer:
        """The best strings, none of them above another one, and whether they are proven to be."""
        strings = self._strings
        low = lowest_levels(strings)
        for node in doomed_pairs(strings, low):
            self._rule_out(node)
        climb = Climb(strings, low, self.is_ruled_out)
        known = climb.first()
        shelf = Shelf(wanted)
        if wanted == 1:
            shelf.add(known)
        heap: list[_Entry] = []
        self._push(heap, np.inf, np.array(low, dtype=np.int16), self._top.copy())
        most, since = -np.inf, 0
        while heap:
            _, _, lowest, highest = heapq.heappop(heap)
            since += 1
            clause, bound = tightened(
                lowest, highest, self._doomed, self._many, self._scores, self._top
            )
            if clause == EMPTY or bound < shelf.least:
                continue
            if heap and bound < -heap[0][0] - SAME:
                self._push(heap, bound, lowest, highest)
                continue
            if strings.sets.cells > _MOST_CELLS or self._made > _MOST_REGIONS:
                most = bound
                break
            if clause != OPEN:
                if since >= _DIVE_AFTER:
                    since = 0
                    self._dive(lowest.copy(), highest, shelf)
                regions = branched(
                    lowest, highest, clause, self._doomed, self._many, self._scores, self._top,
                    shelf.least,
                )  # fmt: skip
                for floor, ceiling, at_most in zip(*regions, strict=True):
                    self._push(heap, at_most, floor, ceiling)
                continue
            if shelf.has_below(lowest):
                continue
            since = 0
            finding = strings.look_at(lowest.tolist())
            strings.task.progress("searching levels", int(strings.sets.cells), int(_MOST_CELLS))
            if finding.solution:
                shelf.add(strings.found(finding))
            elif finding.dooms:
                self._learn(finding)
                self._push(heap, bound, lowest, highest)
            else:
                for region in _without_lowest(lowest, highest):
                    self._push(heap, bound, *region)
        if wanted == 1 and most > shelf.least:
            shelf.add(climb.improved(shelf.found[0], _MOST_CELLS / 4))
        return Answer(shelf.found or [known], most)

    def is_ruled_out(self, levels: Levels) -> bool:
        """Whether a string is known to need too much suppression."""
        at = np.array(levels, dtype=np.int16)
        return bool((at <= self._doomed[: self._many]).all(axis=1).any())

    def _dive(self, low: Region, high: Region, shelf: Shelf) -> None:
        """Learn from a string that satisfies all clauses, the cheapest way each time.

        The search would come to such strings only after all regions that promise more.
        """
        while True:
            clause, bound = tightened(low, high, self._doomed, self._many, self._scores, self._top)
            if clause == EMPTY or bound < shelf.least:
                return
            if clause == OPEN:
                break
            higher = self._doomed[clause] + 1
            able = np.flatnonzero(higher <= high)
            costs = self._scores[able, low[able]] - self._scores[able, higher[able]]
            chosen = able[int(costs.argmin())]
            low[chosen] = higher[chosen]
        finding = self._strings.look_at(low.tolist())
        if finding.dooms:
            self._learn(finding)
        elif finding.solution and shelf.wanted == 1:
            shelf.add(self._strings.found(finding))

    def _push(self, heap: list[_Entry], bound: float, low: Region, high: Region) -> None:
        """Put a region on the heap; of equal bounds the first one put there comes first."""
        self._made += 1
        heapq.heappush(heap, (-bound, self._made, low, high))

    def _learn(self, finding: NodeFinding) -> None:
        """Rule out all strings below the most general ones that fail as a doomed one does.

        With the attributes of one of them at the root the string may still be doomed, by others:
        these are sought too. They have no attribute in common, so what they cost adds up.
        """
        doomed = finding
        while doomed.dooms:
            general = self._generalized(doomed.levels)
            self._rule_out(general)
            escaped = [
                top if level < top else now
                for now, level, top in zip(doomed.levels, general, self._strings.top, strict=True)
            ]
            doomed = self._strings.look_at(escaped)

    def _generalized(self, doomed: Levels) -> Levels:
        """A doomed string with levels as high as they can be, cheap attributes first.

        What is left at lower levels are few attributes that cannot go on together, and dear ones:
        the clause leaves few ways out, and they cost much.
        """
        strings = self._strings
        now = list(doomed)
        costs = [
            self._scores[a, level] - self._scores[a, min(level + 1, top)]
            for a, (level, top) in enumerate(zip(doomed, strings.top, strict=True))
        ]
        order = sorted(range(len(now)), key=lambda a: (costs[a], a))
        below = [a for a in order if now[a] < strings.top[a]]
        self._raise(now, below)
        for a in order:
            level = now[a]
            while level + 1 < strings.top[a]:
                higher = [*now[:a], level + 1, *now[a + 1 :]]
                if not strings.look_at(higher).dooms:
                    break
                now, level = higher, level + 1
        return tuple(now)

    def _raise(self, now: list[int], some: list[int]) -> None:
        """Put as many of some attributes to the root as leaves a string doomed, halves at once."""
        if not some:
            return
        tried = list(now)
        for a in some:
            tried[a] = self._strings.top[a]
        if self._strings.look_at(tried).dooms:
            now[:] = tried
        elif len(some) > 1:
            half = len(some) // 2
            self._raise(now, some[:half])
            self._raise(now, some[half:])

    def _rule_out(self, node: Levels) -> None:
        if self._many == len(self._doomed):
            self._doomed = np.concatenate((self._doomed, np.zeros_like(self._doomed)))
        self._doomed[self._many] = node
        self._many += 1


class Shelf:
    """The best strings found so far, as many as are wanted, the best first."""

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.found: list[ScoredLevels] = []

    @property
    def least(self) -> float:
        """What another string must be worth to be wanted."""
        full = len(self.found) == self.wanted
        return self.found[-1].score - SAME if full else -np.inf

    def add(self, found: ScoredLevels) -> None:
        """Put a string in its place, and drop the last one where there are too many."""
        if found in self.found:
            return
        place = 0
        while place < len(self.found) and not found.is_better_than(self.found[place]):
            place += 1
        self.found.insert(place, found)
        del self.found[self.wanted :]

    def has_below(self, levels: Region) -> bool:
        """Whether a string is as specific as these levels in every attribute."""
        return any(bool((levels >= np.array(each.levels)).all()) for each in self.found)


def _without_lowest(low: Region, high: Region) -> list[tuple[Region, Region]]:
    """The regions that make up a region without its lowest string."""
    regions = []
    ceiling = high.copy()
    for a in range(len(low)):
        if low[a] < high[a]:
            floor = low.copy()
            floor[a] += 1
            regions.append((floor, ceiling.copy()))
        ceiling[a] = low[a]
    return regions
