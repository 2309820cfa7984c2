"""Comparisons of shared numbers with 0, and one bit from many of them.

How a shared number a is compared, with -2^(l-1) <= a < 2^(l-1). It is moved to a' = a + 2^(l-1),
so that its highest bit says whether a >= 0. Random bits r that nobody knows, and a random number R
that nobody knows above them, hide it: only c = a' + r + 2^(l-1) R is opened. The lower bits of a'
are those of c minus r, with a borrow where they are below r; that comparison, of a public with a
shared number, is a tree of products over the bits. What is left of a' without its lower bits is
its highest.

Invariants
----------
- Every product is shared anew before anything of it is opened.
- That products are products, and bits are bits, is proved before anything that hangs on them is
  opened: the random bits before c, or a party that deals something else would read numbers off it;
  the products that make a comparison before the last number, or one could make up for others.
- Numbers are in their range, as whoever brings them has proved (`crowd_bits.py`). So a comparison
  comes to a bit, and nothing that is proved can be false because of what an honest party brought:
  by how much a proof fails is known to those who made it fail, and tells them nothing.
- What is opened of each number is c, whose distance from a random number that has nothing to do
  with a is below 2^-48, and at the end one number: the count of failures times a random number
  that nobody knows. It is 0 where nothing failed, and uniformly random otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from incrowd.errors import ParameterError
from incrowd.federation.protocols._covers import groups_of
from incrowd.federation.protocols._desks import Desk
from incrowd.federation.protocols._recombination import Shares
from incrowd.federation.protocols.secret_shares import PRIMES, threshold_of

STATISTICAL = 50
"""Numbers are hidden by so many random bits more than they have."""


@dataclass(frozen=True)
class Signed:
    """Shares of numbers, each at least -2^(bits-1) and below 2^(bits-1)."""

    numbers: Shares
    bits: int


def bits_for(low: int, high: int) -> int:
    """How many bits numbers from `low` to `high` need, with their sign; two at least.

    Example
    -------
    >>> bits_for(-4, 3), bits_for(-5, 3), bits_for(-4, 4)
    (3, 4, 4)
    """
    return max(2, 1 + max((-low - 1).bit_length() if low < 0 else 0, max(high, 0).bit_length()))


def prime_for(bits: int, parties: int) -> int:
    """The smallest of the primes in which numbers of so many bits can be hidden."""
    covering = groups_of(parties, threshold_of(parties))
    needed = bits + STATISTICAL + covering.bit_length() + 1
    prime: int
    for prime in PRIMES:
        if prime.bit_length() > needed:
            return prime
    raise ParameterError(
        "The counts, or the share C as a fraction, are too large to be compared. Take a C with "
        "fewer digits."
    )


async def at_least_zero(desk: Desk, groups: Sequence[Signed]) -> list[Shares]:
    """Shares of bits: for every number of every group, whether it is 0 or more.

    Parameters
    ----------
    desk
        What the shares are computed with.
    groups
        The numbers, in groups of the same length of bits.

    Notes
    -----
    Cost for numbers of l bits: l - 1 random bits and about
    3l/2 products for each, in about 4 + log2(l) steps for all together, and a proof of all that.
    """
    prime = desk.prime
    sizes = [group.numbers.size for group in groups]
    drawn = await desk.random_bits(
        sum((group.bits - 1) * size for group, size in zip(groups, sizes, strict=True))
    )
    covers = await desk.covers(STATISTICAL, sum(sizes))
    moved, below, masks, above = [], [], [], []
    used = at = 0
    for group, size in zip(groups, sizes, strict=True):
        low = group.bits - 1
        bits = drawn[used : used + low * size].reshape(low, size)
        used += low * size
        weights = np.array([1 << place for place in reversed(range(low))], object)
        mask = weights @ bits
        moved.append(group.numbers + (1 << low))
        below.append(bits)
        masks.append(mask)
        above.append(covers[at : at + size] * (1 << low))
        at += size
    both = await _pair_products(desk, below)
    hidden = np.concatenate(moved) + np.concatenate(masks) + np.concatenate(above)
    opened = np.split(await desk.opened(hidden % prime), np.cumsum(sizes)[:-1])
    lows = [each & ((1 << group.bits - 1) - 1) for each, group in zip(opened, groups, strict=True)]
    borrows = await _public_below(desk, lows, below, both)
    highest = []
    for group, number, low, mask, borrow in zip(groups, moved, lows, masks, borrows, strict=True):
        unit = 1 << group.bits - 1
        rest = number - (low - mask + borrow * unit)
        highest.append(rest * pow(unit, -1, prime) % prime)
    return highest


async def _pair_products(desk: Desk, bits: Sequence[Shares]) -> list[Shares]:
    """Shares of the products of every two bits; of an odd number, the highest stays alone."""
    higher = [each[each.shape[0] % 2 :: 2].ravel() for each in bits]
    lower = [each[each.shape[0] % 2 + 1 :: 2].ravel() for each in bits]
    products = await desk.multiplied(np.concatenate(higher), np.concatenate(lower))
    ends = np.cumsum([each.size for each in higher])[:-1]
    return [
        part.reshape(-1, each.shape[1])
        for part, each in zip(np.split(products, ends), bits, strict=True)
    ]


def _leaves(number: Shares, bits: Shares, both: Shares, prime: int) -> tuple[Shares, Shares]:
    """For every two bits: shares of whether the public one is less, and of whether it is equal.

    Both are linear in the two shared bits and their product, so nothing more need be multiplied.
    """
    places = np.arange(bits.shape[0] - 1, -1, -1).astype(object)
    told = (number[None, :] >> places[:, None]) & 1
    alone = bits.shape[0] % 2
    high, low = bits[alone::2], bits[alone + 1 :: 2]
    c, d = told[alone::2], told[alone + 1 :: 2]
    less = (1 - c) * high + (1 - d) * ((1 - c) * low + (2 * c - 1) * both)
    equal = (1 - c) * (1 - d + (2 * d - 1) * low)
    equal += (2 * c - 1) * ((1 - d) * high + (2 * d - 1) * both)
    if alone:
        first, known = bits[:1], told[:1]
        less = np.concatenate(((1 - known) * first, less))
        equal = np.concatenate((1 - known + (2 * known - 1) * first, equal))
    return less % prime, equal % prime


async def _public_below(
    desk: Desk, numbers: Sequence[Shares], bits: Sequence[Shares], both: Sequence[Shares]
) -> list[Shares]:
    """Shares of bits: whether each public number is below the one whose bits are shared.

    Two stretches of bits are joined by: less if less in the higher one, or equal there and less in
    the lower one. Groups of different lengths go through the levels of the tree together. Whether
    the lowest stretch is equal is never asked.
    """
    prime = desk.prime
    less, equal = [], []
    for number, shared, products in zip(numbers, bits, both, strict=True):
        below, same = _leaves(number, shared, products, prime)
        less.append(below)
        equal.append(same)
    while any(each.shape[0] > 1 for each in less):
        higher, lower, shapes = [], [], []
        for below, same in zip(less, equal, strict=True):
            pairs = below.shape[0] // 2
            asked = pairs - 1 + below.shape[0] % 2 if pairs else 0
            higher += [same[: 2 * pairs : 2].ravel(), same[: 2 * asked : 2].ravel()]
            lower += [below[1 : 2 * pairs : 2].ravel(), same[1 : 2 * asked : 2].ravel()]
            shapes += [(pairs, below.shape[1]), (asked, below.shape[1])]
        products = await desk.multiplied(np.concatenate(higher), np.concatenate(lower))
        ends = np.cumsum([rows * width for rows, width in shapes])[:-1]
        parts = [
            part.reshape(shape)
            for part, shape in zip(np.split(products, ends), shapes, strict=True)
        ]
        for group, (more, both_equal) in enumerate(zip(parts[::2], parts[1::2], strict=True)):
            pairs = more.shape[0]
            joined = (less[group][: 2 * pairs : 2] + more) % prime
            less[group] = np.concatenate((joined, less[group][2 * pairs :]))
            equal[group] = np.concatenate((both_equal, equal[group][-1:]))
    return [each[0] for each in less]


async def none_failed(desk: Desk, failures: Shares, blind: Shares) -> bool:
    """Open one bit: whether a shared count of failures is 0.

    Parameters
    ----------
    desk
        What the shares are computed with.
    failures
        Shares of one number below the prime.
    blind
        Shares of one random number that no party knows, uniform modulo the prime.

    Notes
    -----
    The product of the two is opened. It is 0 where the count is 0; else it is uniformly random, and
    0 by chance less than once in 2^60 times.
    """
    product = await desk.multiplied(failures, blind)
    return bool((await desk.opened(product))[0] == 0)
