"""Marks: for each place of a list, whether any hospital has a 1 there, and not how many have.

What a request opens stands in the request itself, under `opens`. So it is in the transcript, on
which all masks hang: a leader who asks one hospital for marks and another for counts gets masks
that do not cancel, and nothing is opened one way under masks that were made for the other.

How marks are hidden. A hospital sends a uniformly random number modulo 2^64 where it has a 1, and 0
elsewhere, through the same secure sum as counts. The sum is 0 where nobody has a 1, and uniformly
random where somebody has, whether one or all: from the sum nobody can tell how many.

Invariants
----------
- A place where nobody has a 1 is never opened as a 1. A place where somebody has one is opened as a
  0 once in 2^64 times.
- The random numbers are made anew in every round, are known to their hospital alone, and are
  forgotten when they are sent.
- Hospitals are told bits, not sums. Who adds up (the leader; under masked sums everyone) knows its
  own random numbers, so it learns where *another* hospital has a 1, also where it has one itself; a
  coalition learns where one of the others has a 1.
- Where a hospital has a 1, it takes no other answer than a 1 (`_turns.py`). So nobody who knows the
  sum of the others, and sends what cancels it, can take a 1 away.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray
from incrowd.errors import FederationError, ParameterError
from incrowd.federation.protocols.sums import Numbers

Bits = BoolArray
Opens = Literal["sum", "any", "bit"]
"""What a request opens: sums of counts, a bit for each place, or one bit alone."""
OPENS = "opens"
"""The key of a request that says it; a request without it opens sums."""


def opening(request: Mapping[str, Any], what: Opens) -> dict[str, Any]:
    """The request with the word of what it opens.

    Example
    -------
    >>> opening({"ask": "rows"}, "any")
    {'ask': 'rows', 'opens': 'any'}
    >>> opening({"ask": "sizes"}, "sum")
    {'ask': 'sizes'}
    """
    if OPENS in request:
        raise ParameterError(
            f"A request may not have the key '{OPENS}': it says whether sums or marks are opened. "
            "Take another name."
        )
    return dict(request) if what == "sum" else {**request, OPENS: what}


def opened_by(request: Mapping[str, Any]) -> Opens:
    """What a request opens, in its own words; a word that means nothing here is refused.

    Example
    -------
    >>> opened_by({"ask": "rows", "opens": "any"})
    'any'
    """
    told = request.get(OPENS, "sum")
    for what in get_args(Opens):
        if told == what and (what != "sum" or OPENS not in request):
            found: Opens = what
            return found
    raise FederationError(
        "A request opens something that this version does not know. Use the same version of "
        "incrowd everywhere."
    )


def hidden_marks(marks: npt.NDArray[Any], name: str) -> Numbers:
    """A random number modulo 2^64 where a hospital has a 1, and 0 elsewhere.

    Parameters
    ----------
    marks
        The hospital's own marks, 0 or 1 (or false and true), in the order that all agree on.
    name
        The hospital, for the error.

    Raises
    ------
    FederationError
        When a mark is neither 0 nor 1.

    Notes
    -----
    As many random numbers are drawn as there are places, so that the time tells nothing of the
    marks. Cost: 8 random bytes for each place.
    """
    marks = np.asarray(marks)
    if marks.ndim != 1 or marks.dtype.kind not in "biu":
        raise ParameterError("The marks of a round are one list of zeros and ones.")
    if np.any((marks != 0) & (marks != 1)):
        raise FederationError(f"'{name}' has a mark that is neither 0 nor 1. Nothing was sent.")
    drawn = np.frombuffer(secrets.token_bytes(8 * marks.size), np.uint64)
    return drawn * marks.astype(np.uint64)


def opened_marks(sums: Numbers) -> Bits:
    """Where any hospital has a 1, from the sums of what all sent.

    Example
    -------
    >>> opened_marks(np.array([0, 2**63 + 5, 0], np.uint64)).tolist()
    [False, True, False]
    """
    return np.asarray(sums != 0)


def marks_to_wire(bits: Bits) -> bytes:
    """Bits as bytes, eight in each, the first one highest: all that hospitals are told.

    Example
    -------
    >>> marks_to_wire(np.array([True, False, False, True])).hex()
    '90'
    """
    return np.packbits(bits).tobytes()


def marks_from_wire(data: bytes, places: int) -> Bits:
    """The bits that a hospital was told, one for each place.

    Example
    -------
    >>> marks_from_wire(bytes.fromhex("90"), 4).tolist()
    [True, False, False, True]
    """
    bits = np.unpackbits(np.frombuffer(data, np.uint8)).astype(bool)
    if len(data) != (places + 7) // 8 or bits[places:].any():
        raise FederationError(
            f"The leader told {len(data)} bytes where the marks of {places:,} places were due."
        )
    return bits[:places]
