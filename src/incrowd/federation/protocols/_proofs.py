"""Proofs that products of shared numbers are right, many at once, before anything rests on them.

Multiplying shares trusts every party to share its part of the product anew as it is; one that adds
something shifts the product by as much, and nothing shows. So products are claimed, and proved
together: one proof for all of them, whose messages do not grow with their number.

How. Random weights, opened after all products were made, turn the claims x_i y_i = z_i into one of
an inner product, x . y = z. That is cut into pieces, which are taken for the values of polynomials
f and g at 1, 2, ..., k; the parties multiply the pieces, and so get as many values of a polynomial
h that must be f . g. At a random place, opened after that, f, g and h are a claim of the same kind
that is shorter by k. The last one has a random piece more, so that it can be opened: it tells
nothing but whether it is true.

Invariants
----------
- A random number is opened only when all it is to judge was shared, and all parties have said that
  they hold their shares of that. Nobody knows it before; also not one that sends its shares late.
- If a single claim is false, then so is the last one, but for once in 2^35 times: a polynomial of
  degree d that is not 0 is 0 at no more than d places of nearly 2^61 or more.
- Shares that are on no one polynomial, as more than t + 1 honest parties may hold them when one of
  the others dealt them, are found out before a product of them is opened: such a product is shifted
  by what an honest party's share is. All shares, with random weights, and a random number make one
  number, which is opened before.
- What is opened is random numbers, and three numbers of which two are random and the third is
  their product.

References
----------
Goyal, Song (2020), Malicious security comes free in honest-majority MPC, section 4. Boneh, Boyle,
Corrigan-Gibbs, Gilboa, Ishai (2019), Zero-knowledge proofs on secret-shared data via fully linear
PCPs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np

from incrowd.federation.protocols._recombination import Shares, SharesError, weights_at

Multiply = Callable[[Shares], Awaitable[Shares]]
"""Shares anew what is a party's part of products: the sums of own shares multiplied."""
Open = Callable[[Shares], Awaitable[Shares]]
"""Opens shared numbers, if all shares fit together."""
PIECES = (64, 16, 4)
"""Into how many pieces claims are cut: as many as do not cost too much, and four where all do."""
_COST = 1 << 19
"""How many products of plain numbers a cut may cost, for the sake of a step less."""
_LAST = 64
"""Claims that are no more than these are the last ones."""


@dataclass(frozen=True)
class Claim:
    """Shares of numbers, of which each third is claimed to be the product of the first two."""

    first: Shares
    second: Shares
    product: Shares


def randoms_for(claims: int) -> int:
    """How many random numbers a proof of so many claims takes."""
    return len(_cuts(claims)) + 5


async def prove(
    claims: Sequence[Claim],
    randoms: Shares,
    multiply: Multiply,
    drawn: Open,
    opened: Open,
    prime: int,
) -> None:
    """Fail unless all claims are true.

    Parameters
    ----------
    claims
        All that is to be proved.
    randoms
        Shares of random numbers that no party knows, as many as `randoms_for` says.
    multiply
        How shares are multiplied.
    drawn
        How random numbers are opened: only when every party holds all its shares so far.
    opened
        How the last claim is opened.
    prime
        What is computed modulo.

    Raises
    ------
    SharesError
        When a claim is false: a party has not followed the protocol. Who cannot be told.

    Notes
    -----
    Cost: six steps, and three more for each of the one to four cuts; for each claim some 20 to 100
    products of plain numbers at every party, the fewer the more claims there are.
    """
    first = np.concatenate([each.first for each in claims])
    second = np.concatenate([each.second for each in claims])
    product = np.concatenate([each.product for each in claims])
    (weight,) = await drawn(randoms[:1])
    weights = _powers(weight, 3 * first.size, prime)
    fitting = (weights @ np.concatenate((first, second, product)) + randoms[1:2]) % prime
    weights = weights[: first.size]
    total = weights @ product % prime
    first = first * weights % prime
    used = 2
    for pieces in _cuts(first.size):
        first, second = _cut(first, pieces), _cut(second, pieces)
        values = await _values(first, second, total, multiply, prime)
        (place,) = await drawn(randoms[used : used + 1])
        used += 1
        first, second = _at(first, place, prime), _at(second, place, prime)
        total = weights_at(values.size, place, prime) @ values % prime
    hiding, second_hiding, last = (randoms[used + at : used + at + 1] for at in range(3))
    first = np.concatenate((hiding, first))[:, None]
    second = np.concatenate((second_hiding, second))[:, None]
    values = await _values(first, second, total, multiply, prime, apart=1)
    # Opened to see that all shares fit together, before their products tell anything.
    place, _ = await drawn(np.concatenate((last, fitting)))
    whole = weights_at(values.size, place, prime) @ values % prime
    claim = np.concatenate((_at(first, place, prime), _at(second, place, prime), [whole]))
    one, other, third = await opened(claim)
    if one * other % prime != third:
        raise SharesError(
            "The joint computation is false: a hospital changed a product or a random bit, or its "
            "numbers are no counts. It cannot be told which. Nothing of it was opened. Start the "
            "session again when it is known who did it."
        )


async def _values(
    first: Shares, second: Shares, total: int, multiply: Multiply, prime: int, apart: int = 0
) -> Shares:
    """Shares of the inner products of the polynomials at 1, 2, ..., as many as fix their product.

    At the pieces they add up to the total that is claimed, since that of the last piece is made so.
    The first pieces are not in the total where so many are `apart`.
    """
    pieces = first.shape[0]
    parts = [np.sum(first[:-1] * second[:-1], axis=1)]
    for place in range(pieces + 1, 2 * pieces):
        weights = weights_at(pieces, place, prime)
        along = (weights @ first % prime) * (weights @ second % prime)
        parts.append(np.array([along.sum()], object))
    made = await multiply(np.concatenate(parts) % prime)
    known, beyond = made[: pieces - 1], made[pieces - 1 :]
    return np.concatenate((known, [(total - known[apart:].sum()) % prime], beyond))


def _at(pieces: Shares, place: int, prime: int) -> Shares:
    """The polynomials through the pieces, at a place."""
    found: Shares = weights_at(pieces.shape[0], place, prime) @ pieces % prime
    return found


def _cut(numbers: Shares, pieces: int) -> Shares:
    """The numbers in pieces of one length, with zeros at the end."""
    length = -(-numbers.size // pieces)
    padded = np.zeros(length * pieces, object)
    padded[: numbers.size] = numbers
    return padded.reshape(pieces, length)


def _cuts(claims: int) -> list[int]:
    """Into how many pieces so many claims are cut, one time after the other."""
    found: list[int] = []
    while claims > _LAST:
        cheap = [pieces for pieces in PIECES if 2 * pieces * claims <= _COST]
        found.append(cheap[0] if cheap else PIECES[-1])
        claims = -(-claims // found[-1])
    return found


def _powers(base: int, count: int, prime: int) -> Shares:
    """The powers of a number from the first one on."""
    powers = np.array([base % prime], object)
    while powers.size < count:
        powers = np.concatenate((powers, powers * powers[-1] % prime))
    return powers[:count]
