"""Compiled loops over the rows of groups: bounds on the fewest values that delete all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from incrowd._runtime.arrays import IntArray, Ints
from incrowd._runtime.compiling import compiled

NEVER = 2**60
"""The number of deletions for rows that cannot all be deleted."""


class GroupRows(NamedTuple):
    """The rows of some groups, in order, as values numbered through all attributes.

    `values` has a line for each row and a column for each attribute, `starts` the positions where
    the groups start, and the number of rows. At most `limits` values of each attribute may be
    deleted (`NEVER` for no limit), and all numbers are below `many`.
    """

    values: Ints
    starts: IntArray
    limits: IntArray
    many: int


@compiled
def renumber(values: Ints, limits: IntArray, numbers: Ints) -> tuple[Ints, IntArray]:
    """Number the values of a group from 0 up, attribute by attribute; -1 where none may go.

    Returns the numbers and where those of each attribute start. `numbers` has a place for each
    value and holds only -1, before and after.
    """
    rows, attributes = values.shape
    local = np.full((rows, attributes), -1, np.int32)
    firsts = np.zeros(attributes + 1, np.int64)
    found = 0
    for attribute in range(attributes):
        if limits[attribute] > 0:
            for row in range(rows):
                value = values[row, attribute]
                if numbers[value] < 0:
                    numbers[value] = found
                    found += 1
                local[row, attribute] = numbers[value]
            for row in range(rows):
                numbers[values[row, attribute]] = -1
        firsts[attribute + 1] = found
    return local, firsts


@compiled
def bound_groups(cells: GroupRows, first: int, last: int, lower: IntArray, upper: IntArray) -> None:
    """Write the bounds of the groups from `first` up to `last`."""
    values, starts, limits, many = cells
    numbers = np.full(many, -1, np.int32)
    for group in range(first, last):
        local, firsts = renumber(values[starts[group] : starts[group + 1]], limits, numbers)
        counts, order = rarest_first(local, firsts[-1])
        lower[group] = _apart(local, order, firsts[-1])
        if lower[group] < NEVER:
            upper[group] = _picked(local, firsts, limits, counts)
        for attribute in range(len(limits)):
            different = firsts[attribute + 1] - firsts[attribute]
            if 0 < different <= limits[attribute]:
                upper[group] = min(upper[group], different)


@compiled
def rarest_first(local: Ints, many: int) -> tuple[IntArray, IntArray]:
    """Return how many rows have each value, and the rows in the order of their sums of these."""
    rows, attributes = local.shape
    counts = np.zeros(many, np.int64)
    for row in range(rows):
        for attribute in range(attributes):
            if local[row, attribute] >= 0:
                counts[local[row, attribute]] += 1
    sums = np.zeros(rows, np.int64)
    for row in range(rows):
        for attribute in range(attributes):
            if local[row, attribute] >= 0:
                sums[row] += counts[local[row, attribute]]
    return counts, np.argsort(sums, kind="mergesort")


@compiled
def _apart(local: Ints, order: IntArray, many: int) -> int:
    """Return how many rows that share no value are found, taking them in this order."""
    attributes = local.shape[1]
    taken = np.zeros(many, np.bool_)
    found = 0
    for row in order:
        free = True
        deletable = False
        for attribute in range(attributes):
            value = local[row, attribute]
            if value >= 0:
                deletable = True
                free &= not taken[value]
        if not deletable:
            return NEVER
        if free:
            found += 1
            for attribute in range(attributes):
                if local[row, attribute] >= 0:
                    taken[local[row, attribute]] = True
    return found


@compiled
def _picked(local: Ints, firsts: IntArray, limits: IntArray, counts: IntArray) -> int:
    """Return how many values delete all rows, picking the one that deletes most, again and again.

    Returns `NEVER` where the limits allow no further pick. `counts` is used up.
    """
    rows, attributes = local.shape
    if len(counts) == 0:
        return NEVER if rows else 0
    ends = np.cumsum(counts)
    holding = np.zeros(ends[-1], np.int64)
    at = ends - counts
    for row in range(rows):
        for attribute in range(attributes):
            value = local[row, attribute]
            if value >= 0:
                holding[at[value]] = row
                at[value] += 1
    gone = np.zeros(rows, np.bool_)
    picks = np.zeros(attributes, np.int64)
    left, found = rows, 0
    while left:
        best, chosen, most = -1, -1, 0
        for attribute in range(attributes):
            if picks[attribute] < limits[attribute]:
                for value in range(firsts[attribute], firsts[attribute + 1]):
                    if counts[value] > most:
                        best, chosen, most = value, attribute, counts[value]
        if best < 0:
            return NEVER
        found += 1
        picks[chosen] += 1
        start = ends[best - 1] if best else 0
        for place in range(start, ends[best]):
            row = holding[place]
            if not gone[row]:
                gone[row] = True
                left -= 1
                for attribute in range(attributes):
                    if local[row, attribute] >= 0:
                        counts[local[row, attribute]] -= 1
    return found
