"""Mondrian: groups by cutting the table again and again, as long as both halves stay private.

A k-d tree over the quasi-identifiers. Every open node is cut at once, level by level, from the
histograms that the home of the records gives; the cells of a group show the ranges, sets or
hierarchy nodes that its own records need.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from incrowd.counts import Partition, Splits
from incrowd.methods.base import Outcome, Task, joined_groups
from incrowd.methods.cuts import line_up
from incrowd.methods.geometry import BY_VALUE, Geometry, counted_sets, geometry_of, total_losses
from incrowd.methods.options import MondrianOptions
from incrowd.methods.private_cuts import best_private, judge_halves
from incrowd.methods.reach import refuse_unreachable
from incrowd.methods.suppression import (
    Trims,
    best_trims,
    marked,
    still_private,
    trim,
)
from incrowd.privacy.base import IntArray


def mondrian(task: Task, options: MondrianOptions | None = None) -> Outcome:
    """Partition the records under all models of the task, and label the groups.

    With `split: loss` each node is cut where the loss of information (NCP, over all attributes)
    falls most: for every attribute its best cut that leaves both halves private, then of these
    the one after which both halves together lose least. With `split: median` the attribute with
    the widest z-score is cut at its median, or the next widest where that is not private.

    Notes
    -----
    O(d^2 n log n) for n distinct rows and d attributes with `loss`, O(d n log n) with `median`.
    Every record is in exactly one group: a node is cut only when both halves hold.

    References
    ----------
    LeFevre, DeWitt, Ramakrishnan (2006), Mondrian multidimensional k-anonymity; the median rule as
    in Gal, Chen, Gangopadhyay (2008), fig. 5.
    Differs from the paper: fig. 5 loses the records of a half that does not hold; here the node
    is then cut elsewhere or kept whole.
    """
    options = options or MondrianOptions()
    refuse_unreachable(task)
    geometries = _geometries(task, options)
    most = task.most_suppressed
    partition = task.counts.partition()
    group_of_node = _grow(task, partition, geometries, options, most)
    suppressed = np.flatnonzero(group_of_node == -1)
    if len(suppressed) and not still_private(task, partition, group_of_node):
        # Without the dropped records the table itself has changed, and a group is too far from it.
        partition = task.counts.partition()
        group_of_node = _grow(task, partition, geometries, options, 0)
        suppressed = suppressed[:0]
    most -= int(partition.sizes(suppressed).sum())
    group_of_node = trim(task, partition, geometries, group_of_node, most)
    return _outcome(partition, geometries, group_of_node, task.counts.records)


def _geometries(task: Task, options: MondrianOptions) -> list[Geometry]:
    return [
        geometry_of(column, task.hierarchies[column.name], options.labels)
        for column in task.columns
    ]


def _grow(
    task: Task, partition: Partition, geometries: list[Geometry], options: MondrianOptions,
    most: int,
) -> IntArray:  # fmt: skip
    """Cut open nodes level by level, and drop at most `most` outliers on the way.

    Returns the mark of every node: 0 for those that stay whole, -1 for dropped ones, -2 for cut
    ones.
    """
    marks = np.full(1, -2, dtype=np.int64)
    none = np.zeros(0, dtype=np.int64)
    settled, level = 0, 1
    nodes = np.zeros(1, dtype=np.int64)
    while len(nodes):
        sizes = partition.sizes(nodes)
        large = sizes >= 2 * task.smallest_group
        whole = [nodes[~large]]
        nodes = nodes[large]
        chosen: list[Splits] = []
        trims: list[Trims] = []
        gains: list[npt.NDArray[np.float64]] = []
        for some in partition.portions(nodes):
            partition.foresee(some, task.sensitive)
            if options.split == "loss":
                splits, trimmed, otherwise = _choose_by_loss(
                    task, partition, geometries, some, trimming=most > 0
                )
                trims.append(trimmed)
                gains.append(otherwise)
            else:
                splits = _choose_by_median(task, partition, geometries, some)
            chosen.append(splits)
            task.progress(f"partitioning, level {level}", settled, task.counts.records)
        splits = Splits.join(chosen)
        dropping = Trims.join(trims).worth_it(np.concatenate([*gains, np.zeros(0)]), most)
        most -= int(dropping.dropped.sum())
        splits = splits.take(np.flatnonzero(~np.isin(splits.nodes, dropping.splits.nodes)))
        cut = np.concatenate((splits.nodes, dropping.splits.nodes))
        whole.append(np.setdiff1d(nodes, cut))
        settled += sum(int(partition.sizes(some).sum()) for some in whole)
        marks = marked(marks, np.concatenate(whole), none)
        nodes = np.concatenate(partition.split(splits))
        if len(dropping.splits):
            kept, dropped = dropping.apply(partition)
            marks = marked(marks, none, dropped)
            nodes = np.concatenate((nodes, kept))
        nodes = np.sort(nodes)
        level += 1
    return marks


def _choose_by_loss(
    task: Task, partition: Partition, geometries: list[Geometry], nodes: IntArray, *, trimming: bool
) -> tuple[Splits, Trims, npt.NDArray[np.float64]]:
    """For each node the private cut after which its records lose least, where there is one.

    With `trimming` also the best trim of each node, and what the node loses without it.
    """
    candidates = []
    for attribute, geometry in enumerate(geometries):
        lined = line_up(nodes, attribute, partition.histograms(attribute, nodes), geometry)
        candidates.append(best_private(task, partition, lined))
    splits = Splits.join(candidates)
    splits = splits.take(np.argsort(splits.nodes, kind="stable"))
    left, right = partition.half_extents(splits, counting=counted_sets(geometries))
    loss = total_losses(geometries, left) + total_losses(geometries, right)
    # Least loss first; a tie goes to the attribute that comes first.
    order = np.lexsort((splits.attributes, np.round(loss, 9), splits.nodes))
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = splits.nodes[order][1:] != splits.nodes[order][:-1]
    best = order[first]
    splits, loss = splits.take(best), loss[best]
    if not trimming:
        return splits, Trims.join([]), np.zeros(0)
    otherwise = total_losses(geometries, partition.extents(nodes))
    otherwise[np.searchsorted(nodes, splits.nodes)] = loss
    trims = best_trims(task, partition, geometries, nodes)
    return splits, trims, otherwise[np.searchsorted(nodes, trims.splits.nodes)]


def _choose_by_median(
    task: Task, partition: Partition, geometries: list[Geometry], nodes: IntArray
) -> Splits:
    """For each node the median cut of its widest attribute, or of the next that allows one."""
    extents = partition.extents(nodes)
    deviations = _deviations(task, geometries)
    widths = np.stack(
        [
            (g.positions[extents.high[:, a]] - g.positions[extents.low[:, a]]) / deviations[a]
            for a, g in enumerate(geometries)
        ]
    )
    # Rounded, so that equal widths tie and the attribute that comes first is cut.
    ranking = np.argsort(-np.round(widths, 9), axis=0, kind="stable")
    waiting = np.arange(len(nodes))
    chosen: list[Splits] = []
    for turn in range(len(geometries)):
        still: list[IntArray] = []
        for attribute, geometry in enumerate(geometries):
            here = waiting[ranking[turn, waiting] == attribute]
            if len(here):
                splits = _median_cuts(task, partition, geometry, attribute, nodes[here])
                chosen.append(splits)
                still.append(here[~np.isin(nodes[here], splits.nodes)])
        waiting = np.sort(np.concatenate(still)) if still else waiting[:0]
    return Splits.join(chosen)


def _deviations(task: Task, geometries: list[Geometry]) -> list[float]:
    """The standard deviation of each attribute over all records, on its axis of positions."""
    deviations = []
    for geometry in geometries:
        name = geometry.column.name
        frequencies = task.counts.frequency_set({name: None})
        values = geometry.positions[frequencies.codes[:, 0]]
        weights = frequencies.groups.sizes / frequencies.groups.sizes.sum()
        mean = float((values * weights).sum())
        deviation = float(np.sqrt((weights * (values - mean) ** 2).sum()))
        deviations.append(deviation if deviation > 0 else 1.0)
    return deviations


def _median_cuts(
    task: Task, partition: Partition, geometry: Geometry, attribute: int, nodes: IntArray
) -> Splits:
    """Cuts after the median value and, where that is not private, before it."""
    histograms = partition.histograms(attribute, nodes)
    lined = line_up(nodes, attribute, histograms, geometry, BY_VALUE)
    ends = lined.offsets[1:] - 1
    total = lined.running[ends]
    median = np.array(
        [
            int(np.searchsorted(lined.running[a:b], (t + 1) // 2))
            for a, b, t in zip(lined.offsets[:-1], lined.offsets[1:], total, strict=True)
        ],
        dtype=np.int64,
    )
    entries = np.diff(lined.offsets)
    waiting = np.arange(len(nodes))
    chosen = []
    for shift in (0, -1):
        position = median[waiting] + shift
        inside = (position >= 0) & (position < entries[waiting] - 1)
        tried = waiting[inside]
        splits = lined.splits(tried, position[inside])
        left_ok, right_ok = judge_halves(task, partition, splits)
        good = left_ok & right_ok
        chosen.append(splits.take(np.flatnonzero(good)))
        waiting = np.setdiff1d(waiting, tried[good])
    return Splits.join(chosen)


def _outcome(
    partition: Partition, geometries: list[Geometry], group_of_node: IntArray, records: int
) -> Outcome:
    """The labels of the groups, from the codes that occur in each."""
    leaves = np.flatnonzero(group_of_node >= 0)
    labels = {
        geometry.column.name: geometry.labels(partition.histograms(a, leaves))
        for a, geometry in enumerate(geometries)
    }
    numbered = group_of_node.copy()
    numbered[leaves] = np.arange(len(leaves))
    groups = partition.group_of_records(numbered)
    return joined_groups(groups, labels, partition.sizes(leaves), records)
