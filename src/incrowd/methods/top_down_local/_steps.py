"""One step of top-down-local, tried on a node: its records go to the children of one value.

Children that need more records or values give theirs back to the node; if the node then lacks
records or values itself, children that can spare some give them. A step is worth what all cells of
the records lose after it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import FloatArray, IntArray, Ints
from incrowd._runtime.compiling import compiled
from incrowd.methods.top_down_local.trees import level_of, loss_of

IMPOSSIBLE = 1e300


class StepTable(NamedTuple):
    """Codes and sensitive values of the records, the trees, and what a group needs."""

    codes: IntArray
    sensitive: IntArray
    node_of: npt.NDArray[np.int32]
    loss: FloatArray
    records: int
    values: IntArray


class StepSpace(NamedTuple):
    """Arrays to work in: the child of each record; of each child its size, smallest and largest
    codes, different values and worth; the sensitive values seen, and the stamp of the last look.
    """

    child: IntArray
    size: IntArray
    low: IntArray
    high: IntArray
    different: IntArray
    worth: FloatArray
    seen: IntArray
    stamp: IntArray


@compiled
def node_extents(
    codes: IntArray, index: IntArray, first: int, last: int, low: IntArray, high: IntArray
) -> None:
    """Write the smallest and the largest code of every attribute among some records."""
    width = codes.shape[1]
    for a in range(width):
        low[a] = high[a] = codes[index[first], a]
    for at in range(first + 1, last):
        record = index[at]
        for a in range(width):
            code = codes[record, a]
            if code < low[a]:
                low[a] = code
            elif code > high[a]:
                high[a] = code


@compiled
def node_loss(node_of: Ints, loss: FloatArray, low: IntArray, high: IntArray) -> float:
    """What one record of a node with these extents loses."""
    total = 0.0
    for a in range(len(low)):
        if low[a] != high[a]:
            total += loss_of(node_of, loss, a, low[a], high[a])
    return total


@compiled
def _different(
    sensitive: IntArray, column: int, index: IntArray, first: int, child: IntArray, of: int,
    seen: IntArray, stamp: int,
) -> int:  # fmt: skip
    """How many different values of a sensitive column the records of a child have."""
    found = 0
    for at in range(len(child)):
        if child[at] == of:
            value = sensitive[index[first + at], column]
            if seen[column, value] != stamp:
                seen[column, value] = stamp
                found += 1
    return found


@compiled
def _lacks(
    table: StepTable, index: IntArray, first: int, child: IntArray, of: int, work: StepSpace
) -> bool:
    """Whether a child has too few different values; leaves in `work` how many there are."""
    _, sensitive, _, _, _, values = table
    lacks = False
    for column in range(len(values)):
        if values[column] > 0:
            work.stamp[0] += 1
            found = _different(sensitive, column, index, first, child, of, work.seen, work.stamp[0])
            work.different[of, column] = found
            lacks = lacks or found < values[column]
    return lacks


@compiled
def _can_spare(
    sensitive: IntArray, values: IntArray, index: IntArray, first: int, child: IntArray, at: int,
    different: IntArray,
) -> bool:  # fmt: skip
    """Whether a child keeps its values without one of its records."""
    of = child[at]
    for column in range(len(values)):
        if values[column] == 0 or different[of, column] > values[column]:
            continue
        value = sensitive[index[first + at], column]
        others = False
        for other in range(len(child)):
            if (
                other != at
                and child[other] == of
                and sensitive[index[first + other], column] == value
            ):
                others = True
                break
        if not others:
            return False
    return True


@compiled
def _repair(
    table: StepTable, index: IntArray, first: int, child: IntArray, many: int, work: StepSpace
) -> bool:
    """Move records from children back to the node (child `many`) until it has what it needs.

    Taken from the child that shows least, its last records first. Says whether it sufficed.
    """
    _, sensitive, _, _, records, values = table
    _, size, _, _, different, worth, seen, stamp = work
    while True:
        lacking = -1
        for column in range(len(values)):
            if different[many, column] < values[column]:
                lacking = column
        if lacking < 0 and size[many] >= records:
            return True
        stamp[0] += 1
        if lacking >= 0:
            for at in range(len(child)):
                if child[at] == many:
                    seen[lacking, sensitive[index[first + at], lacking]] = stamp[0]
        best = -1
        for at in range(len(child) - 1, -1, -1):
            of = child[at]
            if of == many or size[of] <= records:
                continue
            if best >= 0 and worth[of] <= worth[child[best]]:
                continue
            if lacking >= 0 and seen[lacking, sensitive[index[first + at], lacking]] == stamp[0]:
                continue
            if _can_spare(sensitive, values, index, first, child, at, different):
                best = at
        if best < 0:
            return False
        giver = child[best]
        child[best] = many
        size[giver] -= 1
        size[many] += 1
        for of in (giver, many):
            _lacks(table, index, first, child, of, work)


@compiled
def attempt(
    table: StepTable, index: IntArray, first: int, last: int, attribute: int, own_low: IntArray,
    own_high: IntArray, work: StepSpace, best: float,
) -> tuple[float, int]:  # fmt: skip
    """What the records lose after a step on an attribute, and how many children it makes.

    Leaves in `work` the child of every record, or their number for those that stay with the node.
    `own_low` and `own_high` are the extents of the node, `best` the loss that other steps reach:
    once it is exceeded, the loss is IMPOSSIBLE, as it is where no child holds or the node cannot be
    repaired.
    """
    codes, _, node_of, loss, records, _ = table
    child, size, low, high, _, worth, _, _ = work
    child = child[: last - first]
    width = codes.shape[1]
    lowest, highest = own_low[attribute], own_high[attribute]
    level = level_of(node_of, attribute, lowest, highest) - 1
    begin = node_of[attribute, level, lowest]
    many = node_of[attribute, level, highest] - begin + 1
    size[: many + 1] = 0
    for at in range(last - first):
        c = node_of[attribute, level, codes[index[first + at], attribute]] - begin
        child[at] = c
        size[c] += 1
    holding, back = 0, False
    for c in range(many):
        fails = size[c] < records or _lacks(table, index, first, child, c, work)
        worth[c] = 0.0
        if fails and size[c] > 0:
            worth[c], back = -1.0, True
            size[many] += size[c]
            size[c] = 0
        elif size[c] > 0:
            holding += 1
    if back:
        for at in range(last - first):
            if worth[child[at]] < 0.0:
                child[at] = many
    if holding == 0 or (holding == 1 and size[many] == 0):
        return IMPOSSIBLE, many
    low[: many + 1], high[: many + 1] = 1 << 62, -1
    for at in range(last - first):
        c = child[at]
        record = index[first + at]
        for a in range(width):
            code = codes[record, a]
            if code < low[c, a]:
                low[c, a] = code
            if code > high[c, a]:
                high[c, a] = code
    total = 0.0
    for c in range(many):
        if size[c] > 0:
            worth[c] = node_loss(node_of, loss, low[c], high[c])
            total += worth[c] * size[c]
    if size[many] > 0:
        fails = _lacks(table, index, first, child, many, work) or size[many] < records
        if fails:
            if total >= best or not _repair(table, index, first, child, many, work):
                return IMPOSSIBLE, many
            # Children that gave records keep their extents: they may only have become smaller.
            for at in range(last - first):
                if child[at] == many:
                    record = index[first + at]
                    for a in range(width):
                        code = codes[record, a]
                        low[many, a] = min(low[many, a], code)
                        high[many, a] = max(high[many, a], code)
            total = 0.0
            for c in range(many):
                total += worth[c] * size[c] if size[c] > 0 else 0.0
        total += node_loss(node_of, loss, low[many], high[many]) * size[many]
    return (total if total < best else IMPOSSIBLE), many


@compiled
def regroup(
    index: IntArray, first: int, last: int, child: IntArray, many: int, starts: IntArray,
    room: IntArray,
) -> int:  # fmt: skip
    """Put the records of a node in the order of their children; returns how many runs there are.

    `starts` gets where the runs begin, and `last`; the records that stay come last.
    """
    starts[: many + 2] = 0
    for at in range(last - first):
        starts[child[at] + 1] += 1
    for c in range(many + 1):
        starts[c + 1] += starts[c]
    for at in range(last - first):
        room[starts[child[at]]] = index[first + at]
        starts[child[at]] += 1
    index[first:last] = room[: last - first]
    # Every start has moved to the end of its run: shift them back, and leave empty runs out.
    runs = 0
    begin = 0
    for c in range(many + 1):
        end = starts[c]
        if end > begin:
            starts[runs] = first + begin
            runs += 1
        begin = end
    starts[runs] = last
    return runs
