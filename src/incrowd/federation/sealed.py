"""Top-down specialization that opens no count of a crowd: only whether all crowds will do.

For `reveal: bits`. Candidates are scored by the classes of their children, which are opened.
Whether one is valid is a single bit: each hospital counts its own records in all crowds of a child
with up to L - 1 other values, and a joint computation tells whether every crowd is empty, or has K
records and shares of at most C, in the sum. Which groups exist is not known before the table is
finished.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd.counts.descent import AnonymousRows, anonymous_rows
from incrowd.counts.packing import distinct_rows
from incrowd.errors import ParameterError, PrivacyError
from incrowd.federation.crowds import Crowds
from incrowd.methods.base import Outcome, joined_groups
from incrowd.methods.specialization.below import Below
from incrowd.methods.specialization.leaves import Leaves
from incrowd.methods.top_down_specialization import Candidate, TopDownSpecialization
from incrowd.privacy.base import CrowdBounds, IntArray
from incrowd.table import Column, narrow

if TYPE_CHECKING:
    from incrowd.counts.hospitals import HospitalCounts
    from incrowd.federation.meetings import Meeting
    from incrowd.methods.base import Task
    from incrowd.methods.options import Order

_MOST_CELLS = 1 << 22


class SealedSpecialization(TopDownSpecialization):
    """The search of `TopDownSpecialization`: the same steps and table, fewer things opened.

    Parameters
    ----------
    task, order
        As for `TopDownSpecialization`; the goal is classification.
    home
        The home of the records, as this hospital sees it.
    meeting
        All hospitals.
    without
        How many hospitals may pool what they know of their own records; see `Crowds`.

    Notes
    -----
    The leaves are those of the own records alone. With d attributes that show s labels each, a
    candidate with c children costs c C(d - 1, r) s^r comparisons for r = 1 to L - 1 others, as
    long as it passes. Few others come first, so most of what does not pass is cheap.
    """

    def __init__(
        self, task: Task, order: Order, home: HospitalCounts, meeting: Meeting, without: int
    ) -> None:
        self._home, self._meeting, self._without = home, meeting, without
        self._bounds = [model.bounds for model in task.models if model.bounds is not None]
        if without:
            self._refuse_unreachable()
        super().__init__(task, order)

    def public_outcome(self) -> tuple[Outcome, AnonymousRows, Outcome]:
        """The table of all hospitals, its records, and the own part of it."""
        quasi = [self._shown_column(attribute) for attribute in range(len(self._cuts))]
        rows = anonymous_rows(
            lambda step, counts: self._home.sum({"ask": "rows", "step": step}, counts),
            np.zeros(self._home.own.records, dtype=np.int64),
            1,
            [*quasi, *self._home.shown],
        )
        places = [rows.codes[column.name] for column in quasi]
        spans = [cut.shown for cut in self._cuts]
        group, first = distinct_rows(places, spans, len(rows.times))
        labels = {}
        for cut, place in zip(self._cuts, places, strict=True):
            value_of_place = np.array(sorted(cut.open, key=lambda value: cut.runs[value]))
            labels[cut.column.name] = cut.cells(value_of_place[place[first]])
        sizes = np.bincount(group, weights=rows.times).astype(np.int64)
        how: dict[str, str | int] = {"order": self.order, "steps": self._steps}
        found = AnonymousRows(group.astype(np.int64), rows.codes, rows.times)
        own = _place_among(places, first, [column.codes for column in quasi], spans)
        outcome, mine = (
            Outcome(each.group_of_record, each.labels, each.group_sizes, 0, how)
            for each in (
                joined_groups(found.group_of_record(), labels, sizes),
                joined_groups(own, labels, sizes),
            )
        )
        return outcome, found, mine

    def _first_leaf(self) -> Leaves:
        own = self._home.own
        return Leaves(own.partition(), len(self._cuts), own.records)

    def _foreseen(self, attribute: int, candidates: list[Candidate]) -> list[Candidate]:
        """Those whose children could stand alone, told by a bit each, before they are scored."""
        least = max((bounds.K for bounds in self._bounds), default=1)
        return [
            each
            for each in candidates
            if least * len(each.children) <= self._home.records and self._alone(attribute, each)
        ]

    def _alone(self, attribute: int, candidate: Candidate) -> bool:
        below = Below(self._leaves, attribute, candidate.value, candidate.children)
        return all(
            self._meeting.holds(
                self._question(candidate, 0, number), self._crowds(candidate, below, bounds, [], 0)
            )
            for number, bounds in enumerate(self._bounds)
        )

    def _may_hold(self, candidate: Candidate) -> bool:  # noqa: ARG002 - judged in one go below
        return True

    def _holds(self, candidate: Candidate, below: Below) -> bool:
        """Whether all crowds with a child of the candidate will do, by a bit for each size."""
        varied = [
            a for a, cut in enumerate(self._cuts) if a != candidate.attribute and cut.shown > 1
        ]
        for number, bounds in enumerate(self._bounds):
            known = len(varied) if bounds.known is None else min(bounds.known - 1, len(varied))
            for others in range(1, known + 1):
                crowds = self._crowds(candidate, below, bounds, varied, others)
                if not self._meeting.holds(self._question(candidate, others, number), crowds):
                    return False
        return True

    def _question(self, candidate: Candidate, others: int, bounds: int) -> dict[str, Any]:
        return {
            "ask": "crowds",
            "of": self._cuts[candidate.attribute].column.name,
            "run": list(candidate.run),
            "others": others,
            "bounds": bounds,
            "step": self._steps,
        }

    def _crowds(
        self,
        candidate: Candidate,
        below: Below,
        bounds: CrowdBounds,
        varied: list[int],
        others: int,
    ) -> Crowds:
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

    def _asked(self, sizes: IntArray, protected: IntArray, bounds: CrowdBounds) -> Crowds:
        most = {"most": self._home.records}
        return Crowds(sizes, protected, bounds.K, bounds.C, self._without, **most)

    def _refuse_unreachable(self) -> None:
        """Raise when the records of some hospitals less are not private even in one group."""
        for number, bounds in enumerate(self._bounds):
            protected = np.zeros((0, 1), dtype=np.int64)
            if bounds.sensitive is not None:
                totals = self._home.own.totals(bounds.sensitive)
                listed = np.arange(len(totals)) if bounds.listed is None else bounds.listed
                protected = totals[listed][:, None]
            whole = self._asked(np.array([self._home.own.records]), protected, bounds)
            if not self._meeting.holds({"ask": "whole table", "bounds": number}, whole):
                raise PrivacyError(
                    f"The privacy asked for cannot be reached without the records of any "
                    f"{self._without} hospital(s): even with all records in one group, those of "
                    "the others do not satisfy it."
                )

    def _places(self, attribute: int) -> IntArray:
        """For each value that was ever shown, its place among those shown now."""
        cut = self._cuts[attribute]
        places = np.full(len(cut.runs), -1, dtype=np.int64)
        for place, value in enumerate(sorted(cut.open, key=lambda value: cut.runs[value])):
            places[value] = place
        return places

    def _shown_column(self, attribute: int) -> Column:
        """What the own records show of an attribute, as a column of places."""
        cut, home = self._cuts[attribute], self._home.own
        places = cut.place_of_code()
        codes: npt.NDArray[Any] = home.codes[:, attribute]
        shown = narrow(places[codes], cut.shown)[home.row_of_record]
        texts = tuple(str(place) for place in range(cut.shown))
        return Column(cut.column.name, "quasi", "category", shown, texts)


def _counted(cell: IntArray, weights: IntArray, cells: int) -> IntArray:
    return np.bincount(cell, weights=weights, minlength=cells).astype(np.int64)


def _place_among(
    places: list[IntArray], first: IntArray, own: list[npt.NDArray[Any]], spans: list[int]
) -> npt.NDArray[np.int32]:
    """The group of each own record, from what it shows; `first` is a row of each group."""
    columns = [
        np.concatenate((place[first], mine.astype(np.int64)))
        for place, mine in zip(places, own, strict=True)
    ]
    number, _ = distinct_rows(columns, spans, len(columns[0]))
    return np.asarray(number[len(first) :], dtype=np.int32)
