"""Cut: what one attribute shows in a globally recoded table, and how each value may specialize.

A value of a cut is a run of neighbouring codes. Under a hierarchy it specializes into the nodes
one level below; a number, date or ordered category without a hierarchy is cut in two anywhere, so
its taxonomy is grown as the search goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.counts import CodeRange
from incrowd.hierarchies import ROOT_LABEL, Hierarchy
from incrowd.labels import ranked
from incrowd.methods.base import CellLabels
from incrowd.methods.geometry import geometry_of, is_grown
from incrowd.table import Column

Occurring = Callable[[Sequence[CodeRange]], BoolArray]
"""For each of some runs, whether a record has one of its codes."""


def child_of_code(children: Sequence[CodeRange]) -> IntArray:
    """For each code up to the last child's, the number of its child; -1 below the first."""
    numbers = np.full(children[-1][1] + 1, -1, dtype=np.int64)
    for child, (low, high) in enumerate(children):
        numbers[low : high + 1] = child
    return numbers


class Cut:
    """The values of one attribute, numbered as they arise; value 0 is the whole attribute.

    Parameters
    ----------
    column, hierarchy
        The attribute, its codes in the order of the tree.
    occurring
        Where the column has codes that no record may have, tells which runs of them occur.

    Notes
    -----
    A value is shown as tightly as can be: a node with a single child that occurs is that child. So
    the labels are the same whether or not the column knows of values that do not occur.
    """

    def __init__(
        self, column: Column, hierarchy: Hierarchy, occurring: Occurring | None = None
    ) -> None:
        self.column = column
        self.hierarchy = hierarchy
        self.grown = is_grown(column, hierarchy)
        self._geometry = geometry_of(column, hierarchy, "cut")
        self._occurring = occurring
        self._known: dict[CodeRange, bool] = {}
        self.runs: list[CodeRange] = self._tight([(0, column.cardinality - 1)])
        self.open: set[int] = {0}

    @property
    def shown(self) -> int:
        """How many values the attribute shows now."""
        return len(self.open)

    def children(self, value: int) -> list[CodeRange]:
        """The runs that a value specializes into: none for a single code, or when to be cut."""
        return self._held(self.runs[value])

    def _held(self, run: CodeRange) -> list[CodeRange]:
        """The parts of a run that occur."""
        parts = self._parts(run)
        if self._occurring is None:
            return parts
        self._ask(parts)
        return [part for part in parts if self._known[part]]

    def _ask(self, runs: Sequence[CodeRange]) -> None:
        """Learn which runs occur, as far as that is not known."""
        assert self._occurring is not None
        unknown = [run for run in runs if run not in self._known]
        if unknown:
            self._known.update(zip(unknown, self._occurring(unknown).tolist(), strict=True))

    def _parts(self, run: CodeRange) -> list[CodeRange]:
        """What is one level below a run of codes."""
        low, high = run
        if low == high:
            return []
        if self.grown:
            missing = self.column.missing_code
            return [(low, high - 1), (high, high)] if high == missing else []
        level, _ = self.hierarchy.lowest_common(np.array([low]), np.array([high]))
        below = self.hierarchy.node_of[int(level[0]) - 1, low : high + 1]
        begins = np.flatnonzero(np.diff(below)) + 1 + low
        return list(zip([low, *begins.tolist()], [*(begins - 1).tolist(), high], strict=True))

    def _tight(self, runs: Sequence[CodeRange]) -> list[CodeRange]:
        """The runs without what does not occur at their ends; all are asked about together."""
        if self._occurring is None:
            return list(runs)
        tight, loose = list(runs), list(range(len(runs)))
        while loose:
            self._ask([part for i in loose for part in self._parts(tight[i])])
            narrowed = []
            for i in loose:
                held = self._held(tight[i])
                if held:
                    tight[i] = (held[0][0], held[-1][1])
                if len(held) == 1:
                    narrowed.append(i)
            loose = narrowed
        return tight

    def may_be_cut(self, value: int) -> bool:
        """Whether a value is an interval that may be cut in two anywhere."""
        low, high = self.runs[value]
        return self.grown and low < high and high != self.column.missing_code

    def replace(self, value: int, runs: list[CodeRange]) -> list[int]:
        """Put children in the place of a value; returns their numbers."""
        self.open.remove(value)
        numbers = list(range(len(self.runs), len(self.runs) + len(runs)))
        self.runs.extend(self._tight(runs))
        self.open.update(numbers)
        return numbers

    def narrow(self, value: int, run: CodeRange) -> None:
        """Show a value as a part of its run, outside of which there are no records."""
        self.runs[value] = run

    def label(self, run: CodeRange) -> str | None:
        """The text of a run of codes, None for missing."""
        low, high = run
        if self.grown and low == 0 and high == self.column.cardinality - 1 and low < high:
            return ROOT_LABEL
        return self._geometry.text(low, high)

    def place_of_code(self) -> IntArray:
        """For each code, which of the shown values it is under, these counted in code order."""
        begins = np.zeros(self.column.cardinality, dtype=np.int64)
        begins[[self.runs[value][0] for value in self.open]] = 1
        return np.cumsum(begins) - 1

    def cells(self, value_of_group: npt.NDArray[np.integer]) -> CellLabels:
        """The labels that groups are generalized to, from the number of the value of each."""
        numbers = sorted(self.open)
        texts = [self.label(self.runs[number]) for number in numbers]
        ordered, place = ranked(texts)
        rank = np.zeros(len(self.runs), dtype=np.int64)
        rank[numbers] = place
        losses = np.zeros(len(self.runs))
        losses[numbers] = [self._geometry.loss(*self.runs[number]) for number in numbers]
        return CellLabels(ordered, rank[value_of_group], losses[value_of_group])
