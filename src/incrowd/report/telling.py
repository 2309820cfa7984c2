"""What numbers of records in steps would tell about single groups, which show wider labels.

A step that few groups can have records in may tell that a group has some there: its label would
become finer than it was published.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Steps:
    """Steps with the records in them, and the labels that may have put some there.

    Parameters
    ----------
    before
        How many records each step has.
    reaches
        For each label (row) which steps hold a value that it stands for.
    held, largest
        How many records show each label, and how many the largest group that does.
    """

    before: FloatArray
    reaches: BoolArray
    held: FloatArray
    largest: FloatArray

    def tell(self, chosen: BoolArray) -> bool:
        """Whether some steps tell that a group with a much wider label has records in them.

        All records in these steps that no other group can have must be its own. Labels of which
        the steps are more than half are left out: they tell about as much by themselves.
        """
        within = self.reaches[:, chosen].sum(axis=1)
        whole = self.reaches.sum(axis=1)
        wider = (within > 0) & (2 * within <= whole)
        if not wider.any():
            return False
        least = self.before[chosen].sum() - self.held[within > 0].sum() + self.largest[wider].max()
        return bool(least > 0)

    def joined(self, groups: Iterable[tuple[int, int]]) -> Steps:
        """The same with neighbours joined, each from a first to the end of its run."""
        runs = list(groups)
        return Steps(
            np.array([self.before[first:end].sum() for first, end in runs]),
            np.stack([self.reaches[:, first:end].any(axis=1) for first, end in runs], axis=1),
            self.held,
            self.largest,
        )


def safe_runs(steps: Steps, ordered: int) -> list[tuple[int, int]] | None:
    """Neighbours joined until neither they nor any that follow each other tell about a group.

    Parameters
    ----------
    steps
        The first `ordered` of them follow each other; the others stand alone.

    Returns
    -------
    The joined neighbours as (first, end), or None where only one would be left, or where a step
    that stands alone tells.
    """
    runs = [(at, at + 1) for at in range(ordered)]
    alone = [(at, at + 1) for at in range(ordered, len(steps.before))]
    while len(runs) > 1:
        now = steps.joined([*runs, *alone])
        many = len(now.before)
        if any(now.tell(_mask(many, at, at + 1)) for at in range(len(runs), many)):
            return None
        telling = next(
            (
                (first, end)
                for first, end in _neighbours(len(runs))
                if now.tell(_mask(many, first, end))
            ),
            None,
        )
        if telling is None:
            return runs
        first, end = telling
        cut = first if first else end
        runs[cut - 1 : cut + 1] = [(runs[cut - 1][0], runs[cut][1])]
    return None


def _neighbours(many: int) -> Iterator[tuple[int, int]]:
    """All that follow each other, from single steps to all but one."""
    for length in range(1, many):
        for first in range(many - length + 1):
            yield first, first + length


def _mask(many: int, first: int, end: int) -> BoolArray:
    mask = np.zeros(many, dtype=np.bool_)
    mask[first:end] = True
    return mask
