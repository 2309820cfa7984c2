"""What patients who look alike have in common, of an attribute of which each has several values.

Whoever finds that a person is one of some patients learns a value that all of these have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray, Ints
from incrowd.table.people import HeldByPatients


@dataclass(frozen=True)
class CommonValues:
    """The values that all patients of a distinct row have: those of row i from `offsets[i]` on."""

    offsets: IntArray
    values: IntArray
    cardinality: int

    @classmethod
    def of(cls, held: HeldByPatients, row_of_patient: Ints, sizes: IntArray) -> CommonValues:
        """Given the row of each patient, and how many patients each row has."""
        row, value, counts = held.in_groups(row_of_patient, len(sizes))
        all_have = counts == sizes[row]
        offsets = np.concatenate(([0], np.cumsum(np.bincount(row[all_have], minlength=len(sizes)))))
        return cls(offsets, value[all_have], held.column.cardinality)

    def of_all(self, rows: IntArray, offsets: IntArray) -> BoolArray:
        """Whether the rows from each offset to the next have a value in common."""
        many = np.diff(offsets)
        lengths = np.diff(self.offsets)[rows]
        ends = np.cumsum(lengths)
        begins = np.repeat(self.offsets[rows] - (ends - lengths), lengths)
        values = self.values[begins + np.arange(len(begins))]
        whose = np.repeat(np.repeat(np.arange(len(many)), many), lengths)
        pair, held = np.unique(whose * self.cardinality + values, return_counts=True)
        found = np.zeros(len(many), dtype=np.bool_)
        found[(pair // self.cardinality)[held == many[pair // self.cardinality]]] = True
        return found
