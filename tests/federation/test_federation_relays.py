"""One bit over real lines: hospitals as processes, what the leader carries, and what stops them."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from federation_actors import LAYOUT, LIMITS, SOON, kits, started
from federation_stage import ended
from joint_runs import draw, judge
from recording import Recorder
from session_parties import TRANSCRIPT, agree

from incrowd.errors import FederationError, IncrowdError, ParameterError
from incrowd.federation.protocols._mpyc_adapters import Codec
from incrowd.federation.protocols.crowd_bits import CrowdCounts, ZeroTest
from incrowd.federation.protocols.relay import (
    EMPTY_BOX,
    JointComputation,
    Relay,
    from_parts,
    stalled,
    to_parts,
)

NAMES = "ABC"
SEEDS = (0, 2, 3, 7)
"""Of crowds that hold, and do not; of one there is nothing to compare."""
TELLING = 0x5A17_C3D4_0000
"""A count that is easily told from anything else in a stream of bytes."""


def telling(place: int, K: int = 20) -> CrowdCounts:
    sizes = np.array([TELLING + 1009 * place + step for step in range(5)])
    return CrowdCounts(sizes, (sizes // 7)[None, :], K, 0.2, most=2**48)


# Boxes


def relays(number: int = 1) -> list[Relay]:
    return [Relay(keys, number, TRANSCRIPT) for keys in agree(3)]


def test_a_box_is_opened_by_its_receiver_alone_in_its_step() -> None:
    a, b, c = relays()
    first = a.sealed({1: b"for b", 2: b"for c"})
    assert b"for b" not in first[1]
    assert b.opened({0: first[1], 2: c.sealed({})[1]})[0] == b"for b"
    with pytest.raises(FederationError, match="that 'Hospital A' sealed in step 0 does not open"):
        c.opened({0: first[1], 1: b.sealed({})[2]})
    later = a.sealed({1: b"again"})
    assert len(later[2]) == EMPTY_BOX
    with pytest.raises(FederationError, match="'Hospital A' sealed in step 1 does not open"):
        b.opened({0: first[1], 2: c.sealed({})[1]})


@pytest.mark.parametrize("spoilt", [b"", b"x" * EMPTY_BOX, b"garbage" * 9])
def test_a_box_that_was_not_sealed_is_blamed_on_its_sender(spoilt: bytes) -> None:
    a, _, c = relays()
    with pytest.raises(FederationError, match="'Hospital B' sealed in step 0 does not open"):
        a.opened({1: spoilt, 2: c.sealed({})[0]})


def test_boxes_are_made_once_for_a_request() -> None:
    keys = agree(3)[0]
    Relay(keys, 4, TRANSCRIPT)
    with pytest.raises(FederationError, match="Round 4 was asked for after round 4"):
        Relay(keys, 4, TRANSCRIPT)


def test_parts_of_a_message_hold_one_box_for_each_or_none_is_taken() -> None:
    parts = to_parts({0: b"x", 2: b"y"})
    assert from_parts(parts, [0, 2]) == {0: b"x", 2: b"y"}
    assert from_parts({**parts, "request": b""}, [0, 1]) is None
    assert stalled([{1: bytes(EMPTY_BOX)}, {0: bytes(EMPTY_BOX)}])
    assert not stalled([{1: bytes(EMPTY_BOX)}, {0: bytes(EMPTY_BOX + 1)}])


@pytest.mark.parametrize(
    "changes", [{"K": 3}, {"C": 0.5000000001}, {"without": 1}, {"most": 99}], ids=str
)
def test_hospitals_that_compute_something_else_are_named_before_a_share_is_used(
    changes: dict[str, Any],
) -> None:
    sizes, held = np.array([5]), np.array([[1]])
    keys = agree(3)
    other = {"K": 4, "C": 0.5, **changes}
    sides = [
        JointComputation(
            each,
            1,
            TRANSCRIPT,
            CrowdCounts(sizes, held, **(other if place == 2 else {"K": 4, "C": 0.5})),
        )
        for place, each in enumerate(keys)
    ]
    sent = [side.begun() for side in sides]
    with pytest.raises(FederationError, match="'Hospital C' computes with another K, C"):
        sides[0].advanced({1: sent[1][0], 2: sent[2][0]})
    for side in sides:
        side.close()


# Over real lines


def hospital(folder: str, traces: str, name: str, behaviour: str, address: str | None) -> None:
    """A process: bits between a sum and marks, of random crowds that all make from their seed."""
    from incrowd.federation.membership.kits import load_kit
    from incrowd.federation.protocols import relay as relaying
    from incrowd.federation.protocols import secret_shares as sharing
    from incrowd.federation.protocols._mpyc_adapters import Dice
    from incrowd.federation.session._leader import Leader
    from incrowd.federation.session._party import serve
    from incrowd.federation.session.session import terms_of

    kit = load_kit(Path(folder, name))
    step = {"now": 0}
    honest_advance, honest_sealed = sharing.Computation.advance, relaying.Relay.sealed

    def advance(side: Any, inbox: Any) -> dict[int, bytes]:
        step["now"] += 1
        if step["now"] == 5 and behaviour == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if step["now"] == 5 and behaviour == "crashes":
            raise ValueError("5,904,323 records")
        out = honest_advance(side, inbox)
        if step["now"] == 5 and behaviour == "sends other numbers":
            return {place: b"garbage" + data for place, data in out.items()}
        if step["now"] == 5 and behaviour == "sends nothing":
            return dict.fromkeys(out, b"")
        return out

    def sealed(side: Any, outbox: Any) -> dict[int, bytes]:
        boxes = honest_sealed(side, outbox)
        if step["now"] == 5 and behaviour == "spoils boxes":
            return {place: bytes(len(box)) for place, box in boxes.items()}
        if step["now"] == 5 and behaviour == "keeps boxes":
            return {}
        return boxes

    if "hides nothing" in behaviour:
        relaying.ChaCha20Poly1305 = Glass  # type: ignore[attr-defined, assignment]
        Dice.randbelow = lambda *_: 0  # type: ignore[method-assign]
    sharing.Computation.advance = advance  # type: ignore[method-assign, assignment]
    relaying.Relay.sealed = sealed  # type: ignore[method-assign, assignment]

    def crowds(request: dict[str, Any]) -> CrowdCounts:
        if request["ask"] == "telling":
            return telling(kit.place, 21 if behaviour == "another K" else 20)
        return draw(request["ask"], 3)[kit.place]

    def count(request: dict[str, Any]) -> np.ndarray:
        return np.array([1, 0, kit.place % 2])

    counting = None if behaviour == "no crowds" else crowds
    limits = SOON if behaviour == "misses the dead" else LIMITS
    trace = Path(traces, name)
    told: dict[str, Any] = {}
    try:
        terms = terms_of(kit, LAYOUT)
        if kit.leads:
            with Leader(kit, count, terms=terms, limits=limits, crowds=counting) as leader:
                told["telling"] = leader.holds({"ask": "telling"})
                if behaviour == "tells another bit":
                    leader._told = ("bit", b"\x00")
                told["sum"] = leader.sum({"ask": "sizes"}).tolist()
                if "once" not in behaviour:
                    told["bits"] = [leader.holds({"ask": seed}) for seed in SEEDS]
                told["any"] = leader.any({"ask": "rows"}).tolist()
                leader.finish({})
                told["transcript"] = leader.transcript
        else:
            outcome = serve(
                kit, count, terms=terms, limits=LIMITS, address=address, crowds=counting
            )
            told["transcript"] = outcome.transcript
    except IncrowdError as error:
        trace.with_suffix(".log").write_text(str(error))
        sys.exit(error.exit_code)
    trace.with_suffix(".json").write_text(json.dumps(told))


def play(
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


def test_bits_sums_and_marks_of_one_session_go_over_the_same_lines(tmp_path: Path) -> None:
    codes, told, words = play(tmp_path, kits(tmp_path))
    assert set(codes.values()) == {0}, words
    assert told["A"]["telling"] is True
    assert told["A"]["sum"] == [3, 0, 1]
    assert told["A"]["any"] == [True, False, True]
    expected = [judge(draw(seed, 3)) for seed in SEEDS]
    assert told["A"]["bits"] == expected
    assert set(expected) == {True, False}
    assert len({each["transcript"] for each in told.values()}) == 1


def test_ring_sums_do_not_stand_in_the_way(tmp_path: Path) -> None:
    codes, told, words = play(tmp_path, kits(tmp_path, sums="ring"), A="once")
    assert set(codes.values()) == {0}, words
    assert told["A"]["telling"] is True


def counts_in(seen: bytes) -> int:
    """How many counts, own ones, what is made of them, and sums, can be read in a record.

    A hospital's counts travel as bits, of all crowds together.
    """
    own = [telling(place) for place in range(3)]
    numbers = [each.sizes for each in own] + [each.sizes - 5 * each.protected[0] for each in own]
    numbers += [np.sum(numbers[:3], axis=0), np.sum(numbers[3:], axis=0)]
    counts = [int(number) for each in numbers for number in each]
    question = ZeroTest.of(own[0], 3)
    bits = [question.own_bits(each, 0, each.cells) for each in own]
    return sum(
        any(form in seen for form in (count.to_bytes(7, "little"), str(count).encode()))
        for count in counts
    ) + sum(Codec(question.prime).dumps(each) in seen for each in bits)


class Glass:
    """A box of glass, in the place of a sealed one."""

    def __init__(self, _: bytes) -> None:
        pass

    def encrypt(self, _: bytes, data: bytes, __: None) -> bytes:
        return data + bytes(EMPTY_BOX)

    def decrypt(self, _: bytes, data: bytes, __: None) -> bytes:
        return data[:-EMPTY_BOX]


@pytest.mark.parametrize("hidden", [True, False], ids=["hidden", "hiding switched off"])
def test_what_the_leader_carries_holds_no_count_unless_hiding_is_switched_off(
    tmp_path: Path, hidden: bool
) -> None:
    """Recorded above TLS, as the leader sees it: boxes for B and C, and at the end one byte."""
    folder = kits(tmp_path)
    behaviour = "" if hidden else "hides nothing"
    with (
        Recorder(folder, "B", opened=True) as b,
        Recorder(folder, "C", opened=True) as c,
    ):
        codes, _, words = play(
            tmp_path,
            folder,
            {"B": b.address, "C": c.address},
            A=f"once {behaviour}",
            B=behaviour,
            C=behaviour,
        )
        seen = b.seen + c.seen
    assert set(codes.values()) == {0}, words
    assert counts_in(seen) == (0 if hidden else 3)
    assert seen.count(b'["bit",1,') == 2
    boxes = [place for place in range(3) if b'["box-%d",' % place in c.seen]
    assert boxes == [0, 1], "C gets no box of others, and sends none to itself"


FAULTS = {
    # behaviour of C: who must stop with exit code 3, and what everyone of them is told
    "dies": ("AB", "C was lost in round"),
    "crashes": ("ABC", "C stopped: a fault of its own (ValueError)"),
    "spoils boxes": ("ABC", "The box that 'C' sealed in step 4 does not open"),
    "keeps boxes": ("ABC", "C sent no boxes in step 4"),
    "sends other numbers": ("ABC", "'C' sent what is no message of this joint computation"),
    "sends nothing": ("ABC", " waits for C"),
    "another K": ("ABC", "'C' computes with another K, C or 'without'"),
    "no crowds": ("ABC", "'C' was asked for one bit, but counts no crowds"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_one_in_the_middle_stops_all_and_is_named(tmp_path: Path, fault: str) -> None:
    names, cause = FAULTS[fault]
    leader = "misses the dead" if fault == "dies" else ""
    codes, told, words = play(tmp_path, kits(tmp_path), A=leader, C=fault)
    assert {name: codes[name] for name in names} == dict.fromkeys(names, 3), words
    assert not told
    for name in names:
        if fault == "another K" and name == "C":
            assert "computes with another K, C or 'without'" in words[name]
        else:
            assert cause in words[name], name
        assert "5,904,323" not in words[name]


def test_a_leader_that_tells_another_bit_is_caught(tmp_path: Path) -> None:
    codes, told, words = play(tmp_path, kits(tmp_path), A="tells another bit")
    assert set(codes.values()) == {3}
    assert not told
    assert "the leader A told another bit than the hospitals opened together" in words["B"]


def test_two_hospitals_are_refused_before_anything_is_asked(tmp_path: Path) -> None:
    from incrowd.federation.membership.kits import load_kit
    from incrowd.federation.session._leader import Leader
    from incrowd.federation.session.session import terms_of

    folder = kits(tmp_path, "AB", allow_two=True)
    kit = load_kit(folder / "A")
    leader = Leader(kit, lambda _: np.array([1]), terms=terms_of(kit, LAYOUT), limits=LIMITS)
    try:
        with pytest.raises(ParameterError, match="among 3 or more hospitals, got 2"):
            leader.holds({"ask": "telling"})
        assert leader._session.number == 0
    finally:
        leader._listener.close()
