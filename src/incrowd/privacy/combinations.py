"""Combinations of a few attributes: the crowds an attacker finds who knows only some values.

Rows are distinct generalized records with a weight. For every choice of `known` attributes, rows
that agree on them are one crowd. The choices are walked depth-first: crowds of the first chosen
attributes are refined by the next one, so choices with a common beginning share its work, and
only the last attribute of a choice is counted anew.

A row may carry the number of a protected value (`value`, from 0; `protected` of them, any other
number stands for none): then the confidence in each of them is counted too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.compiling import compiled
from incrowd.privacy.base import SLACK, CrowdBounds, Groups, IntArray

_CHOICES_AT_ONCE = 4_096
"""How many choices a compiled call walks before Python may react to Ctrl-C."""


@dataclass(frozen=True)
class Rows:
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


def rows_of(codes: IntArray, groups: Groups, bounds: CrowdBounds) -> tuple[Rows, IntArray]:
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
    return Rows(values, spans, nothing, 1, weights, value, protected), place


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
    crowds: int


def first_violation(
    rows: Rows, known: int, K: int, C: float, hint: tuple[int, ...] = ()
) -> tuple[int, ...] | None:
    """A choice of `known` attributes with a crowd below K or a confidence above C, or None.

    `hint` is a choice to try first: what failed before often fails again.
    """
    attributes = rows.values.shape[1]
    known = min(known, attributes)
    room = _Room(rows, known)
    if len(hint) == known and _choices(rows, room, np.array(hint, np.int64), 1, K, C):
        return hint
    choice = np.arange(known, dtype=np.int64)
    while True:
        found = _choices(rows, room, choice, _CHOICES_AT_ONCE, K, C)
        if found:
            return tuple(choice.tolist())
        if _shared_with_next(choice, attributes) < 0:
            return None


def weakest(rows: Rows, known: int, K: int, C: float) -> Weakest:
    """What the weakest crowds are, over every choice of `known` attributes."""
    attributes = rows.values.shape[1]
    known = min(known, attributes)
    room = _Room(rows, known)
    choice = np.arange(known, dtype=np.int64)
    whole = np.array([np.iinfo(np.int64).max, 0, 0, 0, 0], np.int64)
    surest = np.array([-1.0])
    smallest_choice, surest_choice = choice.copy(), choice.copy()
    while True:
        _measure(
            rows.values, rows.spans, rows.base, rows.bases, rows.weights, rows.protected_value,
            rows.protected, choice, _CHOICES_AT_ONCE, K, C + SLACK, room.ids, room.counts,
            room.tally, room.value_tally, whole, surest, smallest_choice, surest_choice,
        )  # fmt: skip
        if _shared_with_next(choice, attributes) < 0:
            break
    return Weakest(
        int(whole[0]), tuple(smallest_choice.tolist()), int(whole[1]),
        float(max(surest[0], 0.0)), tuple(surest_choice.tolist()), int(whole[2]),
        int(whole[3]), int(whole[4]),
    )  # fmt: skip


def bad_positions(
    rows: Rows, codes: IntArray, choice: tuple[int, ...], K: int, C: float, low: int, high: int
) -> npt.NDArray[np.bool_]:
    """For each code low..high-1, whether a cut after it leaves a bad crowd of the choice.

    `codes` are the codes of the attribute that is cut, ascending, one per row. A crowd is bad
    where 0 < its records on one side < K, or where a protected value is too frequent there:
    both hold for runs of cuts, so one pass from each end marks them all.
    """
    room = _Room(rows, len(choice))
    marks = np.zeros(high - low + 1, np.int64)
    _mark_bad(
        rows.values, rows.spans, rows.base, rows.bases, rows.weights, rows.protected_value,
        rows.protected, np.array(choice, np.int64), codes, K, C + SLACK, low, high,
        room.ids, room.counts, room.tally, room.value_tally, marks,
    )  # fmt: skip
    return np.cumsum(marks)[:-1] > 0


class _Room:
    """Arrays that the walk works in, large enough for any choice."""

    def __init__(self, rows: Rows, known: int) -> None:
        n = len(rows)
        widest = int(rows.spans.max(initial=1))
        # Crowds of all but the last chosen attribute; with none before it, the bases themselves,
        # of which some may have no row.
        crowds = max(min(n, _product(rows.spans, known) * rows.bases), rows.bases, 1)
        cells = crowds * widest
        self.ids = np.zeros((known + 1, n), np.int32)
        self.counts = np.zeros(known + 1, np.int64)
        self.tally = np.zeros(cells, np.int64)
        self.value_tally = np.zeros(cells * rows.protected if rows.protected else 1, np.int64)


def _product(spans: IntArray, known: int) -> int:
    largest = np.sort(spans)[::-1][: max(known - 1, 0)]
    return int(np.prod(np.minimum(largest, 1 << 20).astype(np.float64)).clip(max=1 << 40))


def _choices(rows: Rows, room: _Room, choice: IntArray, most: int, K: int, C: float) -> bool:
    found = _walk(
        rows.values, rows.spans, rows.base, rows.bases, rows.weights, rows.protected_value,
        rows.protected, choice, most, K, C + SLACK, room.ids, room.counts, room.tally,
        room.value_tally,
    )  # fmt: skip
    return bool(found)


@compiled
def _shared_with_next(choice: Any, attributes: int) -> int:
    """Step to the next choice in lexicographic order; how many first attributes stay, or -1.

    After the last choice nothing changes.
    """
    known = len(choice)
    at = known - 1
    while at >= 0 and choice[at] == attributes - known + at:
        at -= 1
    if at >= 0:
        choice[at] += 1
        for later in range(at + 1, known):
            choice[later] = choice[later - 1] + 1
    return at


@compiled
def _refine(values: Any, span: int, attribute: int, before: Any, after: Any, tally: Any) -> int:
    """Number the crowds of `before` split by one more attribute into `after`; returns how many."""
    found = 0
    for row in range(len(before)):
        cell = before[row] * span + values[row, attribute]
        if tally[cell] == 0:
            found += 1
            tally[cell] = found
        after[row] = tally[cell] - 1
    for row in range(len(before)):
        tally[before[row] * span + values[row, attribute]] = 0
    return found


@compiled
def _prefix(
    values: Any, spans: Any, base: Any, bases: int, choice: Any, depth: int, ids: Any, counts: Any,
    tally: Any,
) -> None:  # fmt: skip
    """Number the crowds of all but the last chosen attribute, from `depth` on."""
    if depth == 0:
        for row in range(len(base)):
            ids[0, row] = base[row]
        counts[0] = bases
    for at in range(depth, len(choice) - 1):
        counts[at + 1] = _refine(values, spans[choice[at]], choice[at], ids[at], ids[at + 1], tally)


@compiled
def _count_last(
    values: Any, spans: Any, weights: Any, protected_value: Any, protected: int, choice: Any,
    ids: Any, tally: Any, value_tally: Any, cells: Any,
) -> None:  # fmt: skip
    """Count the crowds of a whole choice; the cell of each row goes to `cells`."""
    known = len(choice)
    crowd = ids[max(known - 1, 0)]
    for row in range(len(weights)):
        cell = np.int64(crowd[row])
        if known:
            cell = cell * spans[choice[known - 1]] + values[row, choice[known - 1]]
        cells[row] = cell
        tally[cell] += weights[row]
        if protected_value[row] < protected:
            value_tally[cell * protected + protected_value[row]] += weights[row]


@compiled
def _walk(
    values: Any, spans: Any, base: Any, bases: int, weights: Any, protected_value: Any,
    protected: int, choice: Any, most: int, K: int, C: float, ids: Any, counts: Any, tally: Any,
    value_tally: Any,
) -> bool:  # fmt: skip
    """Whether one of the next `most` choices is violated; `choice` ends at the last one walked."""
    cells = np.empty(len(weights), np.int64)
    depth = 0
    for step in range(most):
        _prefix(values, spans, base, bases, choice, depth, ids, counts, tally)
        _count_last(
            values, spans, weights, protected_value, protected, choice, ids, tally, value_tally,
            cells,
        )  # fmt: skip
        bad = False
        for row in range(len(weights)):
            count = tally[cells[row]]
            if count < K:
                bad = True
                break
            if (
                protected_value[row] < protected
                and value_tally[cells[row] * protected + protected_value[row]] > C * count
            ):
                bad = True
                break
        for row in range(len(weights)):
            tally[cells[row]] = 0
            if protected_value[row] < protected:
                value_tally[cells[row] * protected + protected_value[row]] = 0
        if bad:
            return True
        if step + 1 == most:
            return False
        depth = _shared_with_next(choice, values.shape[1])
        if depth < 0:
            return False
    return False


@compiled
def _measure(
    values: Any, spans: Any, base: Any, bases: int, weights: Any, protected_value: Any,
    protected: int, choice: Any, most: int, K: int, C: float, ids: Any, counts: Any, tally: Any,
    value_tally: Any, whole: Any, surest: Any, smallest_choice: Any, surest_choice: Any,
) -> None:  # fmt: skip
    """Take the next `most` choices into the measures; `choice` ends at the last one walked."""
    cells = np.empty(len(weights), np.int64)
    depth = 0
    for step in range(most):
        _prefix(values, spans, base, bases, choice, depth, ids, counts, tally)
        _count_last(
            values, spans, weights, protected_value, protected, choice, ids, tally, value_tally,
            cells,
        )  # fmt: skip
        for row in range(len(weights)):
            count = tally[cells[row]]
            if count == 0:
                continue
            most_sure = np.int64(0)
            for value in range(protected):
                place = cells[row] * protected + value
                most_sure = max(most_sure, value_tally[place])
                value_tally[place] = 0
            tally[cells[row]] = 0
            whole[4] += 1
            if count < K or most_sure > C * count:
                whole[3] += 1
            if count < whole[0]:
                whole[0], whole[1] = count, row
                smallest_choice[:] = choice
            if most_sure / count > surest[0]:
                surest[0], whole[2] = most_sure / count, row
                surest_choice[:] = choice
        if step + 1 == most:
            return
        depth = _shared_with_next(choice, values.shape[1])
        if depth < 0:
            return


@compiled
def _mark_bad(
    values: Any, spans: Any, base: Any, bases: int, weights: Any, protected_value: Any,
    protected: int, choice: Any, codes: Any, K: int, C: float, low: int, high: int, ids: Any,
    counts: Any, tally: Any, value_tally: Any, marks: Any,
) -> None:  # fmt: skip
    """Mark runs of cuts that leave a bad crowd: +1 where a run begins, -1 behind its end."""
    _prefix(values, spans, base, bases, choice, 0, ids, counts, tally)
    known = len(choice)
    n = len(weights)
    crowd = np.empty(n, np.int64)
    for row in range(n):
        crowd[row] = ids[max(known - 1, 0), row]
        if known:
            crowd[row] = crowd[row] * spans[choice[known - 1]] + values[row, choice[known - 1]]
    size = len(tally)
    since = np.full(size, -1, np.int64)
    for side in range(2):
        # From below, a crowd has tally records at cuts from its last code up to its next one;
        # from above, at cuts from its next code down to its last one.
        for i in range(n):
            row = i if side == 0 else n - 1 - i
            cell, code = crowd[row], codes[row]
            if tally[cell] > 0 and since[cell] != code:
                bad = tally[cell] < K
                for value in range(protected):
                    bad = bad or value_tally[cell * protected + value] > C * tally[cell]
                if bad and side == 0:
                    marks[since[cell] - low] += 1
                    marks[code - low] -= 1
                elif bad:
                    marks[code - low] += 1
                    marks[since[cell] - low] -= 1
            tally[cell] += weights[row]
            since[cell] = code
            if protected_value[row] < protected:
                value_tally[cell * protected + protected_value[row]] += weights[row]
        for i in range(n):
            row = i if side == 0 else n - 1 - i
            cell = crowd[row]
            if tally[cell] > 0:
                bad = tally[cell] < K
                for value in range(protected):
                    place = cell * protected + value
                    bad = bad or value_tally[place] > C * tally[cell]
                    value_tally[place] = 0
                if bad and side == 0 and since[cell] < high:
                    marks[since[cell] - low] += 1
                    marks[high - low] -= 1
                elif bad and side == 1 and since[cell] > low:
                    marks[0] += 1
                    marks[since[cell] - low] -= 1
                tally[cell] = 0
