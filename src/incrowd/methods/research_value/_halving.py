"""Local search: the levels of all attributes halved together, each between its own ends."""

from __future__ import annotations

from collections.abc import Iterator

from incrowd.methods.lattice.node_check import NodeFinding
from incrowd.methods.lattice.rollup import Levels
from incrowd.methods.research_value._pruning import lowest_levels
from incrowd.methods.research_value._strings import ScoredLevels, Strings


def local_search(strings: Strings) -> ScoredLevels:
    """The best string among the few that halving meets; attributes are treated alike.

    Notes
    -----
    As many strings as the binary logarithm of the most levels that an attribute has, and one.

    References
    ----------
    Morton (2012), Figure 5. The thesis leaves open where halving begins; here it goes from the
    lowest level that pre-pruning leaves to the root, both included, so that a string is found
    wherever the root of all attributes satisfies the models.
    """
    best: ScoredLevels | None = None
    for finding, _ in halved(strings, lowest_levels(strings)):
        if finding.solution and (found := strings.found(finding)).is_better_than(best):
            best = found
    levels = best.levels if best is not None else strings.top
    # What all records share tells nobody apart, so that it can be shown.
    shown = tuple(
        0 if column.cardinality == 1 else level
        for column, level in zip(strings.task.columns, levels, strict=True)
    )
    return strings.found(strings.look_at(shown))


def halved(strings: Strings, lowest: Levels) -> Iterator[tuple[NodeFinding, Levels]]:
    """The strings that local search looks at, with what was found of each.

    Each attribute keeps two ends: `general` steps below the root are known to hold or are the root
    itself, `specific` steps are not to be taken any more. All move towards the specific end where
    the string of their middles holds, towards the general one where it fails.
    """
    general = [0] * len(lowest)
    specific = [top - low + 1 for top, low in zip(strings.top, lowest, strict=True)]
    before: Levels | None = None
    while True:
        middles = [(a + b) // 2 for a, b in zip(general, specific, strict=True)]
        levels = tuple(top - steps for top, steps in zip(strings.top, middles, strict=True))
        if levels == before:
            return
        before = levels
        finding = strings.look_at(levels)
        yield finding, levels
        if finding.solution:
            general = middles
        else:
            # The root itself cannot be given up: an attribute that is there stays.
            specific = [max(middle, 1) for middle in middles]
