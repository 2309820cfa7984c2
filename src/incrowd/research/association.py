"""How much attributes tell of each other, whatever their types, and the weights that follow.

Two columns of numbers or dates are compared by Spearman's rank correlation, two of categories by
Cramer's V, one of each by the correlation ratio, all from 0 to 1. V and the ratio are corrected
for chance: among categories with few records each, chance alone would look like association.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from incrowd._runtime.arrays import FloatArray, IntArray
from incrowd.table import Column
from incrowd.table.packing import distinct_rows, distinct_rows_of

_MOST_RECORDS = 50_000


def independent_weights(columns: Sequence[Column]) -> FloatArray:
    """Weights that sum to 1: one less the mean association with all other attributes.

    A column with a single value has nothing to lose and weighs nothing. Where nothing is
    independent of the others, all weigh the same.

    Notes
    -----
    O(a^2 n log n) for a attributes and n records, of which at most 50,000 are looked at, spread
    evenly over the sorted table: the order of the records makes no difference.

    References
    ----------
    Morton (2012), "Utility Metric": an attribute that does not correlate with others weighs more.
    The thesis leaves open how to compare types. Bergsma (2013), A bias-correction for Cramer's V.

    Example
    -------
    >>> sex = Column("sex", "quasi", "category", np.array([0, 0, 1, 1] * 9), ("F", "M"))
    >>> same = Column("gender", "quasi", "category", sex.codes, ("f", "m"))
    >>> side = Column("side", "quasi", "category", np.array([0, 1, 0, 1] * 9), ("left", "right"))
    >>> [round(float(weight), 2) for weight in independent_weights([sex, same, side])]
    [0.25, 0.25, 0.5]
    """
    many = len(columns)
    alike = np.zeros((many, many))
    some = _some(columns)
    for i in range(many):
        for j in range(i):
            alike[i, j] = alike[j, i] = association(some[i], some[j])
    free = 1.0 - alike.sum(axis=1) / max(many - 1, 1)
    free[[column.cardinality < 2 for column in columns]] = 0.0
    total = float(free.sum())
    return free / total if total > 1e-9 else np.full(many, 1.0 / many)


def association(first: Column, second: Column) -> float:
    """How much two columns tell of each other, from 0 (nothing) to 1 (one follows from the other).

    Records whose number or date is missing are left out; a missing category is one of its own.
    """
    known = np.ones(len(first.codes), dtype=np.bool_)
    for column in (first, second):
        if column.numbers is not None and column.missing:
            known &= column.codes != column.missing_code
    one = first.codes[known].astype(np.int64)
    other = second.codes[known].astype(np.int64)
    if len(one) < 2:
        return 0.0
    if first.numbers is not None and second.numbers is not None:
        return _rank_correlation(one, other)
    if first.numbers is not None:
        return _correlation_ratio(_ranks(one), other)
    if second.numbers is not None:
        return _correlation_ratio(_ranks(other), one)
    return _cramers_v(one, other)


def _some(columns: Sequence[Column]) -> list[Column]:
    """The columns of at most so many records, in sorted order, evenly spread over the table."""
    records = len(columns[0].codes)
    number, _ = distinct_rows_of(columns, records)
    chosen = np.argsort(number, kind="stable")[:: -(-records // _MOST_RECORDS) or 1]
    return [replace(column, codes=column.codes[chosen]) for column in columns]


def _ranks(codes: IntArray) -> FloatArray:
    """The mean rank of each record's code: codes ascend as their values do."""
    counts = np.bincount(codes)
    return (np.cumsum(counts) - (counts - 1) / 2.0)[codes]


def _rank_correlation(first: IntArray, second: IntArray) -> float:
    one, other = _ranks(first), _ranks(second)
    one, other = one - one.mean(), other - other.mean()
    spread = float(np.sqrt((one @ one) * (other @ other)))
    return min(1.0, abs(float(one @ other)) / spread) if spread else 0.0


def _correlation_ratio(values: FloatArray, classes: IntArray) -> float:
    """The share of the spread of values that lies between classes, less what chance makes of it."""
    sizes = np.bincount(classes)
    held = sizes > 0
    records, many = len(values), int(held.sum())
    centred = values - values.mean()
    spread = float(centred @ centred)
    if not spread or many < 2 or records <= many:
        return 0.0
    sums = np.bincount(classes, weights=centred)[held]
    share = float((sums**2 / sizes[held]).sum()) / spread
    corrected = 1.0 - (1.0 - share) * (records - 1) / (records - many)
    return float(np.sqrt(min(1.0, max(0.0, corrected))))


def _cramers_v(first: IntArray, second: IntArray) -> float:
    records = len(first)
    rows, columns = np.bincount(first), np.bincount(second)
    pair, at = distinct_rows([first, second], [len(rows), len(columns)], records)
    together = np.bincount(pair).astype(np.float64)
    expected = rows[first[at]].astype(np.float64) * columns[second[at]]
    # Chi-squared over n is the sum of n_ij^2 / (n_i n_j) over the pairs that occur, less 1.
    squared = float((together**2 / expected).sum()) - 1.0
    wide, high = int((rows > 0).sum()), int((columns > 0).sum())
    squared = max(0.0, squared - (wide - 1) * (high - 1) / (records - 1))
    least = min(_corrected(wide, records), _corrected(high, records)) - 1.0
    return float(np.sqrt(min(1.0, squared / least))) if least > 1e-9 else 0.0


def _corrected(values: int, records: int) -> float:
    return values - (values - 1) ** 2 / (records - 1)
