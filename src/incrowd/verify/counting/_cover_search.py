"""The compiled search for the fewest values that delete all rows of a group, between the bounds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray, Ints, Uints
from incrowd._runtime.compiling import compiled
from incrowd.verify.counting.cover_loops import GroupRows, rarest_first, renumber

SEARCHED_ROWS = 1024
"""The rows of a group that is searched; larger ones are left to the integer program."""


@compiled
def search_groups(
    cells: GroupRows, groups: IntArray, wanted: int, steps: int, lower: IntArray,
    upper: IntArray, state: IntArray,
) -> None:  # fmt: skip
    """Narrow the bounds of these groups, and the smallest number of all in `state`."""
    values, starts, limits, many = cells
    numbers = np.full(many, -1, np.int32)
    for group in groups:
        rows = starts[group + 1] - starts[group]
        if rows > SEARCHED_ROWS:
            continue
        if (lower[group] >= wanted or upper[group] < wanted) and lower[group] >= state[0]:
            continue
        local, firsts = renumber(values[starts[group] : starts[group + 1]], limits, numbers)
        lower[group], upper[group] = _search(
            local, firsts, limits, wanted, steps, lower[group], upper[group], state[0]
        )
        state[0] = min(state[0], upper[group])


@compiled
def _ones(word: np.uint64) -> np.int64:
    """Return how many bits of a word are set; LLVM makes one instruction of this."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def _lowest(word: np.uint64) -> np.int64:
    """Return the place of the lowest bit that is set."""
    return _ones((word & (~word + np.uint64(1))) - np.uint64(1))


@compiled
def below_which(upper: int, wanted: int, smallest: int) -> int:
    """Return the number that a search must go below to tell something new."""
    return min(upper, smallest if upper < wanted else max(wanted, smallest))


@compiled
def _reduce(local: Ints, sets: Uints, alive: Uints, free: BoolArray) -> None:
    """Drop values and rows that cannot matter, until nothing changes.

    A value goes where another one deletes all its rows and more, or the same, and is of an
    attribute that is `free` of limits. A row goes where deleting another one always deletes it.
    """
    rows, attributes = local.shape
    many, words = sets.shape
    inside = np.zeros(words, np.uint64)
    gone = np.zeros(many, np.bool_)
    changed = True
    while changed:
        changed = False
        for row in range(rows):
            if not (alive[row >> 6] >> np.uint64(row & 63)) & np.uint64(1):
                continue
            for attribute in range(attributes):
                value = local[row, attribute]
                if value < 0 or gone[value]:
                    continue
                for other in range(attributes):
                    rival = local[row, other]
                    if other == attribute or rival < 0 or gone[rival] or not free[other]:
                        continue
                    within = True
                    for word in range(words):
                        within &= not sets[value, word] & alive[word] & ~sets[rival, word]
                    if within:
                        gone[value] = True
                        changed = True
                        break
        for row in range(rows):
            for attribute in range(attributes):
                if local[row, attribute] >= 0 and gone[local[row, attribute]]:
                    local[row, attribute] = -1
        for row in range(rows):
            if not (alive[row >> 6] >> np.uint64(row & 63)) & np.uint64(1):
                continue
            inside[:] = alive
            for attribute in range(attributes):
                if local[row, attribute] >= 0:
                    inside &= sets[local[row, attribute]]
            inside[row >> 6] &= ~(np.uint64(1) << np.uint64(row & 63))
            for word in range(words):
                if inside[word]:
                    alive[word] &= ~inside[word]
                    changed = True


class _BranchSpace(NamedTuple):
    """Arrays to work in: rows each value deletes, how many values delete so many, rows left."""

    counts: IntArray
    spread: IntArray
    rest: Uints


@compiled
def _search(
    local: Ints, firsts: IntArray, limits: IntArray, wanted: int, steps: int,
    lower: int, upper: int, smallest: int,
) -> tuple[int, int]:  # fmt: skip
    """Return narrower bounds on the fewest deletions of a group, by a depth-first search.

    Each step takes a row with the fewest values to choose from and deletes it by each of these in
    turn; a value that was tried is not tried again deeper down. What cannot go below the number
    that tells something new is cut off.
    """
    rows, attributes = local.shape
    many = firsts[-1]
    words = (rows + 63) >> 6
    order = rarest_first(local, many)[1]
    local = local[order]
    sets = np.zeros((many, words), np.uint64)
    owner = np.zeros(many, np.int64)
    for row in range(rows):
        for attribute in range(attributes):
            if local[row, attribute] >= 0:
                sets[local[row, attribute], row >> 6] |= np.uint64(1) << np.uint64(row & 63)
                owner[local[row, attribute]] = attribute
    bound = below_which(upper, wanted, smallest)
    room = np.zeros(attributes, np.int64)
    for attribute in range(attributes):
        room[attribute] = limits[attribute]
    alive = np.zeros((min(many, rows) + 2, words), np.uint64)
    for row in range(rows):
        alive[0, row >> 6] |= np.uint64(1) << np.uint64(row & 63)
    free = np.zeros(attributes, np.bool_)
    for attribute in range(attributes):
        different = firsts[attribute + 1] - firsts[attribute]
        free[attribute] = limits[attribute] >= min(different, bound - 1)
    _reduce(local, sets, alive[0], free)
    usable = np.zeros(many, np.bool_)
    for row in range(rows):
        for attribute in range(attributes):
            if local[row, attribute] >= 0:
                usable[local[row, attribute]] = True
    choices = np.zeros((len(alive), attributes), np.int64)
    chosen = np.zeros(len(alive), np.int64)
    many_choices = np.zeros(len(alive), np.int64)
    space = _BranchSpace(
        np.zeros(many, np.int64), np.zeros(rows + 1, np.int64), np.zeros(words, np.uint64)
    )
    depth, done, entering = 0, 0, True
    while depth >= 0:
        if entering:
            if done * words >= steps:
                return lower, upper
            done += 1
            empty = True
            for word in range(words):
                empty &= not alive[depth, word]
            many_choices[depth] = 0
            chosen[depth] = -1
            if empty:
                if depth < upper:
                    upper = depth
                    smallest = min(smallest, upper)
                    bound = below_which(upper, wanted, smallest)
                    if bound <= lower:
                        return lower, upper
            elif depth + 1 < bound:
                many_choices[depth] = _branch(
                    local, sets, firsts, alive[depth], usable, room, bound - depth, space,
                    choices[depth],
                )  # fmt: skip
        at = chosen[depth]
        if at >= 0:
            value = choices[depth, at]
            room[owner[value]] += 1
            usable[value] = False
        at += 1
        chosen[depth] = at
        if at < many_choices[depth] and depth + 1 < bound:
            value = choices[depth, at]
            room[owner[value]] -= 1
            for word in range(words):
                alive[depth + 1, word] = alive[depth, word] & ~sets[value, word]
            depth += 1
            entering = True
        else:
            for tried in range(at):
                usable[choices[depth, tried]] = True
            depth -= 1
            entering = False
    return max(lower, bound), upper


@compiled
def _branch(
    local: Ints, sets: Uints, firsts: IntArray, alive: Uints, usable: BoolArray, room: IntArray,
    bound: int, space: _BranchSpace, choices: IntArray,
) -> int:  # fmt: skip
    """Write the values to delete next, the best first; returns how many, or 0 to go no deeper.

    It goes no deeper where all that is left cannot be deleted by fewer than `bound` values.
    """
    counts, spread, rest = space
    attributes = local.shape[1]
    words = len(alive)
    # Rows that share no value that may still go.
    rest[:] = alive
    apart, left = 0, np.int64(0)
    for word in range(words):
        left += _ones(alive[word])
        while rest[word]:
            row = (word << 6) + _lowest(rest[word])
            deletable = False
            for attribute in range(attributes):
                value = local[row, attribute]
                if value >= 0 and usable[value] and room[attribute] > 0:
                    deletable = True
                    for behind in range(word, words):
                        rest[behind] &= ~sets[value, behind]
            apart += 1
            if apart >= bound or not deletable:
                return 0
    # The most rows that so many values can delete, were none of the rows the same.
    spread[: left + 1] = 0
    for attribute in range(attributes):
        first, last = firsts[attribute], firsts[attribute + 1]
        for value in range(first, last):
            counts[value] = 0
            if usable[value] and room[attribute] > 0:
                for word in range(words):
                    counts[value] += _ones(sets[value, word] & alive[word])
        if room[attribute] >= last - first:
            for value in range(first, last):
                spread[counts[value]] += 1
        elif room[attribute] > 0:
            largest = np.sort(counts[first:last])
            for place in range(1, room[attribute] + 1):
                spread[largest[-place]] += 1
    covered, picks = 0, 0
    for count in range(left, 0, -1):
        for _ in range(spread[count]):
            if covered >= left:
                break
            covered += count
            picks += 1
    if covered < left or picks >= bound:
        return 0
    # A share of 1 / c for each row, c being the most that one of its values deletes, gives no
    # value more than 1 in all; so the shares add up to no more than the deletions needed.
    shares = 0.0
    fewest, rarest, taken = attributes + 1, 0, np.int64(-1)
    for word in range(words):
        rest[word] = alive[word]
        while rest[word]:
            row = (word << 6) + _lowest(rest[word])
            rest[word] &= rest[word] - np.uint64(1)
            options, sum_, most = 0, 0, 0
            for attribute in range(attributes):
                value = local[row, attribute]
                if value >= 0 and counts[value] > 0:
                    options += 1
                    sum_ += counts[value]
                    most = max(most, counts[value])
            if options == 0:
                return 0
            shares += 1.0 / most
            if options < fewest or (options == fewest and sum_ < rarest):
                fewest, rarest, taken = options, sum_, row
    if np.int64(np.ceil(shares - 1e-6)) >= bound:
        return 0
    found = 0
    for attribute in range(attributes):
        value = local[taken, attribute]
        if value >= 0 and counts[value] > 0:
            place = found
            while place > 0 and counts[choices[place - 1]] < counts[value]:
                choices[place] = choices[place - 1]
                place -= 1
            choices[place] = value
            found += 1
    return found
