"""Records that move on to groups in which they and the others lose less.

The groups that lose most are looked at first. If all their records fit elsewhere at a lower loss,
the group is dissolved; else records that it can spare move on alone. A record may join any group of
its neighbourhood, the groups that the tree made in one place: growing never breaks what is asked of
a group here.

Invariant: a group holds at most `room` records, or as many as it came with, and a row of `members`
has place for them. So whoever moves a record looks at the room first: places are chosen for all
records of a group before the first of them moves, and each choice counts what was promised before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from incrowd._runtime.arrays import FloatArray, IntArray
from incrowd._runtime.compiling import compiled
from incrowd.methods.top_down_local._steps import StepTable, node_extents, node_loss
from incrowd.methods.top_down_local.trees import loss_of


class _Nearby(NamedTuple):
    """The groups of a neighbourhood: their records, how many, and those promised to them.

    Their extents, and what each of their records loses: by attribute, and in all.
    """

    members: IntArray
    sizes: IntArray
    promised: IntArray
    low: IntArray
    high: IntArray
    parts: FloatArray
    lost: FloatArray


@compiled
def _measure(table: StepTable, groups: _Nearby, group: int) -> None:
    """Write the extents of a group, and what each of its records loses, by attribute and in all."""
    codes, _, node_of, loss, _, _ = table
    members, sizes, _, low, high, parts, lost = groups
    node_extents(codes, members[group], 0, sizes[group], low[group], high[group])
    lost[group] = 0.0
    for a in range(codes.shape[1]):
        parts[group, a] = loss_of(node_of, loss, a, low[group, a], high[group, a])
        lost[group] += parts[group, a]


@compiled
def _place(
    table: StepTable, groups: _Nearby, record: int, own: int, order: IntArray, keys: FloatArray,
    room: int,
) -> tuple[int, float]:  # fmt: skip
    """The group that a record joins at the least loss, its own and that of the others together.

    A group that has `room` records, those `promised` to it included, takes none. `order` has the
    groups by the loss of a record when they were sorted, `keys` that loss: once it reaches the best
    cost found, no later group does better.
    """
    codes, _, node_of, loss, _, _ = table
    _, sizes, promised, low, high, parts, lost = groups
    best, least = -1, 1e300
    for turn in range(len(order)):
        if keys[turn] >= least:
            break
        group = order[turn]
        if group == own or sizes[group] == 0 or lost[group] >= least:
            continue
        if sizes[group] + promised[group] >= room:
            continue
        cost, more = lost[group], sizes[group] + 1
        for a in range(codes.shape[1]):
            code = codes[record, a]
            if code < low[group, a] or code > high[group, a]:
                wider = loss_of(
                    node_of, loss, a, min(code, low[group, a]), max(code, high[group, a])
                )
                cost += more * (wider - parts[group, a])
                if cost >= least:
                    break
        if cost < least:
            best, least = group, cost
    return best, least


@compiled
def _move(
    members: IntArray, sizes: IntArray, group_of: IntArray, group: int, at: int, to: int
) -> None:
    """Move the record at a place of a group to the end of another, which must have room."""
    record = members[group, at]
    members[group, at] = members[group, sizes[group] - 1]
    sizes[group] -= 1
    members[to, sizes[to]] = record
    sizes[to] += 1
    group_of[record] = to


@compiled
def _can_leave(
    sensitive: IntArray, values: IntArray, members: IntArray, group: int, many: int, at: int
) -> bool:
    """Whether a group keeps as many values as it needs without one of its records."""
    for column in range(len(values)):
        if values[column] == 0:
            continue
        different = 0
        for i in range(many):
            if i == at:
                continue
            value = sensitive[members[group, i], column]
            fresh = True
            for j in range(i):
                if j != at and sensitive[members[group, j], column] == value:
                    fresh = False
                    break
            different += fresh
        if different < values[column]:
            return False
    return True


@compiled
def relocate(
    table: StepTable, group_of: IntArray, first: int, last: int, room: int, share: float,
    rounds: int,
) -> None:  # fmt: skip
    """Move records between the groups numbered first..last-1 while that lowers the loss.

    `share` of the groups are looked at in each of the `rounds`, those that lose most; a group takes
    no more than `room` records.
    """
    codes, sensitive, node_of, loss, records, values = table
    width = codes.shape[1]
    many_groups = last - first
    sizes = np.zeros(many_groups, np.int64)
    for record in range(len(group_of)):
        if first <= group_of[record] < last:
            sizes[group_of[record] - first] += 1
    most = max(room, sizes.max()) + 1
    members = np.zeros((many_groups, most), np.int64)
    sizes[:] = 0
    mine = np.full(len(group_of), -1, np.int64)
    for record in range(len(group_of)):
        if first <= group_of[record] < last:
            group = group_of[record] - first
            mine[record] = group
            members[group, sizes[group]] = record
            sizes[group] += 1
    low = np.zeros((many_groups, width), np.int64)
    high = np.zeros((many_groups, width), np.int64)
    parts, lost = np.zeros((many_groups, width)), np.zeros(many_groups)
    promised = np.zeros(many_groups, np.int64)
    groups = _Nearby(members, sizes, promised, low, high, parts, lost)
    for group in range(many_groups):
        _measure(table, groups, group)
    places, costs = np.zeros(most, np.int64), np.zeros(most)
    some_low, some_high = np.zeros(width, np.int64), np.zeros(width, np.int64)
    others = np.zeros(most, np.int64)
    for _ in range(rounds):
        order = np.argsort(lost, kind="mergesort")
        keys = lost[order].copy()
        changed = 0
        for turn in range(many_groups - 1, many_groups - 1 - int(many_groups * share), -1):
            group = order[turn]
            many = sizes[group]
            if many == 0 or lost[group] == 0.0:
                continue
            total = 0.0
            for at in range(many):
                places[at], costs[at] = _place(
                    table, groups, members[group, at], group, order, keys, room
                )
                total += costs[at]
                if places[at] >= 0:
                    promised[places[at]] += 1
            for at in range(many):
                if places[at] >= 0:
                    promised[places[at]] = 0
            if total < lost[group] * many - 1e-9:
                for at in range(many - 1, -1, -1):
                    to = places[at]
                    _move(members, sizes, mine, group, at, to)
                    _measure(table, groups, to)
                lost[group] = 0.0
                changed += 1
                continue
            while sizes[group] > records:
                many = sizes[group]
                best, least = -1, -1e-9
                for at in range(many):
                    if places[at] < 0 or sizes[places[at]] >= room:
                        continue
                    count = 0
                    for i in range(many):
                        if i != at:
                            others[count] = members[group, i]
                            count += 1
                    node_extents(codes, others, 0, count, some_low, some_high)
                    left = node_loss(node_of, loss, some_low, some_high) * count
                    gain = costs[at] + left - lost[group] * many
                    if gain < least and _can_leave(sensitive, values, members, group, many, at):
                        best, least = at, gain
                if best < 0:
                    break
                to = places[best]
                _move(members, sizes, mine, group, best, to)
                places[best], costs[best] = places[many - 1], costs[many - 1]
                for each in (group, to):
                    _measure(table, groups, each)
                changed += 1
        if changed == 0:
            break
    for record in range(len(group_of)):
        if mine[record] >= 0:
            group_of[record] = mine[record] + first
