"""Top-down specialization whose groups no hospital sees before the table is finished.

Each hospital keeps the groups of its own records alone. Candidates are scored by sums that every
hospital rounded first (`HospitalCounts.told`); whether one is valid is decided by the subclasses,
without opening a count: by objections (_level_own.py) or jointly under encryption
(_level_joint.py).

Labels come from the agreed hierarchies. A label is shown only where some hospital has a whole crowd
of records under it, and a value whose records all lie under one child is shown as that child.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import IntArray
from incrowd.counts import CodeRange
from incrowd.counts.hospitals.descent import AnonymousRows, anonymous_rows
from incrowd.methods.base import Outcome, Task, joined_groups
from incrowd.methods.top_down_specialization.below import Below
from incrowd.methods.top_down_specialization.cut import Cut
from incrowd.methods.top_down_specialization.leaves import Leaves
from incrowd.methods.top_down_specialization.scores import (
    DiscernibilityScores,
    Scores,
    scores_for,
    squares,
)
from incrowd.methods.top_down_specialization.search import CandidateValue, TopDownSpecialization
from incrowd.table import Column, narrow
from incrowd.table.packing import distinct_rows

if TYPE_CHECKING:
    from incrowd.counts.hospitals.home import HospitalCounts
    from incrowd.federation.session.meetings import Meeting
    from incrowd.methods.top_down_specialization import Order


class SealedSpecialization(TopDownSpecialization):
    """The search of `TopDownSpecialization` over own groups, in step with the other hospitals.

    Parameters
    ----------
    task, order
        As for `TopDownSpecialization`.
    home
        The home of the records, as this hospital sees it.
    meeting
        All hospitals.
    """

    def __init__(self, task: Task, order: Order, home: HospitalCounts, meeting: Meeting) -> None:
        self._home, self._meeting = home, meeting
        self._bounds = [model.bounds for model in task.models if model.bounds is not None]
        self._least = max((bounds.K for bounds in self._bounds), default=1)
        super().__init__(task, order)

    @abstractmethod
    def _held_children(
        self, attribute: int, families: Sequence[Sequence[CodeRange]]
    ) -> list[list[CodeRange] | None]:
        """Of several lists of children, those of each that have records; None if not allowed.

        Allowed is what may stand alone, whatever else is known. Where a family is allowed, no child
        of it has some records but too few, so that it is told exactly which have any.
        """

    def public_outcome(self) -> tuple[Outcome, AnonymousRows, Outcome]:
        """The table of all hospitals, its records, and the own part of it."""
        quasi = [self._shown_column(attribute) for attribute in range(len(self._cuts))]
        rows = anonymous_rows(
            self._home.sum_of_rows,
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

    def _new_scores(self) -> Scores:
        if self._task.goal == "general":
            return _SummedSquares(self._task, self.order, self._home)
        return scores_for(self._task, self.order, stratified=False)

    def _cut(self, attribute: int) -> Cut:
        column = self._task.columns[attribute]
        cut = Cut(column, self._task.hierarchies[column.name])
        assert not cut.grown  # check_policy demands a hierarchy
        return cut

    def _propose(self, attribute: int, values: Sequence[int]) -> None:
        """Make values candidates whose children may stand alone; narrow those with one child."""
        cut, loose, candidates = self._cuts[attribute], list(values), []
        while loose:
            asked = [value for value in loose if cut.children(value)]
            told = self._held_children(attribute, [cut.children(value) for value in asked])
            loose = []
            for value, children in zip(asked, told, strict=True):
                if children is not None and len(children) == 1:
                    cut.narrow(value, children[0])
                    loose.append(value)
                elif children:
                    candidates.append(CandidateValue(attribute, value, cut.runs[value], children))
        candidates.sort(key=lambda each: each.run)
        self._consider(attribute, candidates)

    @abstractmethod
    def _unopposed(self, candidate: CandidateValue, below: Below) -> bool:
        """Whether a candidate is allowed as the table is now."""

    def _may_hold(self, candidate: CandidateValue) -> bool:
        """Whether a candidate is allowed whose groups are counted for its score.

        Invariant: sizes of groups, squared or not, are opened only of what is allowed.
        """
        if not self._scores.falling or candidate.scored_at == self._steps:
            return True
        below = Below(self._leaves, candidate.attribute, candidate.value, candidate.children)
        return self._unopposed(candidate, below)

    def _holds(self, candidate: CandidateValue, below: Below) -> bool:
        """Whether a candidate is allowed; asked here unless it was before its score."""
        return self._scores.falling or self._unopposed(candidate, below)

    def _question(self, candidate: CandidateValue) -> dict[str, Any]:
        """What is asked about a candidate, in words that all hospitals understand alike."""
        return {
            "of": self._cuts[candidate.attribute].column.name,
            "run": list(candidate.run),
            "step": self._steps,
        }

    def _shown_column(self, attribute: int) -> Column:
        """What the own records show of an attribute, as a column of places."""
        cut, home = self._cuts[attribute], self._home.own
        places = cut.place_of_code()
        codes: npt.NDArray[Any] = home.codes[:, attribute]
        shown = narrow(places[codes], cut.shown)[home.row_of_record]
        texts = tuple(str(place) for place in range(cut.shown))
        return Column(cut.column.name, "quasi", "category", shown, texts)


class _SummedSquares(DiscernibilityScores):
    """The discernibility cost within hospitals: the squares of own groups, added up over all.

    Own groups are rounded as counts are, so that no square tells of a small one.
    """

    def __init__(self, task: Task, order: Order, home: HospitalCounts) -> None:
        super().__init__(task, order)
        self._home = home

    def of_children(
        self, attribute: int, children: Sequence[CodeRange], below: Below | None
    ) -> float:
        assert below is not None
        records = self._home.told(below.records(below.numbering(children), len(children)))
        before, after, sizes = squares(records)
        asked = {"ask": "squares", "of": self._home.attributes[attribute], "runs": list(children)}
        own = np.array([before, after, *sizes], dtype=np.int64)
        sums = self._home.rounded_sum(asked, own)
        return self.of_squares(float(sums[0]), float(sums[1]), sums[2:])


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
