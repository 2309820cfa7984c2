"""Stable pseudonyms: names of patients that are the same in every release made with one key."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, IntArray


def halves(names: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Names of 16 bytes, a row each, as two whole numbers each, as engines keep them."""
    both = np.ascontiguousarray(names).view(">u8").astype(np.uint64)
    return both[:, 0], both[:, 1]


def joined(
    first: npt.NDArray[np.integer], second: npt.NDArray[np.integer]
) -> npt.NDArray[np.uint8]:
    """The names that two whole numbers each stand for, which an engine may have signed.

    Example
    -------
    >>> names = np.arange(32, dtype=np.uint8).reshape(2, 16)
    >>> (joined(*halves(names)) == names).all()
    np.True_
    """
    both = np.column_stack([each.astype(np.uint64) for each in (first, second)])
    return both.astype(">u8").view(np.uint8)


@dataclass(frozen=True)
class Pseudonyms:
    """The names of patients under a key, in the order of the patients.

    Invariant: no two are equal, and they tell nothing to who has not got the key.
    """

    names: npt.NDArray[np.uint8] = field(repr=False)
    fingerprint: str
    """What tells the key from others."""

    @property
    def texts(self) -> list[str]:
        """Each name as it is published: 32 hexadecimal digits."""
        return [name.tobytes().hex() for name in self.names]

    def of_patients(self, kept: BoolArray) -> Pseudonyms:
        """Those of the patients that are kept."""
        return replace(self, names=self.names[kept])

    def moved(self, places: IntArray) -> Pseudonyms:
        """The same where the patient of each place has moved to another."""
        return replace(self, names=self.names[np.argsort(places)])
