"""Marks: whether any hospital has a 1, and nothing else, over real lines and under both sums."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from federation_actors import LAYOUT, LIMITS, kits, started
from federation_stage import ended
from hypothesis import given, settings
from hypothesis import strategies as st
from recording import Recorder
from scipy.stats import chisquare
from session_parties import TRANSCRIPT, Sums, agree

from incrowd.errors import FederationError, IncrowdError, ParameterError
from incrowd.federation.protocols.marks import (
    hidden_marks,
    marks_to_wire,
    opened_by,
    opened_marks,
    opening,
)
from incrowd.federation.protocols.sums import CHECK_SLOTS, Contribution, Numbers, secure_sum

NAMES = "ABC"
MARKS = [[1, 0, 0, 1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0, 1, 0, 0]]
ANY = np.any(MARKS, axis=0).tolist()
DISHONEST = [2, 0, 0, 0, 1, 0, 1, 0, 0]


def random_sums(protocol: Any, marks: list[list[int]], round_number: int = 1) -> Numbers:
    """What the leader sees of a round of marks: the sums of random numbers."""
    sides = [secure_sum(keys, 0, protocol=protocol) for keys in agree(len(marks))]

    def ask(wave: Any, carried: bytes) -> list[Contribution]:
        return [
            sides[party].contribute(
                round_number,
                TRANSCRIPT,
                hidden_marks(np.array(marks[party], np.int64), str(party)),
                carried,
                bounded=False,
            )
            for party in wave
        ]

    size, carried, answers = len(marks[0]), b"", []
    for wave in sides[0].waves:
        answers = ask(wave, carried)
        carried = answers[0].payload if len(wave) == 1 else b""
    return sides[0].opened(round_number, TRANSCRIPT, answers, size, bounded=False)


@settings(max_examples=40)
@given(
    st.sampled_from(["masked", "ring"]),
    st.integers(2, 5).flatmap(
        lambda parties: st.integers(0, 9).flatmap(
            lambda places: st.lists(
                st.lists(st.integers(0, 1), min_size=places, max_size=places),
                min_size=parties,
                max_size=parties,
            )
        )
    ),
)
def test_a_place_is_marked_where_any_hospital_has_a_one(
    protocol: Sums, marks: list[list[int]]
) -> None:
    found = opened_marks(random_sums(protocol, marks))
    assert found.tolist() == np.any(np.array(marks, bool), axis=0).tolist()


@pytest.mark.parametrize("protocol", ["masked", "ring"])
@pytest.mark.parametrize("holders", [1, 2, 3])
def test_the_sum_is_spread_evenly_however_many_have_a_one(protocol: Sums, holders: int) -> None:
    """One hospital's number is as random as the sum of three: it does not tell how many."""
    marks = [[int(place < holders)] * 20_000 for place in range(3)]
    sums = random_sums(protocol, marks)
    for shift in (0, 24, 56):
        octets = ((sums >> np.uint64(shift)) & np.uint64(255)).astype(np.int64)
        assert chisquare(np.bincount(octets, minlength=256)).pvalue > 1e-9


def test_the_same_marks_are_other_numbers_every_time() -> None:
    first, second = (hidden_marks(np.ones(50, np.int64), "A") for _ in range(2))
    assert not set(first.tolist()) & set(second.tolist())


def test_marks_that_are_not_zeros_and_ones_are_refused_where_they_are_made() -> None:
    for marks in ([0, 2], [1, -1]):
        with pytest.raises(FederationError, match="'A' has a mark that is neither 0 nor 1"):
            hidden_marks(np.array(marks), "A")
    for wrong in (np.array([0.0, 1.0]), np.array([[0, 1]])):
        with pytest.raises(ParameterError, match="one list of zeros and ones"):
            hidden_marks(wrong, "A")
    assert hidden_marks(np.array([False, True]), "A")[0] == 0


def test_random_sums_are_not_taken_for_counts_and_the_checks_stay() -> None:
    sides = [secure_sum(keys, 0) for keys in agree(3)]
    top = np.full(64, 2**64 - 1, np.uint64)
    with pytest.raises(FederationError, match="a count below 0 or above"):
        sides[0].contribute(1, TRANSCRIPT, top)
    answers = [
        side.contribute(2, TRANSCRIPT, hidden_marks(np.ones(64, np.int64), "A"), bounded=False)
        for side in sides
    ]
    with pytest.raises(FederationError, match="what is not a count"):
        sides[0].opened(2, TRANSCRIPT, answers, 64)
    spoilt = bytearray(answers[1].payload)
    spoilt[3] ^= 1
    answers[1] = Contribution(1, 2, TRANSCRIPT, bytes(spoilt))
    with pytest.raises(FederationError, match="does not cancel"):
        sides[0].opened(2, TRANSCRIPT, answers, 64, bounded=False)


def test_what_is_opened_stands_in_the_request() -> None:
    assert opened_by(opening({"a": 1}, "any")) == "any"
    assert opened_by(opening({"a": 1}, "sum")) == "sum"
    with pytest.raises(ParameterError, match="may not have the key 'opens'"):
        opening({"opens": "sum"}, "any")
    for told in ("all", "sum", 1, None, ["any"]):
        with pytest.raises(FederationError, match="does not know"):
            opened_by({"opens": told})


def test_masks_made_for_counts_do_not_cancel_those_made_for_marks() -> None:
    """One hospital was asked for a sum of the same: the transcripts differ, and so the masks."""
    from incrowd.federation.transport.messages import canonical
    from incrowd.federation.transport.transcripts import Transcript

    sides = [secure_sum(keys, 0) for keys in agree(3)]
    stories = []
    for what in ("sum", "sum", "any"):
        story = Transcript(b"session", b"roster")
        story.add("request", canonical(opening({"ask": "rows"}, what)))
        stories.append(story.digest)
    answers = [
        Contribution(place, 1, stories[0], side.contribute(1, story, np.ones(4, int)).payload)
        for place, (side, story) in enumerate(zip(sides, stories, strict=True))
    ]
    with pytest.raises(FederationError, match="does not cancel out"):
        sides[0].opened(1, stories[0], answers, 4)


# Over real lines


def hospital(folder: str, traces: str, name: str, behaviour: str, address: str | None) -> None:
    """A process: two rounds of marks around one of counts."""
    from incrowd.federation.membership.kits import load_kit
    from incrowd.federation.session._leader import Leader
    from incrowd.federation.session._party import serve
    from incrowd.federation.session.session import terms_of

    kit = load_kit(Path(folder, name))
    seen: list[Any] = []

    def count(request: dict[str, Any]) -> np.ndarray:
        seen.append(request)
        wrong = behaviour == "not marks" and request.get("opens") == "any"
        return np.array(DISHONEST if wrong else MARKS[kit.place])

    trace, told = Path(traces, name), {}
    try:
        terms = terms_of(kit, LAYOUT)
        if kit.leads:
            with Leader(kit, count, terms=terms, limits=LIMITS) as leader:
                told["any"] = leader.any({"ask": "rows"}).tolist()
                told["sum"] = leader.sum({"ask": "rows"}).tolist()
                told["again"] = leader.any({"ask": "rows"}).tolist()
                if behaviour == "tells counts":
                    leader._told = ("sum", bytes(8))
                leader.finish({})
                told["transcript"] = leader.transcript
        else:
            outcome = serve(kit, count, terms=terms, limits=LIMITS, address=address)
            told["transcript"] = outcome.transcript
    except IncrowdError as error:
        trace.with_suffix(".log").write_text(str(error))
        sys.exit(error.exit_code)
    told["requests"] = seen
    trace.with_suffix(".json").write_text(json.dumps(told))


def run(
    tmp_path: Path, folder: Path, addresses: dict[str, str] | None = None, **behaviours: str
) -> tuple[dict[str, int | None], dict[str, Any], dict[str, str]]:
    """The exit codes, what was told, and the last words of three hospitals."""
    processes = {}
    for name in NAMES:
        address = (addresses or {}).get(name)
        args = (str(folder), str(tmp_path), name, behaviours.get(name, ""), address)
        processes[name] = started(hospital, *args)
    codes = ended(processes)
    for process in processes.values():
        process.kill()
        process.join()
    told = {each.stem: json.loads(each.read_text()) for each in tmp_path.glob("?.json")}
    words = {each.stem: each.read_text() for each in tmp_path.glob("?.log")}
    return codes, told, words


@pytest.mark.parametrize("sums", ["masked", "ring"])
def test_marks_and_sums_of_one_session_go_over_the_same_lines(tmp_path: Path, sums: Sums) -> None:
    codes, told, words = run(tmp_path, kits(tmp_path, sums=sums))
    assert set(codes.values()) == {0}, words
    assert told["A"]["any"] == told["A"]["again"] == ANY
    assert told["A"]["sum"] == np.sum(MARKS, axis=0).tolist()
    assert len({each["transcript"] for each in told.values()}) == 1
    for each in told.values():
        assert [request.get("opens") for request in each["requests"]] == ["any", None, "any"]


def test_hospitals_are_told_bits_and_not_the_random_sums(tmp_path: Path) -> None:
    """The parts of the leader's messages: bits after marks, eight bytes a count after counts."""
    folder = kits(tmp_path)
    with Recorder(folder, "C", opened=True) as line:
        codes, _, words = run(tmp_path, folder, {"C": line.address})
        seen = line.seen
    assert set(codes.values()) == {0}, words
    bits = marks_to_wire(np.array(ANY))
    assert seen.count(b'["any",%d,' % len(bits)) == 2
    assert seen.count(b'["sum",%d,' % (8 * len(ANY))) == 1
    assert seen.count(b'["counts",%d,' % (8 * (len(ANY) + CHECK_SLOTS))) == 3


@pytest.mark.parametrize("name", ["A", "C"])
def test_a_hospital_whose_marks_are_not_marks_stops_the_run_by_name(
    tmp_path: Path, name: str
) -> None:
    codes, told, words = run(tmp_path, kits(tmp_path), None, **{name: "not marks"})
    assert set(codes.values()) == {3}
    assert not told
    for words_of in words.values():
        assert f"'{name}' has a mark that is neither 0 nor 1" in words_of


def test_a_leader_that_tells_counts_after_marks_is_caught(tmp_path: Path) -> None:
    codes, told, words = run(tmp_path, kits(tmp_path), A="tells counts")
    assert codes["B"] == codes["C"] == 3
    assert not told
    assert "the leader A told 'sum' where 'any' was to be opened" in words["B"] + words["C"]
