"""Which of a patient's values stands for all of them, where a policy says how to choose."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.table._table import Column, MemoryTable

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


def most_frequent(column: Column, patient: IntArray, many: int) -> IntArray:
    """For each patient the most frequent value; of equally frequent ones the lowest.

    Missing cells count only where a patient has no other.
    """
    cardinality = len(column.values) + 1
    pair, counts = np.unique(patient * cardinality + column.codes, return_counts=True)
    whose, code = pair // cardinality, pair % cardinality
    counts = np.where(code == len(column.values), 0, counts)
    order = np.lexsort((code, -counts, whose))
    firsts = np.flatnonzero(np.diff(whose[order], prepend=-1))
    assert len(firsts) == many
    chosen: IntArray = code[order][firsts]
    return chosen
