"""Compiled loops over combinations of attributes: crowds numbered, counted and judged.

Crowds of a choice of attributes are numbered attribute by attribute, in `ids`. For the last one a
row's crowd is a *cell*: its number before the last attribute and its value of it, as one index into
a table where that table is small, or numbered by a hash table where it would be large. So memory
follows the rows, whatever the number of values.

Rows stand in ascending order of their protected value, those without one last; `runs` says where
each value begins. One value is counted at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray, Ints
from incrowd._runtime.compiling import compiled


class WalkRows(NamedTuple):
    """Values by attribute, how many values each has, and weights.

    A row begins in the crowd `base`, of which there are so many `bases`.
    """

    values: npt.NDArray[np.int32]
    spans: IntArray
    base: npt.NDArray[np.int32]
    bases: int
    weights: IntArray


class WalkSpace(NamedTuple):
    """Arrays to work in: the numbers of crowds and how many there are at each depth; counts of
    cells and of a value in them; a hash table with its keys; and the cell of each row.
    """

    ids: npt.NDArray[np.int32]
    counts: IntArray
    tally: IntArray
    part: IntArray
    slots: npt.NDArray[np.int32]
    keys: IntArray
    cells: IntArray


class Extremes(NamedTuple):
    """What the walk has measured so far.

    `whole` holds the smallest crowd and a row of it, a row of the surest, how many crowds fail;
    `surest` the largest confidence; `failed` has a place for each cell.
    """

    failed: BoolArray
    whole: IntArray
    surest: FloatArray
    smallest_choice: IntArray
    surest_choice: IntArray


class Cuts(NamedTuple):
    """The codes of the attribute that is cut, ascending, one per row; marks for low..high."""

    codes: IntArray
    low: int
    high: int
    marks: IntArray


@compiled
def shared_with_next(choice: IntArray, attributes: int) -> int:
    """Step to the next choice in lexicographic order; how many first attributes stay, or -1.

    After the last choice nothing changes.
    """
    known = len(choice)
    at = known - 1
    while at >= 0 and choice[at] == attributes - known + at:
        at -= 1
    if at >= 0:
        choice[at] += 1
        for later in range(at + 1, known):
            choice[later] = choice[later - 1] + 1
    return at


@compiled
def _hashed(column: Ints, span: int, before: Ints, after: Ints, slots: Ints, keys: IntArray) -> int:
    """Number the pairs of a crowd and a value, by a hash table; returns how many there are."""
    slots[:] = -1
    mask = np.uint64(len(slots) - 1)
    found = 0
    for row in range(len(before)):
        key = np.int64(before[row]) * span + column[row]
        mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        slot = np.int64((mixed ^ (mixed >> np.uint64(29))) & mask)
        while slots[slot] >= 0 and keys[slots[slot]] != key:
            slot = (slot + 1) & np.int64(mask)
        if slots[slot] < 0:
            slots[slot] = found
            keys[found] = key
            found += 1
        after[row] = slots[slot]
    return found


@compiled
def _refine(
    column: Ints, span: int, crowds: int, before: Ints, after: Ints, tally: IntArray,
    slots: Ints, keys: IntArray,
) -> int:  # fmt: skip
    """Number the crowds of `before` split by one more attribute into `after`; returns how many."""
    if crowds * span > len(tally):
        return _hashed(column, span, before, after, slots, keys)
    found = 0
    for row in range(len(before)):
        cell = before[row] * span + column[row]
        if tally[cell] == 0:
            found += 1
            tally[cell] = found
        after[row] = tally[cell] - 1
    for row in range(len(before)):
        tally[before[row] * span + column[row]] = 0
    return found


@compiled
def _prefix(rows: WalkRows, choice: IntArray, depth: int, work: WalkSpace) -> None:
    """Number the crowds of all but the last chosen attribute, from `depth` on."""
    values, spans, base, bases, _ = rows
    ids, counts, tally, _, slots, keys, _ = work
    if depth == 0:
        ids[0, :] = base
        counts[0] = bases
    for at in range(depth, len(choice) - 1):
        chosen = choice[at]
        counts[at + 1] = _refine(
            values[chosen], spans[chosen], counts[at], ids[at], ids[at + 1], tally, slots, keys
        )


@compiled
def _count(rows: WalkRows, choice: IntArray, work: WalkSpace) -> None:
    """Count the records of the cell of every row, which goes to `work`."""
    values, spans, _, _, weights = rows
    ids, counts, tally, _, slots, keys, cells = work
    known = len(choice)
    if known == 0:
        cells[:] = ids[0]
    else:
        before, chosen = ids[known - 1], choice[known - 1]
        column, span = values[chosen], spans[chosen]
        if counts[known - 1] * span > len(tally):
            _hashed(column, span, before, cells, slots, keys)
        else:
            for row in range(len(cells)):
                cells[row] = before[row] * span + column[row]
    for row in range(len(cells)):
        tally[cells[row]] += weights[row]


@compiled
def _is_bad(
    weights: IntArray, runs: IntArray, K: int, C: float, cells: IntArray, tally: IntArray,
    part: IntArray,
) -> bool:  # fmt: skip
    """Whether some crowd is below K, or some protected value has more than a share C of one."""
    for row in range(len(cells)):
        if tally[cells[row]] < K:
            return True
    for value in range(len(runs) - 1):
        for row in range(runs[value], runs[value + 1]):
            part[cells[row]] += weights[row]
        bad = False
        for row in range(runs[value], runs[value + 1]):
            bad = bad or part[cells[row]] > C * tally[cells[row]]
        for row in range(runs[value], runs[value + 1]):
            part[cells[row]] = 0
        if bad:
            return True
    return False


@compiled
def walk(
    rows: WalkRows, runs: IntArray, choice: IntArray, most: int, K: int, C: float, work: WalkSpace
) -> bool:
    """Whether one of the next `most` choices is violated; `choice` ends at the last one walked."""
    values, _, _, _, weights = rows
    _, _, tally, part, _, _, cells = work
    depth = 0
    for step in range(most):
        _prefix(rows, choice, depth, work)
        _count(rows, choice, work)
        bad = _is_bad(weights, runs, K, C, cells, tally, part)
        for row in range(len(cells)):
            tally[cells[row]] = 0
        if bad or step + 1 == most:
            return bad
        depth = shared_with_next(choice, len(values))
        if depth < 0:
            return False
    return False


@compiled
def measure(
    rows: WalkRows, runs: IntArray, choice: IntArray, most: int, K: int, C: float,
    work: WalkSpace, out: Extremes,
) -> None:  # fmt: skip
    """Take the next `most` choices into the measures; `choice` ends at the last one walked."""
    failed, whole, surest, smallest_choice, surest_choice = out
    values, _, _, _, weights = rows
    _, _, tally, part, _, _, cells = work
    depth = 0
    for step in range(most):
        _prefix(rows, choice, depth, work)
        _count(rows, choice, work)
        for value in range(len(runs) - 1):
            for row in range(runs[value], runs[value + 1]):
                part[cells[row]] += weights[row]
            for row in range(runs[value], runs[value + 1]):
                cell = cells[row]
                if part[cell] > C * tally[cell]:
                    failed[cell] = True
                if part[cell] / tally[cell] > surest[0]:
                    surest[0], whole[2] = part[cell] / tally[cell], row
                    surest_choice[:] = choice
            for row in range(runs[value], runs[value + 1]):
                part[cells[row]] = 0
        for row in range(len(cells)):
            count = tally[cells[row]]
            if count == 0:
                continue
            if count < K or failed[cells[row]]:
                whole[3] += 1
            if count < whole[0]:
                whole[0], whole[1] = count, row
                smallest_choice[:] = choice
            tally[cells[row]] = 0
            failed[cells[row]] = False
        if step + 1 == most:
            return
        depth = shared_with_next(choice, len(values))
        if depth < 0:
            return


@compiled
def _mark_one_side(
    weights: IntArray, protected_value: Ints, value: int, K: int, C: float, cuts: Cuts,
    upwards: bool, work: WalkSpace, since: IntArray,
) -> None:  # fmt: skip
    """Mark the cuts at which the crowds on one side are bad, for one protected value or for K.

    From below, a crowd has its records so far at cuts from its last code up to its next one; from
    above, at cuts from its next code down to its last one.
    """
    codes, low, high, marks = cuts
    _, _, tally, part, _, _, cells = work
    rows = len(cells)
    for i in range(2 * rows):
        closing = i >= rows
        row = i % rows if upwards else rows - 1 - i % rows
        cell, code = cells[row], codes[row]
        if tally[cell] > 0 and (closing or since[cell] != code):
            bad = tally[cell] < K if value < 0 else part[cell] > C * tally[cell]
            end = (high if upwards else low) if closing else code
            if bad and end != since[cell]:
                marks[min(since[cell], end) - low] += 1
                marks[max(since[cell], end) - low] -= 1
        if closing:
            tally[cell] = 0
            part[cell] = 0
        else:
            tally[cell] += weights[row]
            since[cell] = code
            if protected_value[row] == value:
                part[cell] += weights[row]


@compiled
def mark_bad(
    rows: WalkRows, protected_value: Ints, protected: int, choice: IntArray, K: int, C: float,
    cuts: Cuts, work: WalkSpace,
) -> None:  # fmt: skip
    """Mark runs of cuts that leave a bad crowd: +1 where a run begins, -1 behind its end."""
    tally, cells = work.tally, work.cells
    _prefix(rows, choice, 0, work)
    _count(rows, choice, work)
    for row in range(len(cells)):
        tally[cells[row]] = 0
    since = np.zeros(len(tally), np.int64)
    for value in range(-1, protected):
        for upwards in (True, False):
            _mark_one_side(rows.weights, protected_value, value, K, C, cuts, upwards, work, since)
