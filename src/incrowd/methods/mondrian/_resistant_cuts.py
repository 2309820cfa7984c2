"""Cuts by which an attacker who knows the method learns nothing about sensitive values.

A method that cuts where both halves hold tells, by every cut it did not make, that some half would
not have held: the minimality attack. Here a node is cut only where both halves hold whichever of
its records they get. That is told by the histogram of the node as a whole, and by sizes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd._runtime.sentences import listed
from incrowd.counts import HalvingPartition, Splits
from incrowd.errors import ParameterError
from incrowd.methods.base import Task
from incrowd.methods.cuts import LinedUp
from incrowd.methods.geometry import TREE, Geometry
from incrowd.privacy import MODELS


class SafeCuts:
    """The cuts of nodes after which both halves hold, whichever records are in which.

    Invariant: whether a node is cut, and where, is a function of the quasi-identifiers of its
    records and of how often each sensitive value occurs in it. All nodes that were cut are unions
    of published groups, so all of this can be read from the release. Hence the method makes the
    same release of every table that agrees with it in quasi-identifiers and in the histogram of
    every group, and none of these tables is more likely than another because of the method: the
    share of a value in a group is all that an attacker has, whatever code he has read.

    Each group must also be told apart by what it shows, else the release has only the sum of two
    histograms; see `_apart`.
    """

    def __init__(self, task: Task, partition: HalvingPartition) -> None:
        self._task = task
        self._partition = partition
        self._floor = np.zeros(0, dtype=np.int64)

    def floors(self, nodes: IntArray) -> IntArray:
        """For each node, how many records a half must have to hold whatever these are."""
        groups = self._partition.groups(nodes, self._task.sensitive)
        floors = np.ones(len(nodes), dtype=np.int64)
        for model in self._task.models:
            safe = model.safe_size(groups)
            assert safe is not None, "refused before"
            floors = np.maximum(floors, safe)
        room = int(nodes.max(initial=-1)) + 1 - len(self._floor)
        self._floor = np.append(self._floor, np.zeros(max(room, 0), dtype=np.int64))
        self._floor[nodes] = floors
        return floors

    def best(self, lined: LinedUp) -> Splits:
        """The cut of least loss of each node that leaves both halves large enough."""
        lined = _apart(lined)
        best = lined.best(*lined.within_sizes(self._floor[lined.nodes]))
        chosen = np.flatnonzero(best >= 0)
        return lined.splits(chosen, best[chosen])

    def hold(self, lined: LinedUp, nodes: IntArray, positions: IntArray) -> BoolArray:
        """For cuts of some of the nodes that are lined up, whether both halves are large enough."""
        entries = lined.offsets[nodes] + positions
        left = lined.running[entries]
        right = lined.running[lined.offsets[nodes + 1] - 1] - left
        large = np.minimum(left, right) >= self._floor[lined.nodes[nodes]]
        held: BoolArray = large & _apart(lined).allowed[entries]
        return held


def refuse_not_safe(task: Task) -> None:
    """Raise when a model does not tell how large a part of a group must be to hold for certain."""
    one = task.counts.partition().groups(np.zeros(1, dtype=np.int64), task.sensitive)
    for model in task.models:
        if model.safe_size(one) is None:
            able = (name for name, each in MODELS.items() if each.tells_safe_size())
            raise ParameterError(
                f"mondrian: `resist: minimality-proven` is not possible under {model.name}: no "
                "size of a part of a group makes sure that it holds. Say `resist: minimality`, or "
                f"promise {listed(able, quoted=False, last=' or ')}."
            )


def refuse_moving_labels(task: Task, geometries: list[Geometry]) -> None:
    """Raise when groups may come to look alike after suppression, as their labels are made anew."""
    for geometry in geometries if task.most_suppressed else []:
        if geometry.label_kind == TREE and geometry.hierarchy.kind == "auto":
            raise ParameterError(
                "mondrian: `resist: minimality-proven` with `labels: hierarchy` and suppression "
                "needs hierarchies that do not depend on the data; that of "
                f"'{geometry.column.name}' is auto. Give it one, or say `labels: set`."
            )


def _apart(lined: LinedUp) -> LinedUp:
    """The same line-up without cuts after which groups of both halves may show the same label.

    Ranges and sets of both halves differ, since no code is in both. Of labels in a tree, one
    half must lie within one child of the lowest node that covers both: its groups show what is
    in that child, and none of the other half does, if the cut is at the border of the child.
    """
    geometry = lined.geometry
    if geometry.label_kind != TREE:
        return lined
    many = np.diff(lined.offsets)
    starts = lined.offsets[:-1]
    low, high = (f.reduceat(lined.codes, starts) for f in (np.minimum, np.maximum))
    level, _ = geometry.hierarchy.lowest_common(low, high)
    child = geometry.node_of[np.repeat(np.maximum(level - 1, 0), many), lined.codes]
    node = np.repeat(np.arange(len(many)), many)
    borders = np.flatnonzero((child[1:] != child[:-1]) & (node[1:] == node[:-1]))
    other = node[borders][1:] != node[borders][:-1]
    outermost = np.zeros(len(lined.codes), dtype=np.bool_)
    outermost[borders[np.append(True, other)[: len(borders)]]] = True
    outermost[borders[np.append(other, True)[: len(borders)]]] = True
    return replace(lined, allowed=lined.allowed & outermost)
