r"""Closed form: the chance that n records leave no cell with 1 to k - 1 of them.

Let each cell c receive a Poisson number X_c of records, mean t p_c, independently. Given that the
numbers sum to n they are the multinomial numbers of n records, whatever t is. So, with Y_c for X_c
given that it is 0 or at least k,

    P = prod_c P(X_c = 0 or X_c >= k) * P(sum_c Y_c = n) / P(Poisson(t) = n).

The first factor is a product of one term per different chance. t is chosen such that the mean of
sum Y is n. Its chance to be n comes from its characteristic function, summed over as many points
as its spread asks for, which is exact but for rounding; or, where that would take long, from its
first four cumulants (a saddlepoint approximation).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import FloatArray
from incrowd.feasibility._cells import ChanceCells

NEVER = -math.inf
CAREFUL, QUICK = 20_000_000, 100_000
"""How many different chances times points of the characteristic function may be summed."""
_SPREAD = 24.0  # deviations of sum Y that the points must tell apart
_STEPS = 200
_CLOSE = 1e-10
_LEAST = 1e-290


@dataclass(frozen=True)
class Chance:
    """The natural logarithm of a chance, and whether it is exact but for rounding."""

    log: float
    exact: bool

    @property
    def value(self) -> float:
        """The chance itself, 0 where it is too small to be told from 0."""
        return min(1.0, math.exp(self.log))


def chance_of(cells: ChanceCells, records: int, k: int, *, work: int = CAREFUL) -> Chance:
    """The chance that each cell is empty or holds at least k of the records.

    Parameters
    ----------
    cells
        The combinations of values, by how likely a record is to fall into each.
    records, k
        How many records there are, and how many a cell must hold.
    work
        Above how many different chances times points of the characteristic function the
        approximation is taken.

    Notes
    -----
    The points grow with the square root of the number of records. For equally likely values the
    answer is exact to about 1e-9; so it is for a few hundred different chances and a million
    records. The approximation is off by about 1 / records, as a share of the chance, or less; and
    cells whose chances were thinned by what that does.
    Cost: a few dozen passes over the different chances, times k; and the points times the
    different chances where they are summed.

    References
    ----------
    Holst (1986), On birthday, collectors', occupancy and other classical urn problems (Poisson
    numbers given their sum); Daniels (1954), Saddlepoint approximations in statistics.

    Example
    -------
    >>> from incrowd.feasibility._cells import product, uniform
    >>> round(chance_of(product([uniform(2)] * 3), 50, 3).value, 3)
    0.702
    """
    if records < k:
        return Chance(NEVER if records else 0.0, exact=True)
    if cells.total <= 1:
        return Chance(0.0, exact=True)
    if records < 2 * k:  # they must all be in one cell
        with np.errstate(under="ignore"):
            together = float(np.sum(cells.number * cells.chance**records))
        return Chance(math.log(together) if together > 0 else NEVER, cells.exact)
    total = _balanced(cells, records, k)
    moments = _moments(total * cells.chance, k)
    first = _stirling(records) - records * (1 + math.log(total / records))
    first += float(np.dot(cells.number, moments.lifted))
    spread = math.sqrt(float(np.dot(cells.number, moments.variance)))
    points = _points(records, spread)
    exact = points * len(cells.chance) <= work
    last = (
        _by_frequencies(cells, total, records, k, points)
        if exact
        else _by_cumulants(cells, moments, spread)
    )
    return Chance(min(0.0, first + last), exact and cells.exact)


def expected_below(cells: ChanceCells, records: int, k: int) -> float:
    """How many of the records are expected in groups of fewer than k.

    The others that share the cell of a record are a binomial number; fewer than k - 1 are too few.

    Example
    -------
    >>> from incrowd.feasibility._cells import product, uniform
    >>> round(expected_below(product([uniform(2)] * 3), 50, 3), 2)
    0.58
    """
    others = records - 1
    log_in, log_out = np.log(cells.chance), np.log1p(-np.minimum(cells.chance, 1 - 1e-16))
    small = np.zeros_like(cells.chance)
    for count in range(min(k - 1, records)):
        ways = math.lgamma(records) - math.lgamma(count + 1) - math.lgamma(records - count)
        small += np.exp(ways + count * log_in + (others - count) * log_out)
    return min(float(records), records * float(np.dot(cells.number, cells.chance * small)))


@dataclass(frozen=True)
class _Moments:
    """Of Y for each mean of X: the logarithm of its chance to be allowed, and cumulants.

    The logarithm is lifted by the mean of X: cells that are many and hardly ever occur then add
    next to nothing, and not huge numbers that cancel.
    """

    lifted: FloatArray
    mean: FloatArray
    variance: FloatArray
    third: FloatArray
    fourth: FloatArray


def _moments(mean: FloatArray, k: int) -> _Moments:
    """Cumulants of Y, from E[X (X-1) … (X-r+1); X >= k] = mean^r P(X >= k - r).

    Where the mean is far above k, Y is X, whose cumulants are all its mean: there the formulas
    would lose all their digits.
    """
    few, tails = _few(mean, k), _tails(mean, k)
    allowed = np.exp(-mean) + tails[0]
    rare = mean < k + 1
    lifted = np.where(
        rare,
        np.log1p(np.exp(np.where(rare, mean, 0.0)) * tails[0]),
        mean + np.log1p(-np.minimum(few, 0.999)),
    )
    far = mean > 4 * k + 100
    near = np.where(far, 1.0, mean)
    f1, f2, f3, f4 = (near**r * tails[r] / allowed for r in (1, 2, 3, 4))
    m2, m3, m4 = f2 + f1, f3 + 3 * f2 + f1, f4 + 6 * f3 + 7 * f2 + f1
    variance = np.maximum(m2 - f1**2, 0.0)
    third = m3 - 3 * f1 * m2 + 2 * f1**3
    fourth = m4 - 4 * f1 * m3 + 6 * f1**2 * m2 - 3 * f1**4 - 3 * variance**2
    cumulants = (np.where(far, mean, each) for each in (f1, variance, third, fourth))
    return _Moments(lifted, *cumulants)


def _point(mean: FloatArray, count: int) -> FloatArray:
    """P(X = count), by logarithms: neither a large mean nor a large count is too much."""
    return np.exp(count * np.log(mean) - mean - math.lgamma(count + 1))


def _few(mean: FloatArray, k: int) -> FloatArray:
    """P(1 <= X < k), by adding its terms."""
    total = np.zeros_like(mean)
    for count in range(1, k):
        total += _point(mean, count)
    return total


def _tails(mean: FloatArray, k: int) -> list[FloatArray]:
    """P(X >= k), P(X >= k - 1), … P(X >= k - 4), each without loss to cancellation.

    Where the mean is small the terms from k on are added, elsewhere those below k taken from 1.
    """
    small = mean < k + 1
    addend = np.where(small, _point(mean, k), 0.0)
    added, count = addend.copy(), k
    while bool(np.any(addend > 1e-18 * added)):
        count += 1
        addend = addend * mean / count
        added += addend
    taken = np.maximum(1.0 - np.exp(-mean) - _few(mean, k), 0.0)
    found = [np.where(small, added, taken)]
    for count in range(k - 1, k - 5, -1):
        found.append(np.minimum(found[-1] + _point(mean, count), 1.0) if count >= 0 else found[-1])
    return found


def _stirling(number: int) -> float:
    """The log of n! e^n / n^n, which for large n is far smaller than its parts."""
    if number < 1000:
        return math.lgamma(number + 1) + number - number * math.log(number)
    return 0.5 * math.log(2 * math.pi * number) + 1 / (12 * number) - 1 / (360 * number**3)


def _balanced(cells: ChanceCells, records: int, k: int) -> float:
    """The t for which the mean of sum Y is the number of records.

    The mean rises with t, and its derivative by log t is the variance of sum Y: Newton's steps,
    kept between bounds that close in.
    """
    low, high = -80.0, math.log(records) + math.log1p(k)
    while _mean_and_variance(cells, math.exp(high), k)[0] < records:
        high += 1.0
    at = math.log(records)
    for _ in range(_STEPS):
        mean, variance = _mean_and_variance(cells, math.exp(at), k)
        if abs(mean - records) <= _CLOSE * records:
            break
        low, high = (at, high) if mean < records else (low, at)
        step = at + (records - mean) / variance if variance > 0 else math.nan
        at = step if low < step < high else (low + high) / 2
        if high - low < 1e-14:
            break
    return math.exp(at)


def _mean_and_variance(cells: ChanceCells, total: float, k: int) -> tuple[float, float]:
    found = _moments(total * cells.chance, k)
    return float(np.dot(cells.number, found.mean)), float(np.dot(cells.number, found.variance))


def _points(records: int, spread: float) -> int:
    """How many points tell the number of records from all others that sum Y is likely to be."""
    width = min(records, _SPREAD * spread) + _SPREAD * spread + 64
    return 1 << math.ceil(math.log2(width))


def _by_frequencies(cells: ChanceCells, total: float, records: int, k: int, points: int) -> float:
    """The log of P(sum Y = records), by summing its characteristic function over points."""
    angle = 2 * np.pi * np.arange(points // 2 + 1) / points
    turn = np.exp(1j * angle)
    logs = np.zeros(len(angle), dtype=np.complex128)
    for mean, number in zip(total * cells.chance, cells.number, strict=True):
        logs += number * _log_characteristic(float(mean), turn, k)
    values = np.exp(logs - 1j * angle * records)
    weights = np.full(len(angle), 2.0)
    weights[0] = weights[-1] = 1.0
    chance = float(np.dot(weights, values.real)) / points
    return math.log(chance) if chance > 1e-15 else NEVER


def _log_characteristic(
    mean: float, turn: npt.NDArray[np.complex128], k: int
) -> npt.NDArray[np.complex128]:
    """The log of E[turn^Y], but for 2 pi i, which a whole number of cells does not see."""
    if mean < k + 1:
        return _log_of_rare(mean, turn, k)
    value = np.exp(mean * (turn - 1))
    power = np.ones_like(turn)
    for count in range(1, k):
        power = power * turn
        value -= math.exp(count * math.log(mean) - mean - math.lgamma(count + 1)) * power
    seen = np.abs(value) > _LEAST  # the rest does not count in the sum
    found: npt.NDArray[np.complex128] = np.log(np.where(seen, value, _LEAST) / value[0].real)
    return found


def _log_of_rare(
    mean: float, turn: npt.NDArray[np.complex128], k: int
) -> npt.NDArray[np.complex128]:
    """The same where Y is mostly 0, from E[turn^Y - 1], whose digits all count.

    Such cells can be so many that an error in the last digit of each would be all there is.
    """
    power, point = turn**k, math.exp(k * math.log(mean) - mean - math.lgamma(k + 1))
    away, total, count = np.zeros_like(turn), math.exp(-mean), k
    while point > 1e-18 * total or count == k:
        away += point * (power - 1)
        total += point
        count += 1
        power, point = power * turn, point * mean / count
    real, imaginary = away.real / total, away.imag / total
    size = 0.5 * np.log1p(np.maximum(real * (2 + real) + imaginary**2, _LEAST - 1))
    return size + 1j * np.arctan2(imaginary, 1 + real)


def _by_cumulants(cells: ChanceCells, moments: _Moments, spread: float) -> float:
    """The log of P(sum Y = its mean), from the cumulants of sum Y."""
    third = float(np.dot(cells.number, moments.third)) / spread**3
    fourth = float(np.dot(cells.number, moments.fourth)) / spread**4
    correction = fourth / 8 - 5 * third**2 / 24
    return -math.log(spread * math.sqrt(2 * math.pi)) + math.log1p(max(correction, -0.5))
