"""Pre-pruning: what one attribute, or two, rule out before any whole string is looked at.

A string with all but a few attributes at the root is the table of these few alone. One that needs
too much suppression rules out every string that is as specific in them: the search for strings
need not begin lower.
"""

from __future__ import annotations

from itertools import combinations

from incrowd.methods.lattice.rollup import Levels
from incrowd.methods.research_value._strings import Strings


def lowest_levels(strings: Strings) -> Levels:
    """For each attribute the lowest level that the models allow it on its own.

    Notes
    -----
    One frequency set of one attribute for each level that is ruled out, and one more.

    References
    ----------
    Morton (2012), Figure 3. An attribute that fails at its root is removed there; the table at the
    root of all attributes is one group, and what that breaks is refused before any search.
    """
    lowest = []
    for attribute, height in enumerate(strings.top):
        level = 0
        while level < height and strings.look_at(_alone(strings.top, {attribute: level})).dooms:
            level += 1
        lowest.append(level)
    return tuple(lowest)


def doomed_pairs(strings: Strings, lowest: Levels) -> list[Levels]:
    """The highest levels that two attributes cannot have together, the others at the root.

    Notes
    -----
    For each of the d (d - 1) / 2 pairs one frequency set, and where that fails at most as many as
    the two have levels: up one side of what fails and down the other.
    """
    found: list[Levels] = []
    for one, other in combinations(range(len(lowest)), 2):

        def fails(level: int, beside: int, one: int = one, other: int = other) -> bool:
            return strings.look_at(_alone(strings.top, {one: level, other: beside})).dooms

        steps: dict[int, int] = {}
        free = lowest[other]  # the lowest level of the other that is allowed beside this one
        for level in range(lowest[one], strings.top[one]):
            if not steps:
                while free < strings.top[other] and fails(level, free):
                    free += 1
            while free > lowest[other] and not fails(level, free - 1):
                free -= 1
            if free == lowest[other]:
                break
            steps[free - 1] = level
        found += [_alone(strings.top, {one: at, other: beside}) for beside, at in steps.items()]
    return found


def _alone(top: Levels, levels: dict[int, int]) -> Levels:
    """Some attributes at these levels, all others at the root."""
    return tuple(levels.get(attribute, height) for attribute, height in enumerate(top))
