"""Top-down specialization: from one label per attribute to as many as privacy allows.

Every attribute begins as one value. Round by round the best-scored value is specialized, for all
records alike (global recoding), if the table stays private; a value that may not be specialized
now never may be later, since the models are monotone. Validity is lazy: only the value with the
best score is checked, from counts of its own records.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd._runtime.plain_fields import plain_fields
from incrowd.counts import CodeRange, Partition
from incrowd.errors import ParameterError
from incrowd.methods.base import Outcome, Task, joined_groups
from incrowd.methods.reach import refuse_not_monotone, refuse_unreachable
from incrowd.methods.top_down_specialization import Order, TopDownSpecializationOptions
from incrowd.methods.top_down_specialization._foresight import Foresight
from incrowd.methods.top_down_specialization._table_worth import class_worth, discernibility_worth
from incrowd.methods.top_down_specialization.below import Below
from incrowd.methods.top_down_specialization.cut import Cut, child_of_code
from incrowd.methods.top_down_specialization.leaves import Leaves
from incrowd.methods.top_down_specialization.scores import CutScores, Scores, scores_for
from incrowd.methods.top_down_specialization.validity import Validity

_BETTER = 0.001
GroupsOf = Callable[[IntArray], npt.NDArray[np.int32]]


@dataclass(frozen=True)
class Step:
    """One specialization: what it replaced by what, its score, and the table it led to."""

    number: int
    attribute: str
    value: str | None
    children: tuple[str | None, ...]
    score: float
    groups: int
    touched: int
    """How many records showed the value and were looked at."""

    def as_dict(self) -> dict[str, object]:
        """The step for JSON."""
        return plain_fields(self, names={"number": "step", "touched": "records_touched"})


@dataclass
class CandidateValue:
    """A value that may be specialized; its score is an upper bound until it was judged now."""

    attribute: int
    value: int
    run: CodeRange
    children: list[CodeRange]
    bad: BoolArray | None = None
    score: float = np.inf
    scored_at: int = -1
    cut_scores: CutScores | None = None

    @property
    def order(self) -> tuple[float, int, CodeRange]:
        """Best first: by score, then by attribute, then by value."""
        return (-self.score, self.attribute, self.run)


class TopDownSpecialization:
    """A run that goes one step at a time: iterate, stop where you like, take the outcome.

    Parameters
    ----------
    task
        Counts, columns, hierarchies and models; its goal decides what a good step is.
    order
        What is specialized first: `frugal`, `gain`, or `greedy` as published (see scores.py).

    Notes
    -----
    With n_v records showing the specialized value, a step costs O(n_v) to count and move them,
    and O(C(d - 1, L - 1) g_v) to check, for d attributes that show more than one label and g_v
    groups that show the value. Classification scores are computed once per value.
    Every record is in exactly one group after every step, and the table is private after
    every step: a step is made only when it was found valid.

    References
    ----------
    Mohammed, Fung, Hung, Lee (2010), Centralized and distributed anonymization for
    high-dimensional healthcare data, Algorithm 1 and section 4.
    Differs from the paper: a numeric interval is cut at its best *valid* cut, not at the best one
    and given up if that is invalid; validity is checked when a value comes first, not after
    every step.
    """

    def __init__(self, task: Task, order: Order = "frugal") -> None:
        refuse_not_monotone(task)
        self._task = task
        self._refuse_unreachable()
        self.order = order
        self._scores = self._new_scores()
        self._cuts = [self._cut(attribute) for attribute in range(len(task.columns))]
        self._leaves = self._first_leaf()
        self._validity = Validity(self._judged, self._cuts)
        self._foresight = Foresight(self._judged, self._cuts) if task.counts.opens else None
        self._waiting: list[tuple[float, int, CodeRange, CandidateValue]] = []
        self._steps = 0
        for attribute in range(len(self._cuts)):
            self._propose(attribute, [0])

    def __iter__(self) -> Iterator[Step]:
        """Specialize as long as that is possible; yields after each step."""
        stage = f"specializing ({self.order})"
        while self._waiting:
            self._task.progress(stage, self._steps, self._steps + len(self._waiting))
            *_, first = heapq.heappop(self._waiting)
            step = self._try(first)
            if step is not None:
                yield step

    def finished(self) -> Self:
        """The search after all steps that privacy allows."""
        for _ in self:
            pass
        return self

    @property
    def partition(self) -> Partition:
        """The partition whose nodes are the groups."""
        return self._leaves.partition

    def shown_runs(self) -> dict[str, list[CodeRange]]:
        """For each attribute, the runs of codes that the table shows now."""
        return {cut.column.name: sorted(cut.runs[v] for v in cut.open) for cut in self._cuts}

    def worth(self) -> float:
        """What the table as it is now is worth for the goal, from 0 to 1 (see _table_worth.py)."""
        if self._task.goal == "classification" and self._task.target is not None:
            return class_worth(self._task, self._task.target, self._cuts)
        return discernibility_worth(self._leaves.sizes(self._leaves.alive))

    def outcome(self, groups_of: GroupsOf | None = None) -> Outcome:
        """The groups and labels as they are now.

        `groups_of` gives the group of every record from the group of every node; by default the
        partition's own.
        """
        alive = self._leaves.alive
        values = self._leaves.values(alive)
        labels = {cut.column.name: cut.cells(values[:, a]) for a, cut in enumerate(self._cuts)}
        nodes = self._leaves.nodes(alive)
        group_of_node = np.full(int(nodes.max()) + 1, -2, dtype=np.int64)
        group_of_node[nodes] = np.arange(len(nodes))
        groups = (groups_of or self._leaves.partition.group_of_records)(group_of_node)
        sizes = self._leaves.sizes(alive)
        outcome = joined_groups(groups, labels, sizes, int(sizes.sum()))
        return replace(outcome, how={"order": self.order, "steps": self._steps})

    @property
    def _judged(self) -> Task:
        """The task with the records whose privacy is judged here: all of them."""
        return self._task

    def _refuse_unreachable(self) -> None:
        refuse_unreachable(self._judged)

    def _new_scores(self) -> Scores:
        return scores_for(self._task, self.order)

    def _first_leaf(self) -> Leaves:
        """All records in one leaf."""
        counts = self._task.counts
        return Leaves(counts.partition(), len(self._cuts), counts.records)

    def _cut(self, attribute: int) -> Cut:
        column, counts = self._task.columns[attribute], self._task.counts
        occurring = partial(counts.occurring, attribute) if counts.opens else None
        cut = Cut(column, self._task.hierarchies[column.name], occurring)
        if cut.grown and counts.opens:
            raise ParameterError(
                f"'{column.name}' has no hierarchy. Where counts are opened to others, intervals "
                "are cut only where a hierarchy says so: give it one."
            )
        return cut

    def _propose(self, attribute: int, values: Sequence[int]) -> None:
        """Make values candidates, but for those that have no children."""
        cut = self._cuts[attribute]
        candidates = []
        for value in values:
            run = cut.runs[value]
            if cut.may_be_cut(value):
                bad = np.zeros(run[1] - run[0], dtype=np.bool_)
                candidates.append(CandidateValue(attribute, value, run, [], bad))
            elif children := cut.children(value):
                candidates.append(CandidateValue(attribute, value, run, children))
        candidates = self._foreseen(attribute, candidates)
        self._consider(attribute, candidates)

    def _consider(self, attribute: int, candidates: Sequence[CandidateValue]) -> None:
        """Score candidates of an attribute, and let them wait for their turn."""
        self._scores.expect(attribute, [run for each in candidates for run in each.children])
        for candidate in candidates:
            if not self._scores.falling:
                self._rate(candidate, None)
            self._put(candidate)

    def _put(self, candidate: CandidateValue) -> None:
        heapq.heappush(self._waiting, (*candidate.order, candidate))

    def _rate(self, candidate: CandidateValue, below: Below | None) -> None:
        """Give a candidate the score it has now."""
        candidate.scored_at = self._steps
        attribute = candidate.attribute
        if candidate.bad is None:
            candidate.score = self._scores.of_children(attribute, candidate.children, below)
            return
        candidate.cut_scores = self._scores.of_cuts(attribute, candidate.run, below)
        open_cuts = np.where(candidate.bad, -np.inf, candidate.cut_scores.cuts)
        candidate.score = candidate.cut_scores.worth(int(np.argmax(open_cuts)))

    def _try(self, candidate: CandidateValue) -> Step | None:
        """Specialize a candidate if it is still the best and valid; put it back or drop it."""
        if not self._may_hold(candidate):
            return None
        below = Below(self._leaves, candidate.attribute, candidate.value, candidate.children)
        if self._scores.falling and candidate.scored_at != self._steps:
            self._rate(candidate, below)
            if not self._is_first(candidate):
                self._put(candidate)
                return None
        children = candidate.children
        if candidate.bad is not None:
            assert candidate.cut_scores is not None
            low, high = candidate.run
            last = self._validity.best_cut(
                candidate.attribute, below, low, candidate.cut_scores.cuts, candidate.bad
            )
            if last is None:
                return None
            candidate.score = candidate.cut_scores.worth(last - low)
            if not self._is_first(candidate):
                self._put(candidate)
                return None
            children = [(low, last), (last + 1, high)]
        elif not self._holds(candidate, below):
            return None
        return self._specialize(candidate, below, children)

    def _foreseen(self, attribute: int, candidates: list[CandidateValue]) -> list[CandidateValue]:
        """The candidates of an attribute without those that cannot be valid."""
        if self._foresight is None:
            return candidates
        may = self._foresight.alone(attribute, [each.children for each in candidates])
        return [each for each, holds in zip(candidates, may, strict=True) if holds]

    def _may_hold(self, candidate: CandidateValue) -> bool:
        """Whether a candidate is worth counting by groups."""
        return self._foresight is None or self._foresight.in_pairs(
            self._leaves, candidate.attribute, candidate.value, candidate.children
        )

    def _holds(self, candidate: CandidateValue, below: Below) -> bool:
        """Whether a candidate is valid, to all who keep records; each of them knows its own."""
        attribute, children = candidate.attribute, candidate.children
        if not self._validity.holds(attribute, below, children):
            return False

        def for_one(others: Partition) -> bool:
            theirs = Below(self._leaves, attribute, candidate.value, children, others)
            return self._validity.holds(attribute, theirs, children)

        return self._task.counts.agreed(self._leaves.partition, for_one)

    def _is_first(self, candidate: CandidateValue) -> bool:
        return not self._waiting or candidate.order < self._waiting[0][:3]

    def _specialize(
        self, candidate: CandidateValue, below: Below, children: list[CodeRange]
    ) -> Step:
        attribute, cut = candidate.attribute, self._cuts[candidate.attribute]
        records = below.records(below.numbering(children), len(children))
        numbers = cut.replace(candidate.value, children)
        child = child_of_code(children)
        self._leaves.specialize(attribute, below.leaves, records, child, numbers)
        self._steps += 1
        self._propose(attribute, numbers)
        return Step(
            self._steps,
            cut.column.name,
            cut.label(candidate.run),
            tuple(cut.label(cut.runs[number]) for number in numbers),
            candidate.score,
            len(self._leaves.alive),
            below.touched,
        )


def top_down_specialization(
    task: Task, options: TopDownSpecializationOptions | None = None
) -> Outcome:
    """The outcome of all steps that privacy allows, in the order that the options name."""
    search = (options or TopDownSpecializationOptions()).search
    if search == "best":
        return best_search(task).outcome()
    return TopDownSpecialization(task, search).finished().outcome()


def best_search(task: Task) -> TopDownSpecialization:
    """The finished search, of one in each order, whose table is worth most.

    No order is best on all data. Frugal is taken unless another does better by a thousandth of
    the records: smaller differences are as good as none.
    """
    best = TopDownSpecialization(task, "frugal").finished()
    worth = best.worth()
    orders: tuple[Order, ...] = ("gain", "greedy")
    for order in orders:
        other = TopDownSpecialization(task, order).finished()
        other_worth = other.worth()
        if other_worth > worth + _BETTER:
            best, worth = other, other_worth
    return best
