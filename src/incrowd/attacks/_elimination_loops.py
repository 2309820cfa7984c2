"""Which rows of a group lose all others by ruling out a few values: minimum covers, decided.

A row of sensitive values is one of the person's, and the attacker rules out values that the person
does not hold; a value ruled out removes all rows of the group that hold it. A row is exposed in an
attribute when so many values at most remove every row with another value of it: a set cover, which
is NP-hard in general but shallow here. It is settled from both sides first: rows that share no
value that may be ruled out need one each, and values picked by the rows they remove are a cover.
What lies between is searched depth-first, and what the search does not settle in a bounded number
of steps goes to an integer program.

Rows of a group stand together, each once; the values of all attributes are numbered through.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd._runtime.compiling import compiled
from incrowd._runtime.threads import in_threads

NO, YES, OPEN = 0, 1, 2
_MOST_NODES = 20_000
"""How many nodes of a search tree are looked at before a solver is asked."""
_VISITS_AT_ONCE = 1 << 20
_FEWEST_AT_ONCE = 1 << 14
"""Pairs of rows that one compiled call looks at, halved with every value that may be ruled out: an
interrupt waits for the calls under way, mostly a fraction of a second."""


def exposed_jointly(
    offsets: IntArray, values: IntArray, total: int, most: int, alone: BoolArray
) -> BoolArray:
    """For each row and attribute, whether ruling out at most `most` values leaves one value.

    Parameters
    ----------
    offsets
        Where the rows of each group begin, and the number of rows.
    values
        A line for each row, a column for each attribute; numbers below `total`.
    most
        How many values may be ruled out, at least 1.
    alone
        For each group and attribute, whether so few values of the attribute itself suffice.

    Notes
    -----
    Values that remove all other rows, and the row's own value, remove the group: where more than
    `most` + 1 rows share no value, nobody is exposed. Elsewhere every row is compared with rows of
    its group until `most` + 1 are found that share no value: O(m^2 s) for a row in a group of s
    rows with m attributes, mostly far less. A search visits at most m^`most` nodes of O(m s) each.
    """
    from incrowd.privacy.deletions import independent

    sizes = np.diff(offsets)
    group = np.repeat(np.arange(len(sizes)), sizes)
    members, ones = np.arange(len(values)), np.ones(len(values), np.int64)
    needed = independent(offsets, members, ones, values, total, most + 2)
    verdict = np.where(needed[:, None] > most + 1, NO, OPEN)
    verdict = np.where(alone, YES, verdict).astype(np.uint8)[group]
    rows = np.flatnonzero((verdict == OPEN).any(axis=1))
    visits = np.cumsum(sizes[group[rows]])
    at_once = max(_VISITS_AT_ONCE >> most, _FEWEST_AT_ONCE)
    marks = np.arange(0, int(visits[-1]) if len(rows) else 0, at_once)
    cuts = np.unique(np.concatenate((np.searchsorted(visits, marks), [len(rows)])))
    pieces = [rows[first:last] for first, last in pairwise(cuts.tolist())]

    def judge(piece: IntArray) -> None:
        _decide(piece, group, offsets, values, total, most, _MOST_NODES, verdict)

    in_threads(pieces, judge)
    for row, attribute in np.argwhere(verdict == OPEN).tolist():
        around = values[offsets[group[row]] : offsets[group[row] + 1]]
        verdict[row, attribute] = _solved(around, values[row], attribute, most)
    exposed: BoolArray = verdict == YES
    return exposed


def _solved(rows: IntArray, held: IntArray, at: int, most: int) -> int:
    """Whether at most `most` values that are not `held` remove all rows with another value `at`."""
    from incrowd.privacy.deletion_program import fewest_deletions

    others = rows[rows[:, at] != held[at]]
    # A value that is held cannot go: the row's value of the attribute itself takes its place.
    usable = np.where(others == held, others[:, [at]], others)
    unlimited = np.full(rows.shape[1], 1 << 40, np.int64)
    return NO if fewest_deletions(np.unique(usable, axis=0), unlimited, most + 1) is None else YES


@compiled
def _decide(
    rows: Any, group: Any, offsets: Any, values: Any, total: int, most: int, most_nodes: int,
    verdict: Any,
) -> None:  # fmt: skip
    """Settle what is open in these rows, or leave it open where the search takes too long."""
    width = values.shape[1]
    taken = np.zeros(total, np.int64)
    tally = np.zeros(total, np.int64)
    tried = np.zeros(total, np.bool_)
    stamp = np.int64(0)
    largest = np.int64(0)
    for row in rows:
        largest = max(largest, offsets[group[row] + 1] - offsets[group[row]])
    others = np.empty(largest, np.int64)
    gone = np.empty(largest, np.int64)
    for row in rows:
        first, last = offsets[group[row]], offsets[group[row] + 1]
        for attribute in range(width):
            if verdict[row, attribute] != OPEN:
                continue
            stamp += 1
            if _more_apart(values, first, last, row, attribute, most, tried, taken, stamp):
                verdict[row, attribute] = NO
                continue
            many = _gather(values, first, last, row, attribute, others)
            if _picked(values, others[:many], row, most, tally, gone):
                verdict[row, attribute] = YES
                continue
            verdict[row, attribute], stamp = _search(
                values, others[:many], row, most, most_nodes, taken, stamp, gone, tried
            )


@compiled
def _free(values: Any, other: int, row: int, tried: Any, taken: Any, stamp: int) -> bool:
    """Whether a row shares no value that may be ruled out with those taken; it is taken then.

    The values that `row` holds may not be ruled out, nor those that were tried before.
    """
    width = values.shape[1]
    for a in range(width):
        value = values[other, a]
        if value != values[row, a] and taken[value] == stamp and not tried[value]:
            return False
    for a in range(width):
        if values[other, a] != values[row, a]:
            taken[values[other, a]] = stamp
    return True


@compiled
def _more_apart(
    values: Any, first: int, last: int, row: int, attribute: int, most: int, tried: Any,
    taken: Any, stamp: int,
) -> bool:  # fmt: skip
    """Whether more than `most` rows to be removed share no value that may be ruled out."""
    apart = 0
    for other in range(first, last):
        if values[other, attribute] == values[row, attribute]:
            continue
        if _free(values, other, row, tried, taken, stamp):
            apart += 1
            if apart > most:
                return True
    return False


@compiled
def _gather(values: Any, first: int, last: int, row: int, attribute: int, others: Any) -> Any:
    """Write the rows to be removed, those with the fewest values to rule out first; how many."""
    width = values.shape[1]
    at = np.zeros(width + 2, np.int64)
    for fill in range(2):
        for other in range(first, last):
            if values[other, attribute] == values[row, attribute]:
                continue
            choices = 0
            for a in range(width):
                if values[other, a] != values[row, a]:
                    choices += 1
            if fill == 0:
                at[choices + 1] += 1
            else:
                others[at[choices]] = other
                at[choices] += 1
        if fill == 0:
            for choices in range(width + 1):
                at[choices + 1] += at[choices]
    return at[width]


@compiled
def _picked(values: Any, others: Any, row: int, most: int, tally: Any, gone: Any) -> bool:
    """Whether at most `most` values, each removing most of what is left, remove all rows."""
    width = values.shape[1]
    left = len(others)
    for i in range(left):
        gone[i] = 0
    for _ in range(most):
        for i in range(len(others)):
            if gone[i] == 0:
                for a in range(width):
                    tally[values[others[i], a]] = 0
        best, of, count = -1, 0, 0
        for i in range(len(others)):
            if gone[i] > 0:
                continue
            for a in range(width):
                value = values[others[i], a]
                if value == values[row, a]:
                    continue
                tally[value] += 1
                if tally[value] > count:
                    best, of, count = value, a, tally[value]
        for i in range(len(others)):
            if gone[i] == 0 and values[others[i], of] == best:
                gone[i] = 1
                left -= 1
        if left == 0:
            return True
    return False


@compiled
def _choices(values: Any, other: int, row: int, tried: Any) -> int:
    """How many values of a row may be ruled out and were not tried before."""
    choices = 0
    for a in range(values.shape[1]):
        if values[other, a] != values[row, a] and not tried[values[other, a]]:
            choices += 1
    return choices


@compiled
def _left_apart(
    values: Any, others: Any, row: int, gone: Any, tried: Any, taken: Any, stamp: int, most: int
) -> tuple[int, int]:
    """How many rows that are left share no value, and the one of fewest choices; -1 for none.

    More than `most` are not counted, and so many are told where a row has no choice.
    """
    apart, pick, fewest = 0, -1, values.shape[1] + 1
    for i in range(len(others)):
        if gone[i] > 0:
            continue
        choices = _choices(values, others[i], row, tried)
        if choices == 0:
            return most + 1, i
        if choices < fewest:
            pick, fewest = i, choices
        if _free(values, others[i], row, tried, taken, stamp):
            apart += 1
            if apart > most:
                break
    return apart, pick


@compiled
def _search(
    values: Any, others: Any, row: int, most: int, most_nodes: int, taken: Any, stamp: int,
    gone: Any, tried: Any,
) -> tuple[int, int]:  # fmt: skip
    """Look for at most `most` values that remove all rows, depth first; the verdict and stamp.

    Some row is left: one of its values must go. One that was tried without success is not tried
    again below those tried after it. A branch ends where the rows that are left hold more that
    share no value than may still be ruled out. `tried` is all False before and after.
    """
    width = values.shape[1]
    picks = np.zeros(most + 1, np.int64)
    chosen = np.full(most + 1, np.int64(-1))
    owned = np.zeros((most + 1, width), np.bool_)
    for i in range(len(others)):
        gone[i] = 0
    verdict, depth, nodes = OPEN, 0, 0
    while nodes < most_nodes:
        nodes += 1
        stamp += 1
        apart, pick = _left_apart(values, others, row, gone, tried, taken, stamp, most - depth)
        if pick < 0:
            verdict = YES
            break
        if depth + apart > most:
            depth -= 1
        else:
            picks[depth], chosen[depth] = pick, -1
        # Rule out the next value of the row picked, or go back to the row before it.
        while depth >= 0:
            other = others[picks[depth]]
            a = chosen[depth]
            if a >= 0:
                for i in range(len(others)):
                    if values[others[i], a] == values[other, a]:
                        gone[i] -= 1
                tried[values[other, a]] = True
                owned[depth, a] = True
            a += 1
            while a < width and (values[other, a] == values[row, a] or tried[values[other, a]]):
                a += 1
            if a < width:
                break
            for b in range(width):
                if owned[depth, b]:
                    tried[values[other, b]] = False
                    owned[depth, b] = False
            depth -= 1
        if depth < 0:
            verdict = NO
            break
        chosen[depth] = a
        for i in range(len(others)):
            if values[others[i], a] == values[other, a]:
                gone[i] += 1
        depth += 1
    for back in range(depth + 1):
        for a in range(width):
            if owned[back, a]:
                tried[values[others[picks[back]], a]] = False
    return verdict, stamp
