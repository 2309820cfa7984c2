"""One bit about all crowds: right against a plain judge, and nothing else to be seen."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joint_runs import draw, judge, run
from scipy.stats import chisquare

from incrowd.errors import FederationError, ParameterError
from incrowd.federation.protocols._comparisons import STATISTICAL, bits_for, prime_for
from incrowd.federation.protocols._covers import groups_of
from incrowd.federation.protocols._desks import Desk
from incrowd.federation.protocols._mpyc_adapters import Codec, Dice
from incrowd.federation.protocols.crowd_bits import (
    MOST,
    CrowdCounts,
    ZeroTest,
    _neighbours,
    share_as_fraction,
)
from incrowd.federation.protocols.secret_shares import PRIMES, _library, need_sharing, threshold_of

ROW = np.zeros((1, 1), np.int64)
DECIMALS = st.integers(1, 6).flatmap(
    lambda digits: st.integers(0, 10**digits).map(lambda part: part / 10**digits)
)


def crowds(sizes: list[int], held: list[int], K: int, C: float, **more: int) -> CrowdCounts:
    return CrowdCounts(np.array(sizes, np.int64), np.array([held], np.int64), K, C, **more)


# The bit


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(3, 5))
def test_the_bit_is_that_of_a_judge_who_sees_all_counts(seed: int, many: int) -> None:
    drawn = draw(seed, many)
    assert run(drawn).result == judge(drawn)


def test_random_crowds_hold_and_fail_often_enough_to_show_something() -> None:
    found = [judge(draw(seed, 3 + seed % 3)) for seed in range(200)]
    assert 60 < sum(found) < 140


@pytest.mark.parametrize(
    ("sizes", "holds"),
    [([1, 1, 1], True), ([1, 1, 0], False), ([0, 0, 0], True), ([3, 0, 0], True)],
)
def test_a_crowd_is_empty_or_has_enough_records(sizes: list[int], holds: bool) -> None:
    drawn = [crowds([size, 9], [0, 0], K=3, C=0.5) for size in sizes]
    assert run(drawn).result is holds


@pytest.mark.parametrize(("held", "holds"), [([1, 1, 0], True), ([1, 1, 1], False)])
def test_a_protected_value_has_at_most_its_share(held: list[int], holds: bool) -> None:
    """Ten records, of which C = 0.2 allows two."""
    drawn = [crowds([size], [part], K=2, C=0.2) for size, part in zip([4, 3, 3], held, strict=True)]
    assert run(drawn).result is holds


def test_without_one_hospital_asks_more_than_with_all() -> None:
    """Four of six records are of A: who is A sees a crowd of two."""
    sizes = [4, 1, 1]
    for without, holds in ((0, True), (1, False)):
        drawn = [crowds([size], [0], K=3, C=1.0, without=without) for size in sizes]
        assert run(drawn).result is judge(drawn) is holds


def test_a_crowd_that_a_coalition_empties_is_no_harm_but_a_smaller_coalition_counts() -> None:
    """Without B and C the crowd is empty; without B alone, one record is left."""
    drawn = [crowds([size], [0], K=2, C=1.0, without=2) for size in (0, 3, 1)]
    assert not run(drawn).result
    drawn = [crowds([size], [0], K=2, C=1.0, without=2) for size in (0, 3, 3)]
    assert run(drawn).result


def test_many_crowds_are_compared_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    from incrowd.federation.protocols import crowd_bits as module

    whole = run([crowds([5] * 7, [1] * 7, K=4, C=0.5) for _ in range(3)])
    monkeypatch.setattr(module, "_BITS_AT_ONCE", 100)
    for last, holds in ((5, True), (1, False)):
        parts = run([crowds([5] * 6 + [last], [1] * 6 + [0], K=4, C=0.5) for _ in range(3)])
        assert parts.result is holds
        assert parts.steps > 3 * whole.steps


def test_the_largest_counts_and_the_oddest_share_fit() -> None:
    odd = 0.123456789
    sizes = [MOST // 2, MOST // 4, MOST // 4]
    limit = int((odd + 1e-9) * MOST)
    for extra, holds in ((0, True), (1, False)):
        held = [limit // 3, limit // 3, limit - 2 * (limit // 3) + extra]
        drawn = [crowds([a], [b], K=1000, C=odd) for a, b in zip(sizes, held, strict=True)]
        assert run(drawn).result is judge(drawn) is holds
    full = [crowds([MOST], [held], K=1000, C=odd) for held in (0, 0, MOST)]
    assert run(full).result is judge(full) is False


# The share as a fraction


@settings(max_examples=500)
@given(
    st.one_of(DECIMALS, st.floats(0, 1), st.integers(1, 999).map(lambda part: 1 / part)),
    st.integers(1, MOST),
    st.integers(-2, 2),
)
def test_the_fraction_judges_as_floating_point_does(C: float, size: int, near: int) -> None:
    share = share_as_fraction(C)
    held = min(size, max(0, round((C + 1e-9) * size) + near))
    assert (held * share.denominator <= share.numerator * size) == (held <= (C + 1e-9) * size)


@settings(max_examples=200)
@given(st.fractions(0, 1, max_denominator=5000), st.integers(1, 40))
def test_neighbours_are_the_nearest_of_all_fractions(exact: Fraction, largest: int) -> None:
    all_of_them = {Fraction(p, q) for q in range(1, largest + 1) for p in range(q + 2)}
    below, above = _neighbours(exact, largest)
    assert below == max(each for each in all_of_them if each <= exact)
    if exact < 1:
        assert above == min(each for each in all_of_them if each > exact)


def test_numbers_get_as_many_bits_as_they_need_and_no_more() -> None:
    for low, high in ((-4, 3), (-5, 3), (-1, 0), (-100, 2400), (0, 7)):
        half = 1 << bits_for(low, high) - 1
        assert -half <= low
        assert high < half
    assert bits_for(-100, 2400) == 13
    few = ZeroTest.of(crowds([5], [1], K=20, C=0.2, most=10_000), 3)
    many = ZeroTest.of(crowds([5], [1], K=20, C=0.2), 3)
    assert few.share_bits < many.share_bits < 30
    for parties in (3, 10, 13):
        for bits in range(2, 60):
            most = groups_of(parties, threshold_of(parties)) << STATISTICAL + bits - 1
            assert prime_for(bits, parties) > most + (1 << bits + 1)
    with pytest.raises(ParameterError, match="too large to be compared"):
        prime_for(90, 3)


# What can be seen


def spread(data: bytes, prime: int) -> float:
    """How likely the lower bytes of uniformly random numbers below a prime are like these."""
    width = (prime.bit_length() + 7) // 8
    numbers = np.frombuffer(bytes(data)[: len(data) // width * width], np.uint8)
    octets = numbers.reshape(-1, width)[:, : width - 2].ravel()
    return float(chisquare(np.bincount(octets, minlength=256)).pvalue)


def shares_received(sizes: int, held: int) -> tuple[bytearray, int]:
    """All numbers that the first party gets, without the 12 bytes that label each message."""
    drawn = [crowds([sizes] * 60, [held] * 60, K=2, C=0.5) for _ in range(3)]
    prime = ZeroTest.of(drawn[0], 3).prime
    numbers = bytearray()

    def keep(_: int, __: int, receiver: int, data: bytes) -> bytes:
        at = 0
        while receiver == 0 and at < len(data):
            size = int.from_bytes(data[at + 8 : at + 12], "little")
            numbers.extend(data[at + 12 : at + 12 + size])
            at += 12 + size
        return data

    assert run(drawn, keep).result is (held <= sizes / 2)
    return numbers, prime


@pytest.mark.parametrize(("sizes", "held"), [(0, 0), (1000, 0), (1000, 999)])
def test_what_a_party_receives_is_spread_evenly_whatever_the_counts(sizes: int, held: int) -> None:
    """Shares of inputs, of products and of what is opened: nothing of them is like a count."""
    numbers, prime = shares_received(sizes, held)
    assert len(numbers) > 100_000
    assert spread(bytes(numbers), prime) > 1e-9


def opened_numbers(monkeypatch: pytest.MonkeyPatch, last: int) -> list[np.ndarray]:
    """All that is opened, in the clear, in a run whose last crowd has so many records."""
    found = []
    honest = Desk.opened

    async def opened(desk: Desk, shares: np.ndarray) -> np.ndarray:
        numbers = await honest(desk, shares)
        found.append(numbers)
        return numbers

    with monkeypatch.context() as patch:
        patch.setattr(Desk, "opened", opened)
        run([crowds([7, 7, last], [1, 1, 0], K=4, C=0.5) for _ in range(3)])
    return found[:: len(found) // 2]  # those of one of the three parties


def test_opened_are_masked_numbers_and_one_that_is_zero_or_random(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    masked, held = opened_numbers(monkeypatch, 7)
    assert masked.size == 6
    assert held.tolist() == [0]
    failing = [opened_numbers(monkeypatch, 1) for _ in range(4)]
    last = [each[1][0] for each in failing]
    assert len(set(last)) == 4, "how many failed would be the same number every time"
    assert min(last) > 2**40
    first = np.concatenate([each[0] for each in failing])
    assert len(set(first.tolist())) == first.size
    assert min(first) > 2 ** (STATISTICAL // 2)


def test_no_pickle_is_written_or_read(monkeypatch: pytest.MonkeyPatch) -> None:
    library = _library()

    def refuse(*_: object) -> None:
        raise AssertionError("a pickle")

    assert library.pickle is pickle
    monkeypatch.setattr(pickle, "loads", refuse)
    monkeypatch.setattr(pickle, "dumps", refuse)
    assert run([crowds([5], [1], K=4, C=0.5) for _ in range(3)]).result
    assert library.pickle is pickle


# Faults


@pytest.mark.parametrize(
    "garbage",
    [
        lambda data: b"garbage" + data,
        lambda data: data[:-1],
        lambda data: data + data,
        lambda data: data + b"x",
    ],
)
def test_bytes_that_are_no_message_are_blamed_on_their_sender(
    garbage: Callable[[bytes], bytes],
) -> None:
    def tamper(step: int, sender: int, receiver: int, data: bytes) -> bytes:
        return garbage(data) if (step, sender, receiver) == (4, 2, 1) else data

    drawn = [crowds([5], [1], K=4, C=0.5) for _ in range(3)]
    with pytest.raises(FederationError, match="'Hospital C' sent what is no message"):
        run(drawn, tamper)


@pytest.mark.parametrize("numbers", [b"", b"x", b"\xff" * 12, bytes(24)])
def test_numbers_that_do_not_fit_stop_the_computation(numbers: bytes) -> None:
    def tamper(step: int, sender: int, receiver: int, data: bytes) -> bytes:
        if (step, sender, receiver) != (1, 2, 1):
            return data
        return data[:8] + len(numbers).to_bytes(4, "little") + numbers

    drawn = [crowds([5], [1], K=4, C=0.5) for _ in range(3)]
    with pytest.raises(FederationError, match="sent numbers that do not fit"):
        run(drawn, tamper)


def test_two_hospitals_and_very_many_are_refused() -> None:
    with pytest.raises(ParameterError, match="among 3 or more hospitals, got 2"):
        threshold_of(2)
    with pytest.raises(ParameterError, match="among 13 hospitals at most, got 14"):
        threshold_of(14)
    with pytest.raises(ParameterError, match="among 3 or more"):
        run([crowds([5], [1], K=4, C=0.5) for _ in range(2)])


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        (lambda: CrowdCounts(np.array([-1]), ROW, 2, 0.5), FederationError, "fewer than 0"),
        (
            lambda: CrowdCounts(np.array([11]), ROW, 2, 0.5, most=10),
            FederationError,
            "more than 10 rec",
        ),
        (
            lambda: CrowdCounts(np.array([0]), ROW + 1, 2, 0.5),
            FederationError,
            "more than there are",
        ),
        (
            lambda: CrowdCounts(np.array([1]), ROW - 1, 2, 0.5),
            FederationError,
            "Fewer than 0 records",
        ),
        (lambda: CrowdCounts(np.array([1, 2]), ROW, 2, 0.5), ParameterError, "of that length"),
        (lambda: CrowdCounts(np.array([1.5]), ROW, 2, 0.5), ParameterError, "whole numbers"),
        (lambda: CrowdCounts(np.array([1]), ROW, 0, 0.5), ParameterError, "K and the most"),
        (lambda: CrowdCounts(np.array([1]), ROW, 2, 1.5), ParameterError, "C from 0 to 1"),
        (lambda: CrowdCounts(np.array([1]), ROW, 2, 0.5, without=-1), ParameterError, "left out"),
    ],
)
def test_counts_that_cannot_be_are_refused_where_they_are_made(
    wrong: Callable[[], object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        wrong()


# Stand-ins


def test_numbers_are_written_in_a_fixed_width_and_nothing_else_is_read() -> None:
    codec = Codec(PRIMES[1])
    numbers = np.array([0, 1, PRIMES[1] - 1], object)
    assert codec.loads(codec.dumps(numbers)).tolist() == numbers.tolist()
    for wrong in (pickle.dumps([1, 2]), b"x", (PRIMES[1]).to_bytes(12, "little")):
        with pytest.raises(ValueError, match="number"):
            codec.loads(wrong)


@pytest.mark.parametrize("bound", [2, 7, 256, PRIMES[0], PRIMES[1]])
def test_dice_are_even(bound: int) -> None:
    dice = Dice()
    drawn = [dice.randbelow(bound) for _ in range(20_000)]
    assert 0 <= min(drawn) <= max(drawn) < bound
    faces = min(bound, 7)
    found = np.bincount([number * faces // bound for number in drawn], minlength=faces)
    expected = [
        -(-(face + 1) * bound // faces) - -(-face * bound // faces) for face in range(faces)
    ]
    assert chisquare(found, np.array(expected, float) / bound * 20_000).pvalue > 1e-9


def test_the_library_reads_no_command_line_and_leaves_logging_alone() -> None:
    """MPyC would start two more processes here, or print its help and exit."""
    script = (
        "import sys; sys.argv = ['x', '-M3', '-H', '--index', 'garbage']\n"
        "import asyncio, logging, os\n"
        "from incrowd.federation.protocols import secret_shares as sharing\n"
        "assert 'mpyc' not in sys.modules\n"
        "sharing._library()\n"
        "print(sys.argv[1:], logging.root.handlers, os.environ.get('READTHEDOCS'))\n"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stdout == "['-M3', '-H', '--index', 'garbage'] [] None\n", found.stderr
    assert found.stderr == ""
    assert need_sharing() >= "0.11"


@pytest.mark.parametrize("found", [None, "0.10", "0.9.1"])
def test_a_library_that_is_missing_or_too_old_is_named_with_the_remedy(
    found: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib.metadata import PackageNotFoundError

    from incrowd.errors import InputError
    from incrowd.federation.protocols import secret_shares as sharing

    def version(_: str) -> str:
        if found is None:
            raise PackageNotFoundError
        return found

    monkeypatch.setattr(sharing, "version", version)
    with pytest.raises(InputError, match=r'mpyc 0.11 or later: pip install "incrowd\[federation-b'):
        need_sharing()
