"""What must hold of sets of atoms, by how many of them are of patients and how many of events."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd.errors import PrivacyError
from incrowd.methods.histories._counting import SLACK, Small
from incrowd.methods.histories._problem import Problem
from incrowd.methods.histories._subsets import Regions, choose_float


@dataclass(frozen=True)
class Demands:
    """`need[a, e]` patients must show a set of so many atoms (0: anything goes)."""

    need: IntArray
    bound: BoolArray
    """`bound[v, a, e]`: whether the share of those who hold value v is bounded."""
    share: FloatArray
    held_begin: IntArray = field(repr=False)
    """The values of patient p are held[held_begin[p]:held_begin[p + 1]]."""
    held: IntArray = field(repr=False)

    def about(self, attributes: int, events: int) -> tuple[IntArray, BoolArray]:
        """What must hold of sets with so many atoms more."""
        return (
            np.ascontiguousarray(self.need[attributes:, events:]),
            np.ascontiguousarray(self.bound[:, attributes:, events:]),
        )


def demands_of(problem: Problem, drawn: IntArray) -> Demands:
    """What the powers of a problem demand, for patients who are numbered anew.

    Raises
    ------
    PrivacyError
        When it does not even hold of all patients together.
    """
    longest = max((power.L for power in problem.powers), default=0)
    shape = (longest + 2, longest + 2)
    need, values = np.zeros(shape, dtype=np.int64), problem.holders
    bound = np.zeros((len(values), *shape), dtype=np.bool_)
    for a, e in np.ndindex(*shape):
        allowed = [power.allows(a, e) for power in problem.powers]
        need[a, e] = max(
            (p.K for p, yes in zip(problem.powers, allowed, strict=True) if yes), default=0
        )
        for value, power in enumerate(values.power):
            bound[value, a, e] = allowed[power]
    share = np.array([problem.powers[power].C for power in values.power], dtype=np.float64)
    sizes = np.diff(values.offsets)
    _refuse_unreachable(problem, sizes, share)
    members = drawn[values.members]
    order = np.argsort(members, kind="stable")
    held = np.repeat(np.arange(len(values)), sizes)[order]
    begin = np.concatenate([[0], np.cumsum(np.bincount(members, minlength=problem.patients))])
    return Demands(need, bound, share, begin.astype(np.int64), held.astype(np.int64))


def _refuse_unreachable(problem: Problem, holders: IntArray, share: FloatArray) -> None:
    """Raise when all patients together are too few, or too many of them hold a value."""
    most = max((power.K for power in problem.powers), default=0)
    if 0 < problem.patients < most:
        raise PrivacyError(
            f"No release keeps this: {most:,} patients are to be alike, and there are "
            f"{problem.patients:,}. Ask for fewer, or give more patients."
        )
    above = holders > share * problem.patients + SLACK
    if above.any():
        raise PrivacyError(
            f"No release keeps this: of all patients together a larger share than allowed holds "
            f"{int(above.sum()):,} of the {len(above):,} protected values. Allow a larger share "
            "(C), or protect other values."
        )


def regions_of(need: IntArray, attributes: int, events: int) -> tuple[Regions, float]:
    """Where the numbers of sets begin among so many atoms of each kind, and how many there are."""
    base = np.full(need.shape, -1, dtype=np.int64)
    span = np.array([min(choose_float(events, e), 2.0**62) for e in range(need.shape[1])])
    whole = 0.0
    for a, e in np.ndindex(*need.shape):
        if need[a, e] > 0 and a <= attributes and e <= events:
            base[a, e] = int(min(whole, 2.0**62))
            whole += choose_float(attributes, a) * choose_float(events, e)
    return Regions(base, span.astype(np.int64), attributes, events), whole


NOTHING: Small = np.zeros(0, dtype=np.int32)
