"""What the different cells of a published column stand for, and how likely each is what is asked.

A cell stands for some values of its attribute, each as likely as the others. So the chance that
its record satisfies a condition is the share of those values that do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd.errors import InputError
from incrowd.query.wanted import FURTHEST, Interval, Wanted, merged


@dataclass(frozen=True)
class Cell:
    """What one label stands for: runs of positions, perhaps a missing cell, perhaps more.

    `unseen` values of the label are not known by name; those of `possible`, named in the query,
    may be among them. `unplaced` when where they stand in the order is not known either,
    `uncounted` when not even their number is. `loose` when it may also be a value that is neither
    among the runs nor counted, `anything` when it may be whatever there is, a missing cell too.
    """

    runs: Sequence[Interval] = ()
    missing: bool = False
    unseen: int = 0
    possible: Sequence[int] = ()
    unplaced: bool = False
    uncounted: bool = False
    loose: bool = False
    anything: bool = False


@dataclass(frozen=True)
class LabelLimits:
    """For each label whether a cell with it may be what is wanted, and whether it surely is."""

    possible: BoolArray
    certain: BoolArray


@dataclass(frozen=True)
class Cells:
    """The cells of a column, by the codes of its labels; the code after the last is missing.

    Label i covers the runs `offsets[i]` to before `offsets[i + 1]` of `low` and `high`, and
    `weight[i]` values in all.
    """

    name: str
    offsets: IntArray
    low: IntArray
    high: IntArray
    missing: IntArray
    weight: IntArray
    unreadable: BoolArray
    vague: Mapping[int, Cell] = field(default_factory=dict)
    """The labels with values that are not known by name."""
    loose: Mapping[int, Cell] = field(default_factory=dict)
    """The labels that may stand for more than their runs."""

    @classmethod
    def of(cls, name: str, labels: Sequence[Cell | None]) -> Cells:
        """The cells of labels that are read (None where that failed), and of missing cells."""
        read = [Cell() if cell is None else cell for cell in labels]
        read.append(Cell(missing=True))
        runs = [merged(cell.runs) if len(cell.runs) > 1 else _single(cell.runs) for cell in read]
        lengths = np.array([len(low) for low, _ in runs], dtype=np.int64)
        low, high = (np.concatenate(side) for side in zip(*runs, strict=True))
        of_run = np.repeat(np.arange(len(read)), lengths)
        missing = np.array([cell.missing for cell in read], dtype=np.int64)
        weight = missing + np.array([cell.unseen for cell in read], dtype=np.int64)
        np.add.at(weight, of_run, high - low)
        unreadable = np.array([*(cell is None for cell in labels), False], dtype=np.bool_)
        return cls(
            name,
            np.concatenate(([0], np.cumsum(lengths))),
            low,
            high,
            missing,
            np.maximum(weight, 1),
            unreadable,
            {label: cell for label, cell in enumerate(read) if cell.unseen},
            {label: cell for label, cell in enumerate(read) if cell.loose or cell.anything},
        )

    def shares(self, wanted: Wanted) -> FloatArray:
        """For each label the chance that a cell with it is what is wanted."""
        matched = self.missing * wanted.missing
        np.add.at(matched, self.label_of_run, wanted.within(self.low, self.high))
        result: FloatArray = matched / self.weight
        for label, cell in self.vague.items():
            result[label] += self._unseen(cell, wanted) / int(self.weight[label])
        if bool(self.unreadable.any()):
            self._settle_unreadable(result, wanted)
        return result

    def limits(self, wanted: Wanted) -> LabelLimits:
        """Whether each label may be, and whether it must be, what is wanted.

        Invariant: whatever the source holds, a cell that is wanted has a possible label, and one
        with a certain label is wanted. So where a label may hide a value that no cell shows (`*`, a
        mask), it is possible unless nothing that it could hide is wanted.
        """
        of_run = self.label_of_run
        inside = np.zeros(len(self.weight), dtype=np.int64)
        covered = np.zeros(len(self.weight), dtype=np.int64)
        np.add.at(inside, of_run, wanted.within(self.low, self.high))
        np.add.at(covered, of_run, self.high - self.low)
        missing = self.missing > 0
        possible = (inside > 0) | (missing & wanted.missing)
        certain = possible & (inside == covered) & (~missing | wanted.missing)
        for label, cell in self.loose.items():
            if cell.anything:
                found = bool(possible[label]) if not cell.loose else not wanted.nothing
                possible[label], certain[label] = found or wanted.missing, False
            else:
                named = np.array(cell.possible, dtype=np.int64)
                chosen = wanted.within(named, named + 1) > 0
                others = wanted.holds(FURTHEST - 1)
                possible[label] |= others or bool(chosen.any())
                certain[label] = others and bool(chosen.all()) and inside[label] == covered[label]
        if bool(self.unreadable.any()):
            possible[self.unreadable] = certain[self.unreadable] = wanted.everything
        return LabelLimits(possible, certain)

    def doubted(self, shares: FloatArray, limits: LabelLimits) -> FloatArray:
        """The shares, none of them 0 where it may be more, nor 1 where `*` may hide others."""
        least = 0.5 / (self.weight + 1.0)
        found = np.where(limits.possible, np.maximum(shares, least), shares)
        for label in self.loose:
            if not limits.certain[label]:
                found[label] = min(found[label], 1 - least[label])
        return found

    @property
    def label_of_run(self) -> IntArray:
        """The label that each run belongs to."""
        return np.repeat(np.arange(len(self.weight)), np.diff(self.offsets))

    def refuse_unreadable(self) -> None:
        """Raise InputError when there are labels that cannot be read."""
        refuse_unreadable_labels(int(self.unreadable.sum()), self.name)

    def _unseen(self, cell: Cell, wanted: Wanted) -> float:
        """How many of a label's unseen values are wanted.

        Each value that the query names counts as one of them, as far as there are that many.
        """
        if wanted.everything:
            return cell.unseen
        if wanted.nothing:
            return 0
        if cell.unplaced and wanted.by_order:
            raise InputError(
                f"The release shows nothing of '{self.name}' but *, so it cannot be compared by "
                "order. Give the policy (--policy, in Python hierarchies=…)."
            )
        if cell.uncounted:
            raise InputError(
                f"The release shows nothing of '{self.name}' but *, and not how many values it "
                "has. Give the policy (--policy, in Python hierarchies=…)."
            )
        named = np.array(cell.possible, dtype=np.int64)
        chosen = int(wanted.within(named, named + 1).sum())
        if len(named) > cell.unseen:
            return cell.unseen * chosen / len(named)
        return chosen + (cell.unseen - len(named)) * wanted.holds(FURTHEST - 1)

    def _settle_unreadable(self, result: FloatArray, wanted: Wanted) -> None:
        """Labels that cannot be read still hold some value: all that some conditions ask."""
        if not (wanted.nothing or wanted.everything):
            self.refuse_unreadable()
        result[self.unreadable] = float(wanted.everything)


def _single(runs: Sequence[Interval]) -> tuple[IntArray, IntArray]:
    """No run, or one, as arrays."""
    ends = np.array(runs, dtype=np.int64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]


def refuse_unreadable_labels(labels: int, name: str) -> None:
    """Raise InputError when there are labels of an attribute that cannot be read."""
    if labels:
        raise InputError(
            f"The release does not tell the values behind {labels:,} label"
            f"{'s' if labels > 1 else ''} of '{name}'. Give the policy (--policy, in "
            "Python hierarchies=…)."
        )
