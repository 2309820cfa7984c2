"""Secret randomness of the run: what is dealt, shuffled or numbered so that no reader can redo it.

Invariant: all of it is the operating system's, drawn anew in every run. Nothing is kept, written or
derived from a seed, and no policy and no command reaches this module; who has read the code and
holds the release knows as much about a draw as about a coin. Tests put their own bytes in the place
of `_bytes`.
"""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

_bytes = os.urandom


def keys(many: int) -> NDArray[np.uint64]:
    """As many independent numbers of 64 bits."""
    return np.frombuffer(_bytes(8 * many), dtype=np.uint64)


def permutation(many: int) -> NDArray[np.int64]:
    """The numbers from 0 to below `many` in an order of which all are equally likely.

    Two of n keys are equal, and then kept in order, with a chance below n^2 / 2^65.
    """
    return np.argsort(keys(many), kind="stable").astype(np.int64)


def below(bound: int, many: int) -> NDArray[np.int64]:
    """As many independent numbers from 0 to below `bound`, all of which are equally likely.

    A key of the last, incomplete round of `bound` numbers is drawn again.
    """
    last = 2**64 // bound * bound - 1
    drawn = keys(many).copy()
    again = np.flatnonzero(drawn > np.uint64(last))
    while len(again):
        drawn[again] = keys(len(again))
        again = again[drawn[again] > np.uint64(last)]
    return (drawn % np.uint64(bound)).astype(np.int64)


def shuffled_within(groups: NDArray[np.integer]) -> NDArray[np.int64]:
    """Positions sorted by group, those of a group in an order of which all are equally likely."""
    return np.lexsort((keys(len(groups)), groups)).astype(np.int64)
