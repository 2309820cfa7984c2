"""Rows that move on to clusters in which they and the others lose less.

Pairs of clusters make clusters of more records than needed. So a cluster is dissolved when all its
rows fit elsewhere at a lower loss, rows that a cluster can spare move on alone, and what has become
large enough for two is cut. Clusters may take any rows here: this is for models under which a group
that holds never breaks by growing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd._runtime.compiling import compiled
from incrowd.methods.base import Task
from incrowd.methods.clustering._axes import Axes, span_of, spans_of
from incrowd.methods.clustering._costs import Boxes, Prices
from incrowd.methods.clustering._members import DistinctRows
from incrowd.methods.clustering._rounds import Clustered, partners
from incrowd.methods.clustering._splitting import cut_in_two
from incrowd.table.packing import distinct_rows

_TURNS = 12
"""How often rows may move on."""
_AT_ONCE = 20_000
"""Clusters that one compiled call goes through."""
_LEAST = 1e-9
"""A move that saves less is not made."""


class _ClusterRows(NamedTuple):
    """Distinct rows with their weights, in the order of their clusters, and where each begins."""

    codes: npt.NDArray[np.int32]
    weights: IntArray
    order: IntArray
    starts: IntArray


def moved_on(
    task: Task, members: DistinctRows, axes: Axes, prices: Prices, clustered: Clustered, *,
    exact: bool,
) -> Clustered:  # fmt: skip
    """The clusters after rows have moved on, in some turns; less is lost after each of them.

    Notes
    -----
    O(d n log n) a turn for n distinct rows over d attributes, as a round of merges.
    """
    cluster, boxes = clustered
    for turn in range(_TURNS):
        task.progress("moving records", turn, _TURNS)
        target = _targets(members, axes, prices, cluster, boxes, exact)
        rows = _ClusterRows(
            members.codes, members.records, *_by_cluster(cluster, len(boxes.records))
        )
        lost = (boxes.span * prices.rate).sum(axis=1)
        dearest = np.argsort(-lost, kind="stable")
        after = cluster.copy()
        room = boxes.copied()
        used, gone = np.zeros((2, len(lost)), dtype=np.bool_)
        leaving = np.full(len(lost), -1, dtype=np.int64)
        smallest = max(task.smallest_group, 1)
        for some in _pieces(dearest):
            _dissolve(axes, prices.rate, room, rows, some, target, after, used, gone)
        for some in _pieces(dearest):
            _leave(axes, prices.rate, room, rows, some, target, smallest, used, leaving)
        _apply_leaving(task, members, after, leaving, target)
        after = cut_in_two(task, members, axes, prices.rate, after, *_by_cluster(after, len(lost)))
        if np.array_equal(after, cluster):
            break
        cluster, boxes = _rebuilt(members, axes, after)
    return Clustered(cluster, boxes)


def _pieces(clusters: IntArray) -> list[IntArray]:
    """Clusters in pieces, between which a run can be interrupted."""
    return [clusters[at : at + _AT_ONCE] for at in range(0, len(clusters), _AT_ONCE)]


def _targets(
    members: DistinctRows, axes: Axes, prices: Prices, cluster: IntArray, boxes: Boxes, exact: bool
) -> IntArray:
    """For each row of a cluster that loses anything, the other cluster where it costs least."""
    many = len(boxes.records)
    target = np.full(len(cluster), -1, dtype=np.int64)
    losing = np.asarray((boxes.span > 0).any(axis=1))
    wanted = np.flatnonzero(losing[cluster])
    if many < 2 or not len(wanted):
        return target
    codes = members.codes
    both = Boxes(
        np.concatenate([boxes.low, codes]),
        np.concatenate([boxes.high, codes]),
        np.concatenate([boxes.span, np.zeros(codes.shape)]),
        np.concatenate([boxes.records, members.records]),
    )
    found, _, _ = partners(
        axes, prices, both, wanted + many, exact, among=many, apart=cluster[wanted]
    )
    target[wanted] = found
    return target


def _by_cluster(cluster: IntArray, many: int) -> tuple[IntArray, IntArray]:
    """The rows in the order of their clusters, and where each cluster begins."""
    starts = np.concatenate(([0], np.cumsum(np.bincount(cluster, minlength=many))))
    return np.argsort(cluster, kind="stable"), starts


def _apply_leaving(
    task: Task, members: DistinctRows, cluster: IntArray, leaving: IntArray, target: IntArray
) -> None:
    """Move rows that leave their clusters, where what they leave still holds."""
    rows = leaving[leaving >= 0]
    if not len(rows):
        return
    own = cluster[rows].copy()
    cluster[rows] = target[rows]
    held = members.held(task, cluster, own)
    cluster[rows[~held]] = own[~held]


def _rebuilt(members: DistinctRows, axes: Axes, cluster: IntArray) -> tuple[IntArray, Boxes]:
    """The clusters that are left, numbered anew in their order, and what they cover."""
    number, _ = distinct_rows([cluster], [int(cluster.max()) + 1], len(cluster))
    cluster = number.astype(np.int64)
    order, starts = _by_cluster(cluster, int(cluster.max()) + 1)
    low: npt.NDArray[np.int32] = np.minimum.reduceat(members.codes[order], starts[:-1])
    high: npt.NDArray[np.int32] = np.maximum.reduceat(members.codes[order], starts[:-1])
    records = np.bincount(cluster, weights=members.records).astype(np.int64)
    spans: FloatArray = spans_of(axes, low, high)
    return cluster, Boxes(low, high, spans, records)


@compiled
def _dissolve(
    axes: Axes, rate: FloatArray, boxes: Boxes, rows: _ClusterRows, dearest: IntArray,
    target: IntArray, cluster: IntArray, used: BoolArray, gone: BoolArray,
) -> None:  # fmt: skip
    """Send all rows of clusters elsewhere where that costs less than the clusters lose."""
    place, missing, whole, node_of, spans = axes
    low, high, span, records = boxes
    codes, weights, order, starts = rows
    width = low.shape[1]
    for g in dearest:
        lost = 0.0
        for a in range(width):
            lost += rate[a] * span[g, a] * records[g]
        if used[g] or lost <= 0.0:
            continue
        many = starts[g + 1] - starts[g]
        low_before, high_before = (
            np.empty((many, width), np.int32),
            np.empty((many, width), np.int32),
        )
        span_before = np.empty((many, width))
        total, done = 0.0, 0
        for at in range(many):
            row = order[starts[g] + at]
            t = target[row]
            if t < 0 or gone[t] or total >= lost - _LEAST:
                break
            for a in range(width):
                low_before[at, a], high_before[at, a] = low[t, a], high[t, a]
                span_before[at, a] = span[t, a]
                low[t, a], high[t, a] = (
                    min(low[t, a], codes[row, a]),
                    max(high[t, a], codes[row, a]),
                )
                wide = span_of(place, missing, whole, node_of, spans, a, low[t, a], high[t, a])
                total += rate[a] * (weights[row] * wide + records[t] * (wide - span[t, a]))
                span[t, a] = wide
            records[t] += weights[row]
            done += 1
        if done == many and total < lost - _LEAST:
            gone[g] = used[g] = True
            for at in range(many):
                row = order[starts[g] + at]
                cluster[row] = target[row]
                used[target[row]] = True
            continue
        for at in range(done - 1, -1, -1):
            row = order[starts[g] + at]
            t = target[row]
            records[t] -= weights[row]
            for a in range(width):
                low[t, a], high[t, a] = low_before[at, a], high_before[at, a]
                span[t, a] = span_before[at, a]


@compiled
def _leave(
    axes: Axes, rate: FloatArray, boxes: Boxes, rows: _ClusterRows, dearest: IntArray,
    target: IntArray, smallest: int, used: BoolArray, leaving: IntArray,
) -> None:  # fmt: skip
    """Write for clusters the row whose move saves most; a cluster takes part in one move only."""
    place, missing, whole, node_of, spans = axes
    low, high, span, records = boxes
    codes, weights, order, starts = rows
    width = low.shape[1]
    # The two lowest codes of a cluster and the two highest, by attribute: without a row that has
    # one of them the other is left.
    ends = np.empty((4, width), np.int64)
    for g in dearest:
        if used[g] or records[g] <= smallest:
            continue
        for a in range(width):
            ends[0, a] = ends[1, a] = 1 << 62
            ends[2, a] = ends[3, a] = -1
            for at in range(starts[g], starts[g + 1]):
                code = codes[order[at], a]
                if code < ends[0, a]:
                    ends[0, a], ends[1, a] = code, ends[0, a]
                else:
                    ends[1, a] = min(ends[1, a], code)
                if code > ends[2, a]:
                    ends[2, a], ends[3, a] = code, ends[2, a]
                else:
                    ends[3, a] = max(ends[3, a], code)
        best, most = -1, _LEAST
        for at in range(starts[g], starts[g + 1]):
            row = order[at]
            t = target[row]
            left = records[g] - weights[row]
            if t < 0 or used[t] or left < smallest:
                continue
            saved = 0.0
            for a in range(width):
                least = ends[1, a] if codes[row, a] == ends[0, a] else ends[0, a]
                last = ends[3, a] if codes[row, a] == ends[2, a] else ends[2, a]
                rest = span_of(place, missing, whole, node_of, spans, a, least, last)
                wide = span_of(
                    place, missing, whole, node_of, spans, a, min(low[t, a], codes[row, a]),
                    max(high[t, a], codes[row, a]),
                )  # fmt: skip
                saved += rate[a] * (records[g] * span[g, a] - left * rest)
                saved -= rate[a] * (weights[row] * wide + records[t] * (wide - span[t, a]))
            if saved > most:
                best, most = row, saved
        if best >= 0:
            leaving[g] = best
            used[g] = used[target[best]] = True
