"""The rows of all facts, gathered by patient, and the trees that their codes lie in.

Patients are numbered anew in an order that is drawn, and the rows of each lie in the order of
their codes: so whatever the search decides by order, readers of its code cannot redo.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from incrowd._runtime import randomness
from incrowd._runtime.arrays import FloatArray, IntArray
from incrowd.methods.histories._counting import Small
from incrowd.methods.histories._problem import HIDDEN, Facts, Problem, TreeAxis


@dataclass(frozen=True)
class Paths:
    """The way from the root to each node of an axis.

    `nodes[node, depth]` is the node at a depth on the way, and the node itself below its own.
    """

    nodes: Small
    depth: IntArray
    loss: FloatArray

    @property
    def deepest(self) -> int:
        """The largest depth of any node."""
        return int(self.nodes.shape[1]) - 1


def paths_of(axis: TreeAxis) -> Paths:
    """The ways from the root of an axis to all its nodes."""
    many = len(axis.parent)
    depth = np.zeros(many, dtype=np.int64)
    for node in range(1, many):
        depth[node] = depth[axis.parent[node]] + 1
    nodes = np.zeros((many, int(depth.max(initial=0)) + 1), dtype=np.int32)
    for node in range(many):
        if node:
            nodes[node] = nodes[axis.parent[node]]
        nodes[node, depth[node] :] = node
    return Paths(nodes, depth, axis.loss)


@dataclass(frozen=True)
class RowsOfPatients:
    """The distinct rows of all patients: whose each is, of which facts, and its lowest nodes."""

    patients: int
    begin: IntArray
    patient: Small
    facts: Small
    leaf: Small
    """`leaf[axis, row]`"""
    of_source: tuple[IntArray, ...] = field(repr=False)
    """For each of the facts the row here that stands for each of its rows."""
    drawn: IntArray = field(repr=False)
    """The number here of each patient of the problem."""
    paths: tuple[tuple[Paths, ...], ...] = field(repr=False)
    events: tuple[bool, ...]
    joint: tuple[bool, ...]
    """Which facts are attributes of patients, one or a tuple of them, which are never hidden."""

    @cached_property
    def of_facts(self) -> tuple[Small, ...]:
        """The rows of each of the facts."""
        return tuple(np.flatnonzero(self.facts == f).astype(np.int32) for f in self.of_range)

    @property
    def of_range(self) -> range:
        """The numbers of the facts."""
        return range(len(self.events))

    def below(self, f: int, rows: Small, depths: tuple[int, ...]) -> Small:
        """The nodes of some rows of facts, by axis, no lower than the depths."""
        return np.array(
            [
                paths.nodes[self.leaf[axis, rows], min(depth, paths.deepest)]
                for axis, (paths, depth) in enumerate(zip(self.paths[f], depths, strict=True))
            ],
            dtype=np.int32,
        ).reshape(len(depths), len(rows))


def rows_of(problem: Problem) -> RowsOfPatients:
    """The distinct rows of a problem, of patients in an order that is drawn."""
    drawn = randomness.permutation(problem.patients)
    keys, facts_of, leaves, where = [], [], [], []
    width = max((len(facts.axes) for facts in problem.facts), default=1)
    many = 0
    for f, facts in enumerate(problem.facts):
        patient = drawn[facts.patient]
        leaf = [axis.leaf[codes] for axis, codes in zip(facts.axes, facts.codes, strict=True)]
        order = _order(patient, leaf, facts)
        number = np.zeros(len(order), dtype=np.int64)
        differs = np.zeros(len(order), dtype=np.bool_)
        differs[:1] = True
        for column in (patient, *leaf):
            differs[1:] |= column[order[1:]] != column[order[:-1]]
        number[order] = np.cumsum(differs) - 1 + many
        first = order[differs]
        many += len(first)
        where.append(number)
        keys.append(patient[first].astype(np.int32))
        facts_of.append(np.full(len(first), f, dtype=np.int32))
        padded = np.zeros((width, len(first)), dtype=np.int32)
        for axis, column in enumerate(leaf):
            padded[axis] = column[first]
        leaves.append(padded)
    return _by_patient(problem, drawn, keys, facts_of, leaves, where)


def _order(patient: IntArray, leaf: list[IntArray], facts: Facts) -> IntArray:
    """The rows of facts by patient and codes."""
    whole, key = int(patient.max(initial=0)) + 1, patient
    for column, axis in zip(leaf, facts.axes, strict=True):
        whole *= len(axis.parent)
        if whole >= 2**62:
            return np.lexsort((*reversed(leaf), patient))
        key = key * len(axis.parent) + column
    return np.argsort(key, kind="stable")


def _by_patient(
    problem: Problem,
    drawn: IntArray,
    keys: list[Small],
    facts_of: list[Small],
    leaves: list[Small],
    where: list[IntArray],
) -> RowsOfPatients:
    """The rows of all facts together, by patient."""
    patient = np.concatenate([np.zeros(0, dtype=np.int32), *keys])
    begin = np.concatenate([[0], np.cumsum(np.bincount(patient, minlength=problem.patients))])
    leaf = np.concatenate(leaves, axis=1) if leaves else np.zeros((1, 0), dtype=np.int32)
    facts = np.concatenate([np.zeros(0, dtype=np.int32), *facts_of])
    if len(problem.facts) > 1:
        order = np.argsort(patient, kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        patient, facts, leaf = patient[order], facts[order], leaf[:, order]
        where = [place[number] for number in where]
    return RowsOfPatients(
        problem.patients,
        begin.astype(np.int64),
        patient,
        facts,
        np.ascontiguousarray(leaf),
        tuple(where),
        drawn,
        tuple(tuple(map(paths_of, facts.axes)) for facts in problem.facts),
        tuple(facts.events for facts in problem.facts),
        tuple(not facts.events for facts in problem.facts),
    )


def nodes_of(rows: RowsOfPatients, label: Small, nodes: Small) -> list[IntArray]:
    """For each of the facts of the problem the nodes of its rows, from the labels of the rows here.

    `nodes[label]` are those of a label. What is not shown is HIDDEN, or the root of an attribute.
    """
    found = []
    for f in rows.of_range:
        shown = label[rows.of_source[f]]
        of_rows = nodes[shown, : len(rows.paths[f])].astype(np.int64)
        of_rows[shown < 0] = HIDDEN if rows.events[f] else 0
        found.append(of_rows)
    return found
