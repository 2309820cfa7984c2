"""Masked sums: right for all numbers of parties, random to look at, shut when anything differs."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from session_parties import TRANSCRIPT, Sums, agree, play

from incrowd.errors import FederationError, ParameterError
from incrowd.federation.protocols._masking import MaskedSum, Masker, unmask_sum
from incrowd.federation.protocols.sums import (
    CHECK_SLOTS,
    LARGEST_SUM,
    Contribution,
    checked,
    secure_sum,
    with_checks,
)


@st.composite
def rounds_of_counts(draw: st.DrawFn) -> tuple[list[list[int]], int]:
    parties, size = draw(st.integers(2, 10)), draw(st.integers(0, 20))
    largest = LARGEST_SUM // parties
    count = st.one_of(st.integers(0, 50), st.integers(0, largest), st.just(largest))
    vectors = draw(
        st.lists(st.lists(count, min_size=size, max_size=size), min_size=parties, max_size=parties)
    )
    return vectors, draw(st.integers(0, parties - 1))


@pytest.mark.parametrize("protocol", ["masked", "ring"])
@given(data=rounds_of_counts())
@settings(max_examples=40)
def test_the_sum_is_the_sum(protocol: Sums, data: tuple[list[list[int]], int]) -> None:
    vectors, leader = data
    counts = [np.array(vector, np.int64) for vector in vectors]
    total = play(protocol, len(vectors), leader).run(counts, leader=leader)
    assert total.tolist() == [sum(slot) for slot in zip(*vectors, strict=True)]


@pytest.mark.parametrize("protocol", ["masked", "ring"])
def test_many_rounds_of_one_session_open_one_after_the_other(protocol: Sums) -> None:
    table = play(protocol, 4)
    for number, size in enumerate([3, 0, 70_000, 3], start=1):
        counts = [np.full(size, party, np.int64) for party in range(4)]
        assert table.run(counts, number).tolist() == [6] * size


def test_a_masked_vector_is_spread_evenly_over_all_bytes() -> None:
    masked = Masker(agree(3)[1]).mask(1, TRANSCRIPT, np.zeros(40_000, np.uint64))
    found = np.bincount(np.frombuffer(masked.tobytes(), np.uint8), minlength=256)
    assert chisquare(found).pvalue > 1e-9
    assert len(np.unique(masked)) == masked.size


def test_every_party_sees_other_random_numbers_for_the_same_counts() -> None:
    keys, vector = agree(3), np.arange(100, dtype=np.uint64)
    masked = [Masker(each).mask(1, TRANSCRIPT, vector) for each in keys]
    for first, second in [(0, 1), (0, 2), (1, 2)]:
        assert not np.any(masked[first] == masked[second])
    for each in masked:
        assert not np.any(each == vector)


@pytest.mark.parametrize("what", ["round", "transcript", "length"])
def test_the_same_counts_of_the_same_party_look_different(what: str) -> None:
    """In another round, after other messages, or among more counts: with the very same keys."""
    keys, vector = agree(3)[0], np.arange(100, dtype=np.uint64)
    again = copy.deepcopy(keys)
    first = Masker(keys).mask(1, TRANSCRIPT, vector)
    second = Masker(again).mask(
        2 if what == "round" else 1,
        b"u" * 32 if what == "transcript" else TRANSCRIPT,
        np.arange(101, dtype=np.uint64) if what == "length" else vector,
    )
    assert not np.any(first == second[:100])


def test_a_count_of_one_party_changes_no_message_of_another() -> None:
    keys = agree(3)
    again = copy.deepcopy(keys)
    counts = [np.array([5, 6, 7], np.uint64)] * 3
    other = [np.array([5, 9, 7], np.uint64), *counts[1:]]
    first = [Masker(k).mask(1, TRANSCRIPT, v) for k, v in zip(keys, counts, strict=True)]
    second = [Masker(k).mask(1, TRANSCRIPT, v) for k, v in zip(again, other, strict=True)]
    assert first[1].tolist() == second[1].tolist()
    assert first[2].tolist() == second[2].tolist()
    assert (second[0] - first[0]).tolist() == [0, 3, 0]


def test_masks_are_never_used_twice() -> None:
    masker, vector = Masker(agree(3)[0]), np.zeros(4, np.uint64)
    masker.mask(5, TRANSCRIPT, vector)
    for number in (5, 4, 0):
        with pytest.raises(FederationError, match=f"Round {number} was asked for after round 5"):
            masker.mask(number, b"other transcript".ljust(32), vector)
    masker.mask(6, TRANSCRIPT, vector)


@pytest.mark.parametrize("odd_one", [0, 1, 2])
@pytest.mark.parametrize("what", ["round", "transcript", "session", "length"])
def test_what_one_party_does_differently_is_noticed(what: str, odd_one: int) -> None:
    keys = agree(3)
    if what == "session":  # same roster and names, keys of another session
        keys[odd_one] = agree(3, number=b"m" * 32)[odd_one]
    masked = []
    for place, each in enumerate(keys):
        differs = place == odd_one
        number = 2 if differs and what == "round" else 1
        transcript = b"u" * 32 if differs and what == "transcript" else TRANSCRIPT
        size = 11 if differs and what == "length" else 10
        slots = with_checks(np.arange(size), 3, "x")
        masked.append(Masker(each).mask(number, transcript, slots)[:12])
    with pytest.raises(FederationError, match="does not open"):
        checked(unmask_sum(masked), 3, 1)


def test_rosters_that_differ_share_no_masks() -> None:
    """The same identities and keys, but one party's consortium file says something else."""
    from incrowd.federation.membership.agreed_sessions import AgreedSession
    from incrowd.federation.protocols.key_agreement import PairKeys

    keys = agree(3)
    session = keys[2].session
    other = AgreedSession(session.number, b"q" * 32, session.names, session.identities)
    keys[2] = PairKeys(other, 2, keys[2]._keys)
    masked = [Masker(each).mask(1, TRANSCRIPT, with_checks(np.arange(4), 3, "x")) for each in keys]
    with pytest.raises(FederationError, match="does not open"):
        checked(unmask_sum(masked), 3, 1)


def contributions(
    sides: Sequence[MaskedSum], number: int = 1, transcript: bytes = TRANSCRIPT, size: int = 3
) -> list[Contribution]:
    return [side.contribute(number, transcript, np.ones(size, np.int64)) for side in sides]


def sides_of(parties: int) -> list[MaskedSum]:
    return [MaskedSum(keys, 0) for keys in agree(parties)]


def test_the_leader_names_who_answered_otherwise() -> None:
    sides = sides_of(3)
    good = contributions(sides)
    b = good[1]
    for changed, told in [
        (Contribution(1, 7, b.transcript, b.payload), "'Hospital B' answered for round 7"),
        (Contribution(1, 1, b"u" * 32, b.payload), "'Hospital B' has not seen the same messages"),
        (Contribution(1, 1, TRANSCRIPT, b.payload[:-8]), "'Hospital B' sent 32 bytes where 40"),
        (good[0], "no answer of 'Hospital B'"),
    ]:
        with pytest.raises(FederationError, match=told):
            sides[0].opened(1, TRANSCRIPT, [good[0], changed, good[2]], 3)
    with pytest.raises(FederationError, match="no answer of 'Hospital C'"):
        sides[0].opened(1, TRANSCRIPT, good[:2], 3)
    assert sides[0].opened(1, TRANSCRIPT, good, 3).tolist() == [3, 3, 3]


@pytest.mark.parametrize("slot", range(3 + CHECK_SLOTS))
def test_a_single_changed_number_is_noticed(slot: int) -> None:
    sides = sides_of(3)
    good = contributions(sides)
    payload = bytearray(good[2].payload)
    payload[8 * slot + 6] ^= 1
    good[2] = Contribution(2, 1, TRANSCRIPT, bytes(payload))
    with pytest.raises(FederationError, match="does not open"):
        sides[0].opened(1, TRANSCRIPT, good, 3)


def test_a_party_that_is_left_out_leaves_no_sum_of_the_others() -> None:
    vectors = [Masker(k).mask(1, TRANSCRIPT, with_checks(np.arange(5), 3, "x")) for k in agree(3)]
    with pytest.raises(FederationError, match="does not open"):
        checked(unmask_sum(vectors[:2]), 2, 1)


def test_counts_that_could_overflow_are_refused_without_being_shown() -> None:
    largest = LARGEST_SUM // 3
    assert with_checks(np.array([largest]), 3, "A")[0] == largest
    for bad in (largest + 1, -1):
        with pytest.raises(FederationError, match="'A' has a count below 0 or above") as caught:
            with_checks(np.array([5, bad]), 3, "A")
        assert str(largest + 1) not in str(caught.value)
    with pytest.raises(FederationError, match="'A' has a count"):
        with_checks(np.array([2**64 - 1], np.uint64), 3, "A")


def test_a_sum_beyond_the_bound_shows_that_a_party_cheats() -> None:
    slots = np.array([2**63, 3, 2**63], np.uint64)
    with pytest.raises(FederationError, match="above 2\\^63 - 1"):
        checked(slots, 3, 1)


@pytest.mark.parametrize(
    "counts", [np.array([1.0]), np.array([[1]]), np.array(["1"]), np.array([True])]
)
def test_what_is_not_a_list_of_whole_numbers_is_refused(counts: np.ndarray) -> None:
    with pytest.raises(ParameterError, match="one list of whole numbers"):
        with_checks(counts, 3, "A")


def test_only_the_two_protocols_exist_and_the_leader_takes_part() -> None:
    keys = agree(3)[0]
    with pytest.raises(ParameterError, match="masked or ring"):
        secure_sum(keys, 0, protocol="open")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="one of the 3 parties"):
        secure_sum(keys, 3)
    assert secure_sum(keys, 0).name == "masked"


def test_masked_vectors_of_different_lengths_have_no_sum() -> None:
    with pytest.raises(ParameterError, match="all of one length"):
        unmask_sum([np.zeros(2, np.uint64), np.zeros(3, np.uint64)])
    with pytest.raises(ParameterError, match="one masked vector of each party"):
        unmask_sum([])
    with pytest.raises(ParameterError, match="unsigned 64-bit"):
        Masker(agree(2)[0]).mask(1, TRANSCRIPT, np.zeros(2, np.int64))
