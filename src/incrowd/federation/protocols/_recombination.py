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
from functools import lru_cache
from math import factorial

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
    for place in range(degree + 2, len(shares) + 1):
        if np.any(weights_at(degree + 1, place, prime) @ known % prime != shares[place - 1]):
            raise SharesError(
                "The shares of a number do not fit together: a hospital sent a false one, or "
                "different ones to different hospitals. It cannot be told which. The number was "
                "not taken. Start the session again when it is known who did it."
            )
    numbers: Shares = weights_at(degree + 1, 0, prime) @ known % prime
    return numbers


@lru_cache(maxsize=4096)
def weights_at(places: int, at: int, prime: int) -> Shares:
    """Lagrange's weights: with them, values at 1, 2, ..., `places` add up to the one at a place.

    Small ones are small, with their sign, which makes products with them cheaper.

    Example
    -------
    >>> weights_at(3, 0, 97).tolist(), weights_at(3, 2, 97).tolist()
    ([3, -3, 1], [0, 1, 0])
    """
    weights = np.zeros(places, object)
    if 1 <= at <= places:
        weights[at - 1] = 1
        return weights
    above = 1
    for place in range(1, places + 1):
        above = above * (at - place) % prime
    for place in range(1, places + 1):
        below = factorial(place - 1) * factorial(places - place) * (-1) ** (places - place)
        weight = above * pow(below * (at - place), -1, prime) % prime
        weights[place - 1] = weight if weight <= prime // 2 else weight - prime
    return weights
