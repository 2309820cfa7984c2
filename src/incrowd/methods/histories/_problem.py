"""What the search for histories gets: rows of codes, trees over these, and what must hold.

Plain arrays: what a policy says of them, and what is published, is told elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from incrowd._runtime.arrays import FloatArray, IntArray
from incrowd.hierarchies import Hierarchy

HIDDEN = -1
"""The node of a row that shows nothing."""


@dataclass(frozen=True)
class TreeAxis:
    """A tree over the codes of a column; node 0 is the root, and parents come before children.

    A node that has a single child is left out for that child, but for the root. `level` and
    `number` say which node of the hierarchy each one is: `hierarchy.labels[level][number]`.
    """

    parent: IntArray
    """The parent of each node; that of the root is -1."""
    leaf: IntArray
    """The lowest node of each code."""
    loss: FloatArray
    """NCP of showing a node, from 0 to 1."""
    level: IntArray = field(repr=False)
    number: IntArray = field(repr=False)


@dataclass(frozen=True)
class Facts:
    """What may be known of patients in one table: for each row the patient, and a code per axis.

    `events` is False for an attribute of patients, or several as one joint tuple: one row per
    patient. Every label is an atom, that of the root too, and no row is ever hidden: where others
    show another value than the known one, those who show the root are alone with it.
    """

    patient: IntArray
    codes: tuple[IntArray, ...]
    axes: tuple[TreeAxis, ...]
    events: bool


@dataclass(frozen=True)
class Power:
    """What an attacker knows, and what still must hold.

    For every q within the atoms of a patient with at most `L` atoms, of which at most `attributes`
    are of patients and at most `events` of events (None: as many as L), K or more patients show
    q, and of these at most the share `C` holds any value that is protected from this power.
    """

    L: int
    K: int
    C: float = 1.0
    attributes: int | None = None
    events: int | None = None

    def allows(self, attributes: int, events: int) -> bool:
        """Whether so many atoms may be known together."""
        return (
            attributes + events <= self.L
            and (self.attributes is None or attributes <= self.attributes)
            and (self.events is None or events <= self.events)
        )


@dataclass(frozen=True)
class ProtectedValues:
    """The patients who hold each protected value, and which power each is protected from.

    `members[offsets[v]:offsets[v + 1]]` hold value v, each once; `power[v]` is the position of
    its power. A value that several powers bound is listed for each of them.
    """

    offsets: IntArray
    members: IntArray
    power: IntArray

    def __len__(self) -> int:
        return len(self.power)

    def holders(self, value: int) -> IntArray:
        """The patients who hold a value."""
        return self.members[self.offsets[value] : self.offsets[value + 1]]


def nothing_protected() -> ProtectedValues:
    """No protected value at all."""
    return ProtectedValues(
        np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    )


@dataclass(frozen=True)
class Problem:
    """Patients numbered from 0, what may be known of them, and the powers to protect them from."""

    patients: int
    facts: tuple[Facts, ...]
    powers: tuple[Power, ...]
    holders: ProtectedValues = field(default_factory=nothing_protected)


@dataclass(frozen=True)
class HowToSearch:
    """Local or global labels, precise or exact ones, for how long, and for what.

    `seconds` None takes what the search needs to end by itself.
    """

    recoding: Literal["local", "global"] = "local"
    keep: Literal["precise", "exact"] = "precise"
    seconds: float | None = None
    goal: Literal["general", "classification"] = "general"


def axis_of(hierarchy: Hierarchy) -> TreeAxis:
    """The tree of a hierarchy, without nodes that tell what their only child or parent tells.

    Below the root a node with a single child is left out, as the child is more precise. A child
    with the text of its parent is its parent: readers could not tell one from the other.
    """
    node_of, losses = hierarchy.node_of, hierarchy.losses()
    top, codes = hierarchy.height, node_of.shape[1]
    parent, level, number = [-1], [top], [0]
    at = np.zeros(codes, dtype=np.int64)
    for depth in range(top - 1, -1, -1):
        numbers, before = node_of[depth], at.copy()
        for node in np.unique(numbers):
            below = numbers == node
            above = int(before[np.argmax(below)])
            if hierarchy.labels[depth][node] == hierarchy.labels[level[above]][number[above]]:
                continue
            if above and bool((below == (before == above)).all()):
                level[above], number[above] = depth, int(node)
                continue
            parent.append(above)
            level.append(depth)
            number.append(int(node))
            at = np.where(below, len(parent) - 1, at)
    levels, numbers = np.array(level), np.array(number)
    return TreeAxis(np.array(parent), at, losses[levels, numbers], levels, numbers)
