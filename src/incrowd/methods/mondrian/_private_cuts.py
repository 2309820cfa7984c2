"""The least-loss cut of a group along one attribute that leaves both halves private.

The cut of least loss is judged first, and most often it holds. Where it does not, the private
cuts must be found. Under models that hold for every larger group (`growing`) they are one run of
positions, and bisection finds its ends. Under others, such as those that bound shares, any cut may
be private, and all are judged from the running histograms of both halves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd._runtime.compiling import compiled
from incrowd.counts import HalvingPartition, JointHistograms, Splits
from incrowd.counts.groups import Groups, Histogram
from incrowd.methods.base import Task
from incrowd.methods.cuts import LinedUp

_ENTRIES_AT_ONCE = 2_000_000


class PrivateCuts:
    """The cuts of nodes after which both halves satisfy all models, judged by their values."""

    def __init__(self, task: Task, partition: HalvingPartition) -> None:
        self._task = task
        self._partition = partition

    def floors(self, nodes: IntArray) -> IntArray:
        """For each node, how many records a half must have at least."""
        return np.full(len(nodes), self._task.smallest_group, dtype=np.int64)

    def best(self, lined: LinedUp) -> Splits:
        """The cut of least loss of each node that leaves both halves private."""
        return best_private(self._task, self._partition, lined)

    def hold(self, lined: LinedUp, nodes: IntArray, positions: IntArray) -> BoolArray:
        """For cuts of some of the nodes that are lined up, whether both halves are private."""
        left, right = satisfied_halves(self._task, self._partition, lined.splits(nodes, positions))
        return left & right


def best_private(task: Task, partition: HalvingPartition, lined: LinedUp) -> Splits:
    """The least-loss cut of each node that leaves both halves private, where there is one."""
    first, last = lined.within_sizes(task.smallest_group)
    best = lined.best(first, last)
    chosen = np.flatnonzero(best >= 0)
    splits = lined.splits(chosen, best[chosen])
    if not task.sensitive or not len(chosen):
        return splits
    left_ok, right_ok = satisfied_halves(task, partition, splits)
    good = left_ok & right_ok
    retry = chosen[~good]
    if not len(retry):
        return splits
    if task.growing:
        first, last = _private_run(
            task, partition, lined, retry, best, left_ok[~good], right_ok[~good], first, last
        )
    else:
        held = _all_satisfied(task, partition, lined, retry, first, last)
        lined = replace(lined, allowed=lined.allowed & held)
    again = lined.best(first, last)[retry]
    found = again >= 0
    kept = splits.take(np.flatnonzero(good))
    return Splits.join([kept, lined.splits(retry[found], again[found])])


def satisfied_halves(
    task: Task, partition: HalvingPartition, splits: Splits
) -> tuple[BoolArray, BoolArray]:
    """Whether the left and the right halves of splits are private."""
    left, right = partition.half_groups(splits, task.sensitive)
    return task.satisfied(left), task.satisfied(right)


def _private_run(
    task: Task, partition: HalvingPartition, lined: LinedUp, retry: IntArray, best: IntArray,
    left_ok: BoolArray, right_ok: BoolArray, first: IntArray, last: IntArray,
) -> tuple[IntArray, IntArray]:  # fmt: skip
    """The first and last private position of each node, under models that are growing.

    The left half only grows with the position and the right half only shrinks.
    """
    probe = best[retry]
    low = _bisect(
        task, partition, lined, retry,
        np.where(left_ok, first[retry], probe + 1),
        np.where(left_ok, probe, last[retry] + 1), left=True,
    )  # fmt: skip
    high = _bisect(
        task, partition, lined, retry,
        np.where(right_ok, probe, first[retry] - 1),
        np.where(right_ok, last[retry], probe - 1), left=False,
    )  # fmt: skip
    first, last = first.copy(), last.copy()
    first[retry], last[retry] = low, high
    return first, last


def _bisect(
    task: Task, partition: HalvingPartition, lined: LinedUp, nodes: IntArray,
    low: IntArray, high: IntArray, *, left: bool,
) -> IntArray:  # fmt: skip
    """The first position whose left half holds, or the last whose right half holds.

    `low`..`high` brackets the answer; for the left half `high` is returned when none before it
    holds, for the right half `low` when none after it does.
    """
    low, high = low.copy(), high.copy()
    while True:
        open_ = np.flatnonzero(low < high)
        if not len(open_):
            return low
        middle = (low[open_] + high[open_] + (0 if left else 1)) // 2
        splits = lined.splits(nodes[open_], middle)
        held = satisfied_halves(task, partition, splits)[0 if left else 1]
        if left:
            high[open_] = np.where(held, middle, high[open_])
            low[open_] = np.where(held, low[open_], middle + 1)
        else:
            low[open_] = np.where(held, middle, low[open_])
            high[open_] = np.where(held, high[open_], middle - 1)


def _all_satisfied(
    task: Task, partition: HalvingPartition, lined: LinedUp, retry: IntArray,
    first: IntArray, last: IntArray,
) -> BoolArray:  # fmt: skip
    """For every entry of the line-up, whether a cut after it is private (False if not asked)."""
    held = np.zeros(len(lined.codes), dtype=np.bool_)
    ends = lined.offsets[1:] - 1
    joints = {
        name: partition.joint_histograms(lined.attribute, name, lined.nodes[retry])
        for name in task.sensitive
    }
    totals = {name: task.counts.totals(name) for name in task.sensitive}
    for some, begin, end in _portions(joints, first[retry], last[retry]):
        nodes = retry[some]
        counts = end - begin + 1
        entries = np.repeat(lined.offsets[nodes] + begin - np.cumsum(counts) + counts, counts)
        entries += np.arange(len(entries))
        sizes = lined.running[entries]
        rest = np.repeat(lined.running[ends[nodes]], counts) - sizes
        left: dict[str, Histogram] = {}
        right: dict[str, Histogram] = {}
        for name, joint in joints.items():
            halves = _running_halves(lined, nodes, some, begin, end, joint, len(totals[name]))
            left[name], right[name] = (Histogram.of(*half, totals[name]) for half in halves)
        held[entries] = task.satisfied(Groups(sizes, left)) & task.satisfied(Groups(rest, right))
    return held


def _portions(
    joints: dict[str, JointHistograms], first: IntArray, last: IntArray
) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """Some nodes at a time, each with a range of positions, so that few entries arise at once."""
    widest = np.max([np.diff(joint.offsets) for joint in joints.values()], axis=0)
    steps = np.maximum(_ENTRIES_AT_ONCE // np.maximum(widest, 1), 1)
    begin = first.copy()
    while True:
        waiting = np.flatnonzero(begin <= last)
        if not len(waiting):
            return
        end = np.minimum(begin[waiting] + steps[waiting] - 1, last[waiting])
        entries = np.cumsum((end - begin[waiting] + 1) * widest[waiting])
        taken = max(int(np.searchsorted(entries, _ENTRIES_AT_ONCE, side="right")), 1)
        some = waiting[:taken]
        yield some, begin[some], end[:taken]
        begin[some] = end[:taken] + 1


def _running_halves(
    lined: LinedUp, nodes: IntArray, some: IntArray, begin: IntArray, end: IntArray,
    joint: JointHistograms, values: int,
) -> list[tuple[IntArray, IntArray, IntArray]]:  # fmt: skip
    """Offsets, values and counts of the left and right half at each position begin..end."""
    room = int(((end - begin + 1) * np.diff(joint.offsets)[some]).sum())
    groups = int((end - begin + 1).sum())
    out = _Halved(
        np.zeros((2, groups + 1), dtype=np.int64),
        np.empty((2, room), dtype=np.int64),
        np.empty((2, room), dtype=np.int64),
    )
    line = _LinesToCut(lined.offsets[nodes], lined.codes, begin, end)
    pairs = _Pairs(
        joint.offsets[some], joint.offsets[some + 1], joint.codes, joint.values, joint.counts
    )
    _fill_halves(line, pairs, lined.geometry.column.cardinality, values, out)
    return [
        (offsets, found[: offsets[-1]], counts[: offsets[-1]])
        for offsets, found, counts in zip(*out, strict=True)
    ]


class _LinesToCut(NamedTuple):
    """The codes of nodes as they are lined up, from `starts` on, and the positions to cut at."""

    starts: IntArray
    codes: IntArray
    begin: IntArray
    end: IntArray


class _Pairs(NamedTuple):
    """The pairs of a code and a sensitive value in each node, with their counts."""

    starts: IntArray
    ends: IntArray
    codes: IntArray
    values: IntArray
    counts: IntArray


class _Halved(NamedTuple):
    """Room for the values and counts of halves, the left ones first."""

    offsets: IntArray
    values: IntArray
    counts: IntArray


@compiled
def _fill_halves(
    line: _LinesToCut, pairs: _Pairs, cardinality: int, values: int, out: _Halved
) -> None:
    line_starts, line_codes, begin, end = line
    joint_starts, joint_ends, joint_codes, joint_values, joint_counts = pairs
    offsets, out_values, out_counts = out
    code_starts = np.zeros(cardinality, np.int64)
    code_ends = np.zeros(cardinality, np.int64)
    running = np.zeros(values, np.int64)
    totals = np.zeros(values, np.int64)
    group = 0
    written = np.zeros(2, np.int64)
    for node in range(len(begin)):
        local = np.unique(joint_values[joint_starts[node] : joint_ends[node]])
        for value in local:
            running[value] = totals[value] = 0
        for i in range(joint_starts[node], joint_ends[node]):
            code = joint_codes[i]
            if i == joint_starts[node] or joint_codes[i - 1] != code:
                code_starts[code] = i
            code_ends[code] = i + 1
            totals[joint_values[i]] += joint_counts[i]
        for position in range(end[node] + 1):
            code = line_codes[line_starts[node] + position]
            for i in range(code_starts[code], code_ends[code]):
                running[joint_values[i]] += joint_counts[i]
            if position < begin[node]:
                continue
            for value in local:
                for half in range(2):
                    count = running[value] if half == 0 else totals[value] - running[value]
                    if count > 0:
                        out_values[half, written[half]] = value
                        out_counts[half, written[half]] = count
                        written[half] += 1
            group += 1
            offsets[0, group] = written[0]
            offsets[1, group] = written[1]
