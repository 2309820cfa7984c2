"""Global and hybrid search: the list of all strings by research value, searched by halving."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, FloatArray
from incrowd.errors import ParameterError
from incrowd.methods.lattice.node_check import NodeFinding
from incrowd.methods.lattice.rollup import Levels
from incrowd.methods.research_value._halving import halved
from incrowd.methods.research_value._pruning import lowest_levels
from incrowd.methods.research_value._strings import ScoredLevels, Strings

MOST_STRINGS = 2_000_000


class Listing:
    """All strings that pre-pruning leaves, in ascending order of their scores.

    Some attributes may be left at the root, so that the strings are those of the others.

    Notes
    -----
    The product of the levels of the attributes; more than 2 million are refused. Each string that
    is looked at costs a pass over those that are left.
    """

    def __init__(
        self, strings: Strings, lowest: Levels, attributes: Sequence[int] | None = None
    ) -> None:
        self._strings = strings
        chosen = range(len(strings.top)) if attributes is None else attributes
        floors = [lowest[a] if a in chosen else top for a, top in enumerate(strings.top)]
        shape = [top + 1 - floor for floor, top in zip(floors, strings.top, strict=True)]
        count = float(np.prod(shape, dtype=np.float64))
        if count > MOST_STRINGS:
            raise ParameterError(
                f"research-value: the levels of {len(shape)} attributes make {count:,.0f} strings, "
                f"more than the {MOST_STRINGS:,} that this search can list. Say `search: "
                "best-first`, which lists none, or `search: distributed`."
            )
        places = np.indices(shape, dtype=np.int16).reshape(len(shape), -1).T
        levels = places + np.array(floors, dtype=np.int16)
        scores = np.zeros(len(levels))
        for a, of_level in enumerate(strings.scores):
            scores += of_level[levels[:, a]]
        # Of equal scores the lowest levels last, where they are looked at first.
        order = np.lexsort((*(-levels.T[::-1]), np.round(scores, 14)))
        self.levels: npt.NDArray[np.int16] = levels[order]
        self.scores: FloatArray = scores[order]

    def __len__(self) -> int:
        return len(self.levels)

    def told(self, finding: NodeFinding, levels: Levels) -> None:
        """Remove what the judgement of a string decides of others, and the string itself."""
        at = np.array(finding.levels, dtype=np.int16)
        gone = (self.levels == np.array(levels, dtype=np.int16)).all(axis=1)
        if finding.solution:
            gone |= self.scores < self._strings.score(levels)
            gone |= (self.levels >= at).all(axis=1)
        elif finding.dooms:
            gone |= (self.levels <= at).all(axis=1)
        self._keep(~gone)

    def search(self) -> list[ScoredLevels]:
        """The strings that held, each better than those before it: halve the list until empty."""
        held = []
        while len(self):
            middle = tuple(self.levels[len(self) // 2].tolist())
            finding = self._strings.look_at(middle)
            if finding.solution:
                held.append(self._strings.found(finding))
            self.told(finding, middle)
        return held

    def _keep(self, kept: BoolArray) -> None:
        self.levels, self.scores = self.levels[kept], self.scores[kept]


def global_search(strings: Strings) -> ScoredLevels:
    """The best of all strings.

    References
    ----------
    Morton (2012), Figure 4. Differs from it: "more general" and "more specific" hold with equal
    levels too, which is what the property behind it says and prunes far more.
    """
    return best_of(Listing(strings, lowest_levels(strings)).search())


def hybrid_search(strings: Strings) -> ScoredLevels:
    """The best of all strings: local search first, then global search over what it leaves.

    References
    ----------
    Morton (2012), "Hybrid Utility Algorithm".
    """
    lowest = lowest_levels(strings)
    listing = Listing(strings, lowest)
    held = []
    for finding, levels in halved(strings, lowest):
        if finding.solution:
            held.append(strings.found(finding))
        listing.told(finding, levels)
    return best_of([*held, *listing.search()])


def best_of(held: Sequence[ScoredLevels]) -> ScoredLevels:
    """The best of some strings."""
    best = held[0]
    for found in held:
        if found.is_better_than(best):
            best = found
    return best
