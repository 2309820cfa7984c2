"""From groups down to records: what all hospitals publish together, without whose record is whose.

The histogram over (group x published values) has far more cells than records. It is therefore
counted digit by digit of the values' codes, and only below cells whose sum is not zero. Every sum
on the way is a sum of counts of the table that is published, so nothing else is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import IntArray
from incrowd.table import Codes, Column, narrow

_BASE = 4
"""Codes are counted in digits of this base: b counts for each of log_b(values) digits."""

Sum = Callable[[int, IntArray], IntArray]
"""The sums over all hospitals of the counts of a step."""


@dataclass(frozen=True)
class AnonymousRows:
    """Distinct records of nobody in particular: group, shown codes, and how many there are."""

    group: IntArray
    codes: Mapping[str, IntArray]
    times: IntArray

    def group_of_record(self) -> npt.NDArray[np.int32]:
        """The group of every record."""
        return np.repeat(self.group, self.times).astype(np.int32)

    def codes_of(self, column: Column) -> Codes:
        """The code of every record in a shown column."""
        codes = narrow(self.codes[column.name], len(column.values) + 1)
        return np.repeat(codes, self.times)


def anonymous_rows(
    total: Sum, group_of_record: npt.NDArray[np.integer], groups: int, columns: Sequence[Column]
) -> AnonymousRows:
    """All records of all hospitals by group and shown values.

    Parameters
    ----------
    total
        Adds counts up over all hospitals.
    group_of_record
        The group of every own record.
    groups
        How many groups there are in all.
    columns
        The shown columns of the own records; all hospitals have the same codes.

    Notes
    -----
    With r distinct published rows and c values in all columns together, about
    4 r log4(c) counts are added up, and as often as codes have digits.

    Example
    -------
    >>> sex = Column("sex", "target", "category", np.array([1, 0, 1], np.uint8), ("F", "M"))
    >>> rows = anonymous_rows(lambda step, counts: counts, np.array([0, 0, 0]), 1, [sex])
    >>> rows.codes["sex"].tolist(), rows.times.tolist()
    ([0, 1], [1, 2])
    """
    cell = group_of_record.astype(np.int64)
    group = np.arange(groups)
    codes: dict[str, IntArray] = {}
    times = total(0, np.bincount(cell, minlength=groups).astype(np.int64))
    step = 0
    for column in columns:
        codes[column.name] = np.zeros(len(group), dtype=np.int64)
        for place in range(_digits(column.cardinality) - 1, -1, -1):
            step += 1
            digit = column.codes.astype(np.int64) // _BASE**place % _BASE
            key = cell * _BASE + digit
            times = total(step, np.bincount(key, minlength=len(group) * _BASE).astype(np.int64))
            held = np.flatnonzero(times)
            number = np.full(len(times), -1, dtype=np.int64)
            number[held] = np.arange(len(held))
            cell, times, above = number[key], times[held], held // _BASE
            group = group[above]
            codes = {name: known[above] for name, known in codes.items()}
            codes[column.name] = codes[column.name] * _BASE + held % _BASE
    return AnonymousRows(group, codes, times)


def _digits(cardinality: int) -> int:
    """How many digits the largest code has; none where there is only one."""
    digits = 0
    while _BASE**digits < cardinality:
        digits += 1
    return digits
