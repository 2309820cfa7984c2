"""Suppression: dropping the few outliers that force wide labels on the rest of their group.

A dropped record costs one full cell per attribute, as NCP counts it. Dropping pays where the labels
of what is kept shrink by more than that.

Invariant: tasks that come here promise nothing but sizes, so that what is dropped is decided from
the quasi-identifiers alone. Who sees who is missing learns nothing about sensitive values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd.counts import HalvingPartition, Splits
from incrowd.counts.groups import Groups
from incrowd.methods.base import Task
from incrowd.methods.cuts import line_up
from incrowd.methods.geometry import BY_VALUE, Geometry, counted_sets, total_losses

_LARGEST_SHARE = 0.5
_WORTH = 1e-9


@dataclass(frozen=True)
class Trims:
    """For each of some nodes, a cut whose smaller part is dropped.

    `loss` is what the node then loses: the cells of what is kept, and all cells of the `dropped`.
    """

    splits: Splits
    keep_left: BoolArray
    loss: FloatArray
    dropped: IntArray

    def take(self, chosen: IntArray) -> Trims:
        """The chosen trims, in the given order."""
        return Trims(
            self.splits.take(chosen),
            self.keep_left[chosen],
            self.loss[chosen],
            self.dropped[chosen],
        )

    def worth_it(self, otherwise: FloatArray, most: int) -> Trims:
        """The trims that lose less than `otherwise`: the best per dropped record, up to `most`."""
        gains = otherwise - self.loss
        order = np.lexsort((self.splits.nodes, -gains / np.maximum(self.dropped, 1)))
        order = order[gains[order] > _WORTH]
        return self.take(order[np.cumsum(self.dropped[order]) <= most])

    @staticmethod
    def join(parts: Sequence[Trims]) -> Trims:
        """All trims of several lists, one list after the other."""
        none = np.zeros(0, dtype=np.int64)
        return Trims(
            Splits.join([part.splits for part in parts]),
            np.concatenate([none.astype(np.bool_), *(part.keep_left for part in parts)]),
            np.concatenate([none.astype(np.float64), *(part.loss for part in parts)]),
            np.concatenate([none, *(part.dropped for part in parts)]),
        )

    def apply(self, partition: HalvingPartition) -> tuple[IntArray, IntArray]:
        """Cut the nodes; returns the nodes that are kept and those that are dropped."""
        left, right = partition.split(self.splits)
        kept = np.where(self.keep_left, left, right)
        return kept, np.where(self.keep_left, right, left)


def best_trims(
    task: Task, partition: HalvingPartition, geometries: list[Geometry], nodes: IntArray
) -> Trims:
    """Each node's trim of least loss that keeps enough records: an end of one attribute."""
    parts: list[Splits] = []
    for attribute, geometry in enumerate(geometries):
        lined = line_up(nodes, attribute, partition.histograms(attribute, nodes), geometry)
        entries = np.diff(lined.offsets)
        ends = [entries - 2]
        if geometry.order_kind == BY_VALUE:
            ends.append(np.zeros(len(nodes), dtype=np.int64))
        for position in ends:
            able = np.flatnonzero(entries >= 2)
            able = able[lined.allowed[lined.offsets[able] + position[able]]]
            parts.append(lined.splits(able, position[able]))
    splits = Splits.join(parts)
    splits = splits.take(np.argsort(splits.nodes, kind="stable"))
    left, right = partition.half_groups(splits, ())
    keep_left = left.sizes >= right.sizes
    dropped = np.where(keep_left, right.sizes, left.sizes)
    holds = np.where(keep_left, task.satisfied(left), task.satisfied(right))
    left_extents, right_extents = partition.half_extents(splits, counting=counted_sets(geometries))
    kept = np.where(
        keep_left, total_losses(geometries, left_extents), total_losses(geometries, right_extents)
    )
    loss = kept + dropped * len(geometries)
    able = np.flatnonzero(holds & (dropped <= _LARGEST_SHARE * (left.sizes + right.sizes)))
    order = able[np.lexsort((splits.attributes[able], np.round(loss[able], 9), splits.nodes[able]))]
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = splits.nodes[order][1:] != splits.nodes[order][:-1]
    return Trims(splits, keep_left, loss, dropped).take(order[first])


def trim(
    task: Task,
    partition: HalvingPartition,
    geometries: list[Geometry],
    group_of_node: IntArray,
    most: int,
) -> IntArray:
    """Drop outliers of finished groups (marked -1) where that lowers the loss, at most `most`.

    What is kept of a group is large enough.
    """
    while most > 0:
        leaves = np.flatnonzero(group_of_node == 0)
        now = total_losses(geometries, partition.extents(leaves))
        trims = best_trims(task, partition, geometries, leaves)
        trims = trims.worth_it(now[np.searchsorted(leaves, trims.splits.nodes)], most)
        if not len(trims.splits):
            break
        kept, dropped = trims.apply(partition)
        group_of_node = marked(group_of_node, kept, dropped)
        group_of_node[trims.splits.nodes] = -2
        most -= int(trims.dropped.sum())
    return group_of_node


def marked(group_of_node: IntArray, kept: IntArray, dropped: IntArray) -> IntArray:
    """The marks of all nodes with new ones: 0 for groups, -1 for suppressed, -2 for cut nodes."""
    nodes = max(int(kept.max(initial=-1)), int(dropped.max(initial=-1))) + 1
    room = np.full(max(nodes - len(group_of_node), 0), -2, dtype=np.int64)
    result = np.concatenate((group_of_node, room))
    result[kept], result[dropped] = 0, -1
    return result


def still_private(task: Task, groups: Groups) -> bool:
    """Whether groups hold against the distribution of the records that are in them."""
    histograms = {}
    for name, histogram in groups.histograms.items():
        kept = np.bincount(
            histogram.values, weights=histogram.counts, minlength=histogram.cardinality
        ).astype(np.int64)
        histograms[name] = replace(histogram, total=kept)
    return bool(task.satisfied(Groups(groups.sizes, histograms)).all())
