"""Checks of lattice nodes: which groups are too small, whether the others hold, the cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd.counts.groups import Groups, Histogram
from incrowd.methods.base import Task
from incrowd.methods.lattice.crowd_check import CrowdCheck, knows_part, refuse_too_fine
from incrowd.methods.lattice.metrics import Metric
from incrowd.methods.lattice.rollup import FrequencySets, Levels, Rolled


@dataclass(frozen=True)
class NodeFinding:
    """What is known of a node once it was looked at.

    A node that `dooms` itself and all more specific ones needs more suppression than is allowed,
    as they do; it may be one above the node that was asked about. `price` is what its groups pay
    with nothing suppressed, `extra` what suppression adds to it here, `extra_below` what it adds
    at least at every more specific node.
    """

    levels: Levels
    solution: bool
    dooms: bool
    suppressed: int = 0
    price: float = 0.0
    extra: float = 0.0
    extra_below: float = 0.0

    @property
    def cost(self) -> float:
        """What the node costs as a solution."""
        return self.price + self.extra


class NodeCheck:
    """The models of a task, asked about one node after the other.

    Invariant (what is dropped): a group is dropped if it has fewer records than the models demand
    whatever their values, and for no other reason. At a given node the dropped records are thus a
    function of the quasi-identifiers alone: who sees that a crowd is missing learns its size, and
    nothing about its sensitive values. A larger group that breaks a model makes the node fail.

    Invariant (what a node proves): a group that is too small or breaks a growing model does so
    with all its parts, in every more specific node; a node below is a solution only if all of these
    are small, so all its records are suppressed there. A group that breaks another monotone model
    has a part that does, in every more specific node: that part must be small, and at least one
    record is suppressed. The sum of these is what a node proves about all below it. With no
    suppression allowed a single failing group dooms them.

    Models about attackers who know a few attributes are judged by what these see. With suppression
    they are judged by whole groups, which is sound but asks for more: a record that is dropped
    for one choice of attributes would be missing from the crowds of all others.
    """

    def __init__(self, task: Task, sets: FrequencySets, metric: Metric, least: FloatArray) -> None:
        self.looked_at = 0
        self._records = task.counts.records
        self._sets = sets
        self._metric = metric
        self._known = least if metric.settled else None
        self._most = task.most_suppressed
        many = len(task.columns)
        partly = [m for m in task.models if not self._most and knows_part(m, many)]
        wholly = [m for m in task.models if m not in partly]
        self._crowds = [CrowdCheck(task, sets, model) for model in partly]
        self._growing = [model for model in wholly if model.growing]
        self._others = [model for model in wholly if not model.growing]
        self.smallest = max([model.smallest_group for model in wholly], default=1)
        self._sensitive = tuple(dict.fromkeys(n for m in wholly for n in m.counted_attributes))

    def look_at(self, levels: Levels) -> NodeFinding:
        """Judge the groups of a node."""
        self.looked_at += 1
        for crowds in self._crowds:
            broken = crowds.broken_at(levels)
            if broken is not None:
                return NodeFinding(broken, solution=False, dooms=True)
        in_small = self._sets.too_fine(levels, self.smallest)
        if in_small is not None:
            refuse_too_fine(in_small > self._most)
            return NodeFinding(levels, solution=False, dooms=True)
        rolled = self._sets.at(levels)
        sizes = rolled.sizes
        small = self.dropped(rolled)
        suppressed = int(sizes[small].sum())
        if suppressed > self._most:
            return NodeFinding(levels, solution=False, dooms=True)
        groups = rolled.groups(self._sensitive)
        lasting = small.copy()
        for model in self._growing:
            lasting |= ~model.holds(groups)
        failing = lasting.copy()
        for model in self._others:
            failing |= ~model.holds(groups)
        bad = np.flatnonzero(failing)
        certain = np.where(lasting[bad], sizes[bad], 1)
        if int(certain.sum()) > self._most:
            return NodeFinding(levels, solution=False, dooms=True)
        gone = np.flatnonzero(small)
        return NodeFinding(
            levels,
            solution=len(bad) == len(gone) and self._holds_without(groups, small),
            dooms=False,
            suppressed=suppressed,
            price=self._price(rolled),
            extra=math.fsum(sizes[gone] * self._unpaid(rolled, gone)) / self._records,
            extra_below=math.fsum(certain * self._unpaid(rolled, bad)) / self._records,
        )

    def dropped(self, rolled: Rolled) -> BoolArray:
        """For each group of a node, whether it is suppressed: by its size, and by nothing else."""
        return rolled.sizes < self.smallest

    def _unpaid(self, rolled: Rolled, groups: IntArray) -> FloatArray:
        """What suppression adds to the price of a record in each of some groups."""
        return 1.0 - self._metric.prices(rolled, groups)

    def _price(self, rolled: Rolled) -> float:
        if self._known is not None:
            return float(self._known[rolled.levels])
        paid = self._metric.prices(rolled, np.arange(len(rolled))) * rolled.sizes
        return math.fsum(paid) / self._records

    def _holds_without(self, groups: Groups, dropped: BoolArray) -> bool:
        """Whether the groups that are kept hold against the table without the others.

        Only models that are not growing compare groups with the table.
        """
        if not self._others or not bool(dropped.any()):
            return True
        kept = ~dropped
        histograms = {
            name: _kept_histogram(histogram, kept) for name, histogram in groups.histograms.items()
        }
        remaining = Groups(groups.sizes[kept], histograms)
        return all(bool(model.holds(remaining).all()) for model in self._others)


def _kept_histogram(histogram: Histogram, kept: BoolArray) -> Histogram:
    """The histograms of the groups that are kept, and the table of these alone."""
    lengths = np.diff(histogram.offsets)
    entries = np.repeat(kept, lengths)
    values, counts = histogram.values[entries], histogram.counts[entries]
    total = np.bincount(values, weights=counts, minlength=histogram.cardinality).astype(np.int64)
    return Histogram.of(np.concatenate(([0], np.cumsum(lengths[kept]))), values, counts, total)
