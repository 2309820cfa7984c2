"""Mondrian: groups by cutting the table again and again, as long as both halves stay private.

A k-d tree over the quasi-identifiers. Every open node is cut at once, level by level, from the
histograms that the home of the records gives; the cells of a group show the ranges, sets or
hierarchy nodes that its own records need.
"""

from __future__ import annotations

import numpy as np

from incrowd._runtime.arrays import FloatArray, IntArray
from incrowd.counts import HalvingPartition, Splits
from incrowd.counts.groups import Groups
from incrowd.counts.histograms import counted
from incrowd.errors import ParameterError, PrivacyError
from incrowd.methods.base import Outcome, RowTask, Task, joined_groups
from incrowd.methods.cuts import line_up
from incrowd.methods.geometry import BY_VALUE, Geometry, counted_sets, geometry_of, total_losses
from incrowd.methods.mondrian import MondrianOptions
from incrowd.methods.mondrian._decoys import Born, joined_leaves, merged
from incrowd.methods.mondrian._private_cuts import PrivateCuts
from incrowd.methods.mondrian._resistant_cuts import SafeCuts, refuse_moving_labels, refuse_not_safe
from incrowd.methods.mondrian._suppression import Trims, best_trims, marked, still_private, trim
from incrowd.methods.reach import refuse_unreachable

Cutting = PrivateCuts | SafeCuts
_WHOLE = np.zeros(1, dtype=np.int64)
"""The marks of a fresh partition: all records in one group."""
_OUTLIERS = (
    "mondrian: without the outliers that are dropped the records that are left miss a model, even "
    "all in one group. Say `suppression: 0`, or leave `resist:` out."
)


def mondrian(task: RowTask, options: MondrianOptions | None = None) -> Outcome:
    """Partition the records under all models of the task, and label the groups.

    With `split: loss` each node is cut where the loss of information (NCP, over all attributes)
    falls most: for every attribute its best cut that leaves both halves private, then of these
    the one after which both halves together lose least. With `split: median` the attribute with
    the widest z-score is cut at its median, or the next widest where that is not private.

    Notes
    -----
    O(d^2 n log n) for n distinct rows and d attributes with `loss`, O(d n log n) with `median`.
    Every record is in exactly one group: a node is cut only when both halves hold. Outliers that
    are dropped are chosen first, by groups that are made by size alone; see `_outliers`. With
    `resist: minimality` groups are made by size alone and joined where they miss a model, together
    with as many others; see `joined_leaves`. With `resist: minimality-proven` a node is cut only
    where both halves hold whichever of its records they get; see `SafeCuts`.

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
    if options.resist == "minimality-proven":
        refuse_not_safe(task)
        refuse_moving_labels(task, geometries)
    partition = task.counts.partition()
    marks = _WHOLE
    if task.most_suppressed:
        marks = _outliers(task, partition, geometries, options)
        if task.sensitive:
            marks = _gathered(partition, marks)
    if not task.sensitive and task.most_suppressed:
        return _outcome(partition, geometries, marks, task.counts.records)
    if options.resist != "nothing":
        return _resisting(task, partition, geometries, options, marks)
    marks = _grow(task, partition, geometries, options, marks)
    if bool((marks == -1).any()) and not still_private(task, _groups(task, partition, marks)):
        # Without the dropped records the table itself has changed, and a group is too far from it.
        partition = task.counts.partition()
        marks = _grow(task, partition, geometries, options, _WHOLE)
    return _outcome(partition, geometries, marks, task.counts.records)


def _resisting(
    task: Task, partition: HalvingPartition, geometries: list[Geometry], options: MondrianOptions,
    marks: IntArray,
) -> Outcome:  # fmt: skip
    """Groups of the node marked 0, of which the cuts tell little of sensitive values, or nothing.

    Where so many records are dropped that the rest misses a model as a whole, nothing is made: to
    drop none instead would tell of their values.
    """
    if not still_private(task, _groups(task, partition, marks)):
        raise PrivacyError(_OUTLIERS)
    if options.resist == "minimality-proven":
        marks = _grow(task, partition, geometries, options, marks)
        outcome = _outcome(partition, geometries, marks, task.counts.records)
        if len(outcome.group_sizes) < int((marks == 0).sum()):
            raise ParameterError(
                "mondrian: two groups show the same labels, since a label of a hierarchy stands "
                "for more than one node. Say `labels: set`, or `resist: minimality`."
            )
        return outcome
    born: list[Born] = []
    marks = _grow(task.by_size(), partition, geometries, options, marks, born=born)
    groups = _groups(task, partition, marks)
    unit = joined_leaves(task, groups, np.flatnonzero(marks == 0), born)
    if not still_private(task, merged(groups, unit)):
        raise PrivacyError(_OUTLIERS)
    return _outcome(partition, geometries, marks, task.counts.records, unit)


def _groups(task: Task, partition: HalvingPartition, marks: IntArray) -> Groups:
    """Sizes and sensitive histograms of the nodes marked 0."""
    return partition.groups(np.flatnonzero(marks == 0), task.sensitive)


def _outliers(
    task: Task, partition: HalvingPartition, geometries: list[Geometry], options: MondrianOptions
) -> IntArray:
    """The marks of groups that are made by size alone, and of the outliers dropped on the way.

    Invariant: no sensitive value is asked for, so that which records are dropped is a function of
    the quasi-identifiers alone.
    """
    by_size = task.by_size()
    most = task.most_suppressed
    marks = _grow(by_size, partition, geometries, options, _WHOLE, most)
    most -= int(partition.sizes(np.flatnonzero(marks == -1)).sum())
    return trim(by_size, partition, geometries, marks, most)


def _gathered(partition: HalvingPartition, marks: IntArray) -> IntArray:
    """The marks with all records that are not dropped in one node."""
    root = partition.gather(np.flatnonzero(marks == 0))
    marks = np.append(np.where(marks == 0, -2, marks), np.full(root + 1 - len(marks), -2))
    marks[root] = 0
    return marks


def _geometries(task: Task, options: MondrianOptions) -> list[Geometry]:
    return [
        geometry_of(column, task.hierarchies[column.name], options.labels)
        for column in task.columns
    ]


def _grow(
    task: Task, partition: HalvingPartition, geometries: list[Geometry], options: MondrianOptions,
    marks: IntArray, most: int = 0, born: list[Born] | None = None,
) -> IntArray:  # fmt: skip
    """Cut the node marked 0 and its parts level by level, and drop at most `most` outliers.

    Outliers are dropped only where nothing but sizes is promised. Returns the mark of every node:
    0 for those that stay whole, -1 for dropped ones, -2 for cut ones. `born` is told of all cuts.
    """
    if most and task.sensitive:
        raise AssertionError("outliers are dropped by size alone")
    safely = options.resist == "minimality-proven" and bool(task.sensitive)
    cuts: Cutting = (SafeCuts if safely else PrivateCuts)(task, partition)
    none = np.zeros(0, dtype=np.int64)
    settled, level = 0, 1
    nodes = np.flatnonzero(marks == 0)
    marks = np.where(marks == 0, -2, marks)
    while len(nodes):
        sizes = partition.sizes(nodes)
        large = sizes >= 2 * cuts.floors(nodes)
        whole = [nodes[~large]]
        nodes = nodes[large]
        chosen: list[Splits] = []
        trims: list[Trims] = []
        gains: list[FloatArray] = []
        for some in partition.portions(nodes):
            partition.foresee(some, task.sensitive)
            if options.split == "loss":
                splits, trimmed, otherwise = _choose_by_loss(
                    task, partition, geometries, cuts, some, trimming=most > 0
                )
                trims.append(trimmed)
                gains.append(otherwise)
            else:
                splits = _choose_by_median(task, partition, geometries, cuts, some)
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
        left, right = partition.split(splits)
        if born is not None:
            born.append((splits.nodes, left, right))
        nodes = np.concatenate((left, right))
        if len(dropping.splits):
            kept, dropped = dropping.apply(partition)
            marks = marked(marks, none, dropped)
            nodes = np.concatenate((nodes, kept))
        nodes = np.sort(nodes)
        level += 1
    return marks


def _choose_by_loss(
    task: Task, partition: HalvingPartition, geometries: list[Geometry], cuts: Cutting,
    nodes: IntArray, *, trimming: bool,
) -> tuple[Splits, Trims, FloatArray]:  # fmt: skip
    """For each node the private cut after which its records lose least, where there is one.

    With `trimming` also the best trim of each node, and what the node loses without it.
    """
    candidates = []
    for attribute, geometry in enumerate(geometries):
        lined = line_up(nodes, attribute, partition.histograms(attribute, nodes), geometry)
        candidates.append(cuts.best(lined))
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
    task: Task,
    partition: HalvingPartition,
    geometries: list[Geometry],
    cuts: Cutting,
    nodes: IntArray,
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
                splits = _median_cuts(partition, geometry, attribute, cuts, nodes[here])
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
    partition: HalvingPartition, geometry: Geometry, attribute: int, cuts: Cutting, nodes: IntArray
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
        good = cuts.hold(lined, tried, position[inside])
        chosen.append(lined.splits(tried[good], position[inside][good]))
        waiting = np.setdiff1d(waiting, tried[good])
    return Splits.join(chosen)


def _outcome(
    partition: HalvingPartition, geometries: list[Geometry], marks: IntArray, records: int,
    unit: IntArray | None = None,
) -> Outcome:  # fmt: skip
    """The labels of the groups, from the codes that occur in each.

    Each node marked 0 is a group, or those of the same number in `unit` are.
    """
    leaves = np.flatnonzero(marks == 0)
    unit = np.arange(len(leaves)) if unit is None else unit
    sizes = np.bincount(unit, weights=partition.sizes(leaves)).astype(np.int64)
    labels = {}
    for a, geometry in enumerate(geometries):
        found = partition.histograms(a, leaves)
        group = np.repeat(unit, np.diff(found.offsets))
        if len(sizes) < len(leaves):
            spread = geometry.column.cardinality
            found = counted(group, len(sizes), found.codes, spread, found.counts)
        labels[geometry.column.name] = geometry.labels(found)
    numbered = marks.copy()
    numbered[leaves] = unit
    return joined_groups(partition.group_of_records(numbered), labels, sizes, records)
