"""Judging a node of the lattice: which groups fail, what must be suppressed, what that costs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from incrowd.methods.base import Task
from incrowd.methods.lattice.crowds import Crowds, knows_part, refuse_too_fine
from incrowd.methods.lattice.metrics import Metric
from incrowd.methods.lattice.rolling import FrequencySets, Levels, Rolled
from incrowd.privacy import Groups, Histogram
from incrowd.privacy.base import BoolArray, FloatArray


@dataclass(frozen=True)
class Finding:
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


class NodeJudge:
    """The models of a task, asked about one node after the other.

    Invariant: a group that is too small or breaks a growing model does so with all its parts, in
    every more specific node, so all its records are suppressed there too. A group that breaks
    another monotone model has a part that does, in every more specific node: at least one of its
    records is suppressed there. The sum of these is what a node proves about all below it. With
    no suppression allowed a single failing group dooms them.

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
        self._crowds = [Crowds(task, sets, model) for model in partly]
        self._growing = [model for model in wholly if model.growing]
        self._others = [model for model in wholly if not model.growing]
        self._smallest = max([model.smallest_group for model in wholly], default=1)
        self._sensitive = tuple(dict.fromkeys(n for m in wholly for n in m.counted_attributes))

    def look_at(self, levels: Levels) -> Finding:
        """Judge the groups of a node."""
        self.looked_at += 1
        for crowds in self._crowds:
            broken = crowds.broken_at(levels)
            if broken is not None:
                return Finding(broken, solution=False, dooms=True)
        small = self._sets.too_fine(levels, self._smallest)
        if small is not None:
            refuse_too_fine(small > self._most)
            return Finding(levels, solution=False, dooms=True)
        rolled = self._sets.at(levels)
        sizes = rolled.sizes
        lasting = sizes < self._smallest
        if int(sizes[lasting].sum()) > self._most:
            return Finding(levels, solution=False, dooms=True)
        groups = rolled.groups(self._sensitive)
        for model in self._growing:
            lasting |= ~model.holds(groups)
        failing = lasting.copy()
        for model in self._others:
            failing |= ~model.holds(groups)
        bad = np.flatnonzero(failing)
        certain = np.where(lasting[bad], sizes[bad], 1)
        if int(certain.sum()) > self._most:
            return Finding(levels, solution=False, dooms=True)
        suppressed = int(sizes[bad].sum())
        unpaid = 1.0 - self._metric.prices(rolled, bad)
        return Finding(
            levels,
            solution=suppressed <= self._most and self._holds_without(groups, failing),
            dooms=False,
            suppressed=suppressed,
            price=self._price(rolled),
            extra=math.fsum(sizes[bad] * unpaid) / self._records,
            extra_below=math.fsum(certain * unpaid) / self._records,
        )

    def failing(self, rolled: Rolled) -> BoolArray:
        """For each group of a node, whether it breaks a model."""
        groups = rolled.groups(self._sensitive)
        held = np.ones(len(rolled), dtype=np.bool_)
        for model in (*self._growing, *self._others):
            held &= model.holds(groups)
        return ~held

    def _price(self, rolled: Rolled) -> float:
        if self._known is not None:
            return float(self._known[rolled.levels])
        paid = self._metric.prices(rolled, np.arange(len(rolled))) * rolled.sizes
        return math.fsum(paid) / self._records

    def _holds_without(self, groups: Groups, failing: BoolArray) -> bool:
        """Whether the groups that are kept hold against the table without the others.

        Only models that are not growing compare groups with the table.
        """
        if not self._others or not bool(failing.any()):
            return True
        kept = ~failing
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
    return Histogram(
        np.concatenate(([0], np.cumsum(lengths[kept]))),
        values,
        counts,
        histogram.cardinality,
        total,
    )
