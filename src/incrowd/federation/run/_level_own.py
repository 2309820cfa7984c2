"""The level `own`: no specialization to which a hospital objects for the sake of its own records.

A hospital objects when its own records alone, as the table would show them, would not keep the
policy; nor as the table and all earlier ones together would show them (_earlier_cuts.py). So what
anybody sees of a hospital keeps the policy by itself: with the records of all other hospitals taken
off the release, however they pool what they know, and whatever they bring.

Invariants
----------
- A hospital judges its own counts, and nobody else's word or number enters its judgement.
- An objection is never overruled: the run stops here when the answer is false where an own mark is
  true (`Session.conclude`).
- Opened are bits and rounded sums. A bit is about a whole family of children, or says that some
  hospital has K records or more under a label. A hospital that objects to a family tells nothing of
  its children, or whoever takes the others' part off would see which of them is the small one.
- Counts by group are opened of what nobody objects to, never before that is known: from rounded
  counts of all children and exact sizes of the groups in the release, a small one would follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from incrowd.counts import CodeRange
from incrowd.errors import ParameterError, PrivacyError
from incrowd.federation.run._earlier_cuts import NamedCuts, Refinement
from incrowd.federation.run._sealed_search import SealedSpecialization
from incrowd.federation.session.session import OwnRecordsError
from incrowd.methods.base import Task
from incrowd.methods.top_down_specialization.below import Below
from incrowd.methods.top_down_specialization.search import CandidateValue, Step

if TYPE_CHECKING:
    from incrowd.counts.hospitals.home import HospitalCounts
    from incrowd.federation.session.meetings import Meeting
    from incrowd.methods.top_down_specialization import Order


class OwnSpecialization(SealedSpecialization):
    """The sealed search, in which every hospital may object for its own records.

    Parameters
    ----------
    task, order, home, meeting
        As for `SealedSpecialization`.
    earlier
        What earlier releases show of the own records.

    Notes
    -----
    A candidate costs each hospital what its validity costs over own groups, and one bit; where
    there are earlier releases, twice that.
    """

    def __init__(
        self,
        task: Task,
        order: Order,
        home: HospitalCounts,
        meeting: Meeting,
        earlier: Sequence[NamedCuts] = (),
    ) -> None:
        self._own_task = replace(task, counts=home.own)
        self._refinement = Refinement(self._own_task, home, earlier) if earlier else None
        super().__init__(task, order, home, meeting)

    @property
    def _judged(self) -> Task:
        """The task with the own records alone."""
        return self._own_task

    def _refuse_unreachable(self) -> None:
        """Raise when the own records alone do not keep the policy even in one group.

        The others are told no number of this hospital.
        """
        try:
            super()._refuse_unreachable()
        except (PrivacyError, ParameterError) as error:
            raise OwnRecordsError(str(error)) from error

    def _held_children(
        self, attribute: int, families: Sequence[Sequence[CodeRange]]
    ) -> list[list[CodeRange] | None]:
        if not families:
            return []
        runs = [run for family in families for run in family]
        assert self._foresight is not None
        objects = ~np.array(self._foresight.alone(attribute, families), dtype=np.bool_)
        enough = self._home.own_sizes(attribute, runs) >= self._least
        enough &= ~np.repeat(objects, [len(family) for family in families])
        name = self._home.attributes[attribute]
        request = {"ask": "objections", "in": name, "families": [list(each) for each in families]}
        told = self._meeting.any(request, np.concatenate((objects, enough)))
        held = {run for run, mark in zip(runs, told[len(families) :].tolist(), strict=True) if mark}
        return [
            None if told[number] else [run for run in family if run in held]
            for number, family in enumerate(families)
        ]

    def _unopposed(self, candidate: CandidateValue, below: Below) -> bool:
        """Whether no hospital objects to a candidate as the table is now."""
        own = self._validity.holds(candidate.attribute, below, candidate.children)
        if own and self._refinement is not None:
            own = self._refinement.allows(candidate.attribute, candidate.children)
        request = {"ask": "objections", **self._question(candidate)}
        return not bool(self._meeting.any(request, np.array([not own]))[0])

    def _specialize(
        self, candidate: CandidateValue, below: Below, children: list[CodeRange]
    ) -> Step:
        if self._refinement is not None:
            self._refinement.specialize(candidate.attribute, children)
        return super()._specialize(candidate, below, children)
