"""Histograms of nodes over recoded values: the children of a value, the protected values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.compiling import compiled
from incrowd.counts._nodes import CodedRows, EntryRoom, over_nodes

_FEW = 16
"""Up to this share of all cells (one in so many) the ones that were touched are sorted."""


class Renumbered(NamedTuple):
    """A column, and a number for each of its codes."""

    column: int
    number: IntArray


@compiled
def _recoded_rooms(
    first: int, last: int, starts: IntArray, ends: IntArray, rows: CodedRows, child: Renumbered,
    value: Renumbered, values: int, room: EntryRoom,
) -> None:  # fmt: skip
    codes, weights, _ = rows
    offsets, keys, counts, found = room
    numbers, value_numbers = child.number, value.number
    span = (numbers.max() + 1) * values
    tally = np.zeros(span, np.int64)
    touched = np.empty(span, np.int64)
    for node in range(first, last):
        many = 0
        for row in range(starts[node], ends[node]):
            key = numbers[codes[row, child.column]] * values
            if values > 1:
                key += value_numbers[codes[row, value.column]]
            if tally[key] == 0:
                touched[many] = key
                many += 1
            tally[key] += weights[row]
        if many * _FEW < span:
            touched[:many].sort()
        else:
            many = 0
            for key in range(span):
                if tally[key] > 0:
                    touched[many] = key
                    many += 1
        found[node] = many
        for i in range(many):
            keys[offsets[node] + i] = touched[i]
            counts[offsets[node] + i] = tally[touched[i]]
            tally[touched[i]] = 0


def recoded_histograms(
    rows: CodedRows,
    starts: IntArray,
    ends: IntArray,
    child: Renumbered,
    value: Renumbered | None = None,
) -> tuple[IntArray, IntArray, IntArray, IntArray]:  # fmt: skip
    """Offsets, children, values and counts of the pairs that occur in each node, ascending.

    `child` gives the child of each code of a column, `value` the number of each code of the
    sensitive column; without it all values are one. Every code that occurs has a child.

    Notes
    -----
    O(rows of the nodes), and O(children x values) for each node that has many of them.
    """
    values = 1 if value is None else int(value.number.max(initial=0)) + 1
    span = (int(child.number.max()) + 1) * values
    room = EntryRoom.room(np.minimum(ends - starts, span))
    all_one = Renumbered(0, np.zeros(1, np.int64))
    over_nodes(
        _recoded_rooms, starts, ends, rows, child, all_one if value is None else value, values, room
    )
    tight, keys, counts = room.tightened()
    return tight, keys // values, keys % values, counts
