"""Random numbers below a bound that nobody knows, shared without a message.

Every group of parties that leaves out as many as may pool their shares has a key in common. Each
key makes a random number; their sum is the number, and every party makes its share of it from the
keys that it has. Those who pool lack one key at least, that of all others, so the sum is hidden as
well as by one of the numbers. Since honest parties make their shares themselves, nobody can bring
in a number above the bound: there is nothing to be proved.

Invariants
----------
- A key is made by the first of its group, and taken only when all of the group hold the same one.
- A key makes every number once: each list has a number of its own.

References
----------
Cramer, Damgard, Ishai (2005), Share conversion, pseudorandom secret-sharing and applications to
secure computation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np

from incrowd.federation.protocols._recombination import Shares
from incrowd.federation.transport.transcripts import digest_of, packed

Group = tuple[int, ...]
"""The places of parties that have a key in common, in their order."""
KEY_NUMBERS = 5
"""A key, and its digest, travel as so many numbers below 2^KEY_BITS."""
KEY_BITS = 56
_WIDTH = 16
_DOMAIN = "incrowd federation group key/1"
_STREAM = b"incrowd federation cover/1"


def groups(parties: int, threshold: int) -> list[Group]:
    """All groups that leave out as many parties as may pool their shares.

    Example
    -------
    >>> groups(3, 1)
    [(0, 1), (0, 2), (1, 2)]
    """
    return list(combinations(range(parties), parties - threshold))


def groups_of(parties: int, threshold: int) -> int:
    """How many groups there are: a sum of covers is below so many times the bound."""
    return comb(parties, threshold)


def key_of(numbers: Shares) -> bytes:
    """The key in the numbers in which it travels."""
    return b"".join(int(each).to_bytes(_WIDTH, "little") for each in numbers)


def digest_numbers(group: Group, key: bytes) -> Shares:
    """A digest of the key of a group, in numbers; it tells nothing of the key."""
    digest = digest_of(_DOMAIN, bytes(group), key)
    size = KEY_BITS // 8
    numbers = np.empty(KEY_NUMBERS, object)
    numbers[:] = [
        int.from_bytes(digest[at * size : (at + 1) * size], "little") for at in range(KEY_NUMBERS)
    ]
    return numbers


def covers(
    keys: Mapping[Group, bytes],
    own: int,
    parties: int,
    bits: int,
    number: int,
    count: int,
    prime: int,
) -> Shares:
    """One party's shares of random numbers, each a sum of one below 2^bits for every group.

    Parameters
    ----------
    keys
        The keys that this party has, by group.
    own
        The place of this party.
    parties
        How many there are.
    bits
        How many bits each of the numbers has that are added up; 64 at most.
    number
        The number of the list, which no other list of the same keys has.
    count
        How many are made.
    prime
        What is computed modulo.

    Notes
    -----
    Cost: 8 bytes of SHAKE-256 and a product for each number and key.
    """
    total = np.zeros(count, object)
    for group, key in keys.items():
        raw = hashlib.shake_256(packed(_STREAM, key, number.to_bytes(8, "big"))).digest(8 * count)
        drawn = np.frombuffer(raw, "<u8") >> np.uint64(64 - bits)
        total += drawn.astype(object) * _weight(group, own, parties, prime)
    return total % prime


@lru_cache(maxsize=4096)
def _weight(group: Group, own: int, parties: int, prime: int) -> int:
    """The value, at a party of the group, of what is 1 at 0 and 0 at every party outside it."""
    above = below = 1
    for other in range(parties):
        if other not in group:
            above = above * (own - other) % prime
            below = below * (-1 - other) % prime
    return above * pow(below, -1, prime) % prime
