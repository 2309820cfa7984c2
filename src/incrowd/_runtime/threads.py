"""Compiled loops in threads: pieces of work, and what to do when a run is interrupted."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

_Piece = TypeVar("_Piece")
_MOST_THREADS = 16
PIECES_A_THREAD = 8
"""Some pieces take longer than others: with several each, threads end at about the same time."""


def threads() -> int:
    """How many threads work at the same time."""
    return min(os.cpu_count() or 1, _MOST_THREADS)


def in_threads(pieces: Sequence[_Piece], work: Callable[[_Piece], None]) -> None:
    """Do all pieces of work; on an error or an interrupt those that wait are given up."""
    if len(pieces) == 1:
        work(pieces[0])
        return
    with ThreadPoolExecutor(threads()) as pool:
        try:
            for done in [pool.submit(work, piece) for piece in pieces]:
                done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def even_runs(sizes: npt.NDArray[Any], worth: int = 1) -> list[slice]:
    """Runs of neighbours of about equal size in all, each of at least `worth` but for rounding."""
    if not len(sizes):
        return []
    ends = np.cumsum(sizes)
    many = max(1, min(int(ends[-1]) // max(worth, 1), len(sizes), PIECES_A_THREAD * threads()))
    inner = np.searchsorted(ends, ends[-1] * np.arange(1, many) / many, "right")
    bounds = [0, *np.unique(inner).tolist(), len(sizes)]
    return [slice(begin, end) for begin, end in pairwise(bounds) if begin < end]
