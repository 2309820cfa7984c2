"""Combinations of a few attributes: the crowds an attacker finds who knows only some values.

Rows are distinct generalized records with a weight. For every choice of `known` attributes, rows
that agree on them are one crowd. The choices are walked depth-first: crowds of the first chosen
attributes are refined by the next one, so choices with a common beginning share its work, and
only the last attribute of a choice is counted anew. The loops are in _combination_walk.py.

A row may carry the number of a protected value (from 0; `protected` of them, any other number
stands for none): then the confidence in each of them is counted too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.counts.groups import Groups
from incrowd.privacy.base import SLACK, CrowdBounds
from incrowd.privacy.counting import _combination_walk as combination_walk

_CHOICES_AT_ONCE = 4_096
"""How many choices a compiled call walks before Python may react to Ctrl-C."""
_FEW_CELLS, _CELLS_PER_ROW = 1 << 16, 4
"""A direct table of cells is used up to either size; beyond both, a hash table."""


@dataclass(frozen=True)
class CrowdRows:
    """Distinct generalized records: their values by attribute, how many there are, what they hold.

    `base` numbers crowds that are told apart whatever is chosen, such as the children of a value
    that is about to be specialized; all zero when there are none.
    """

    values: npt.NDArray[np.int32]
    spans: IntArray
    base: npt.NDArray[np.int32]
    bases: int
    weights: IntArray
    protected_value: npt.NDArray[np.int32]
    protected: int

    def __len__(self) -> int:
        return len(self.weights)

    @cached_property
    def order(self) -> IntArray:
        """The rows in ascending order of their protected values."""
        if not self.protected or bool((np.diff(self.protected_value) >= 0).all()):
            return np.arange(len(self), dtype=np.int64)
        return np.argsort(self.protected_value, kind="stable")


def rows_of(codes: IntArray, groups: Groups, bounds: CrowdBounds) -> tuple[CrowdRows, IntArray]:
    """Distinct generalized records as rows of what some bounds count, and the record of each row.

    `codes` and `groups` describe one generalized record per entry.
    """
    if bounds.sensitive is None:
        place = np.arange(len(groups), dtype=np.int64)
        value, weights, protected = np.zeros(len(place), np.int32), groups.sizes, 0
    else:
        histogram = groups.histograms[bounds.sensitive]
        number, protected = protected_numbers(bounds.listed, bounds.cardinality)
        place, weights = histogram.groups, histogram.counts
        value = number[histogram.values]
    nothing = np.zeros(len(place), np.int32)
    spans = codes.max(axis=0, initial=0) + 1
    values = np.ascontiguousarray(codes[place], dtype=np.int32)
    return CrowdRows(values, spans, nothing, 1, weights, value, protected), place


def protected_numbers(
    listed: IntArray | None, cardinality: int
) -> tuple[npt.NDArray[np.int32], int]:
    """For each sensitive value its number among the listed ones, and how many are listed.

    Values that are not listed have the number after the last; without a list all are.
    """
    if listed is None:
        return np.arange(cardinality, dtype=np.int32), cardinality
    number = np.full(cardinality, len(listed), dtype=np.int32)
    number[listed] = np.arange(len(listed), dtype=np.int32)
    return number, len(listed)


@dataclass(frozen=True)
class Weakest:
    """The smallest crowd and the largest confidence over all choices, and how many crowds fail.

    `smallest_choice` and `surest_choice` are the attributes (by position) that cause them,
    `smallest_row` and `surest_row` a row of the crowd.
    """

    smallest: int
    smallest_choice: tuple[int, ...]
    smallest_row: int
    surest: float
    surest_choice: tuple[int, ...]
    surest_row: int
    failing: int


def first_violation(
    rows: CrowdRows, known: int, K: int, C: float, hint: tuple[int, ...] = ()
) -> tuple[int, ...] | None:
    """A choice of `known` attributes with a crowd below K or a confidence above C, or None.

    `hint` is a choice to try first: what failed before often fails again.
    """
    attributes = rows.values.shape[1]
    known = min(known, attributes)
    room = _Room(rows, known, rows.order)
    if len(hint) == known and room.walk(np.array(hint, np.int64), 1, K, C):
        return hint
    choice = np.arange(known, dtype=np.int64)
    while True:
        if room.walk(choice, _CHOICES_AT_ONCE, K, C):
            return tuple(choice.tolist())
        if combination_walk.shared_with_next(choice, attributes) < 0:
            return None


def weakest(rows: CrowdRows, known: int, K: int, C: float) -> Weakest:
    """What the weakest crowds are, over every choice of `known` attributes."""
    attributes = rows.values.shape[1]
    known = min(known, attributes)
    room = _Room(rows, known, rows.order)
    choice = np.arange(known, dtype=np.int64)
    found = combination_walk.Extremes(
        np.zeros(len(room.work.tally), np.bool_),
        np.array([np.iinfo(np.int64).max, 0, 0, 0], np.int64),
        np.array([-1.0]),
        choice.copy(),
        choice.copy(),
    )
    while True:
        combination_walk.measure(
            room.rows, room.runs, choice, _CHOICES_AT_ONCE, K, C + SLACK, room.work, found
        )
        if combination_walk.shared_with_next(choice, attributes) < 0:
            break
    whole = found.whole
    return Weakest(
        int(whole[0]),
        tuple(found.smallest_choice.tolist()),
        int(rows.order[whole[1]]),
        float(max(found.surest[0], 0.0)),
        tuple(found.surest_choice.tolist()),
        int(rows.order[whole[2]]),
        int(whole[3]),
    )


def bad_positions(
    rows: CrowdRows, codes: IntArray, choice: tuple[int, ...], K: int, C: float, low: int, high: int
) -> BoolArray:
    """For each code low..high-1, whether a cut after it leaves a bad crowd of the choice.

    `codes` are the codes of the attribute that is cut, ascending, one per row. A crowd is bad
    where 0 < its records on one side < K, or where a protected value is too frequent there:
    both hold for runs of cuts, so one pass from each end marks them all.
    """
    room = _Room(rows, len(choice), np.arange(len(rows)))
    marks = np.zeros(high - low + 1, np.int64)
    combination_walk.mark_bad(
        room.rows, rows.protected_value, rows.protected, np.array(choice, np.int64), K, C + SLACK,
        combination_walk.Cuts(codes, low, high, marks), room.work,
    )  # fmt: skip
    return np.cumsum(marks)[:-1] > 0


class _Room:
    """Rows in a given order as the compiled loops take them, and arrays for them to work in."""

    def __init__(self, rows: CrowdRows, known: int, order: IntArray) -> None:
        n = len(rows)
        self.rows = combination_walk.WalkRows(
            np.ascontiguousarray(rows.values[order].T),
            rows.spans,
            rows.base[order],
            rows.bases,
            rows.weights[order],
        )
        protected = np.searchsorted(rows.protected_value[order], np.arange(rows.protected + 1))
        self.runs = protected.astype(np.int64)
        # Cells of a direct table: crowds of all but the last chosen attribute (with none before
        # it the bases, of which some may have no row) times the values of the last.
        crowds = max(min(n, _product(rows.spans, known) * rows.bases), rows.bases, 1)
        direct = crowds * int(rows.spans.max(initial=1))
        size = max(min(direct, max(_CELLS_PER_ROW * n, _FEW_CELLS)), n, rows.bases)
        hashed = 1 << int(2 * n).bit_length() if direct > size else 1
        self.work = combination_walk.WalkSpace(
            np.zeros((known + 1, n), np.int32),
            np.zeros(known + 1, np.int64),
            np.zeros(size, np.int64),
            np.zeros(size, np.int64),
            np.zeros(hashed, np.int32),
            np.zeros(n if hashed > 1 else 1, np.int64),
            np.zeros(n, np.int64),
        )

    def walk(self, choice: IntArray, most: int, K: int, C: float) -> bool:
        """Whether one of the next choices is violated; `choice` ends at the last one walked."""
        return combination_walk.walk(self.rows, self.runs, choice, most, K, C + SLACK, self.work)


def _product(spans: IntArray, known: int) -> int:
    largest = np.sort(spans)[::-1][: max(known - 1, 0)]
    return int(np.prod(np.minimum(largest, 1 << 20).astype(np.float64)).clip(max=1 << 40))
