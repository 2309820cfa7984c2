"""Which rows of a group lose all others by ruling out a few values: minimum covers, decided.

A row of sensitive values is one of the person's, and the attacker rules out values that the person
does not hold; a value ruled out removes all rows of the group that hold it. A row is exposed in an
attribute when so many values at most remove every row with another value of it: a set cover, which
is NP-hard in general but shallow here. It is settled from both sides first: rows that share no
value that may be ruled out need one each, and values picked by the rows they remove are a cover.
What lies between is searched as for the fewest deletions (`privacy/deletion_search`), and what the
search does not settle in a bounded number of steps goes to an integer program.

Rows of a group stand together, each once; the values of all attributes are numbered through.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray, Ints
from incrowd._runtime.compiling import compiled
from incrowd._runtime.threads import in_threads
from incrowd.privacy.counting.deletion_search import search_group, search_space

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
    from incrowd.privacy.counting.deletions import independent

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
    from incrowd.privacy.counting.deletion_program import fewest_deletions

    others = rows[rows[:, at] != held[at]]
    # A value that is held cannot go: the row's value of the attribute itself takes its place.
    usable = np.where(others == held, others[:, [at]], others)
    unlimited = np.full(rows.shape[1], 1 << 40, np.int64)
    return NO if fewest_deletions(np.unique(usable, axis=0), unlimited, most + 1) is None else YES


@compiled
def _decide(
    rows: IntArray, group: IntArray, offsets: IntArray, values: IntArray, total: int, most: int,
    most_nodes: int, verdict: Ints,
) -> None:  # fmt: skip
    """Settle what is open in these rows, or leave it open where the search takes too long."""
    width = values.shape[1]
    space = search_space(total)
    unlimited = np.full(width, np.int64(1) << 40)
    held = np.zeros(total, np.int64)
    taken = np.zeros(total, np.int64)
    stamp = 0
    others = np.empty((offsets[group[rows] + 1] - offsets[group[rows]]).max(), np.int64)
    for row in rows:
        first, last = offsets[group[row]], offsets[group[row] + 1]
        for a in range(width):
            held[values[row, a]] += 1
        for attribute in range(width):
            if verdict[row, attribute] != OPEN:
                continue
            stamp += 1
            many, apart = 0, 0
            for other in range(first, last):
                if values[other, attribute] != values[row, attribute]:
                    others[many] = other
                    many += 1
                    if _free(values, other, held, taken, stamp):
                        apart += 1
                        if apart > most:
                            break
            if apart > most:
                verdict[row, attribute] = NO
                continue
            found = search_group(
                others, values, 0, many, most + 1, unlimited, held, most_nodes, space
            )
            verdict[row, attribute] = YES if found == 0 else NO if found == 1 else OPEN
        for a in range(width):
            held[values[row, a]] -= 1


@compiled
def _free(values: IntArray, other: int, held: IntArray, taken: IntArray, stamp: int) -> bool:
    """Whether a row shares no value that may be ruled out with those taken; it is taken then."""
    width = values.shape[1]
    for a in range(width):
        value = values[other, a]
        if taken[value] == stamp and held[value] == 0:
            return False
    for a in range(width):
        taken[values[other, a]] = stamp
    return True
