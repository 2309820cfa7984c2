"""Numbers for small sets of atoms: where in a table the patients who show a set are counted.

The atoms of a piece of work are numbered from 0, those of patients and those of events apart. A
set of `a` atoms of patients and `e` of events is a number in a region of its own, (a, e); within
it sets are ranked by their largest element, so that its last loop runs over neighbouring numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd._runtime.compiling import compiled


class Regions(NamedTuple):
    """Where the numbers of the sets of each size begin: `base[a, e]`, or -1 where none counts."""

    base: IntArray
    span: IntArray
    """How many sets of so many atoms of events there are."""
    attributes: int
    events: int


class Scratch(NamedTuple):
    """What is listed of one patient at a time."""

    own: IntArray
    """Its atoms: those of patients first, each kind from the smallest number on."""
    slots: IntArray
    """Its sets, region by region."""
    ends: IntArray
    """`ends[a, e]`: where the sets of a region end."""
    none_dirty: BoolArray
    """Empty, so that all sets are listed."""


@compiled
def choose(n: int, k: int) -> int:
    """How many sets of k there are among n."""
    if k == 0:
        return 1
    if k == 1:
        return n
    if k == 2:
        return n * (n - 1) // 2
    if k == 3:
        return n * (n - 1) * (n - 2) // 6
    found = 1
    for i in range(k):
        found = found * (n - i) // (i + 1)
    return found


@compiled
def choose_float(n: int, k: int) -> float:
    """How many sets of k there are among n, however many that is."""
    found = 1.0
    for i in range(k):
        found *= max(n - i, 0) / (i + 1)
    return found


@compiled
def how_many_sets(attributes: int, events: int, need: IntArray) -> float:
    """How many sets a patient with so many atoms is counted in."""
    found = 0.0
    for a in range(min(attributes + 1, need.shape[0])):
        for e in range(min(events + 1, need.shape[1])):
            if need[a, e] > 0:
                found += choose_float(attributes, a) * choose_float(events, e)
    return found


@compiled
def _of_events(
    own: IntArray, low: int, size: int, start: int, slots: IntArray, at: int, dirty: BoolArray
) -> int:
    """List the sets of so many of own[low:], from `start` on; return where they end.

    Where `dirty` marks some atoms, only those sets whose largest atom is marked.
    """
    high, every = len(own), len(dirty) == 0
    if size == 0:
        slots[at] = start
        return at + 1
    if size == 1:
        for i in range(low, high):
            if every or dirty[own[i]]:
                slots[at] = start + own[i]
                at += 1
        return at
    if size == 2:
        for j in range(low + 1, high):
            if not every and not dirty[own[j]]:
                continue
            above = start + choose(own[j], 2)
            for i in range(low, j):
                slots[at] = above + own[i]
                at += 1
        return at
    if size == 3:
        for k in range(low + 2, high):
            if not every and not dirty[own[k]]:
                continue
            highest = start + choose(own[k], 3)
            for j in range(low + 1, k):
                above = highest + choose(own[j], 2)
                for i in range(low, j):
                    slots[at] = above + own[i]
                    at += 1
        return at
    return _of_many_events(own, low, size, start, slots, at, dirty)


@compiled
def _of_many_events(
    own: IntArray, low: int, size: int, start: int, slots: IntArray, at: int, dirty: BoolArray
) -> int:
    """List the sets of four or more of own[low:], as `_of_events` does."""
    high, every = len(own), len(dirty) == 0
    if high - low < size:
        return at
    chosen = np.arange(low, low + size)
    while True:
        if every or dirty[own[chosen[size - 1]]]:
            rank = start
            for i in range(size):
                rank += choose(own[chosen[i]], i + 1)
            slots[at] = rank
            at += 1
        if not next_choice(chosen, low, high):
            return at


@compiled
def next_choice(chosen: IntArray, low: int, high: int) -> bool:
    """Go on to the next choice of ascending positions from low to below high, if there is one."""
    size = len(chosen)
    for i in range(size):
        if chosen[i] + 1 < (chosen[i + 1] if i + 1 < size else high):
            chosen[i] += 1
            for j in range(i):
                chosen[j] = low + j
            return True
    return False


@compiled
def list_sets(
    own: IntArray, many: int, regions: Regions, scratch: Scratch, dirty: BoolArray
) -> int:
    """List the numbers of all sets of some atoms, the first `many` of patients; return how many.

    Where `dirty` marks some atoms of events, of the sets with such atoms only those whose largest
    is marked.
    """
    slots, ends, base = scratch.slots, scratch.ends, regions.base
    at = 0
    for a in range(base.shape[0]):
        for e in range(base.shape[1]):
            start = base[a, e]
            if start >= 0 and a <= many and e <= len(own) - many:
                if a == 0:
                    at = _of_events(own, many, e, start, slots, at, dirty)
                else:
                    at = _of_both(own, many, a, e, start, regions.span[e], slots, at, dirty)
            ends[a, e] = at
    return at


@compiled
def _of_both(
    own: IntArray,
    many: int,
    a: int,
    e: int,
    start: int,
    span: int,
    slots: IntArray,
    at: int,
    dirty: BoolArray,
) -> int:
    """List the sets of a of own[:many] and e of the others; return where they end."""
    chosen = np.arange(a)
    more = True
    while more:
        rank = 0
        for i in range(a):
            rank += choose(own[chosen[i]], i + 1)
        at = _of_events(own, many, e, start + rank * span, slots, at, dirty)
        more = next_choice(chosen, 0, many)
    return at
