"""A hospital that cheats in the joint computation with what it sees on the way.

It waits for what others send before it chooses what it sends itself, and reads what is opened
before a run stops. Neither turns the bit, and a run that stops tells nothing of the counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from joint_runs import run
from test_federation_cheating import (
    FAILING,
    HOLDING,
    added_to_product,
    cheat,
    crowds,
    product_calls,
    unmoved,
)

from incrowd.federation.protocols._desks import Desk
from incrowd.federation.protocols._proofs import Claim
from incrowd.federation.protocols._recombination import SharesError, weights_at
from incrowd.federation.protocols.crowd_bits import ZeroTest

HEAD = 12
"""The bytes of a message before its numbers."""
PRIME = ZeroTest.of(FAILING[0], 3).prime
WIDTH = (PRIME.bit_length() + 7) // 8


def first_number(data: bytes) -> int | None:
    """The first number of a message; None where it has none."""
    told = data[HEAD : HEAD + WIDTH]
    return int.from_bytes(told, "little") if len(told) == WIDTH else None


def sent_anew(monkeypatch: pytest.MonkeyPatch) -> int:
    """How many times products are shared anew in a run, those of proofs among them."""
    made = []

    async def counts(honest: Any, desk: Desk, parts: Any) -> Any:
        made.append(0)
        return await honest(desk, parts)

    with monkeypatch.context() as patch:
        cheat(patch, 2, "_shared_anew", counts)
        run(FAILING)
    return len(made)


@dataclass
class Waiting:
    """C makes a failed comparison hold, and saves the proof: it sends B its last shares late.

    A has all it waits for, and goes on to open the place at which the proof is judged. With A's
    share and its own C knows that place, and chooses what it sends B so that all comes out there.
    """

    products: int
    """How many times products are shared anew."""
    made: int = 0
    numbers: list[Any] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    told: dict[int, int | None] = field(default_factory=dict)
    held: bytes = b""
    late: bool = False
    shift: int = 0
    at: int = 0

    async def shared_anew(self, honest: Any, desk: Desk, parts: Any) -> Any:
        self.made += 1
        self.late = self.made == self.products
        return await honest(desk, parts)

    async def recombined(self, honest: Any, desk: Desk, shares: Any) -> Any:
        if shares.size == 3 and self.shift:
            shares = shares + np.array([0, 0, self.shift], object)
        found = await honest(desk, shares)
        self.numbers.append(found)
        return found

    def tamper(self, _: int, sender: int, receiver: int, data: bytes) -> bytes:
        if self.late and (sender, receiver) == (2, 1):
            self.late, self.held = False, data
            return b""
        if not self.held:
            return data
        if receiver == 2 or (sender, receiver) == (2, 0):
            self.told[sender] = first_number(data)
        if (sender, receiver) != (2, 1):
            return data
        held, self.held = self.held, b""
        return self.saved(held) + data

    def saved(self, held: bytes) -> bytes:
        """What B is sent, once the place is known; as it was where it is not."""
        one, own = self.told.get(0), self.told.get(2)
        if one is None or own is None:
            return held
        place = (3 * one - own) * pow(2, -1, PRIME) % PRIME
        (weight,) = self.numbers[-1]
        before = sum(each.first.size for each in self.claims[: self.at])
        pieces = sum(each.first.size for each in self.claims) + 1
        weights = weights_at(2 * pieces - 1, place, PRIME)
        off = int(weights[pieces - 1]) * -pow(weight, before + 1, PRIME) % PRIME
        more = off * pow(int(weights[0]), -1, PRIME) % PRIME
        self.shift = 2 * off
        changed = int(((first_number(held) or 0) + more) % PRIME)
        return held[:HEAD] + changed.to_bytes(WIDTH, "little") + held[HEAD + WIDTH :]

    def install(self, patch: pytest.MonkeyPatch, product: int) -> None:
        """Let C do this, with an error in the product of a number."""
        error = added_to_product(product, -1)
        made = []

        async def multiplied(honest: Any, desk: Desk, first: Any, second: Any) -> Any:
            found = await error(honest, desk, first, second)
            made.append(0)
            self.claims = desk._claims
            if len(made) == product:
                self.at = len(desk._claims) - 1
            return found

        cheat(patch, 2, "multiplied", multiplied)
        cheat(patch, 2, "_shared_anew", self.shared_anew)
        cheat(patch, 2, "_recombined", self.recombined)


def test_who_sends_its_shares_late_does_not_save_a_false_product(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    last_but_one = product_calls(monkeypatch) - 1
    late = Waiting(sent_anew(monkeypatch))

    async def at_once(desk: Desk, shares: Any) -> Any:
        return await desk._recombined(shares)

    with monkeypatch.context() as patch:
        patch.setattr(Desk, "_drawn", at_once)
        late.install(patch, last_but_one)
        assert run(FAILING, late.tamper).result is True, "the attack is one"
    late = Waiting(late.products)
    late.install(monkeypatch, last_but_one)
    with unmoved():
        run(FAILING, late.tamper)
    assert late.made == late.products
    assert not late.shift, "the place was not known when it was needed"


# What a run that stops tells


def brings(more: int) -> Any:
    """Adds a number to the first one that a hospital brings: of a crowd's size, the lowest part."""
    seen: list[int] = []

    async def inputs(honest: Any, desk: Desk, own: Any) -> Any:
        if own.size and not seen:
            seen.append(0)
            own = own.copy()
            own[0] = (own[0] + more) % desk.prime
        return await honest(desk, own)

    return inputs


@pytest.mark.parametrize("more", [5, 11, 12, 128, -3])
def test_whether_a_run_stops_does_not_hang_on_the_counts_of_others(
    monkeypatch: pytest.MonkeyPatch, more: int
) -> None:
    """A size of 11 is none, but 11 + 2 is in the range that is compared, and 11 + 3 is not."""
    stopped = []
    for count in (0, 1, 2, 3):
        with monkeypatch.context() as patch:
            cheat(patch, 2, "inputs", brings(more))
            try:
                run([crowds([count]), crowds([1]), crowds([0])])
                stopped.append(False)
            except SharesError:
                stopped.append(True)
    assert len(set(stopped)) == 1


@pytest.mark.parametrize("error", [1, -1, 12345])
def test_what_a_failed_proof_opens_does_not_hang_on_the_counts_of_others(
    monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    """C shifts a comparison, and reads off by how much the proof fails whether it held before."""
    wrong = []
    which = product_calls(monkeypatch) - 1
    for drawn in (FAILING, HOLDING):
        opened: list[Any] = []

        async def recombined(honest: Any, desk: Desk, shares: Any, opened: Any = opened) -> Any:
            opened.append(await honest(desk, shares))
            return opened[-1]

        with monkeypatch.context() as patch:
            cheat(patch, 2, "multiplied", added_to_product(which, error))
            cheat(patch, 0, "_recombined", recombined)  # all are told the same, C too
            with unmoved():
                run(drawn)
        wrong.append(errors_of_one(opened, error))
    assert wrong[0] == wrong[1] != []


def errors_of_one(opened: list[Any], error: int) -> list[tuple[int, int]]:
    """With how many claims a single false one, at which place, would explain what was opened."""
    (weight,), (place, *_), (one, other, product) = opened[-3:]
    found = []
    for claims in range(2, 60):
        weights = weights_at(2 * claims + 1, place, PRIME)
        total = (product - one * other) * pow(int(weights[claims]), -1, PRIME) % PRIME
        powers = [pow(weight, at + 1, PRIME) * error % PRIME for at in range(claims)]
        found += [(claims, at) for at, power in enumerate(powers) if power == total]
    return found


@pytest.mark.parametrize("which", [1, 3, 4])
def test_products_of_shares_on_no_one_polynomial_are_not_opened(
    monkeypatch: pytest.MonkeyPatch, which: int
) -> None:
    """Among four, A deals B a share that does not fit: a product is shifted by what B's share is.

    By how much a proof fails would then tell A that share, and with its own the number.
    """
    opened: list[int] = []
    seen: list[int] = []

    async def notes(honest: Any, desk: Desk, shares: Any) -> Any:
        opened.append(shares.size)
        return await honest(desk, shares)

    def tamper(_: int, sender: int, receiver: int, data: bytes) -> bytes:
        if (sender, receiver) != (0, 1) or len(data) <= HEAD:
            return data
        seen.append(len(data))
        changed = bytes([data[HEAD] ^ 1])
        return data[:HEAD] + changed + data[HEAD + 1 :] if len(seen) == which else data

    cheat(monkeypatch, 2, "_recombined", notes)
    with unmoved():
        run([*HOLDING, crowds([0, 3])], tamper)
    assert opened
    assert 3 not in opened, "what is left of the products was not opened"
