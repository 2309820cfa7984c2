"""The order in which the labels of a column stand: missing cells first, then texts ascending."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd._runtime.arrays import IntArray


def missing_first(text: str | None) -> tuple[bool, str]:
    """The key to sort labels by, None for missing cells."""
    return text is not None, text or ""


def ranked(texts: Sequence[str | None]) -> tuple[tuple[str | None, ...], IntArray]:
    """The labels in order, and the place of each among them.

    Example
    -------
    >>> texts, place = ranked(["b", None, "a"])
    >>> texts, place.tolist()
    ((None, 'a', 'b'), [2, 0, 1])
    """
    order = sorted(range(len(texts)), key=lambda at: missing_first(texts[at]))
    place = np.empty(len(texts), dtype=np.int64)
    place[order] = np.arange(len(texts))
    return tuple(texts[at] for at in order), place
