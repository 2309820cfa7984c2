"""Clusters that are large enough for two, cut in two where least is lost."""

from __future__ import annotations

import numpy as np

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray, Ints
from incrowd._runtime.compiling import compiled
from incrowd.methods.base import Task
from incrowd.methods.clustering._axes import Axes, span_of
from incrowd.methods.clustering._members import DistinctRows

_AT_ONCE = 20_000
"""Clusters that one compiled call goes through: a run can be interrupted in between."""


def cut_in_two(
    task: Task, members: DistinctRows, axes: Axes, rate: FloatArray, cluster: IntArray,
    order: IntArray, starts: IntArray,
) -> IntArray:  # fmt: skip
    """The clusters with those cut whose halves both hold; the new ones are numbered at the end.

    A cluster is cut between two codes of one attribute, where its records lose least after it.

    Parameters
    ----------
    order, starts
        The rows by cluster, and where each cluster begins.

    Notes
    -----
    O(d^2 m log m) for a cluster of m rows over d attributes.
    """
    many = len(starts) - 1
    second = np.zeros(len(cluster), dtype=np.bool_)
    smallest = max(task.smallest_group, 1)
    for begin in range(0, many, _AT_ONCE):
        some = starts[begin : begin + _AT_ONCE + 1]
        _choose(axes, rate, members.codes, members.records, order, some, smallest, second)
    cut = np.zeros(many, dtype=np.bool_)
    cut[cluster[second]] = True
    tried = np.flatnonzero(cut)
    if not len(tried):
        return cluster
    number = np.full(many, -1, dtype=np.int64)
    number[tried] = many + np.arange(len(tried))
    halved = np.where(second, number[cluster], cluster)
    held = members.held(task, halved, tried) & members.held(task, halved, number[tried])
    good = np.zeros(many, dtype=np.bool_)
    good[tried[held]] = True
    return np.where(good[cluster], halved, cluster)


@compiled
def _choose(
    axes: Axes, rate: FloatArray, codes: Ints, weights: IntArray, order: IntArray,
    starts: IntArray, smallest: int, second: BoolArray,
) -> None:  # fmt: skip
    """Mark the rows of the second half of every cluster that is worth a cut."""
    place, missing, whole, node_of, spans = axes
    width = codes.shape[1]
    for g in range(len(starts) - 1):
        rows = order[starts[g] : starts[g + 1]]
        many = len(rows)
        total = 0
        for row in rows:
            total += weights[row]
        if many < 2 or total < 2 * smallest:
            continue
        least, best, where = 1e300, -1, 0
        left = np.empty(many)
        for a in range(width + 1):
            # At last the best attribute once more, to mark what lies behind the cut.
            axis = a if a < width else best
            if axis < 0:
                continue
            line = rows[np.argsort(codes[:, axis][rows], kind="mergesort")]
            if a == width:
                second[line[where:]] = True
                continue
            low, high = codes[line[0]].copy(), codes[line[0]].copy()
            seen = 0
            for at in range(many):
                seen += weights[line[at]]
                left[at] = 0.0
                for b in range(width):
                    low[b] = min(low[b], codes[line[at], b])
                    high[b] = max(high[b], codes[line[at], b])
                    wide = span_of(place, missing, whole, node_of, spans, b, low[b], high[b])
                    left[at] += rate[b] * seen * wide
            undivided = left[many - 1]
            low[:], high[:] = codes[line[many - 1]], codes[line[many - 1]]
            seen = 0
            for at in range(many - 1, 0, -1):
                seen += weights[line[at]]
                right = 0.0
                for b in range(width):
                    low[b] = min(low[b], codes[line[at], b])
                    high[b] = max(high[b], codes[line[at], b])
                    wide = span_of(place, missing, whole, node_of, spans, b, low[b], high[b])
                    right += rate[b] * seen * wide
                if (
                    codes[line[at], axis] != codes[line[at - 1], axis]
                    and seen >= smallest
                    and total - seen >= smallest
                    and left[at - 1] + right < min(least, undivided) - 1e-12
                ):
                    least, best, where = left[at - 1] + right, axis, at
