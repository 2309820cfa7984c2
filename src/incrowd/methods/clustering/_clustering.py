"""Clustering: records join their nearest until every group is private.

Groups grow from the distinct records. Each that does not satisfy the models is merged with the
one that costs least, by one of three distances; labels are the ranges and hierarchy nodes that the
records of a group need.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from incrowd._runtime.arrays import BoolArray
from incrowd.counts import NodeHistograms
from incrowd.hierarchies import ROOT_LABEL
from incrowd.labels import missing_first
from incrowd.methods.base import CellLabels, Outcome, RecordTask, Task, joined_groups
from incrowd.methods.clustering import ClusteringOptions
from incrowd.methods.clustering._axes import NODES, Axes, axes_of
from incrowd.methods.clustering._members import DistinctRows
from incrowd.methods.clustering._moving import moved_on
from incrowd.methods.clustering._pricing import Pricing, amounts
from incrowd.methods.clustering._ranges import shared_ranges
from incrowd.methods.clustering._rounds import Clustered, Fixed, agglomerate, codes_within
from incrowd.methods.geometry import TREE, Geometry, geometry_of
from incrowd.methods.reach import refuse_unreachable

_PASSES = 3
"""How often clusters are made by research value."""


def clustering(
    task: RecordTask, options: ClusteringOptions | None = None, *, exact: bool = False
) -> Outcome:
    """Merge records into groups until each satisfies all models, at the least cost.

    Parameters
    ----------
    task, options
        What is asked for.
    exact
        Whether partners are found by comparison with all clusters, as a reference.

    Notes
    -----
    Works under every monotone model: what is merged is judged, and the table as one group holds or
    is refused. Every record is in exactly one group. O(d n^2) for n distinct records over d
    attributes with `exact`, about O(d n log n) otherwise with few attributes; see `agglomerate`.
    By NCP, under models that no further record can break, rows then move on and large groups are
    cut; see `moved_on`.

    References
    ----------
    Morton (2012), figs. 13 and 14 and Table 10; Xu et al. (2006), Utility-based anonymization using
    local recoding, for the bottom-up method by NCP. Differs from both: merges go in rounds, the
    cheapest first; a merge costs what it adds to the loss of the table, not what the merged cluster
    loses; a hidden value is hidden for the whole cluster; categories, other models than
    k-anonymity, and ranges that do not overlap.

    Example
    -------
    >>> import polars
    >>> import incrowd
    >>> frame = polars.DataFrame({"age": [30, 31, 50, 52], "zip": ["a", "a", "b", "b"]})
    >>> policy = {
    ...     "attributes": {"age": "quasi", "zip": "quasi"},
    ...     "privacy": [{"k-anonymity": {"k": 2}}],
    ...     "method": "clustering",
    ... }
    >>> incrowd.anonymize(frame, policy).data["age"].to_list()
    ['[30-32)', '[30-32)', '[50-53)', '[50-53)']
    """
    options = options or ClusteringOptions()
    refuse_unreachable(task)
    members = DistinctRows.of(task)
    hierarchies = [task.hierarchies[column.name] for column in task.columns]
    axes = axes_of(task.columns, hierarchies)
    pricing = Pricing(options.distance, options.suppression, task.columns, task.interests)
    fixed = None
    if options.overlap == "forbid":
        fixed, clustered = _without_overlap(task, members, axes, pricing, exact=exact)
    else:
        clustered = _in_passes(task, members, axes, pricing, exact=exact)
    everyone = np.arange(clustered.many)
    if not members.held(task, clustered.cluster_of_row, everyone).all():
        raise AssertionError("a group does not hold")
    return _outcome(task, members, clustered, fixed)


def _in_passes(
    task: Task, members: DistinctRows, axes: Axes, pricing: Pricing, *, exact: bool
) -> Clustered:
    """The clusters of a distance; by research value the best of three passes.

    What a merge takes from the research value depends on what all labels amount to in the end. The
    first pass, in which nothing is hidden, goes by what they amount to so far; each other one by
    what they amounted to at the end of the one before.
    """
    if pricing.distance != "research-value":
        found = agglomerate(task, members, axes, pricing, exact=exact)
        if pricing.distance == "ncp" and task.growing:
            prices = pricing.prices(axes, found.boxes)
            found = moved_on(task, members, axes, prices, found, exact=exact)
        return found
    measured = pricing.axes(axes)
    bare = replace(pricing, suppression=False)
    best = last = agglomerate(task, members, axes, bare, exact=exact)
    highest = pricing.value(measured, best.boxes)
    for _ in range(_PASSES - 1):
        known = pricing.knowing(amounts(last.boxes))
        last = agglomerate(task, members, axes, known, exact=exact)
        value = pricing.value(measured, last.boxes)
        if value > highest:
            best, highest = last, value
    return best


def _without_overlap(
    task: Task, members: DistinctRows, axes: Axes, pricing: Pricing, *, exact: bool
) -> tuple[Fixed | None, Clustered]:
    """Clusters within cells of ranges that all groups share, the best of some attempts.

    Larger cells leave more to the other attributes: they are tried, each time of four times the
    records, as long as less is lost that way. By research value, ranges are first made by NCP, and
    then three times by what labels amounted to before.
    """
    numbers = [
        a
        for a, column in enumerate(task.columns)
        if column.numbers is not None and axes.missing[a] != NODES
    ]
    if not numbers:
        return None, _in_passes(task, members, axes, pricing, exact=exact)
    chosen = np.array(numbers, dtype=np.int64)
    measured = pricing.axes(axes)

    def attempt(by: Pricing, least: int) -> tuple[Fixed, Clustered]:
        found = shared_ranges(task, members, by.axes(axes), by, chosen, least)
        fixed = Fixed(chosen, *found)
        return fixed, agglomerate(task, members, axes, pricing, exact=exact, fixed=fixed)

    least = max(task.smallest_group, 1)
    if pricing.distance == "research-value":
        best = last = attempt(replace(pricing, distance="ncp"), least)
        highest = pricing.value(measured, best[1].boxes)
        for _ in range(_PASSES):
            last = attempt(pricing.knowing(amounts(last[1].boxes)), least)
            value = pricing.value(measured, last[1].boxes)
            if value > highest:
                best, highest = last, value
        return best
    best = attempt(pricing, least)
    lowest = _lost(task, members, *best)
    while len(numbers) < len(task.columns) and 4 * least <= task.counts.records:
        least *= 4
        other = attempt(pricing, least)
        lost = _lost(task, members, *other)
        if lost >= lowest:
            break
        best, lowest = other, lost
    return best


def _lost(task: Task, members: DistinctRows, fixed: Fixed, clustered: Clustered) -> float:
    """What all records lose by their labels: NCP, times the weight of the attribute."""
    sizes = clustered.boxes.records
    total = 0.0
    for a, column in enumerate(task.columns):
        interest = task.interests.get(column.name)
        cells = _labels(task, members, clustered, fixed, a)
        total += float((cells.loss_of_group * sizes).sum()) * (
            1.0 if interest is None else interest.weight
        )
    return total


def _outcome(
    task: RecordTask, members: DistinctRows, clustered: Clustered, fixed: Fixed | None
) -> Outcome:
    """The labels of the clusters, and the cluster of every record of the source."""
    labels = {
        column.name: _labels(task, members, clustered, fixed, a)
        for a, column in enumerate(task.columns)
    }
    group_of_record = members.assigned(task, clustered.cluster_of_row)
    return joined_groups(group_of_record, labels, clustered.boxes.records)


def _labels(
    task: Task, members: DistinctRows, clustered: Clustered, fixed: Fixed | None, a: int
) -> CellLabels:
    """What the clusters show of one attribute."""
    column = task.columns[a]
    geometry = geometry_of(column, task.hierarchies[column.name], "cut")
    codes = [members.codes[:, a].astype(np.int64)]
    if fixed is not None and a in fixed.attributes:
        at = int(np.flatnonzero(fixed.attributes == a)[0])
        codes = [fixed.first[:, at], fixed.last[:, at]]
    cluster, codes_there = codes_within(clustered, codes)
    held = np.bincount(cluster, minlength=clustered.many)
    offsets = np.concatenate(([0], np.cumsum(held)))
    found = NodeHistograms(offsets, codes_there, np.ones_like(codes_there))
    return _generalized_to_root(geometry.labels(found), clustered.hidden[:, a], geometry)


def _generalized_to_root(cells: CellLabels, hidden: BoolArray, geometry: Geometry) -> CellLabels:
    """The labels of groups, some of which show the root in place of theirs."""
    if not hidden.any():
        return cells
    root = geometry.hierarchy.labels[-1][0] if geometry.label_kind == TREE else ROOT_LABEL
    found = dict.fromkeys((*cells.texts, root))
    texts = sorted(found, key=missing_first)
    rank = np.array([texts.index(text) for text in cells.texts], dtype=np.int64)
    return CellLabels(
        tuple(texts),
        np.where(hidden, texts.index(root), rank[cells.text_of_group]),
        np.where(hidden, 1.0, cells.loss_of_group),
    )
