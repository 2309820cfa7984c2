"""Desks: what a joint computation computes with, number by number, on top of MPyC's runtime.

A program (`crowd_bits.py`, `_comparisons.py`) is written against a desk: inputs, products, random
bits, covers, openings. Everything that a party could do wrong in one of them is found out here.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Sequence
from typing import Any

import numpy as np

from incrowd.federation.protocols._covers import (
    KEY_BITS,
    KEY_NUMBERS,
    Group,
    covers,
    digest_numbers,
    groups,
    key_of,
)
from incrowd.federation.protocols._proofs import Claim, prove, randoms_for
from incrowd.federation.protocols._recombination import Shares, SharesError, recombined

_RANDOMS = 24
"""How many random numbers are dealt together; a proof takes eight or so."""


class Desk:
    """What a program computes with: lists of shares, as plain arrays modulo `prime`.

    Sums, differences and products with public numbers are made on the arrays themselves. All
    parties must call the methods in the same order with lists of the same lengths.

    Nothing is opened before all products and bits so far are proved (`_proofs.py`): a party that
    shared something else than it should can stop the computation, and neither learns more nor has
    another number opened.
    """

    def __init__(self, runtime: Any, names: Sequence[str], prime: int) -> None:
        self.prime = prime
        self.parties = len(runtime.parties)
        self._names = names
        self._runtime = runtime
        self._field = runtime.SecFld(prime).field
        self._claims: list[Claim] = []
        self._randoms = np.empty(0, object)
        """Shares of random numbers that no party knows, for proofs to come."""
        self._keys: dict[Group, bytes] = {}
        self._echoes: list[tuple[Group, Awaitable[Any]]] = []
        """What the others of every group hold for its key, until it is compared."""
        self._covers = 0
        """How many lists of covers were made."""

    async def inputs(self, own: Shares) -> list[Shares]:
        """Shares of what every party has, in the order of the parties. Cost: one step.

        Random numbers for proofs are dealt on the way, and the first time the keys of groups.
        """
        drawn = random_below(self.prime, _RANDOMS)
        # All is sent in one step: what is begun here is awaited after all has begun.
        dealing = self._runtime.input([self._array(np.concatenate((own, drawn)))])
        keys = [] if self._keys else self._keys_begun()
        given = [each[0].value for each in await dealing]
        for group, coming in keys:
            await self._take_key(group, coming)
        more = np.sum([each[own.size :] for each in given], axis=0) % self.prime
        self._randoms = np.concatenate((self._randoms, more))
        return [each[: own.size] for each in given]

    async def random(self) -> Shares:
        """Shares of one random number that no party knows, uniform modulo the prime.

        Cost: no step, but where none is left.
        """
        await self._stocked(1)
        taken, self._randoms = self._randoms[:1], self._randoms[1:]
        return taken

    async def multiplied(self, first: Shares, second: Shares) -> Shares:
        """Shares of the products, number by number. Cost: one step."""
        if not first.size:
            return first
        product = await self._shared_anew(first * second % self.prime)
        self._claims.append(Claim(first % self.prime, second % self.prime, product))
        return product

    async def random_bits(self, count: int) -> Shares:
        """Shares of random bits that no party knows.

        So many parties deal that one of them at least is honest. Cost: a step, and a product for
        each dealer but the first.
        """
        prime, dealers = self.prime, range(self._runtime.threshold + 1)
        drawn = (2 * _drawn_bits(count) - 1) % prime
        signs, *others = await self._dealt(drawn, dealers)
        for each in others:
            signs = await self.multiplied(signs, each)
        self._claims.append(Claim(signs, signs, np.ones(count, object)))
        found: Shares = (signs + 1) * pow(2, -1, prime) % prime
        return found

    async def covers(self, bits: int, count: int) -> Shares:
        """Shares of random numbers below 2^bits times the number of groups (`_covers.py`).

        Cost: no step of its own, once the keys of the groups are known to be the same.
        """
        for group, coming in self._echoes:
            digest = digest_numbers(group, self._keys[group])
            for other, told in zip(group, await coming, strict=True):
                if told.shape != digest.shape or np.any(told != digest):
                    raise SharesError(
                        f"'{self._names[other]}' and '{self._names[self._runtime.pid]}' hold "
                        f"different keys, which '{self._names[group[0]]}' dealt. Nothing was "
                        "opened."
                    )
        self._echoes = []
        self._covers += 1
        place, parties = self._runtime.pid, self.parties
        return covers(self._keys, place, parties, bits, self._covers, count, self.prime)

    def claim_bits(self, bits: Shares) -> None:
        """Claim that shared numbers are 0 or 1, to be proved before anything is opened."""
        self._claims.append(Claim(bits, bits, bits))

    async def opened(self, shares: Shares) -> Shares:
        """The numbers themselves, at every party, once all that was claimed is proved.

        Cost: one step, and those of the proof.
        """
        claims, self._claims = [each for each in self._claims if each.first.size], []
        if claims:
            needed = randoms_for(sum(each.first.size for each in claims))
            await self._stocked(needed)
            randoms, self._randoms = self._randoms[:needed], self._randoms[needed:]
            await prove(
                claims, randoms, self._shared_anew, self._drawn, self._recombined, self.prime
            )
        return await self._recombined(shares)

    async def _stocked(self, count: int) -> None:
        """Deal random numbers until there are so many."""
        while self._randoms.size < count:
            await self.inputs(np.empty(0, object))

    async def _drawn(self, shares: Shares) -> Shares:
        """Random numbers, opened once every party says that it has all it waited for.

        Otherwise one could send another its shares late, when the share of a third has already told
        it the random numbers by which they are judged. Cost: two steps.
        """
        await self._runtime.transfer(np.empty(0, object))
        return await self._recombined(shares)

    async def _recombined(self, shares: Shares) -> Shares:
        """The numbers, from the shares of all, if they fit together.

        (MPyC's own `output` takes as few shares as will do, so that a false one goes unseen.)
        """
        told: list[Shares] = await self._runtime.transfer(shares % self.prime)
        return recombined(told, shares.size, self._names, self._runtime.threshold, self.prime)

    async def _dealt(self, own: Shares, dealers: Sequence[int]) -> list[Shares]:
        given: list[list[Any]] = await self._runtime.input([self._array(own)], list(dealers))
        return [each[0].value for each in given]

    async def _shared_anew(self, parts: Shares) -> Shares:
        """Shares of products, from what every party has when it multiplies its own shares."""
        found: Shares = (await self._runtime._reshare(self._array(parts))).value
        return found

    def _keys_begun(self) -> list[tuple[Group, Awaitable[Any]]]:
        """Deal the keys of the groups whose first member this party is; what comes for each."""
        begun = []
        for group in groups(self.parties, self._runtime.threshold):
            drawn = random_below(1 << KEY_BITS, KEY_NUMBERS)
            begun.append((group, self._runtime.transfer(drawn, [group[0]], list(group))))
        return begun

    async def _take_key(self, group: Group, coming: Awaitable[Any]) -> None:
        """Take the key of a group, if this party is one of it, and tell the others its digest."""
        told, digest = await coming, np.empty(0, object)
        if told:
            self._keys[group] = key_of(told[0])
            digest = digest_numbers(group, self._keys[group])
        echo = self._runtime.transfer(digest, list(group), list(group))
        if told:
            self._echoes.append((group, echo))

    def _array(self, numbers: Shares) -> Any:
        return self._field.array(numbers)


def random_below(bound: int, count: int) -> Shares:
    """Random numbers of this party alone."""
    drawn = np.empty(count, object)
    drawn[:] = [secrets.randbelow(bound) for _ in range(count)]
    return drawn


def _drawn_bits(count: int) -> Shares:
    """Random bits of this party alone."""
    octets = np.frombuffer(secrets.token_bytes(-(-count // 8)), np.uint8)
    return np.unpackbits(octets)[:count].astype(object)
