"""Which of a patient's values stands for all of them, where a policy says how to choose."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.table._table import Column, MemoryTable
from incrowd.table.packing import distinct_rows

if TYPE_CHECKING:
    from incrowd.table.profiles import Take


def by_time(rows: MemoryTable, patient: IntArray, time: str | None) -> Callable[[Take], IntArray]:
    """What gives, for each patient, the first or the last row; rows without a time are last choice.

    Of several rows of one day, the first and the last in the order of the source.
    """

    def chosen(which: Take) -> IntArray:
        assert time is not None, "the policy was asked for a column of times"
        column = rows[time]
        when = column.codes.astype(np.int64)
        lacks = when == len(column.values)
        later = np.where(lacks, -1 if which == "last" else np.iinfo(np.int64).max, when)
        order = np.lexsort((later, patient))
        firsts = np.flatnonzero(np.diff(patient[order], prepend=-1))
        places = firsts if which == "first" else np.append(firsts[1:], len(order)) - 1
        found: IntArray = order[places]
        return found

    return chosen


def most_frequent(column: Column, patient: IntArray) -> IntArray:
    """For each patient a row with the most frequent value; of equally frequent ones the lowest.

    Missing cells count only where a patient has no other.
    """
    many = int(patient.max()) + 1
    number, first = distinct_rows([patient, column.codes], [many, column.cardinality], len(patient))
    whose, code = patient[first], column.codes[first].astype(np.int64)
    counts = np.where(code == len(column.values), 0, np.bincount(number))
    order = np.lexsort((code, -counts, whose))
    begins = np.flatnonzero(np.diff(whose[order], prepend=-1))
    chosen: IntArray = first[order][begins]
    return chosen
