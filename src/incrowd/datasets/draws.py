"""Random draws that give the same numbers on every machine and for every number of rows.

Each purpose has a stream of its own, made from the seed and the purpose's name, and row i only
ever uses number i of a stream. So a new column changes no other column, and the first n rows of a
long table are the short table. Only the raw bits of PCG64 are used: NumPy promises that they never
change, which it does not promise for its distributions.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray

Floats = FloatArray
Indices = IntArray
Days = npt.NDArray[np.datetime64]
CsvRows = list[dict[str, str]]


@dataclass(frozen=True)
class Draws:
    """Streams of random numbers, one per purpose, each `rows` long."""

    rows: int
    seed: int

    def _bits(self, purpose: str) -> npt.NDArray[np.uint64]:
        key = zlib.crc32(purpose.encode())
        stream = np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=(key,)))
        return stream.random_raw(self.rows)

    def uniform(self, purpose: str) -> Floats:
        """Return numbers strictly between 0 and 1, each an odd multiple of 2^-33."""
        high = (self._bits(purpose) >> np.uint64(32)).astype(np.float64)
        high += 0.5
        high *= 2.0**-32
        return high

    def chance(self, purpose: str, probability: float | Floats) -> BoolArray:
        """Return True for about the share `probability` of the rows."""
        return np.asarray(self.uniform(purpose) < probability)

    def bell(self, purpose: str) -> Floats:
        """Return bell-shaped numbers of mean 0 and deviation near 1, none beyond 2.5.

        The sum of four uniform numbers needs additions only, so it is exact everywhere. Tails
        beyond 2.5 are folded back, to keep ages plausible.
        """
        bits = self._bits(purpose)
        total = np.zeros(self.rows)
        for shift in (0, 16, 32, 48):
            total += ((bits >> np.uint64(shift)) & np.uint64(0xFFFF)).astype(np.float64)
        standard = ((total + 2.0) * 2.0**-16 - 2.0) * np.sqrt(3.0)
        beyond = np.abs(standard) > 2.5
        folded: Floats = np.where(beyond, np.sign(standard) * 5.0 - standard, standard)
        return folded

    def choose(self, purpose: str, weights: Floats, given: Indices | None = None) -> Indices:
        """Return the index of a column of `weights` for each row, drawn from its row `given`.

        Invariant: a column of weight 0 is never drawn. The running sums of a row end in exactly 1;
        `u + row` is exact (33 bits plus those of a small row number) and stays below `row + 1`;
        and a weight of 0 repeats the sum before it, so the search stops earlier.
        """
        table = np.atleast_2d(weights)
        sums = np.cumsum(table, axis=1)
        sums /= sums[:, -1:]
        sums += np.arange(len(table))[:, None]
        uniform = self.uniform(purpose)
        if given is None:
            return np.searchsorted(sums.ravel(), uniform, side="right").astype(np.int64)
        uniform += given
        found = np.searchsorted(sums.ravel(), uniform, side="right")
        column: Indices = found - given * table.shape[1]
        return column
