"""Earlier releases of the same records: what they and the table in the making show together.

Each release of a hospital's records may keep the policy alone, and still two of them tell more than
either: whoever finds the rows of a person in both knows the narrower label of each attribute. So a
hospital judges the common refinement of all cuts, those of earlier runs and the one that is being
made, and objects where its own records would not keep the policy under that.

Invariants
----------
- The refinement is never coarser than the cut in the making, nor than any earlier one.
- A specialization that the earlier cuts show already adds nothing, and is allowed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from incrowd.counts import CodeRange
from incrowd.methods.top_down_specialization.below import Below
from incrowd.methods.top_down_specialization.cut import Cut, child_of_code
from incrowd.methods.top_down_specialization.leaves import Leaves
from incrowd.methods.top_down_specialization.validity import Validity

if TYPE_CHECKING:
    from incrowd.counts.hospitals.home import HospitalCounts
    from incrowd.methods.base import Task

NamedCuts = Mapping[str, Sequence[CodeRange]]
"""For each quasi-identifier, the runs of codes that a release shows."""


class Refinement:
    """The own records by the narrowest labels that any release shows of them.

    Parameters
    ----------
    task
        With the own records alone.
    home
        Counts them by runs of codes.
    earlier
        The cuts of earlier releases, over the same codes.

    Notes
    -----
    Cost: that of the validity of each specialization once more.
    """

    def __init__(self, task: Task, home: HospitalCounts, earlier: Sequence[NamedCuts]) -> None:
        self._home = home
        self._cuts = [Cut(column, task.hierarchies[column.name]) for column in task.columns]
        self._leaves = Leaves(task.counts.partition(), len(self._cuts), task.counts.records)
        self._validity = Validity(task, self._cuts)
        for attribute, cut in enumerate(self._cuts):
            runs = _joined([each[cut.column.name] for each in earlier], cut.column.cardinality)
            self._split(attribute, 0, self._held(attribute, runs))

    def allows(self, attribute: int, children: Sequence[CodeRange]) -> bool:
        """Whether a value may be shown as its children, beside what earlier releases show."""
        return all(
            self._validity.holds(attribute, Below(self._leaves, attribute, value, parts), parts)
            for value, parts in self._divided(attribute, children)
        )

    def specialize(self, attribute: int, children: Sequence[CodeRange]) -> None:
        """Take in that a value is shown as its children from now on."""
        for value, parts in list(self._divided(attribute, children)):
            self._split(attribute, value, parts)

    def _divided(
        self, attribute: int, children: Sequence[CodeRange]
    ) -> Iterator[tuple[int, list[CodeRange]]]:
        """The values of the refinement whose own records lie under several children."""
        cut = self._cuts[attribute]
        for value in sorted(cut.open):
            low, high = cut.runs[value]
            parts = [(max(low, a), min(high, b)) for a, b in children if a <= high and b >= low]
            held = self._held(attribute, parts)
            if len(held) > 1:
                yield value, held

    def _held(self, attribute: int, runs: Sequence[CodeRange]) -> list[CodeRange]:
        """The runs that hold own records."""
        sizes = self._home.own_sizes(attribute, runs)
        return [run for run, size in zip(runs, sizes.tolist(), strict=True) if size]

    def _split(self, attribute: int, value: int, runs: list[CodeRange]) -> None:
        if len(runs) < 2:
            return
        below = Below(self._leaves, attribute, value, runs)
        records = below.records(below.numbering(runs), len(runs))
        numbers = self._cuts[attribute].replace(value, runs)
        self._leaves.specialize(attribute, below.leaves, records, child_of_code(runs), numbers)


def _joined(cuts: Sequence[Sequence[CodeRange]], cardinality: int) -> list[CodeRange]:
    """The runs between all places at which a run of any cut begins, or has ended.

    Example
    -------
    >>> _joined([[(0, 3), (4, 9)], [(0, 1), (2, 9)]], 10)
    [(0, 1), (2, 3), (4, 9)]
    """
    begins = {
        0,
        *(low for cut in cuts for low, _ in cut),
        *(high + 1 for cut in cuts for _, high in cut),
    }
    inside = sorted(begin for begin in begins if begin < cardinality)
    ends = [*(begin - 1 for begin in inside[1:]), cardinality - 1]
    return list(zip(inside, ends, strict=True))
