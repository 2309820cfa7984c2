"""Table worth: what a finished table is worth to its readers, to choose between several.

For classification, how many records a decision tree gets right that learns from what the table
shows: single gains, added up, would count twice what two attributes both tell. For general use, how
small the discernibility ratio is. Both are taken from counts of the table itself, which would be
published anyway.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd.methods.base import Task
from incrowd.methods.top_down_specialization._class_counts import entropy_bits
from incrowd.methods.top_down_specialization.cut import Cut

_MOST_SPLITS = 64


def discernibility_worth(sizes: IntArray) -> float:
    """One less the discernibility ratio: the less the records look alike, the better."""
    return 1.0 - float((sizes.astype(np.float64) ** 2).sum()) / float(sizes.sum()) ** 2


def class_worth(task: Task, target: str, cuts: Sequence[Cut]) -> float:
    """The share of the records whose class a decision tree tells right from the shown values.

    Binary splits, the most telling first, at most 64. A split must tell more bits of the class than
    it costs to describe: half of log2 n for each class but one (the Bayesian information
    criterion), so that fitting noise is worth nothing. The sensitive attributes are features too:
    they are published, and what they tell need not be told again.
    """
    rows = _shown_rows(task, target, cuts)
    price = (rows.classes - 1) / 2 * np.log2(max(task.counts.records, 2))
    waiting: list[tuple[float, int, IntArray, BoolArray]] = []
    proposed = itertools.count()

    def propose(members: IntArray) -> None:
        gain, left = _best_split(rows, members)
        gain = gain if gain > price else 0.0
        heapq.heappush(waiting, (-gain, next(proposed), members, left))

    propose(np.arange(len(rows.weights)))
    for _ in range(_MOST_SPLITS):
        negative, _, members, left = waiting[0]
        if negative == 0.0:
            break
        heapq.heappop(waiting)
        propose(members[left])
        propose(members[~left])
    right = sum(_of_leading_class(rows, members) for _, _, members, _ in waiting)
    return right / task.counts.records


@dataclass(frozen=True)
class _TrainingRows:
    """Distinct shown records: their values by feature, which features are ordered, their class."""

    values: list[IntArray]
    spans: list[int]
    ordered: list[bool]
    target: IntArray
    classes: int
    weights: IntArray


def _shown_rows(task: Task, target: str, cuts: Sequence[Cut]) -> _TrainingRows:
    """The table as readers see it, from one frequency set."""
    shown = [cut for cut in cuts if cut.shown > 1]
    others = [name for name in task.sensitive if name != target]
    recoding = {cut.column.name: cut.place_of_code() for cut in shown}
    found = task.counts.frequency_set({**recoding, **dict.fromkeys([*others, target])})
    features = found.codes[:, :-1]
    return _TrainingRows(
        [np.ascontiguousarray(column) for column in features.T],
        (features.max(axis=0, initial=0) + 1).tolist(),
        [cut.column.kind != "category" for cut in shown] + [False] * len(others),
        np.ascontiguousarray(found.codes[:, -1]),
        len(task.counts.totals(target)),
        found.groups.sizes,
    )


def _best_split(rows: _TrainingRows, members: IntArray) -> tuple[float, BoolArray]:
    """The most telling way to halve some rows, and which of them go to the left."""
    target, weights = rows.target[members], rows.weights[members]
    best, best_left = 0.0, np.zeros(len(members), dtype=np.bool_)
    for values, span, ordered in zip(rows.values, rows.spans, rows.ordered, strict=True):
        here = values[members]
        pairs = here * rows.classes + target
        counted = np.bincount(pairs, weights=weights, minlength=span * rows.classes)
        table: FloatArray = counted.astype(np.float64).reshape(span, rows.classes)
        occurring = np.flatnonzero(table.any(axis=1))
        if len(occurring) < 2:
            continue
        table = table[occurring]
        order = np.arange(len(table)) if ordered else _by_leading_class(table)
        upto: FloatArray = np.cumsum(table[order], axis=0).astype(np.float64)
        left, whole = upto[:-1], upto[-1:]
        gains: FloatArray = entropy_bits(whole) - entropy_bits(left) - entropy_bits(whole - left)
        at = int(np.argmax(gains))
        if gains[at] > best + 1e-9:
            best = float(gains[at])
            side = np.zeros(span, dtype=np.bool_)
            side[occurring[order[: at + 1]]] = True
            best_left = side[here]
    return best, best_left


def _of_leading_class(rows: _TrainingRows, members: IntArray) -> int:
    """How many records of some rows have their most frequent class."""
    return int(np.bincount(rows.target[members], weights=rows.weights[members]).max())


def _by_leading_class(table: FloatArray) -> IntArray:
    """Categories in the order of the share of the most frequent class."""
    leading = int(np.argmax(table.sum(axis=0)))
    return np.argsort(table[:, leading] / table.sum(axis=1), kind="stable")
