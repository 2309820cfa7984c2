"""The compiled loops that count combinations: a walk through the subsets of attributes.

A row is a distinct combination of coded cells with the number of records that show it. The rows
with one sensitive value stand together, as a run; so one array of counts serves all values in turn,
and the memory grows with the rows alone. The first run holds the rows whose value no bound is on.

The walk is depth-first: under a prefix of attributes every row bears the number of its combination
so far, and all subsets that begin with that prefix start from these numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from incrowd._runtime.arrays import FloatArray, IntArray, Ints, Uints
from incrowd._runtime.compiling import compiled

SIZE, FAILING, COUNT = range(3)
"""Where a walk keeps its whole numbers: the least size, how many fail, how many there are."""


class Findings(NamedTuple):
    """What a walk writes: whole numbers, the largest share, and whose they are.

    `by` has the subsets with the least size and the largest share. `found` and `share` must start
    from values that all others beat.
    """

    found: IntArray
    share: FloatArray
    by: IntArray


@compiled
def _number(
    groups: Ints,
    many: int,
    codes: Ints,
    labels: int,
    table: Ints,
    keys: Uints,
    numbers: Ints,
) -> int:
    """Give each pair of a group and a code a number from 0 up; returns how many there are.

    `table` holds only -1, before and after. Where it has a place for each of the `many * labels`
    pairs it is indexed by them, else it is a hash table with its keys in `keys`.
    """
    found = 0
    width = np.uint64(labels)
    if many * labels <= len(table):
        for row in range(len(groups)):
            at = np.uint64(groups[row]) * width + np.uint64(codes[row])
            if table[at] < 0:
                table[at] = found
                found += 1
            numbers[row] = table[at]
        table[: many * labels] = -1
        return found
    mask = np.uint64(len(table) - 1)
    for row in range(len(groups)):
        key = np.uint64(groups[row]) * width + np.uint64(codes[row])
        at = ((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(24)) & mask
        while table[at] >= 0 and keys[at] != key:
            at = (at + np.uint64(1)) & mask
        if table[at] < 0:
            table[at] = found
            keys[at] = key
            found += 1
        numbers[row] = table[at]
    table[:] = -1
    return found


@compiled
def _count(
    groups: Ints, codes: Ints, labels: int, weights: Ints, runs: IntArray,
    counts: Ints, sizes: Ints, most: Ints,
) -> None:  # fmt: skip
    """Count the records of each pair of a group and a code, and of its most frequent value.

    Fills all of `sizes` and `most`; `counts` holds only 0, before and after.
    """
    width = np.uint64(labels)
    sizes[:] = 0
    most[:] = 0
    for run in range(len(runs) - 1):
        start, stop = runs[run], runs[run + 1]
        for row in range(start, stop):
            counts[np.uint64(groups[row]) * width + np.uint64(codes[row])] += weights[row]
        if len(sizes) <= 4 * (stop - start):
            for at in range(len(sizes)):
                sizes[at] += counts[at]
            if run:
                for at in range(len(most)):
                    most[at] = max(most[at], counts[at])
            counts[: len(sizes)] = 0
            continue
        # A short run touches few places: the rows themselves tell which.
        for row in range(start, stop):
            place = np.uint64(groups[row]) * width + np.uint64(codes[row])
            sizes[place] += counts[place]
            if run:
                most[place] = max(most[place], counts[place])
            counts[place] = 0


@compiled
def _judge(
    sizes: Ints, most: Ints, chosen: IntArray, k: int, limit: float, findings: Findings
) -> None:
    """Add the combinations of the chosen attributes to the findings of a walk."""
    found, share, by = findings
    smallest, failing, count = found[SIZE], 0, 0
    largest = share[0]
    for at in range(len(sizes)):
        size = sizes[at]
        if size == 0:
            continue
        told = most[at] / size
        smallest = min(smallest, size)
        largest = max(largest, told)
        count += 1
        if size < k or told > limit:
            failing += 1
    found[FAILING] += failing
    found[COUNT] += count
    # Only what is worse than all before counts as found here, so that ties go to the first.
    if smallest < found[SIZE]:
        found[SIZE] = smallest
        by[0] = chosen
    if largest > share[0]:
        share[0] = largest
        by[1] = chosen


@compiled
def walk(
    codes: Ints, labels: IntArray, weights: Ints, runs: IntArray, prefix: IntArray, places: int,
    k: int, limit: float, findings: Findings,
) -> None:  # fmt: skip
    """Judge every subset of attributes that begins with `prefix`, in lexicographic order.

    Parameters
    ----------
    codes
        The code of every cell: one line per attribute, one column per row.
    labels
        How many codes each attribute has.
    weights
        How many records each row stands for.
    runs
        The positions in which the runs start, and the number of rows.
    prefix
        The attributes that the subsets begin with, fewer than a subset has.
    places
        The length of the arrays to count in: a power of 2, at least twice the number of rows.
    k, limit
        A combination fails with fewer than `k` records, or with a share of one value that is
        above `limit`.
    findings
        Written to.
    """
    attributes, rows = codes.shape
    wanted = findings.by.shape[1]
    chosen = np.zeros(wanted, np.int64)
    many = np.ones(wanted, np.int64)
    groups = np.zeros((wanted, rows), np.uint32)
    numbers = np.zeros(rows, np.uint32)
    same = np.zeros(rows, codes.dtype)
    table = np.full(places, -1, np.int32)
    keys = np.empty(places, np.uint64)
    counts = np.zeros(places, weights.dtype)
    sizes = np.empty(places, weights.dtype)
    most = np.empty(places, weights.dtype)
    for depth, attribute in enumerate(prefix):
        chosen[depth] = attribute
        many[depth + 1] = _number(
            groups[depth], many[depth], codes[attribute], labels[attribute],
            table, keys, groups[depth + 1],
        )  # fmt: skip
    depth = fixed = len(prefix)
    chosen[depth] = chosen[depth - 1] + 1 if depth else 0
    while depth >= fixed:
        attribute = chosen[depth]
        if attribute > attributes - (wanted - depth):
            depth -= 1
            chosen[depth] += 1
        elif depth < wanted - 1:
            many[depth + 1] = _number(
                groups[depth], many[depth], codes[attribute], labels[attribute],
                table, keys, groups[depth + 1],
            )  # fmt: skip
            depth += 1
            chosen[depth] = attribute + 1
        else:
            cells = many[depth] * labels[attribute]
            if cells <= places:
                _count(
                    groups[depth], codes[attribute], labels[attribute], weights, runs,
                    counts, sizes[:cells], most[:cells],
                )  # fmt: skip
            else:
                cells = _number(
                    groups[depth], many[depth], codes[attribute], labels[attribute],
                    table, keys, numbers,
                )  # fmt: skip
                _count(numbers, same, 1, weights, runs, counts, sizes[:cells], most[:cells])
            _judge(sizes[:cells], most[:cells], chosen, k, limit, findings)
            chosen[depth] += 1
