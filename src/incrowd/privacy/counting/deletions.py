"""Deletions: how many sensitive values must be deleted to delete every row of a group.

Deleting a value deletes all rows that hold it; a row holds one value of each sensitive attribute.
The fewest deletions are a minimum set cover, which is NP-hard (Gal, Chen, Gangopadhyay 2008,
theorem 3), so a question "are at least l needed?" is settled from both sides first: rows that share
no value need a deletion each (a bound from below), and any cover at all is one from above. Only
what lies between is searched, and what the search does not settle goes to an integer program.

A group is a run of *combinations*: distinct rows of values, with how many records hold each. The
values of all attributes are numbered through, so that no number stands for two of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd._runtime.compiling import compiled
from incrowd._runtime.threads import even_runs, in_threads
from incrowd.privacy.counting.deletion_program import fewest_deletions
from incrowd.privacy.counting.deletion_search import search

YES, NO, OPEN = 1, 0, 2
_WORTH_A_THREAD, _WORTH_A_SEARCH = 10_000, 200
"""The rows that are worth a run in a thread: of a quick look, of a search."""
_MOST_NODES = 5_000
"""How many nodes of the search tree are looked at before a solver is asked."""


def independent(
    offsets: IntArray, members: IntArray, counts: IntArray, values: IntArray, total: int, most: int
) -> IntArray:
    """For each group how many rows the greedy choice finds that share no value, up to `most`.

    Rows are tried in ascending order of the total frequency of their values (fig. 6). So many
    deletions are needed at least (theorems 4 and 5). `values[combination]` are numbered values,
    `total` of them.
    """
    found = np.zeros(len(offsets) - 1, np.int64)
    _judge(
        offsets,
        lambda part, out: _independent(part, members, counts, values, total, most, out),
        found,
        worth=_WORTH_A_THREAD,
    )
    return found


def with_limits(
    offsets: IntArray,
    members: IntArray,
    counts: IntArray,
    values: IntArray,
    total: int,
    needed: int,
    limits: IntArray,
) -> IntArray:
    """For each group how many deletions the greedy check proves under limits, up to `needed`.

    Fig. 7: from rows that share no value on, rows are added as long as theorem 6 still proves as
    many deletions, first for the number proved so far, then for one more.
    """
    found = np.zeros(len(offsets) - 1, np.int64)
    _judge(
        offsets,
        lambda part, out: _with_limits(part, members, counts, values, total, needed, limits, out),
        found,
        worth=_WORTH_A_THREAD,
    )
    return found


def settled(
    offsets: IntArray,
    members: IntArray,
    values: IntArray,
    total: int,
    needed: int,
    limits: IntArray,
) -> BoolArray:
    """For each group, whether at least `needed` deletions delete all its rows: exactly.

    `limits[i]` deletions at most may be values of attribute i. Where the limits let no choice of
    values delete all rows, the group passes.
    """
    verdict = np.full(len(offsets) - 1, OPEN, np.int64)
    members = _rarest_first(offsets, members, values, total)
    _judge(
        offsets,
        lambda part, out: search(part, members, values, total, needed, limits, _MOST_NODES, out),
        verdict,
        worth=_WORTH_A_SEARCH,
    )
    for group in np.flatnonzero(verdict == OPEN):
        rows = np.unique(values[members[offsets[group] : offsets[group + 1]]], axis=0)
        fewest = fewest_deletions(rows, limits, needed)
        verdict[group] = YES if fewest is None or fewest >= needed else NO
    passes: BoolArray = verdict == YES
    return passes


def _judge(
    offsets: IntArray,
    judge: Callable[[IntArray, IntArray], None],
    out: IntArray,
    worth: int,
) -> None:
    """Judge runs of groups with about equally many rows, `worth` or more, in threads."""

    def work(run: slice) -> None:
        judge(offsets[run.start : run.stop + 1], out[run])

    in_threads(even_runs(np.diff(offsets), worth), work)


@compiled
def _order(
    members: IntArray, counts: IntArray, values: IntArray, first: int, last: int,
    frequency: IntArray,
) -> IntArray:  # fmt: skip
    """Positions of the rows of a group, the rarest values first; ties in ascending order."""
    width = values.shape[1]
    for at in range(first, last):
        for a in range(width):
            frequency[values[members[at], a]] = 0
    for at in range(first, last):
        for a in range(width):
            frequency[values[members[at], a]] += counts[at]
    weight = np.zeros(last - first, np.int64)
    for at in range(first, last):
        for a in range(width):
            weight[at - first] += frequency[values[members[at], a]]
    return first + np.argsort(weight, kind="mergesort")


@compiled
def _rarest_first(offsets: IntArray, members: IntArray, values: IntArray, total: int) -> IntArray:
    """The rows of every group, those with the rarest values first: they bound a search best."""
    ordered = np.empty_like(members)
    frequency = np.zeros(total, np.int64)
    ones = np.ones(len(members), np.int64)
    for group in range(len(offsets) - 1):
        first, last = offsets[group], offsets[group + 1]
        order = _order(members, ones, values, first, last, frequency)
        for i in range(last - first):
            ordered[first + i] = members[order[i]]
    return ordered


@compiled
def _independent(
    offsets: IntArray, members: IntArray, counts: IntArray, values: IntArray, total: int, most: int,
    found: IntArray,
) -> None:  # fmt: skip
    frequency = np.zeros(total, np.int64)
    taken = np.full(total, -1, np.int64)
    width = values.shape[1]
    for group in range(len(found)):
        for at in _order(members, counts, values, offsets[group], offsets[group + 1], frequency):
            shares = False
            for a in range(width):
                if taken[values[members[at], a]] == group:
                    shares = True
                    break
            if shares:
                continue
            for a in range(width):
                taken[values[members[at], a]] = group
            found[group] += 1
            if found[group] == most:
                break


@compiled
def _proves(
    tally: IntArray, present: IntArray, attribute: IntArray, limits: IntArray, wanted: int,
    size: int,
) -> bool:  # fmt: skip
    """Whether any `wanted` values within the limits delete at most `size` rows (theorem 6)."""
    left = limits.copy()
    used = np.zeros(len(present), np.bool_)
    together = 0
    for _ in range(wanted):
        best = -1
        for i in range(len(present)):
            value = present[i]
            if used[i] or left[attribute[value]] == 0:
                continue
            if best < 0 or tally[value] > tally[present[best]]:
                best = i
        if best < 0:
            # No more values may be taken: what they miss is never deleted, else nothing is proved.
            return together < size
        used[best] = True
        left[attribute[present[best]]] -= 1
        together += tally[present[best]]
        if together > size:
            return False
    return True


@compiled
def _with_limits(
    offsets: IntArray, members: IntArray, counts: IntArray, values: IntArray, total: int,
    needed: int, limits: IntArray, found: IntArray,
) -> None:  # fmt: skip
    width = values.shape[1]
    frequency = np.zeros(total, np.int64)
    tally = np.zeros(total, np.int64)
    attribute = np.zeros(total, np.int64)
    for row in range(len(values)):
        for a in range(width):
            attribute[values[row, a]] = a
    for group in range(len(found)):
        order = _order(members, counts, values, offsets[group], offsets[group + 1], frequency)
        for at in order:
            for a in range(width):
                tally[values[members[at], a]] = 0
        chosen = np.zeros(len(order), np.bool_)
        size = 0
        for i in range(len(order)):
            row = members[order[i]]
            shares = False
            for a in range(width):
                shares = shares or tally[values[row, a]] > 0
            if not shares:
                chosen[i] = True
                size += 1
                for a in range(width):
                    tally[values[row, a]] = 1
            if size == needed:
                break
        proved = size
        if proved >= needed:
            found[group] = needed
            continue
        present = np.zeros(len(order) * width, np.int64)
        many = 0
        for i in range(len(order)):
            if chosen[i]:
                for a in range(width):
                    present[many] = values[members[order[i]], a]
                    many += 1
        for i in range(len(order)):
            row = members[order[i]]
            # A combination that several records hold is as many rows, added one by one.
            for _ in range(counts[order[i]] - (1 if chosen[i] else 0)):
                before = many
                for a in range(width):
                    if tally[values[row, a]] == 0:
                        present[many] = values[row, a]
                        many += 1
                    tally[values[row, a]] += 1
                size += 1
                if not _proves(tally, present[:many], attribute, limits, proved, size):
                    for a in range(width):
                        tally[values[row, a]] -= 1
                    size -= 1
                    many = before
                    break
                if _proves(tally, present[:many], attribute, limits, proved + 1, size):
                    proved += 1
                    if proved == needed:
                        break
            if proved == needed:
                break
        found[group] = proved
