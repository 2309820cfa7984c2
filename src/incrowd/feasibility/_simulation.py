"""Simulation: draw the records many times and count how often no small group occurs.

It shares nothing with the closed form but the question, so that one checks the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from incrowd._runtime.arrays import FloatArray, IntArray

FEWEST, MOST = 40, 20_000
"""How many times records are drawn when the caller does not say."""
_BUDGET = 1.5e9  # nanoseconds, as estimated by the following
_EVEN_RECORD, _COUNT, _VALUE, _ROW = 8, 500, 40, 120  # nanoseconds to draw, and to sort, one
_MOST_CELLS = 2**20  # that are drawn as counts of cells; more are drawn record by record
_MOST_RECORDS = 20_000_000  # that are drawn one by one

_Way = Callable[[np.random.Generator, Sequence[FloatArray], int, int], bool]


@dataclass(frozen=True)
class Simulated:
    """How often the records drawn were k-anonymous."""

    share: float
    standard_error: float
    times: int


def simulate(
    weights: Sequence[FloatArray],
    records: int,
    k: int,
    *,
    times: int | None = None,
    seed: int = 0,
) -> Simulated | None:
    """How often records of independent attributes are k-anonymous; None when too many to draw.

    Parameters
    ----------
    weights
        For each attribute, how likely its values are.
    records, k
        How many records are drawn each time, and how many each group that occurs must hold.
    times
        How many times; as many as take a few seconds when left out.
    seed
        The same seed draws the same records.

    Notes
    -----
    The standard error is that of a share with two successes and two failures added, so that it
    is not 0 when all the draws agree (Agresti and Coull 1998).
    Cost: `times` x the least of: the combinations of values, for each of which a count is drawn;
    the records, when all combinations are equally likely; the records x attributes, whose values
    are drawn and whose rows are sorted.

    Example
    -------
    >>> import numpy
    >>> simulate([numpy.ones(2)] * 3, 75, 3, times=400).share > 0.9
    True
    """
    cells = math.prod(len(each) for each in weights)
    even = all(np.ptp(each) == 0 for each in weights)
    drawn = records * len(weights) + sum(len(each) for each in weights)
    costs: dict[_Way, float] = {_by_values: _VALUE * drawn + _ROW * records}
    if cells <= _MOST_CELLS:
        costs[_by_counts] = _COUNT * cells
        if even:
            costs[_by_even_cells] = _EVEN_RECORD * records + cells
    way = min(costs, key=lambda each: costs[each])
    if way is not _by_counts and records > _MOST_RECORDS:
        return None
    if times is None:
        times = int(min(MOST, max(FEWEST, _BUDGET // costs[way])))
    random = np.random.Generator(np.random.PCG64(seed))
    good = sum(way(random, weights, records, k) for _ in range(times))
    middle = (good + 2) / (times + 4)
    return Simulated(good / times, math.sqrt(middle * (1 - middle) / (times + 4)), times)


def _by_counts(
    random: np.random.Generator, weights: Sequence[FloatArray], records: int, k: int
) -> bool:
    """Whether every cell is empty or holds k, the number in each cell drawn."""
    return _large_or_empty(random.multinomial(records, _cells(weights)), k)


def _by_even_cells(
    random: np.random.Generator, weights: Sequence[FloatArray], records: int, k: int
) -> bool:
    """Whether every cell is empty or holds k, the cell of each record drawn."""
    cells = math.prod(len(each) for each in weights)
    drawn = random.integers(cells, size=records, dtype=np.int32)
    return _large_or_empty(np.bincount(drawn, minlength=cells), k)


def _by_values(
    random: np.random.Generator, weights: Sequence[FloatArray], records: int, k: int
) -> bool:
    """Whether records drawn value by value are k-anonymous; stops when a group must be small.

    Groups only get smaller with each attribute, so that the rest need not be drawn.
    """
    group: IntArray = np.zeros(records, dtype=np.int64)
    for each in sorted(weights, key=len, reverse=True):
        ends = np.cumsum(each / each.sum())
        value = np.searchsorted(ends, random.random(records), side="right")
        group = group * len(each) + np.minimum(value, len(each) - 1)
        _, group, sizes = np.unique(group, return_inverse=True, return_counts=True)
        if int(sizes.min()) < k:
            return False
    return True


def _cells(weights: Sequence[FloatArray]) -> FloatArray:
    chance = np.ones(1)
    for each in weights:
        chance = np.multiply.outer(chance, each / each.sum()).ravel()
    found: FloatArray = chance / chance.sum()
    return found


def _large_or_empty(counts: IntArray, k: int) -> bool:
    return not bool(np.any((counts > 0) & (counts < k)))
