"""What a node of the lattice costs: every record pays from 0 to 1, a suppressed one pays 1.

Invariant: generalizing a record never lowers what it pays. So the cost of a node with nothing
suppressed rises along the lattice. Where the records that must be suppressed only grow fewer,
what suppression adds to that cost falls too: each of them pays 1 instead of its own price.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from incrowd._runtime.arrays import FloatArray, IntArray, Ints
from incrowd._runtime.compiling import compiled
from incrowd.methods.base import Task
from incrowd.methods.lattice import LatticeMetric
from incrowd.methods.lattice.rollup import FrequencySets, Rolled


class Metric(ABC):
    """What groups pay, and what is known of every node before any is looked at."""

    settled: ClassVar[bool]
    """Whether `at_least` is what they pay exactly."""

    @abstractmethod
    def prices(self, rolled: Rolled, groups: IntArray) -> FloatArray:
        """What each record of some groups of a node pays."""

    @abstractmethod
    def at_least(self) -> FloatArray:
        """For every node of the lattice, what its groups pay together at least, per record."""


class CellMetric(Metric):
    """The mean price of a record's cells, which follows from the level and the value of each.

    `loss` is the normalized certainty penalty: how much of the domain a label adds to the one
    value it stands for. `precision` is the level over the height of the hierarchy.
    """

    settled = True

    def __init__(self, task: Task, sets: FrequencySets, *, by_level: bool) -> None:
        self._sets = sets
        tables = []
        for column in task.columns:
            hierarchy = task.hierarchies[column.name]
            if by_level:
                shares = np.arange(hierarchy.height + 1) / hierarchy.height
                tables.append(np.repeat(shares[:, None], column.cardinality, axis=1))
            else:
                tables.append(np.take_along_axis(hierarchy.losses(), hierarchy.node_of, axis=1))
        self._flat = np.concatenate([table.ravel() for table in tables])
        begins = np.cumsum([0, *(table.size for table in tables)])
        self._begins = [
            begin + np.arange(len(table)) * table.shape[1]
            for begin, table in zip(begins, tables, strict=False)
        ]
        self._means = []
        for column, table in zip(task.columns, tables, strict=True):
            records = column.counts()
            # Summed exactly, so that a cost is the same on every machine.
            paid = [math.fsum(level * records) for level in table]
            self._means.append(np.array(paid) / task.counts.records)

    def prices(self, rolled: Rolled, groups: IntArray) -> FloatArray:
        """The mean price of the cells of each group."""
        begins = np.array(
            [self._begins[a][level] for a, level in enumerate(rolled.levels)], dtype=np.int64
        )
        return _cell_prices(self._sets.codes, rolled.rows[groups], begins, self._flat)

    def at_least(self) -> FloatArray:
        """The mean price of all cells, which is the sum of the attributes' own means."""
        total: FloatArray = np.zeros(tuple(len(means) for means in self._means))
        for attribute, means in enumerate(self._means):
            place: list[Any] = [None] * len(self._means)
            place[attribute] = slice(None)
            total += means[tuple(place)]
        return total / len(self._means)


class SizeMetric(Metric):
    """Discernibility: a record pays the share of the table that its group is."""

    settled = False

    def __init__(self, shape: Sequence[int], records: int) -> None:
        self._shape = tuple(shape)
        self._records = records

    def prices(self, rolled: Rolled, groups: IntArray) -> FloatArray:
        """The share of each group."""
        return rolled.sizes[groups] / self._records

    def at_least(self) -> FloatArray:
        """Nothing is known before a node is looked at."""
        return np.zeros(self._shape)


def metric_of(name: LatticeMetric, task: Task, sets: FrequencySets, shape: Sequence[int]) -> Metric:
    """The metric that an option names."""
    if name == "discernibility":
        return SizeMetric(shape, task.counts.records)
    return CellMetric(task, sets, by_level=name == "precision")


@compiled
def _cell_prices(codes: Ints, rows: Ints, begins: IntArray, flat: FloatArray) -> FloatArray:
    """For each row, the mean of what its cells pay."""
    prices = np.zeros(len(rows))
    for i in range(len(rows)):
        for attribute in range(len(begins)):
            prices[i] += flat[begins[attribute] + codes[rows[i], attribute]]
        prices[i] /= len(begins)
    return prices
