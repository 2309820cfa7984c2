"""Distributed search: global search over some attributes at a time, then over what it found."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from incrowd.methods.lattice.rollup import Levels, is_above
from incrowd.methods.research_value._listing import Listing
from incrowd.methods.research_value._pruning import lowest_levels
from incrowd.methods.research_value._strings import ScoredLevels, Strings

_STRINGS_AT_ONCE = 10_000
_MOST_COMBINATIONS = 100_000


def distributed_search(strings: Strings, at_once: int = _STRINGS_AT_ONCE) -> ScoredLevels:
    """The best combination of strings that hold for some attributes each.

    Attributes are divided, in their order, into parts with so many strings at most. Global search
    over each part gives strings that hold with all other attributes at the root; combinations of
    these, one from each part, are looked at from the highest research value on.

    Notes
    -----
    The lists grow with the parts and not with their product, but the best string need not be among
    the combinations: what a part allows on its own may leave others nothing but the root. The root
    of each part is always among them, so that some combination holds. After 100,000 combinations
    that do not, each part in turn takes the best of its strings that holds with those before it.

    References
    ----------
    Morton (2012), "Distributed Version of the Global Optimization".
    """
    lowest = lowest_levels(strings)
    held = []
    for part in parts(strings.top, lowest, at_once):
        found = Listing(strings, lowest, part).search()
        at_root = (strings.score(strings.top), strings.top)
        own = {(each.score, each.levels) for each in found} | {at_root}
        held.append([levels for _, levels in sorted(own, key=lambda each: (-each[0], each[1]))])
    return _best_combination(strings, held)


def parts(top: Levels, lowest: Levels, at_once: int) -> list[list[int]]:
    """The attributes in parts whose strings are at most so many, each at least one attribute."""
    divided: list[list[int]] = []
    room = 0.0
    for a, (height, low) in enumerate(zip(top, lowest, strict=True)):
        levels = height - low + 1
        if not divided or levels > room:
            divided.append([])
            room = float(at_once)
        divided[-1].append(a)
        room /= levels
    return divided


def _best_combination(strings: Strings, held: Sequence[Sequence[Levels]]) -> ScoredLevels:
    """The best combination that holds: from the best of every part on, in order of the scores."""
    roots = tuple(len(part) - 1 for part in held)

    def combined(choice: tuple[int, ...]) -> Levels:
        chosen = [part[place] for part, place in zip(held, choice, strict=True)]
        # Where a part does not speak of an attribute, its strings have it at the root.
        return tuple(min(levels) for levels in zip(*chosen, strict=True))

    first = (0,) * len(held)
    heap = [(-strings.score(combined(first)), combined(first), first)]
    seen = {first}
    doomed: list[Levels] = []
    for _ in range(_MOST_COMBINATIONS):
        _, levels, choice = heapq.heappop(heap)
        if not any(is_above(each, levels) for each in doomed):
            finding = strings.look_at(levels)
            if finding.solution:
                return strings.found(finding)
            if finding.dooms:
                doomed.append(finding.levels)
        further = (
            (*choice[:at], place + 1, *choice[at + 1 :])
            for at, place in enumerate(choice)
            if place + 1 < len(held[at])
        )
        for other in further:
            if other not in seen:
                seen.add(other)
                heapq.heappush(heap, (-strings.score(combined(other)), combined(other), other))
    choice = roots
    for at in range(len(held)):
        for place in range(len(held[at])):
            tried = (*choice[:at], place, *choice[at + 1 :])
            if strings.look_at(combined(tried)).solution:
                choice = tried
                break
    return strings.found(strings.look_at(combined(choice)))
