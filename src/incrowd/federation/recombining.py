"""Numbers from all shares of them, which must fit together.

Shares of a number are the values of one polynomial at 1, 2, ..., one for each party; its value at 0
is the number, and its degree is how many parties may pool their shares and learn nothing.

Invariant
---------
With a degree t and more than 2t parties, the shares of more than t parties that are honest already
fix the polynomial. So up to t parties that send false shares can stop an opening, and cannot have
another number opened, whatever they know of the shares of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from incrowd.errors import FederationError

Shares = npt.NDArray[np.object_]
"""A party's shares of a list of numbers modulo a prime; sums of shares are shares of the sums."""


class SharesError(FederationError):
    """Shares that are not those of one polynomial."""


def recombined(
    shares: Sequence[Shares], size: int, names: Sequence[str], degree: int, prime: int
) -> Shares:
    """The numbers of which every party sent a share, if all shares fit together.

    Parameters
    ----------
    shares
        A list of shares from every party, in their order.
    size
        How many each must have sent.
    names
        The parties.
    degree
        The degree of the polynomials.
    prime
        What is computed modulo.

    Raises
    ------
    SharesError
        When a party sent more or fewer shares (it is named), or when some share is not on the
        polynomial of the others. Who sent it cannot be told then.

    Example
    -------
    >>> shares = [np.array([value], object) for value in (7, 9, 11)]
    >>> recombined(shares, 1, "ABC", 1, 97)
    array([5], dtype=object)
    """
    for name, each in zip(names, shares, strict=True):
        if each.shape != (size,):
            raise SharesError(f"'{name}' sent more or fewer shares of a number than were due.")
    known = np.stack(list(shares[: degree + 1]))
    places = tuple(range(1, degree + 2))
    for place in range(degree + 2, len(shares) + 1):
        if np.any(_weights(places, place, prime) @ known % prime != shares[place - 1]):
            raise SharesError(
                "The shares of a number do not fit together: a hospital sent a false one, or "
                "different ones to different hospitals. It cannot be told which. The number was "
                "not taken. Start the session again when it is known who did it."
            )
    numbers: Shares = _weights(places, 0, prime) @ known % prime
    return numbers


@cache
def _weights(places: tuple[int, ...], at: int, prime: int) -> Shares:
    """Lagrange's weights: with them, values at the places add up to the one at another place."""
    weights = np.empty(len(places), object)
    for index, place in enumerate(places):
        above = below = 1
        for other in places:
            if other != place:
                above = above * (at - other) % prime
                below = below * (place - other) % prime
        weights[index] = above * pow(below, -1, prime) % prime
    return weights
