"""One answer for each request, bound to it, and none that contradicts what a hospital put in."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from federation_actors import kits
from sessions_without_lines import Hospitals

from incrowd.errors import FederationError
from incrowd.federation.protocols import witnesses
from incrowd.federation.protocols.marks import hidden_marks, marks_to_wire
from incrowd.federation.protocols.sums import LARGEST_SUM, Contribution, to_wire
from incrowd.federation.session.session import DisagreementError

COUNTS = {"A": [3, 0, 1], "B": [2, 0, 7], "C": [1, 0, 4]}
OBJECTS = {"A": [0, 0], "B": [0, 1], "C": [0, 0]}
"""B objects to the second of two."""


def own(name: str, asked: dict[str, Any]) -> np.ndarray:
    return np.array((OBJECTS if "opens" in asked else COUNTS)[name])


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {sums: kits(tmp_path_factory.mktemp(sums), sums=sums) for sums in ("masked", "ring")}


@pytest.fixture
def masked(folders: dict[str, Path]) -> Hospitals:
    hospitals = Hospitals(folders["masked"], own)
    hospitals.agree()
    return hospitals


@pytest.fixture
def ring(folders: dict[str, Path]) -> Hospitals:
    hospitals = Hospitals(folders["ring"], own)
    hospitals.agree()
    return hospitals


def refused(told: str) -> Any:
    return pytest.raises(FederationError, match=f"The run was stopped: the leader A {told}")


def sums(*counts: int) -> bytes:
    return to_wire(np.array(counts, np.uint64))


# One answer for each request


def test_an_answer_to_each_request_goes_well(masked: Hospitals) -> None:
    answer = masked.answered(masked.ask({"ask": 1}, "sum"))
    answer = masked.answered(masked.ask({"ask": 2}, "any", answer))
    masked.ask({"ask": 3}, "sum", answer)
    told = [("sum", sums(6, 0, 12)), ("any", marks_to_wire(np.array([False, True])))]
    assert masked.heard == {"A": [], "B": told, "C": told}


def test_an_answer_is_not_told_again_as_that_to_the_next(masked: Hospitals) -> None:
    """Were it, `no objection` to one specialization would be taken for that to another."""
    answer = masked.answered(masked.ask({"ask": 1}, "sum"))
    with refused("sent 'sum' where it was not due"):
        masked.tell(answer, wave=[])
    assert masked.heard["B"] == []
    masked.ask({"ask": 2}, "sum", answer)
    with refused("does not show what A sent for sum 2"):
        masked.ask({"ask": 3}, "sum", answer)
    assert len(masked.heard["B"]) == 1


def test_no_request_before_the_answer_to_the_last_one(masked: Hospitals) -> None:
    masked.ask({"ask": 1}, "sum")
    with refused("has not told the answer to request 1"):
        masked.ask({"ask": 2}, "sum")


def test_no_two_answers_in_one_message(masked: Hospitals) -> None:
    answer = masked.answered(masked.ask({"ask": 1}, "sum"))
    with refused("sent 'any' where it was not due"):
        masked.ask({"ask": 2}, "sum", {**answer, "any": b"\x00"})


def test_no_answer_of_another_kind(masked: Hospitals) -> None:
    masked.ask({"ask": 1}, "any")
    with refused("told 'sum' where 'any' was to be opened"):
        masked.ask({"ask": 2}, "sum", {"sum": sums(9, 9)})


def test_no_answer_before_anything_was_asked(masked: Hospitals) -> None:
    with refused("sent 'sum' where it was not due"):
        masked.ask({"ask": 1}, "sum", {"sum": sums(6, 0, 12)})


def test_no_second_wave_of_masked_sums(masked: Hospitals) -> None:
    masked.ask({"ask": 1}, "sum")
    with refused("asks for answers to request 1 out of their order"):
        masked.tell({"carried": b""}, wave=[0, 1, 2])


def test_nobody_is_left_out_of_a_wave(masked: Hospitals) -> None:
    data = masked.request({"ask": 1}, "sum")
    with refused("asks for answers to request 1 out of their order"):
        masked.tell({"request": data}, wave=[0, 1])


def test_no_waves_of_a_ring_out_of_their_order(ring: Hospitals) -> None:
    data = ring.request({"ask": 1}, "sum")
    ring.tell({"request": data}, wave=[0])
    with refused("asks for answers to request 1 out of their order"):
        ring.tell({"carried": bytes(56)}, wave=[2])


def test_no_answer_in_the_middle_of_a_ring(ring: Hospitals) -> None:
    data = ring.request({"ask": 1}, "sum")
    ring.tell({"request": data}, wave=[0])
    with refused("told an answer to request 1 before all had sent"):
        ring.tell({"request": data, "sum": sums(6, 0, 12)}, wave=[0])


def test_keys_are_told_once_and_before_all_else(folders: dict[str, Path]) -> None:
    hospitals = Hospitals(folders["masked"], own)
    with refused("sent 'request' where it was not due"):
        hospitals.tell({"request": b"{}"}, wave=[0, 1, 2])
    with refused("has not sent 'keys' where it was due"):
        hospitals.tell({})
    hospitals.agree()
    keys = b"".join(hospitals.sessions[name].announcement for name in hospitals.names)
    with refused("told or asked something out of turn"):
        hospitals.tell({"keys": keys})
    with refused("told the keys twice"):
        hospitals.sessions["B"].agree(keys)


def test_the_end_comes_after_the_last_answer_and_once(masked: Hospitals) -> None:
    answer = masked.answered(masked.ask({"ask": 1}, "sum"))
    session = masked.sessions["B"]
    with refused("has not told the answer to request 1"):
        session.finish(b"{}")
    session.conclude(answer["sum"], answer)
    with refused("told or asked something out of turn"):
        session.conclude(answer["sum"], answer)
    session.finish(b"{}")
    with refused("went on after the end"):
        session.finish(b"{}")
    with refused("went on after the end"):
        session.requested(b"{}")


def test_no_end_before_the_beginning(folders: dict[str, Path]) -> None:
    hospitals = Hospitals(folders["masked"], own)
    with refused("ended the run before it told the keys"):
        hospitals.sessions["B"].finish(b"{}")


# Bound to its number, request, length and session

ELSEWHERE: dict[str, Callable[[Any], Any]] = {
    "session": lambda turn: replace(turn, session=bytes(32)),
    "number": lambda turn: replace(turn, number=2),
    "request": lambda turn: replace(turn, request=b'{"ask":2}'),
    "what is opened": lambda turn: replace(turn, opens="any"),
    "length": lambda turn: replace(turn, own=np.zeros(4, np.int64)),
    "transcript": lambda turn: replace(turn, transcript=bytes(32)),
}


@pytest.mark.parametrize("what", ELSEWHERE)
def test_what_was_signed_for_something_else_is_no_answer(masked: Hospitals, what: str) -> None:
    sent = masked.ask({"ask": 1}, "sum")[1]
    turn = masked.sessions["B"].turn
    gave = Contribution(1, turn.number, turn.transcript, sent)
    consortium, signature = masked.kit.consortium, masked.signed[1]
    assert witnesses.vouched(consortium, gave, turn.binding, signature)
    other = ELSEWHERE[what](turn)
    assert not witnesses.vouched(consortium, gave, other.binding, signature)


@pytest.mark.parametrize("told", [sums(6, 0), sums(6, 0, 12, 0), sums(6, 0, LARGEST_SUM + 1), b""])
def test_a_ring_sum_of_another_length_or_size_is_refused(ring: Hospitals, told: bytes) -> None:
    around(ring, {"ask": 1}, "sum")
    with pytest.raises(FederationError, match=r"bytes where 24 were due|above 2\^63 - 1"):
        ring.sessions["B"].conclude(told, {})


# No answer contradicts what a hospital put in


def around(ring: Hospitals, request: dict[str, Any], opens: Any) -> None:
    """An honest round of a ring sum, up to the answer."""
    data = ring.request(request, opens)
    mine = own("A", {"opens": opens} if opens == "any" else {})
    numbers = mine if opens == "sum" else hidden_marks(mine, "A")
    assert ring.turn is not None
    carried = ring.party.sums.contribute(
        ring.turn.number, ring.turn.transcript, numbers, bounded=opens == "sum"
    ).payload
    ring.tell({"request": data}, wave=[0])
    for place, name in ((1, "B"), (2, "C")):
        carried = ring.tell({"carried": carried}, wave=[place])[name]["counts"]


def test_an_objection_stands_against_a_leader_that_waits_for_the_others(masked: Hospitals) -> None:
    """It chooses its own part so that all marks cancel; everyone's sum is right."""
    sent = masked.ask({"ask": "objections"}, "any")
    answer = masked.answered(sent, target=np.zeros(2, np.uint64))
    assert answer["any"] == b"\x00"
    with refused("opened no mark where this hospital has one") as stopped:
        masked.sessions["B"].conclude(answer["any"], answer)
    assert isinstance(stopped.value, DisagreementError)
    assert masked.heard["B"] == []
    masked.sessions["C"].conclude(answer["any"], answer)  # it has no mark, and sees nothing wrong


def test_no_sum_is_below_an_own_count_whoever_waited(masked: Hospitals) -> None:
    """Above all own counts, a leader that waits can choose the sums: see the docs."""
    answer = masked.answered(masked.ask({"ask": 1}, "sum"), target=np.array([6, 0, 5], np.uint64))
    with refused("opened a sum below this hospital's own count") as stopped:
        masked.sessions["B"].conclude(answer["sum"], answer)
    assert not any(figure in str(stopped.value) for figure in "567")


def test_above_all_own_counts_a_leader_that_waits_chooses_the_sums(masked: Hospitals) -> None:
    """What the docs say cannot be seen."""
    chosen = np.array([300, 0, 600], np.uint64)
    answer = masked.answered(masked.ask({"ask": 1}, "sum"), target=chosen)
    masked.ask({"ask": 2}, "sum", answer)
    assert masked.heard["B"] == [("sum", to_wire(chosen))]


def test_an_objection_stands_in_a_ring(ring: Hospitals) -> None:
    around(ring, {"ask": "objections"}, "any")
    with refused("opened no mark where this hospital has one"):
        ring.sessions["B"].conclude(b"\x00", {})


def test_no_ring_sum_is_below_an_own_count(ring: Hospitals) -> None:
    around(ring, {"ask": 1}, "sum")
    with refused("opened a sum below this hospital's own count"):
        ring.sessions["B"].conclude(sums(6, 0, 6), {})
    ring.sessions["C"].conclude(sums(300, 0, 600), {})  # a ring has no witnesses: see the docs


def test_the_leader_checks_its_own_part_too(masked: Hospitals) -> None:
    """A hospital that takes off what others counted is seen by them, the leader among them."""
    session = masked.party
    session.requested(b'{"ask":1}')
    session.turn.next_wave()
    session.contribute(b"")
    with refused("opened a sum below this hospital's own count"):
        session.conclude(sums(2, 0, 12))
    session.conclude(sums(6, 0, 12))


# The same answer for all


def test_masked_sums_that_two_hospitals_were_told_otherwise_end_the_run(masked: Hospitals) -> None:
    """The leader signs two parts of its own. The next answer, which the end needs, shows it."""
    sent = masked.ask({"ask": "rows"}, "sum")
    before, turn = copy(masked.story), masked.turn
    stories = {}
    for name, rows in (("B", [6, 0, 12]), ("C", [6, 0, 13])):
        masked.story, masked.turn = copy(before), turn
        answer = masked.answered(sent, target=np.array(rows, np.uint64))
        masked.number = 1
        data = masked.request({"ask": "ready"}, "any")
        told = masked.tell({"request": data, **answer}, to=name, wave=[0, 1, 2])
        stories[name] = (copy(masked.story), masked.turn, told[name])
    assert masked.heard["B"] != masked.heard["C"]
    masked.story, masked.turn, _ = stories["B"]
    sent = {place: stories[name][2]["counts"] for place, name in ((1, "B"), (2, "C"))}
    masked.signed = {place: stories[name][2]["vouch"] for place, name in ((1, "B"), (2, "C"))}
    answer = masked.answered(sent, target=np.zeros(2, np.uint64))
    with refused("does not show what C sent for sum 2"):
        masked.sessions["B"].conclude(answer["any"], answer)


def test_ring_sums_that_two_hospitals_were_told_otherwise_end_the_run(ring: Hospitals) -> None:
    """What B passes on in the next round does not open at C."""
    around(ring, {"ask": "rows"}, "sum")
    before = copy(ring.story)
    stories = {}
    for name, rows in (("B", sums(6, 0, 12)), ("C", sums(6, 0, 13))):
        ring.story, ring.number = copy(before), 1
        ring.story.add("sum", rows)
        data = ring.request({"ask": "ready"}, "any")
        ring.tell({"request": data, "sum": rows}, to=name, wave=[0])
        stories[name] = (ring.story, ring.turn)
    ring.story, turn = stories["B"]
    assert turn is not None
    first = ring.party.sums.contribute(2, turn.transcript, np.zeros(2, np.int64), bounded=False)
    passed = ring.tell({"carried": first.payload}, to="B", wave=[1])["B"]["counts"]
    ring.story = stories["C"][0]
    ring.tell({"carried": first.payload}, to="C", wave=[1])
    with pytest.raises(FederationError, match="that 'B' passed on does not open"):
        ring.tell({"carried": passed}, to="C", wave=[2])
