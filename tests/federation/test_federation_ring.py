"""Ring sums: only behind their switch, wave by wave, and closed against changes on the way."""

from __future__ import annotations

import numpy as np
import pytest
from session_parties import TRANSCRIPT, agree, play

from incrowd.errors import FederationError, ParameterError
from incrowd.federation.protocols._ring import RingSum
from incrowd.federation.protocols.sums import Contribution

ONES = np.ones(3, np.int64)


def ring_of(parties: int, leader: int = 0) -> list[RingSum]:
    return [RingSum(keys, leader, neighbours_may_collude=True) for keys in agree(parties)]


def test_the_ring_is_refused_without_its_switch() -> None:
    with pytest.raises(ParameterError, match="two neighbours of a party see its counts together"):
        RingSum(agree(3)[0], 0)


def test_the_ring_starts_at_the_leader_and_goes_round() -> None:
    assert ring_of(4, leader=2)[0].waves == ((2,), (3,), (0,), (1,))


def test_the_same_counts_look_different_every_time() -> None:
    first, second = play("ring", 3), play("ring", 3)
    first.run([ONES] * 3)
    second.run([ONES] * 3)
    assert not set(first.messages.values()) & set(second.messages.values())


@pytest.mark.parametrize("place", [0, 20, -1])
def test_a_changed_running_sum_is_noticed_by_the_next_party(place: int) -> None:
    ring = ring_of(3)
    sealed = bytearray(ring[0].contribute(1, TRANSCRIPT, ONES).payload)
    sealed[place] ^= 1
    with pytest.raises(FederationError, match="'Hospital A' passed on does not open"):
        ring[1].contribute(1, TRANSCRIPT, ONES, bytes(sealed))


@pytest.mark.parametrize("what", ["round", "transcript", "length", "skipped", "nothing"])
def test_a_running_sum_of_something_else_is_not_opened(what: str) -> None:
    ring = ring_of(4)
    sealed = ring[0].contribute(1, TRANSCRIPT, ONES).payload
    number = 2 if what == "round" else 1
    transcript = b"u" * 32 if what == "transcript" else TRANSCRIPT
    counts = np.ones(4, np.int64) if what == "length" else ONES
    with pytest.raises(FederationError, match="does not open"):
        ring[2 if what == "skipped" else 1].contribute(
            number, transcript, counts, b"" if what == "nothing" else sealed
        )


def test_a_party_adds_its_counts_once_in_a_round() -> None:
    ring = ring_of(3)
    sealed = ring[0].contribute(1, TRANSCRIPT, ONES).payload
    ring[1].contribute(1, TRANSCRIPT, ONES, sealed)
    with pytest.raises(FederationError, match="Round 1 was asked for after round 1"):
        ring[1].contribute(1, TRANSCRIPT, ONES, sealed)


def test_only_the_leader_opens_and_only_what_it_began() -> None:
    ring = ring_of(3)
    carried = b""
    for side in ring:
        answer = side.contribute(1, TRANSCRIPT, ONES, carried)
        carried = answer.payload
    with pytest.raises(ParameterError, match="opened by the leader who began it"):
        ring[1].opened(1, TRANSCRIPT, [answer], 3)
    assert ring[0].opened(1, TRANSCRIPT, [answer], 3).tolist() == [3, 3, 3]
    with pytest.raises(ParameterError, match="once"):
        ring[0].opened(1, TRANSCRIPT, [answer], 3)


def test_a_party_that_skips_its_turn_is_noticed() -> None:
    ring = ring_of(3)
    first = ring[0].contribute(1, TRANSCRIPT, ONES)
    second = ring[1].contribute(1, TRANSCRIPT, ONES, first.payload)
    posing = Contribution(2, 1, TRANSCRIPT, second.payload)
    with pytest.raises(FederationError, match="'Hospital C' passed on does not open"):
        ring[0].opened(1, TRANSCRIPT, [posing], 3)


def test_nothing_is_carried_to_who_begins() -> None:
    with pytest.raises(ParameterError, match="who begins the ring"):
        ring_of(3)[0].contribute(1, TRANSCRIPT, ONES, b"x")
