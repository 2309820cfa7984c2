"""A hospital that does not follow the joint computation stops it, and has no other bit opened.

One hospital runs other code than the rest, in a minority; what it changes is found out before
anything that hangs on it is opened.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from joint_runs import judge, run

from incrowd.errors import FederationError
from incrowd.federation.protocols._covers import covers, groups, groups_of
from incrowd.federation.protocols._desks import Desk
from incrowd.federation.protocols._proofs import Claim, prove, randoms_for
from incrowd.federation.protocols._recombination import SharesError, recombined, weights_at
from incrowd.federation.protocols.crowd_bits import CrowdCounts
from incrowd.federation.protocols.secret_shares import PRIMES

PRIME = PRIMES[0]
Deed = Callable[..., Awaitable[Any]]
"""What a cheat does in the place of a method of `Desk`: deed(honest, desk, ...)."""


def crowds(sizes: list[int], *, K: int = 4, C: float = 1.0, without: int = 0) -> CrowdCounts:
    return CrowdCounts(np.array(sizes), np.zeros((1, len(sizes)), np.int64), K, C, without)


FAILING = [crowds([1, 9]), crowds([1, 9]), crowds([1, 9])]
"""Together three records in the first crowd, where four are needed."""
HOLDING = [crowds([2, 9]), crowds([1, 9]), crowds([1, 9])]


def cheat(monkeypatch: pytest.MonkeyPatch, place: int, method: str, deed: Deed) -> None:
    """Let one party do something else in a method of its desk."""
    honest = getattr(Desk, method)

    def acted(desk: Desk, *args: Any) -> Any:
        if desk._runtime.pid == place:
            return deed(honest, desk, *args)
        return honest(desk, *args)

    monkeypatch.setattr(Desk, method, acted)


def unmoved() -> Any:
    return pytest.raises(
        SharesError, match=r"fit together|different keys|The joint computation is false"
    )


# False shares


def test_numbers_are_taken_only_from_shares_that_fit_together() -> None:
    rng = np.random.default_rng(1)
    for parties, degree in ((3, 1), (4, 1), (5, 2), (7, 3)):
        names = [str(place) for place in range(parties)]
        powers = [[pow(place, d, PRIME) for d in range(degree + 1)] for place in range(1, 8)]
        secret = rng.integers(0, 2**60, (degree + 1, 6)).astype(object)
        shares = [np.array(powers[place], object) @ secret % PRIME for place in range(parties)]
        assert (recombined(shares, 6, names, degree, PRIME) == secret[0]).all()
        for place in range(parties):
            false = list(shares)
            false[place] = shares[place].copy()
            false[place][5] += 1
            with pytest.raises(SharesError, match="do not fit together"):
                recombined(false, 6, names, degree, PRIME)
        with pytest.raises(SharesError, match="'1' sent more or fewer shares"):
            recombined([shares[0], shares[1][:5], *shares[2:]], 6, names, degree, PRIME)


def test_weights_are_those_of_lagrange() -> None:
    values = np.array([pow(place, 3, PRIME) + 5 for place in range(1, 7)], object)
    for at in (0, 1, 4, 6, 9, 12345):
        assert weights_at(6, at, PRIME) @ values % PRIME == at**3 + 5


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_false_share_of_what_is_opened_is_found_out(
    monkeypatch: pytest.MonkeyPatch, place: int
) -> None:
    """Also that of the last number, where any other one would turn yes into no."""

    async def adds(honest: Any, desk: Desk, shares: np.ndarray) -> Any:
        return await honest(desk, shares + (1 if shares.size == 1 else 0))

    cheat(monkeypatch, place, "_recombined", adds)
    with unmoved():
        run(HOLDING)


def test_different_shares_for_different_hospitals_are_found_out() -> None:
    """The last box has one share in it; C sends B another one than A."""
    steps = run(HOLDING).steps

    def tamper(step: int, sender: int, receiver: int, data: bytes) -> bytes:
        last = (step, sender, receiver) == (steps - 1, 2, 1)
        return data[:-1] + bytes([data[-1] ^ 1]) if last else data

    with unmoved():
        run(HOLDING, tamper)


@pytest.mark.parametrize("which", [1, 2, 3, 4, 6, 7, 9, 11, 15])
def test_shares_that_are_dealt_on_no_one_polynomial_are_found_out(which: int) -> None:
    """Among four hospitals three honest ones could hold shares of no number at all."""
    four = [*HOLDING, crowds([0, 3])]
    seen = []

    def tamper(_: int, sender: int, receiver: int, data: bytes) -> bytes:
        if (sender, receiver) != (0, 1) or len(data) < 13:
            return data
        seen.append(len(data))
        if len(seen) != which:
            return data
        return data[:12] + bytes([data[12] ^ 1]) + data[13:]

    with unmoved():
        run(four, tamper)
    assert len(seen) >= which


# False products and bits


def product_calls(monkeypatch: pytest.MonkeyPatch) -> int:
    """How many times products are made in a run."""
    made = []

    async def counts(honest: Any, desk: Desk, *args: Any) -> Any:
        made.append(0)
        return await honest(desk, *args)

    with monkeypatch.context() as patch:
        cheat(patch, 2, "multiplied", counts)
        assert not run(FAILING).result
    return len(made)


def added_to_product(which: int, error: int) -> Deed:
    """Adds a number to the first of some products, by what is shared anew of it."""
    seen = []

    async def multiplied(honest: Any, desk: Desk, first: Any, second: Any) -> Any:
        seen.append(0)
        if len(seen) != which or not first.size:
            return await honest(desk, first, second)
        part = first * second % desk.prime
        part[0] += error
        product = await desk._shared_anew(part % desk.prime)
        desk._claims.append(Claim(first % desk.prime, second % desk.prime, product))
        return product

    return multiplied


def test_an_error_in_a_product_would_turn_the_bit_and_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last comparison that failed is made to hold. Without proofs nobody would see it."""
    last_but_one = product_calls(monkeypatch) - 1
    assert judge(FAILING) is False

    async def believes(*_: Any) -> None:
        pass

    with monkeypatch.context() as patch:
        patch.setattr("incrowd.federation.protocols._desks.prove", believes)
        cheat(patch, 2, "multiplied", added_to_product(last_but_one, -1))
        assert run(FAILING).result is True, "the attack is one"
    cheat(monkeypatch, 2, "multiplied", added_to_product(last_but_one, -1))
    with unmoved():
        run(FAILING)


@pytest.mark.parametrize("which", range(1, 7))
def test_an_error_in_any_product_is_found_out(monkeypatch: pytest.MonkeyPatch, which: int) -> None:
    assert product_calls(monkeypatch) == 6
    cheat(monkeypatch, 2, "multiplied", added_to_product(which, 12345))
    with unmoved():
        run(HOLDING)


def masked_openings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of what is opened, as it is opened."""
    sizes: list[int] = []

    async def notes(honest: Any, desk: Desk, shares: Any) -> Any:
        sizes.append(shares.size)
        return await honest(desk, shares)

    cheat(monkeypatch, 2, "_recombined", notes)
    return sizes


FOUR = [crowds([2, 9, 9, 9]), crowds([1, 9, 9, 9]), crowds([1, 9, 9, 9])]


@pytest.mark.parametrize(("at", "number"), [(0, 0), (0, 3), (-1, 2), (-1, 2**55)])
def test_dealt_bits_that_are_none_are_found_out_before_anything_is_hidden_by_them(
    monkeypatch: pytest.MonkeyPatch, at: int, number: int
) -> None:
    """With a sign of 0 the dealer would know the bit, and read a number off what is opened."""

    async def deals(honest: Any, desk: Desk, own: Any, dealers: Any) -> Any:
        if len(list(dealers)) < desk.parties:
            own = own.copy()
            own[at] = number
        return await honest(desk, own, dealers)

    opened = masked_openings(monkeypatch)
    cheat(monkeypatch, 0, "_dealt", deals)
    with unmoved():
        run(FOUR)
    assert 4 not in opened, "the four hidden numbers were not opened"


def test_what_is_hidden_is_opened_where_all_bits_are_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = masked_openings(monkeypatch)
    assert run(FOUR).result
    assert 4 in opened


@pytest.mark.parametrize("number", [2**40, -3, PRIME // 2])
def test_counts_that_are_none_do_not_make_up_for_a_crowd_that_is_too_small(
    monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Without A, B and C have three records in a crowd; A cannot outweigh that."""
    drawn = [crowds([9, 9], without=1), crowds([1, 9], without=1), crowds([2, 9], without=1)]
    assert not run(drawn).result

    async def brings(honest: Any, desk: Desk, own: Any) -> Any:
        if own.size:
            own = own.copy()
            own[1] = number % desk.prime
        return await honest(desk, own)

    cheat(monkeypatch, 0, "inputs", brings)
    try:
        assert not run(drawn).result
    except FederationError as error:
        assert isinstance(error, SharesError)  # noqa: PT017 - either is right, yes is not


# Covers


@pytest.mark.parametrize(("parties", "threshold"), [(3, 1), (4, 1), (5, 2)])
def test_covers_are_below_their_bound_and_hidden_from_those_who_may_pool(
    parties: int, threshold: int
) -> None:
    """Every coalition of so many lacks just one key."""
    all_keys = {group: secrets.token_bytes(32) for group in groups(parties, threshold)}
    names = [str(place) for place in range(parties)]

    def shares(number: int) -> list[Any]:
        return [
            covers(own_keys(place), place, parties, 50, number, 40, PRIMES[1])
            for place in range(parties)
        ]

    def own_keys(place: int) -> dict[Any, bytes]:
        return {group: key for group, key in all_keys.items() if place in group}

    first, second = (recombined(shares(n), 40, names, threshold, PRIMES[1]) for n in (1, 2))
    assert max(first) < groups_of(parties, threshold) << 50
    assert min(first) > 2**30
    assert not set(first) & set(second)
    for coalition in combinations(range(parties), threshold):
        known = {group for place in coalition for group in own_keys(place)}
        assert len(all_keys.keys() - known) == 1


def test_different_keys_for_different_hospitals_are_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A dealer could make covers that are no numbers at all, among four hospitals or more."""

    async def gets(honest: Any, desk: Desk, group: Any, coming: Any) -> None:
        async def other() -> Any:
            told = await coming
            return [told[0] + 1] if told and group[0] == 0 else told

        await honest(desk, group, other())

    cheat(monkeypatch, 1, "_take_key", gets)
    with pytest.raises(SharesError, match="hold different keys, which 'Hospital A' dealt"):
        run([*HOLDING, crowds([0, 3])])


# The proof itself


async def plain(numbers: Any) -> Any:
    """One party, whose shares are the numbers themselves."""
    return numbers % PRIME


def proved(claims: list[Claim], multiply: Any = plain) -> None:
    rng = np.random.default_rng(7)
    count = randoms_for(sum(each.first.size for each in claims))
    randoms = rng.integers(1, 2**60, count).astype(object)
    asyncio.run(prove(claims, randoms, multiply, plain, plain, PRIME))


def claims_of(count: int) -> list[Claim]:
    rng = np.random.default_rng(count)
    first, second = rng.integers(0, 2**60, (2, count)).astype(object)
    return [Claim(first, second, first * second % PRIME), Claim(*[np.array([1, 0], object)] * 3)]


@pytest.mark.parametrize("count", [1, 2, 62, 63, 64, 300, 5000])
def test_true_claims_are_proved_and_a_single_false_one_is_not(count: int) -> None:
    claims = claims_of(count)
    proved(claims)
    for part in ("first", "second", "product"):
        for at in (0, count // 2, count - 1):
            numbers = getattr(claims[0], part)
            before, numbers[at] = numbers[at], (numbers[at] + 1) % PRIME
            with pytest.raises(SharesError, match="The joint computation is false"):
                proved(claims)
            numbers[at] = before
    proved(claims)


@pytest.mark.parametrize("which", range(3))
def test_a_false_claim_is_not_saved_by_false_products_in_the_proof(which: int) -> None:
    """The cheat shifts the products of one cut so that the sum comes out as it was claimed."""
    claims = claims_of(5000)
    claims[0].product[3] += 1
    made = []

    async def multiply(numbers: Any) -> Any:
        made.append(0)
        if len(made) == which + 1:
            numbers = numbers.copy()
            numbers[0] += 1
        return numbers % PRIME

    with pytest.raises(SharesError, match="The joint computation is false"):
        proved(claims, multiply)
    assert len(made) == 3


def test_few_numbers_are_opened_and_they_differ_from_run_to_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The last claim is hidden by random numbers: two of three are random, the third follows."""
    seen: list[list[int]] = []
    honest = Desk._recombined

    async def opened(desk: Desk, shares: Any) -> Any:
        numbers = await honest(desk, shares)
        if desk._runtime.pid == 0 and shares.size == 3:
            seen.append(numbers.tolist())
        return numbers

    monkeypatch.setattr(Desk, "_recombined", opened)
    for _ in range(3):
        run(HOLDING)
    assert len(seen) == 6, "two proofs in each run"
    numbers = [number for one, other, _ in seen for number in (one, other)]
    assert len(set(numbers)) == 12
    assert min(numbers) > 2**30
