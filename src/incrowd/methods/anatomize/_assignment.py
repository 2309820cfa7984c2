"""Records dealt to the groups of their cell, so that nobody can tell who of a group holds what.

Invariant: within a cell, records are told apart by their sensitive values and by secret randomness
alone. Exchanging the values of two records of a cell and the records themselves changes nothing, so
a grouping is as likely as the same grouping with the values of a group handed round among its
records: whoever knows all quasi-identifiers and all that is published learns of a record how often
each value occurs in its group, and no more.
"""

from __future__ import annotations

import numpy as np

from incrowd._runtime import randomness
from incrowd._runtime.arrays import IntArray
from incrowd._runtime.compiling import compiled


def deal_different(cell: IntArray, value: IntArray, l: int) -> IntArray:  # noqa: E741
    """For each record its group, with l or a few more different values, each of them once.

    While l values of a cell have records left, a group takes one of each of the l most frequent;
    the fewer than l records that remain each join a group of the cell without their value. No value
    may have more than one in l of a cell's records.

    Notes
    -----
    O(n v) for n records of v values in a cell, and a sort.
    """
    order = np.lexsort((randomness.keys(len(cell)), value, cell))
    changes = (np.diff(cell[order]) != 0) | (np.diff(value[order]) != 0)
    runs = np.concatenate(([0], np.flatnonzero(changes) + 1, [len(order)]))
    cell_of_run = cell[order[runs[:-1]]]
    cells = np.concatenate(([0], np.flatnonzero(np.diff(cell_of_run)) + 1, [len(cell_of_run)]))
    group = np.empty(len(cell), dtype=np.int64)
    group[order] = _deal_different(cells, runs, l)
    if bool((group < 0).any()):
        raise AssertionError("a record is in no group")
    return group


def deal_apart(
    cell: IntArray, row: IntArray, values: IntArray, many: IntArray, wanted: int
) -> IntArray:
    """For each record the number, from 0, of its group in its cell.

    `values[row]` are the sensitive values of a record, numbered through all attributes, `many` the
    groups that every cell is dealt into. Records with the most frequent values are dealt first.
    While groups lack some of their `wanted` records without a common value, a record goes to a
    group that it brings closer, the one that lacks most; else to the one with fewest records.

    Notes
    -----
    O(n g m) for n records of m attributes in cells of g groups.
    """
    order = randomness.shuffled_within(cell)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(cell[order])) + 1, [len(order)]))
    groups = many[cell[order[starts[:-1]]]]
    dealt = np.empty(len(cell), dtype=np.int64)
    total = int(values.max(initial=0)) + 1
    dealt[order] = _deal_apart(row[order], starts, groups, values, total, wanted)
    return dealt


def numbered_by(place: IntArray, group: IntArray) -> IntArray:
    """Groups numbered from 0 in the order of their first record's place, ties at random.

    `place` is where a record stands by what is published of it beside its group.
    """
    order = randomness.shuffled_within(place)
    _, first, number = np.unique(group[order], return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    numbered = np.empty(len(group), dtype=np.int64)
    numbered[order] = rank[number]
    return numbered


@compiled
def _deal_different(cells: IntArray, runs: IntArray, l: int) -> IntArray:  # noqa: E741
    """The group of every record; run r of a cell's records, all of one value, begins at runs[r]."""
    dealt = np.full(runs[-1], -1, np.int64)
    groups = 0
    for cell in range(len(cells) - 1):
        begin, end = cells[cell], cells[cell + 1]
        left = np.diff(runs[begin : end + 1])
        chosen = np.zeros(end - begin, np.bool_)
        open_values = end - begin
        first = groups
        while open_values >= l:
            chosen[:] = False
            for _ in range(l):
                best = -1
                for value in range(end - begin):
                    if not chosen[value] and left[value] > (0 if best < 0 else left[best]):
                        best = value
                chosen[best] = True
            for value in range(end - begin):
                if chosen[value]:
                    dealt[runs[begin + value + 1] - left[value]] = groups
                    left[value] -= 1
                    if left[value] == 0:
                        open_values -= 1
            groups += 1
        # What remains goes to the first groups that lack its value, if possible each to another.
        joined = np.zeros(groups - first, np.bool_)
        has = np.zeros(groups - first, np.bool_)
        for value in range(end - begin):
            if left[value] == 0:
                continue
            has[:] = False
            has[dealt[runs[begin + value] : runs[begin + value + 1] - left[value]] - first] = True
            for again in range(2):
                group = 0
                while left[value] > 0 and group < groups - first:
                    if not has[group] and (again == 1 or not joined[group]):
                        dealt[runs[begin + value + 1] - left[value]] = first + group
                        left[value] -= 1
                        joined[group] = has[group] = True
                    group += 1
    return dealt


@compiled
def _deal_apart(
    row: IntArray, starts: IntArray, groups: IntArray, values: IntArray, total: int, wanted: int
) -> IntArray:  # fmt: skip
    width = values.shape[1]
    dealt = np.zeros(len(row), np.int64)
    frequency = np.zeros(total, np.int64)
    local = np.zeros(total, np.int64)
    for cell in range(len(groups)):
        first, last = starts[cell], starts[cell + 1]
        many = groups[cell]
        if many == 1:
            continue
        # How often each value occurs in the cell, and a number for it there.
        frequency[values[row[first:last]].ravel()] = 0
        distinct = 0
        for at in range(first, last):
            for a in range(width):
                value = values[row[at], a]
                if frequency[value] == 0:
                    local[value] = distinct
                    distinct += 1
                frequency[value] += 1
        hardness = np.zeros(last - first, np.int64)
        for at in range(first, last):
            for a in range(width):
                hardness[at - first] += frequency[values[row[at], a]]
        has = np.zeros((many, distinct), np.bool_)
        apart = np.zeros(many, np.int64)
        records = np.zeros(many, np.int64)
        for turn in np.argsort(-hardness, kind="mergesort"):
            held = values[row[first + turn]]
            best, smallest = -1, 0
            for group in range(many):
                if records[group] < records[smallest]:
                    smallest = group
                if apart[group] >= wanted:
                    continue
                brings = True
                for a in range(width):
                    if has[group, local[held[a]]]:
                        brings = False
                        break
                if brings and (
                    best < 0
                    or apart[group] < apart[best]
                    or (apart[group] == apart[best] and records[group] < records[best])
                ):
                    best = group
            if best >= 0:
                apart[best] += 1
                has[best][local[held]] = True
            else:
                best = smallest
            dealt[first + turn] = best
            records[best] += 1
    return dealt
