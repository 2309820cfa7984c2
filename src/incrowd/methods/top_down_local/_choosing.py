"""The attribute that a node is specialized on: the one that promises least loss in the end.

For nodes of few records the most promising attributes are followed to the end, by the greedy choice
of every later step; the first step of the best end is taken.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd._runtime.compiling import compiled
from incrowd.methods.top_down_local._steps import (
    IMPOSSIBLE,
    StepSpace,
    StepTable,
    attempt,
    node_extents,
    node_loss,
    regroup,
)


class _EndSpace(NamedTuple):
    """Arrays to work in: the nodes that wait, the extents of one, and its runs of records."""

    stack: IntArray
    low: IntArray
    high: IntArray
    starts: IntArray
    room: IntArray


@compiled
def _greedy_end(
    table: StepTable, index: IntArray, first: int, last: int, space: _EndSpace, work: StepSpace,
    best: float,
) -> float:  # fmt: skip
    """What the records of a node lose in the end when every step is the best at once.

    Stops early, with some loss of at least `best`, once that is sure.
    """
    codes, _, node_of, loss, records, _ = table
    stack, low, high, starts, room = space
    width = codes.shape[1]
    total = 0.0
    waiting = 1
    stack[0, 0], stack[0, 1] = first, last
    while waiting > 0:
        waiting -= 1
        begin, end = stack[waiting, 0], stack[waiting, 1]
        node_extents(codes, index, begin, end, low, high)
        least = node_loss(node_of, loss, low, high) * (end - begin)
        chosen = -1
        if least > 0.0 and end - begin >= 2 * records:
            for a in range(width):
                if low[a] == high[a]:
                    continue
                found, _ = attempt(table, index, begin, end, a, low, high, work, least)
                if found < least - 1e-9:
                    least, chosen = found, a
        if chosen < 0:
            total += least
            if total >= best:
                return float(total)
            continue
        _, many = attempt(table, index, begin, end, chosen, low, high, work, IMPOSSIBLE)
        runs = regroup(index, begin, end, work[0][: end - begin], many, starts, room)
        for run in range(runs):
            stack[waiting, 0], stack[waiting, 1] = starts[run], starts[run + 1]
            waiting += 1
    return float(total)


class Choices(NamedTuple):
    """Of nodes the attributes to specialize on, and how many children; of records their child."""

    attribute: IntArray
    child_of: IntArray
    children: IntArray


@compiled
def choose(
    table: StepTable, index: IntArray, firsts: IntArray, lasts: IntArray, barred: BoolArray,
    followed: int, most_followed: int, out: Choices,
) -> None:  # fmt: skip
    """For each of some nodes the attribute to specialize on (-1: none), and where records go.

    Node i has the records `index[firsts[i]:lasts[i]]`, which get their child in `child_of`;
    `children[i]` is how many there are. `barred[i, a]` bars attribute a. In nodes of at most
    `most_followed` records the `followed` best attributes are followed to their end.
    """
    codes, sensitive, node_of, loss, records, values = table
    chosen, child_of, children = out
    width = codes.shape[1]
    largest = 0
    for node in range(len(firsts)):
        largest = max(largest, lasts[node] - firsts[node])
    most = node_of.shape[2] + 2
    low, high = np.zeros(width, np.int64), np.zeros(width, np.int64)
    low_2, high_2 = np.zeros(width, np.int64), np.zeros(width, np.int64)
    lows, highs = np.zeros((most, width), np.int64), np.zeros((most, width), np.int64)
    size, worth = np.zeros(most, np.int64), np.zeros(most)
    different = np.zeros((most, max(len(values), 1)), np.int64)
    starts = np.zeros(most + 1, np.int64)
    widest = sensitive.max() + 1 if sensitive.size else 1
    seen = np.zeros((max(sensitive.shape[1], 1), widest), np.int64)
    stamp = np.zeros(1, np.int64)
    child, room = np.zeros(largest, np.int64), np.zeros(largest, np.int64)
    work = StepSpace(child, size, lows, highs, different, worth, seen, stamp)
    some = np.zeros(min(largest, most_followed) + 1, np.int64)
    space = _EndSpace(np.zeros((largest + 2, 2), np.int64), low_2, high_2, starts, room)
    once = np.zeros(width)
    for node in range(len(firsts)):
        first, last = firsts[node], lasts[node]
        chosen[node] = -1
        if last - first < 2 * records:
            continue
        node_extents(codes, index, first, last, low, high)
        least = node_loss(node_of, loss, low, high) * (last - first)
        follow = last - first <= most_followed
        for a in range(width):
            once[a] = IMPOSSIBLE
            if low[a] != high[a] and not barred[node, a]:
                once[a], _ = attempt(table, index, first, last, a, low, high, work, IMPOSSIBLE)
        order = np.argsort(once, kind="mergesort")
        if not follow:
            if once[order[0]] < least - 1e-9:
                chosen[node] = order[0]
        else:
            for turn in range(min(followed, width)):
                a = order[turn]
                if once[a] >= IMPOSSIBLE:
                    break
                _, many = attempt(table, index, first, last, a, low, high, work, IMPOSSIBLE)
                some[: last - first] = index[first:last]
                runs = regroup(some, 0, last - first, child[: last - first], many, starts, room)
                begins = starts[: runs + 1].copy()
                total = 0.0
                for run in range(runs):
                    total += _greedy_end(
                        table, some, begins[run], begins[run + 1], space, work, least - total
                    )
                    if total >= least:
                        break
                if total < least - 1e-9:
                    least, chosen[node] = total, a
        if chosen[node] >= 0:
            a = chosen[node]
            _, children[node] = attempt(table, index, first, last, a, low, high, work, IMPOSSIBLE)
            child_of[first:last] = child[: last - first]
