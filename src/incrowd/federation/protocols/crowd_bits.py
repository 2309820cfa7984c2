"""Crowds: whether every crowd of all hospitals together is large and mixed enough, as one bit.

Each hospital has, for the same public list of crowds, how many of its own records are in each, and
how many of those hold each protected value. Opened is one bit for all crowds together: whether
each, in the sum over the hospitals, is empty, or has at least K records of which no protected
value holds more than a share C. Not which crowd fails, not how many do, not a count.

How it becomes comparisons with 0, all of them on sums of what single hospitals know:

- **K.** A hospital counts at most K records of a crowd. The sum s of these reaches K just when the
  sum of all records does, and is 0 just when that is; so the crowd is large enough, or empty, just
  when s (s - K) >= 0, a small number whatever the counts.
- **C.** As a fraction p/q, for every protected value: p size - q held >= 0.
- **Counts are counts.** Whoever brought a number out of its range would learn from whether the
  comparison fails, or the run stops, about the counts of the others. So every hospital shares its
  numbers bit by bit; that the bits are bits is proved before anything that hangs on them is opened,
  and whether that proof fails hangs on its own bits alone.
- **without.** What the members of a coalition know of their own records, they can take off. So the
  same must hold for the sum over the others, for every coalition of so many hospitals or fewer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.errors import FederationError, ParameterError
from incrowd.federation.transport.transcripts import digest_of
from incrowd.privacy.base import SLACK

if TYPE_CHECKING:
    from incrowd.federation.protocols._desks import Desk
    from incrowd.federation.protocols._recombination import Shares
    from incrowd.federation.protocols.secret_shares import Program

MOST = 10_000_000
_DOMAIN = "incrowd federation crowds/3"
_BITS_AT_ONCE = 1 << 21
"""How many shared bits the hospitals together work on in a step, for the sake of memory."""


@dataclass(frozen=True)
class CrowdCounts:
    """One hospital's own counts for a list of crowds, and what must hold in the sum over all.

    All but the counts follow from the policy and the request, and must be the same everywhere.
    """

    sizes: IntArray
    """How many of the hospital's own records are in each crowd."""
    protected: IntArray
    """For each protected value, a row: how many records of each crowd hold it."""
    K: int
    C: float
    without: int = 0
    """How many hospitals may pool what they know of their own records."""
    most: int = MOST
    """No hospital has more records than this in a crowd; public, and the smaller the cheaper."""

    def __post_init__(self) -> None:
        sizes, protected = np.asarray(self.sizes), np.asarray(self.protected)
        if sizes.ndim != 1 or protected.ndim != 2 or protected.shape[1] != sizes.size:
            raise ParameterError(
                "Crowds have a list of sizes, and a row of that length for each protected value."
            )
        if any(each.dtype.kind not in "iu" for each in (sizes, protected) if each.size):
            raise ParameterError("Sizes of crowds, and how many hold a value, are whole numbers.")
        if self.K < 1 or self.without < 0 or not 0 <= self.C <= 1 or self.most < 1:
            raise ParameterError(
                "K and the most records must be at least 1, C from 0 to 1, and the "
                "number of hospitals to be left out at least 0."
            )
        if sizes.size and (sizes.min() < 0 or sizes.max() > self.most):
            raise FederationError(
                f"A crowd has fewer than 0 or more than {self.most:,} records. Nothing was sent."
            )
        if protected.size and (protected.min() < 0 or np.any(protected > sizes)):
            raise FederationError(
                "Fewer than 0 records of a crowd hold a protected value, or more than there are. "
                "Nothing was sent."
            )

    @property
    def cells(self) -> int:
        """How many crowds there are."""
        return int(np.asarray(self.sizes).size)

    def digest(self, parties: int, library: str) -> bytes:
        """A digest of all that must be the same everywhere; no count is in it."""
        values = np.asarray(self.protected).shape[0]
        public = (self.cells, values, self.K, self.C.hex(), self.without, self.most, parties)
        return digest_of(_DOMAIN, library.encode(), repr(public).encode())


def share_as_fraction(C: float, largest: int = MOST) -> Fraction:
    """The fraction p/q that stands for a share C: held q <= p size just when held is within C.

    Parameters
    ----------
    C
        The largest share that a protected value may have.
    largest
        The size of a crowd up to which this judges as floating point does; a larger one is judged
        as strictly, or more strictly within SLACK, and a share of just C always passes.

    Notes
    -----
    Everywhere else, held <= (C + SLACK) size is compared in floating point. Two different fractions
    with denominators up to `largest` are at least 1 / largest^2 apart, so the largest of them that
    is not above C + SLACK divides all shares that crowds can have in the same way. It is found by
    continued fractions, in about log(largest) steps. Where the next larger one passes in floating
    point, by rounding, that one is taken.

    Example
    -------
    >>> share_as_fraction(0.2), share_as_fraction(1 / 3)
    (Fraction(1, 5), Fraction(1, 3))
    """
    limit = C + SLACK
    if limit >= 1:
        return Fraction(1)
    below, above = _neighbours(Fraction(limit), largest)
    rounded_up = above.numerator <= limit * above.denominator
    return above if rounded_up else below


def _neighbours(exact: Fraction, largest: int) -> tuple[Fraction, Fraction]:
    """The nearest fractions at and above, or below and above, with a denominator up to largest."""
    a, b, c, d = 0, 1, 1, 0  # a/b <= exact < c/d
    n, m = exact.numerator, exact.denominator
    while True:
        # As many steps as keep (a + k c) / (b + k d) at or below the number.
        short, over = n * b - a * m, c * m - n * d
        steps = min(short // over, (largest - b) // d) if d else short // over
        a, b = a + steps * c, b + steps * d
        if b + d > largest:
            return Fraction(a, b), Fraction(c, d)
        # And as many as keep (c + k a) / (d + k b) above it.
        short, over = n * b - a * m, c * m - n * d
        steps = (largest - d) // b
        if short:
            steps = min(steps, (over - 1) // short)
        c, d = c + steps * a, d + steps * b
        if b + d > largest:
            return Fraction(a, b), Fraction(c, d)


@dataclass(frozen=True)
class ZeroTest:
    """What is compared with 0, and in how many bits; the same at every hospital."""

    parties: int
    cells: int
    K: int
    share: Fraction
    values: int
    """How many protected values are compared; none where C leaves nothing to fail."""
    coalitions: tuple[tuple[int, ...], ...]
    """Who is left out; the first one leaves out nobody."""
    room_low: int
    """The least that p size - q held can be at a hospital."""
    room: int
    """How much more than that it can be."""
    size_bits: int
    share_bits: int

    @classmethod
    def of(cls, crowds: CrowdCounts, parties: int) -> ZeroTest:
        """The question that a hospital's crowds pose among so many hospitals."""
        from incrowd.federation.protocols._comparisons import bits_for

        largest, K = parties * crowds.most, crowds.K
        share = share_as_fraction(crowds.C)
        p, q = share.numerator, share.denominator
        return cls(
            parties=parties,
            cells=crowds.cells,
            K=K,
            share=share,
            values=0 if share >= 1 else np.asarray(crowds.protected).shape[0],
            coalitions=tuple(_coalitions(parties, crowds.without)),
            room_low=(p - q) * crowds.most,
            room=q * crowds.most,
            size_bits=bits_for(-(K * K) // 4 - 1, parties * (parties - 1) * K * K),
            share_bits=bits_for((p - q) * largest, p * largest),
        )

    @property
    def comparisons(self) -> int:
        """How many numbers are compared with 0."""
        each = (1 if self.K > 1 else 0) + self.values
        return self.cells * len(self.coalitions) * each

    @property
    def prime(self) -> int:
        """What the shares are computed modulo."""
        from incrowd.federation.protocols._comparisons import prime_for

        return prime_for(max(self.size_bits, self.share_bits), self.parties)

    def own_bits(self, crowds: CrowdCounts, start: int, stop: int) -> Shares:
        """What a hospital brings of some crowds: sizes up to K and p size - q held, in bits.

        Bit after bit, the lowest first, each for all crowds of the stretch.
        """
        sizes = np.asarray(crowds.sizes, np.int64)[start:stop].astype(object)
        held = np.asarray(crowds.protected, np.int64)[: self.values, start:stop].astype(object)
        room = self.share.numerator * sizes - self.share.denominator * held - self.room_low
        parts = [_bits(np.minimum(sizes, self.K), self.K)]
        parts += [_bits(each, self.room) for each in room]
        return np.concatenate(parts).ravel()

    def tables(self, bits: Shares, cells: int) -> Shares:
        """The numbers that are shared as bits: a row of sizes, and one for each protected value."""
        of_size, of_room = _weights(self.K), _weights(self.room)
        sizes, *rooms = np.split(
            bits.reshape(-1, cells),
            [of_size.size + value * of_room.size for value in range(self.values)],
        )
        return np.stack([of_size @ sizes, *(of_room @ each + self.room_low for each in rooms)])

    def program(self, crowds: CrowdCounts) -> Program:
        """The joint computation, with the own counts of one hospital."""

        async def run(desk: Desk) -> bool:
            return await _every_crowd_holds(desk, self, crowds)

        return run


async def _every_crowd_holds(desk: Desk, question: ZeroTest, crowds: CrowdCounts) -> bool:
    """Compare all crowds, block after block, and open whether none failed.

    Cost, for each crowd and coalition: about 3 products for each bit of the numbers compared. The
    steps do not grow with the crowds, up to some ten thousand of them.
    """
    from incrowd.federation.protocols._comparisons import Signed, at_least_zero, none_failed

    prime = desk.prime
    failures = np.zeros(1, object)
    for start, stop in _blocks(question):
        given = await desk.inputs(question.own_bits(crowds, start, stop))
        desk.claim_bits(np.concatenate(given))
        tables = [question.tables(each, stop - start) for each in given]
        parts = [
            np.sum([each for place, each in enumerate(tables) if place not in out], axis=0) % prime
            for out in question.coalitions
        ]
        groups = []
        if question.K > 1:
            small = np.concatenate([each[0] for each in parts])
            product = await desk.multiplied(small, (small - question.K) % prime)
            groups.append(Signed(product, question.size_bits))
        if question.values:
            large = np.concatenate([each[1:].ravel() for each in parts])
            groups.append(Signed(large, question.share_bits))
        count = sum(group.numbers.size for group in groups)
        bits = await at_least_zero(desk, groups)
        failures = (failures + count - sum(each.sum() for each in bits)) % prime
    return await none_failed(desk, failures, await desk.random())


def _weights(top: int) -> Shares:
    """What bits count for so that they make every number from 0 to a largest one, and no other.

    Example
    -------
    >>> _weights(20).tolist()
    [1, 2, 4, 8, 5]
    """
    width = top.bit_length()
    powers = [1 << place for place in range(width - 1)]
    return np.array([*powers, top - sum(powers)], object)


def _bits(numbers: Shares, top: int) -> Shares:
    """The bits of numbers up to a largest one, a row for each of the weights."""
    width, last = top.bit_length() - 1, _weights(top)[-1]
    highest = (numbers >> width).astype(object)
    rest = numbers - highest * last
    places = np.arange(width).astype(object)
    return np.concatenate(((rest[None, :] >> places[:, None]) & 1, highest[None, :]))


def _blocks(question: ZeroTest) -> Iterator[tuple[int, int]]:
    """Stretches of crowds that are compared together; none where there is nothing to compare."""
    if not question.comparisons:
        return
    each = (
        question.parties
        * len(question.coalitions)
        * (question.size_bits + question.values * question.share_bits)
    )
    width = max(1, _BITS_AT_ONCE // each)
    many = math.ceil(question.cells / width)
    for block in range(many):
        yield block * question.cells // many, (block + 1) * question.cells // many


def _coalitions(parties: int, without: int) -> Iterator[tuple[int, ...]]:
    """Every coalition of at most so many, nobody first; all of them together leave nothing."""
    for members in range(min(without, parties - 1) + 1):
        yield from combinations(range(parties), members)
