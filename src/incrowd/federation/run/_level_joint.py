"""The level `joint`: whether a specialization may be made, computed jointly under encryption.

Each hospital counts its own records in all crowds of a child with up to L - 1 other values. A joint
computation tells in one bit whether every crowd is empty, or has K records and shares of at most C,
in the sum over all hospitals, and in the sum over those left when any `m` of them take their own
records off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.counts import CodeRange
from incrowd.errors import ParameterError, PrivacyError
from incrowd.federation.protocols.crowd_bits import CrowdCounts
from incrowd.federation.run._sealed_search import SealedSpecialization
from incrowd.methods.top_down_specialization.below import Below
from incrowd.methods.top_down_specialization.search import CandidateValue
from incrowd.privacy.base import CrowdBounds
from incrowd.privacy.counting.combinations import protected_numbers

if TYPE_CHECKING:
    from incrowd.counts.hospitals.home import HospitalCounts
    from incrowd.federation.session.meetings import Meeting
    from incrowd.methods.base import Task
    from incrowd.methods.top_down_specialization import Order

_MOST_CELLS = 1 << 22


class JointSpecialization(SealedSpecialization):
    """The sealed search, in which a joint computation decides.

    Parameters
    ----------
    task, order, home, meeting
        As for `SealedSpecialization`.
    without
        How many hospitals may pool what they know of their own records; see `CrowdCounts`.

    Notes
    -----
    With d attributes that show s labels each, a candidate with c children costs c C(d - 1, r) s^r
    comparisons for r = 1 to L - 1 others, as long as it passes. Few others come first, so most of
    what does not pass is cheap.
    """

    def __init__(
        self, task: Task, order: Order, home: HospitalCounts, meeting: Meeting, without: int
    ) -> None:
        self._without = without
        super().__init__(task, order, home, meeting)

    def _refuse_unreachable(self) -> None:
        """Raise when the records, of all or without some, are not private even in one group."""
        for number, bounds in enumerate(self._bounds):
            protected = np.zeros((0, 1), dtype=np.int64)
            if bounds.sensitive is not None:
                totals = self._home.own.totals(bounds.sensitive)
                listed = np.arange(len(totals)) if bounds.listed is None else bounds.listed
                protected = totals[listed][:, None]
            whole = self._asked(np.array([self._home.own.records]), protected, bounds)
            if not self._meeting.holds({"ask": "whole table", "bounds": number}, whole):
                without = (
                    f" without the records of any {self._without} hospital(s): even with all "
                    "records in one group, those of the others do not satisfy it."
                    if self._without
                    else ": even all records in one group do not satisfy it."
                )
                raise PrivacyError(
                    f"The privacy asked for cannot be reached{without} Ask for less, or leave "
                    "records out that cause it."
                )

    def _held_children(
        self, attribute: int, families: Sequence[Sequence[CodeRange]]
    ) -> list[list[CodeRange] | None]:
        allowed = [
            may and self._alone(attribute, family)
            for family, may in zip(families, self._possible(attribute, families), strict=True)
        ]
        runs = [run for family, may in zip(families, allowed, strict=True) if may for run in family]
        if not runs:
            return [None] * len(families)
        name = self._home.attributes[attribute]
        request = {"ask": "occurring", "in": name, "runs": list(runs), "step": self._steps}
        marks = self._meeting.any(request, self._home.own_sizes(attribute, runs) > 0)
        held = {run for run, mark in zip(runs, marks.tolist(), strict=True) if mark}
        return [
            [run for run in family if run in held] if may else None
            for family, may in zip(families, allowed, strict=True)
        ]

    def _possible(self, attribute: int, families: Sequence[Sequence[CodeRange]]) -> list[bool]:
        """Whether no hospital alone has so many children that not all could have K records.

        What is ruled out in the open need not be compared under encryption.
        """
        if not families:
            return []
        home, runs = self._home, [(family[0][0], family[-1][1]) for family in families]
        asked = {"in": home.attributes[attribute], "runs": [list(run) for run in runs]}
        sizes = home.sum({"ask": "sizes", **asked}, home.own_sizes(attribute, runs))
        most = sizes + self._meeting.hospitals * home.step  # what rounding may have left out
        held = [np.count_nonzero(home.own_sizes(attribute, family)) for family in families]
        too_many = np.array(held) * self._least > most
        marks = self._meeting.any({"ask": "too many children", **asked}, too_many)
        return [not mark for mark in marks.tolist()]

    def _alone(self, attribute: int, family: Sequence[CodeRange]) -> bool:
        """Whether children may stand alone, whatever else is known of their records."""
        sizes = self._home.own_sizes(attribute, family)
        name = self._home.attributes[attribute]
        for number, bounds in enumerate(self._bounds):
            protected = self._protected_alone(attribute, family, bounds)
            request = {"ask": "alone", "in": name, "runs": list(family), "bounds": number}
            if not self._meeting.holds(request, self._asked(sizes, protected, bounds)):
                return False
        return True

    def _protected_alone(
        self, attribute: int, family: Sequence[CodeRange], bounds: CrowdBounds
    ) -> IntArray:
        """By protected value and child, how many of the own records hold it."""
        if bounds.sensitive is None:
            return np.zeros((0, len(family)), dtype=np.int64)
        number, protected = protected_numbers(bounds.listed, bounds.cardinality)
        return self._home.own_pairs(attribute, family, bounds.sensitive, number.astype(np.int64)).T[
            :protected
        ]

    def _unopposed(self, candidate: CandidateValue, below: Below) -> bool:
        """Whether all crowds with a child of the candidate will do, by a bit for each size."""
        varied = [
            a for a, cut in enumerate(self._cuts) if a != candidate.attribute and cut.shown > 1
        ]
        asked = {"ask": "crowds", **self._question(candidate)}
        for number, bounds in enumerate(self._bounds):
            known = len(varied) if bounds.known is None else min(bounds.known - 1, len(varied))
            for others in range(1, known + 1):
                crowds = self._crowds(candidate, below, bounds, varied, others)
                if not self._meeting.holds({**asked, "others": others, "bounds": number}, crowds):
                    return False
        return True

    def _crowds(
        self,
        candidate: CandidateValue,
        below: Below,
        bounds: CrowdBounds,
        varied: list[int],
        others: int,
    ) -> CrowdCounts:
        """The own records in every crowd of a child and some values of so many other attributes."""
        children = len(candidate.children)
        rows = below.rows(bounds, np.arange(children), children, varied)
        places = {a: self._places(a)[rows.values[:, i]] for i, a in enumerate(varied)}
        choices = list(combinations(varied, others))
        spans_of = [[self._cuts[a].shown for a in choice] for choice in choices]
        every = sum(children * math.prod(spans) for spans in spans_of)
        if every > _MOST_CELLS:
            raise ParameterError(
                f"reveal: bits would compare {every:,} crowds at once, more than it can. Ask for a "
                "smaller L, or for `reveal: counts`."
            )
        sizes, protected = [], []
        for choice, spans in zip(choices, spans_of, strict=True):
            cells = children * math.prod(spans)
            cell = rows.base.astype(np.int64)
            for a, span in zip(choice, spans, strict=True):
                cell = cell * span + places[a]
            sizes.append(_counted(cell, rows.weights, cells))
            protected.append(
                np.array(
                    [
                        _counted(cell[held], rows.weights[held], cells)
                        for held in (rows.protected_value == v for v in range(rows.protected))
                    ],
                    dtype=np.int64,
                ).reshape(rows.protected, cells)
            )
        return self._asked(np.concatenate(sizes), np.concatenate(protected, axis=1), bounds)

    def _asked(self, sizes: IntArray, protected: IntArray, bounds: CrowdBounds) -> CrowdCounts:
        most = {"most": self._home.records}
        return CrowdCounts(sizes, protected, bounds.K, bounds.C, self._without, **most)

    def _places(self, attribute: int) -> IntArray:
        """For each value that was ever shown, its place among those shown now."""
        cut = self._cuts[attribute]
        places = np.full(len(cut.runs), -1, dtype=np.int64)
        for place, value in enumerate(sorted(cut.open, key=lambda value: cut.runs[value])):
            places[value] = place
        return places


def _counted(cell: IntArray, weights: IntArray, cells: int) -> IntArray:
    return np.bincount(cell, weights=weights, minlength=cells).astype(np.int64)
