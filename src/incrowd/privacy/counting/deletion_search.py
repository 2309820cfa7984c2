"""The search for a few values that delete all rows of a group: depth first, bounded below.

Some row is left: one of its values must go. What bounds a branch: rows that share no value need a
deletion each; the most frequent values, as many as deletions remain, must be in all rows; and
weights of rows that add up to at most 1 for every value add up to no more than the deletions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from incrowd._runtime.arrays import FloatArray, IntArray
from incrowd._runtime.compiling import compiled


class SearchSpace(NamedTuple):
    """What searches write into, one after the other, with a place for each value.

    The look at which it was `taken` last, how many rows have it, what weights leave it `free`; and
    the number of the last look.
    """

    taken: IntArray
    tally: IntArray
    free: FloatArray
    stamp: IntArray


class SearchedRows(NamedTuple):
    """The rows of a group: `values[members[i]]` for `size` members from `first` on."""

    members: IntArray
    values: IntArray
    first: int
    size: int


@compiled
def _greedy_cover(
    members: IntArray, values: IntArray, first: int, size: int, most: int, limits: IntArray,
    barred: IntArray, tally: IntArray,
) -> bool:  # fmt: skip
    """Whether at most `most` values, each deleting most of what is left, delete all rows."""
    width = values.shape[1]
    gone = np.zeros(size, np.bool_)
    left = limits.copy()
    for _ in range(most):
        for i in range(size):
            for a in range(width):
                tally[values[members[first + i], a]] = 0
        best, best_attribute, best_count = np.int64(-1), 0, 0
        for i in range(size):
            if gone[i]:
                continue
            for a in range(width):
                value = values[members[first + i], a]
                tally[value] += 1
                if left[a] > 0 and barred[value] == 0 and tally[value] > best_count:
                    best, best_attribute, best_count = value, a, tally[value]
        if best < 0:
            break
        left[best_attribute] -= 1
        for i in range(size):
            if values[members[first + i], best_attribute] == best:
                gone[i] = True
    return bool(gone.all())


@compiled
def _look(
    group: SearchedRows, gone: IntArray, left: IntArray, barred: IntArray, often: IntArray,
    space: SearchSpace, remain: int,
) -> int:  # fmt: skip
    """The row that is left with the fewest values to delete; -1: no row is left, -2: hopeless.

    Leaves in `tally` in how many rows that are left each of their values occurs.
    """
    members, values, first, size = group
    taken, tally, free, stamp = space
    stamp[0] += 1
    width = values.shape[1]
    rows, pick, fewest, apart = 0, -1, width + 1, 0
    for i in range(size):
        if gone[i] == 0:
            for a in range(width):
                tally[values[members[first + i], a]] = 0
    often[:] = 0
    for i in range(size):
        if gone[i] > 0:
            continue
        rows += 1
        able, shares = 0, False
        for a in range(width):
            value = values[members[first + i], a]
            if left[a] == 0 or barred[value] > 0:
                continue
            able += 1
            tally[value] += 1
            often[tally[value]] += 1
            if taken[value] == stamp[0]:
                shares = True
        if able == 0:
            return -2
        if able < fewest:
            pick, fewest = i, able
        if not shares:
            apart += 1
            if apart > remain:
                return -2
            for a in range(width):
                taken[values[members[first + i], a]] = stamp[0]
    # often[n] values occur n times or more: the most frequent ones are counted level by level.
    together = 0
    for n in range(1, rows + 1):
        together += min(often[n], remain)
        if often[n] == 0:
            break
    if together < rows:
        return -2
    # Weights of rows that add up to at most 1 for every value bound the deletions from below: each
    # row first gets 1 / the rows of its most frequent value, then what its values leave free.
    bound = 0.0
    for i in range(size):
        if gone[i] == 0:
            for a in range(width):
                free[values[members[first + i], a]] = 1.0
    for again in range(2):
        for i in range(size):
            if gone[i] > 0:
                continue
            weight = 1.0
            for a in range(width):
                value = values[members[first + i], a]
                if left[a] > 0 and barred[value] == 0:
                    weight = min(weight, 1.0 / tally[value] if again == 0 else free[value])
            bound += weight
            for a in range(width):
                free[values[members[first + i], a]] -= weight
        if bound > remain + 1e-6:
            return -2
    return pick


@compiled
def search(
    offsets: IntArray, members: IntArray, values: IntArray, total: int, needed: int,
    limits: IntArray, most_nodes: int, verdict: IntArray,
) -> None:  # fmt: skip
    """For each group 0 if fewer than `needed` values delete all rows, 1 if not, 2 if it is open."""
    space = search_space(total)
    barred = np.zeros(total, np.int64)
    for group in range(len(verdict)):
        first, size = offsets[group], offsets[group + 1] - offsets[group]
        verdict[group] = search_group(
            members, values, first, size, needed, limits, barred, most_nodes, space
        )


@compiled
def search_space(total: int) -> SearchSpace:
    """What searches over `total` values write into, one after the other."""
    stamp = np.zeros(1, np.int64)
    return SearchSpace(
        np.full(total, np.int64(-1)), np.zeros(total, np.int64), np.zeros(total), stamp
    )


@compiled
def search_group(
    members: IntArray, values: IntArray, first: int, size: int, needed: int, limits: IntArray,
    barred: IntArray, most_nodes: int, space: SearchSpace,
) -> int:  # fmt: skip
    """Look for a choice of fewer than `needed` values that deletes all rows, depth first.

    Returns 0 if there is one, 1 if there is none, 2 after `most_nodes` nodes. The rows are
    `values[members[i]]` for `size` members from `first` on; values with `barred` above 0 may not be
    chosen, and `barred` is left as it was.

    Some row is left: one of its values must go, and once all choices with one of them have failed,
    that value is barred from the choices with the others. A branch ends where a row has no value
    left to delete, where more rows share no such value than deletions remain, or where the most
    frequent values, as many as deletions remain, are in too few rows.
    """
    tally = space.tally
    if _greedy_cover(members, values, first, size, needed - 1, limits, barred, tally):
        return 0
    group = SearchedRows(members, values, first, size)
    width = values.shape[1]
    deep = max(needed, 1)
    rows = np.zeros(deep, np.int64)
    order = np.zeros((deep, width), np.int64)
    choices = np.zeros(deep, np.int64)
    turn = np.zeros(deep, np.int64)
    gone = np.zeros(size, np.int64)
    often = np.zeros(size + 1, np.int64)
    left = limits.copy()
    depth, nodes, result = 0, 0, 1
    entering = True
    while depth >= 0:
        if entering:
            nodes += 1
            pick = _look(group, gone, left, barred, often, space, needed - 1 - depth)
            if pick == -1 or nodes > most_nodes:
                result = 0 if pick == -1 else 2
                break
            rows[depth] = members[first + max(pick, 0)]
            choices[depth] = 0
            turn[depth] = -1
            for a in range(width):
                value = values[rows[depth], a]
                if pick < 0 or left[a] == 0 or barred[value] > 0:
                    continue
                # The value of most rows first; few values, so insertion will do.
                at = choices[depth]
                while at > 0 and tally[values[rows[depth], order[depth, at - 1]]] < tally[value]:
                    order[depth, at] = order[depth, at - 1]
                    at -= 1
                order[depth, at] = a
                choices[depth] += 1
        if turn[depth] >= 0:
            # Take back the value deleted at this depth, and bar it from here on.
            a = order[depth, turn[depth]]
            value = values[rows[depth], a]
            for i in range(size):
                if values[members[first + i], a] == value:
                    gone[i] -= 1
            left[a] += 1
            barred[value] += 1
        turn[depth] += 1
        if turn[depth] == choices[depth]:
            for t in range(choices[depth]):
                barred[values[rows[depth], order[depth, t]]] -= 1
            depth -= 1
            entering = False
            continue
        a = order[depth, turn[depth]]
        value = values[rows[depth], a]
        left[a] -= 1
        for i in range(size):
            if values[members[first + i], a] == value:
                gone[i] += 1
        depth += 1
        entering = True
    for above in range(depth):
        for t in range(turn[above]):
            barred[values[rows[above], order[above, t]]] -= 1
    return result
