"""Suppression: dropping the few outliers that force wide labels on the rest of their group."""

from __future__ import annotations

import numpy as np

from incrowd.counts import Partition, Splits
from incrowd.methods.base import Task
from incrowd.methods.cuts import line_up
from incrowd.methods.geometry import BY_VALUE, Geometry, total_losses
from incrowd.privacy.base import Histogram, IntArray

_LARGEST_SHARE = 0.5


def trim(
    task: Task, partition: Partition, geometries: list[Geometry], group_of_node: IntArray
) -> IntArray:
    """Mark nodes of outliers as suppressed (-1) where that lowers the loss, within the limit.

    A dropped record costs one full cell per attribute. In each round every group proposes the cut
    whose smaller part is worth dropping most; the proposals with the largest gain per dropped
    record are taken while the limit lasts. What is kept of a group satisfies all models, judged
    against the table that remains.
    """
    remaining = task.most_suppressed
    while remaining > 0:
        leaves = np.flatnonzero(group_of_node == 0)
        splits, kept_left, gains, dropped = _proposals(
            task, partition, geometries, leaves, remaining
        )
        order = np.lexsort((splits.nodes, -gains / np.maximum(dropped, 1)))
        affordable = order[np.cumsum(dropped[order]) <= remaining]
        if not len(affordable):
            return group_of_node
        taken = splits.take(affordable)
        left, right = partition.split(taken)
        trial = np.concatenate(
            (group_of_node, np.full(int(right.max(initial=0)) + 1 - len(group_of_node), -2))
        )
        trial[taken.nodes] = -2
        keep_left = kept_left[affordable]
        trial[left] = np.where(keep_left, 0, -1)
        trial[right] = np.where(keep_left, -1, 0)
        if not _still_private(task, partition, trial):
            # Undone: both parts of every trimmed group are one group again.
            trial[left] = trial[right] = -2
            trial[taken.nodes] = 0
            return trial
        group_of_node = trial
        remaining -= int(dropped[affordable].sum())
    return group_of_node


def _proposals(
    task: Task, partition: Partition, geometries: list[Geometry], leaves: IntArray, most: int
) -> tuple[Splits, np.ndarray, np.ndarray, IntArray]:
    """Each group's best trim: the split, whether its left part stays, its gain, what it drops."""
    parts: list[Splits] = []
    for attribute, geometry in enumerate(geometries):
        histograms = partition.histograms(attribute, leaves)
        lined = line_up(leaves, attribute, histograms, geometry)
        entries = np.diff(lined.offsets)
        ends = {0: np.zeros(len(leaves), dtype=np.int64), 1: entries - 2}
        for position in ends.values() if geometry.order_kind == BY_VALUE else (ends[1],):
            able = np.flatnonzero((entries >= 2) & lined.allowed[lined.offsets[:-1] + position])
            parts.append(lined.splits(able, position[able]))
    splits = Splits.join(parts)
    left, right = partition.half_groups(splits, task.sensitive)
    keep_left = left.sizes >= right.sizes
    dropped = np.where(keep_left, right.sizes, left.sizes)
    holds = np.where(keep_left, task.judge(left), task.judge(right))
    left_extents, right_extents = partition.half_extents(splits)
    kept_loss = np.where(
        keep_left,
        total_losses(geometries, left_extents),
        total_losses(geometries, right_extents),
    )
    now = total_losses(geometries, partition.extents(leaves))
    before = now[np.searchsorted(leaves, splits.nodes)]
    gains = before - kept_loss - dropped * len(geometries)
    small = dropped <= _LARGEST_SHARE * (left.sizes + right.sizes)
    able = np.flatnonzero(holds & small & (dropped <= most) & (gains > 1e-9))
    order = able[np.lexsort((splits.attributes[able], -gains[able], splits.nodes[able]))]
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = splits.nodes[order][1:] != splits.nodes[order][:-1]
    best = order[first]
    return splits.take(best), keep_left[best], gains[best], dropped[best]


def _still_private(task: Task, partition: Partition, group_of_node: IntArray) -> bool:
    """Whether all groups hold against the distribution of the records that are kept."""
    groups = partition.groups(np.flatnonzero(group_of_node == 0), task.sensitive)
    for name, histogram in groups.histograms.items():
        kept = np.bincount(
            histogram.values, weights=histogram.counts, minlength=histogram.cardinality
        ).astype(np.int64)
        groups.histograms[name] = Histogram(  # type: ignore[index]
            histogram.offsets, histogram.values, histogram.counts, histogram.cardinality, kept
        )
    return bool(task.judge(groups).all())
