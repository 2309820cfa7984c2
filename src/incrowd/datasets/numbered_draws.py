"""Random draws that are asked for by number: the same whatever is drawn before or beside them.

A draw is a function of the seed, of what it is for, and of a number, such as that of a patient or
of a visit. So tables may be made piece by piece, in any pieces and in any order, and hold the same.
The bits are those of the numbers times a stirring of their bits that can be undone (the finalizer
of SplitMix64: Steele, Lea, Flood 2014), twice, with two keys. Only whole numbers, and operations on
floats that every machine rounds alike, are used.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray, Ints, Uints

_FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_STEP = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
NAME_BITS = 44
"""Names are whole numbers below 2^44, written with eleven digits to the base 16."""
_NAMES = np.uint64(2**NAME_BITS - 1)


@dataclass(frozen=True)
class NumberedDraws:
    """Draws of a seed, one for each purpose and number."""

    seed: int

    def _keys(self, purpose: str) -> Uints:
        sequence = np.random.SeedSequence(self.seed, spawn_key=(zlib.crc32(purpose.encode()),))
        return sequence.generate_state(2, np.uint64).astype(np.uint64)

    def bits(self, purpose: str, numbers: Uints) -> Uints:
        """Return 64 random bits for each number; equal numbers get equal bits."""
        first, second = self._keys(purpose)
        found = numbers * _STEP
        found ^= first
        _stir(found)
        found += second
        _stir(found)
        return found

    def uniform(self, purpose: str, numbers: Uints) -> FloatArray:
        """Return numbers strictly between 0 and 1, each an odd multiple of 2^-33."""
        high = (self.bits(purpose, numbers) >> _HALF).astype(np.float64)
        high += 0.5
        high *= 2.0**-32
        return high

    def chance(self, purpose: str, numbers: Uints, probability: float | FloatArray) -> BoolArray:
        """Return True for about the share `probability` of the numbers."""
        return np.asarray(self.uniform(purpose, numbers) < probability)

    def below(self, purpose: str, numbers: Uints, ends: int | Ints) -> IntArray:
        """Return whole numbers from 0 to below `ends`, which is at least 1 and below 2^31."""
        return scaled(self.bits(purpose, numbers), ends)

    def names(self, purpose: str, numbers: Uints) -> Uints:
        """Return a number below 2^44 for each number below 2^44, no two alike.

        Invariant: every step can be undone within 44 bits: an exclusive or, a product with an odd
        number, and an exclusive or with the own upper half.
        """
        found = numbers.copy()
        for key in self._keys(purpose):
            for factor in _FACTORS:
                found ^= key & _NAMES
                found *= factor
                found &= _NAMES
                found ^= found >> np.uint64(NAME_BITS // 2)
        return found


class Urns:
    """Rows of whole weights; a draw takes a column of a row, as likely as its weight says."""

    def __init__(self, weights: Ints) -> None:
        table = np.atleast_2d(weights).astype(np.int64)
        self._columns = table.shape[1]
        self._sums = np.cumsum(table)
        self._totals = table.sum(axis=1)
        self._before = np.cumsum(self._totals) - self._totals

    def drawn(self, bits: Uints, given: Ints) -> IntArray:
        """Return a column of the row `given` for each draw.

        Invariant: a column of weight 0 is never taken, in a row with any other.
        """
        target = self._before[given] + scaled(bits, self._totals[given])
        found = np.searchsorted(self._sums, target, side="right")
        column: IntArray = found - given.astype(np.int64) * self._columns
        return column


def scaled(bits: Uints, ends: int | Ints) -> IntArray:
    """Return whole numbers from 0 to below `ends`, as random as the upper half of the bits."""
    limits = np.asarray(ends).astype(np.uint64)
    return (((bits >> _HALF) * limits) >> _HALF).astype(np.int64)


def _stir(bits: Uints) -> None:
    for shift, factor in zip((30, 27), _FACTORS, strict=True):
        bits ^= bits >> np.uint64(shift)
        bits *= factor
    bits ^= bits >> np.uint64(31)
