"""Hospitals as real processes over HTTPS: sums, lines, and what can be seen between them."""

import contextlib
import json
import socket
import ssl
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from federation_actors import BOUND, BRIEF, LIMITS, SOON, SUMS, Play, kits, own_counts
from federation_stage import NAMES, Stage, ended, expected, runs_well, stopped
from recording import Recorder

from incrowd.federation.transport.client import Line, LineError


def test_a_party_may_come_long_before_the_leader(stage: Stage) -> None:
    plays = stage.play()
    early = {name: stage.start(plays[name]) for name in "CB"}
    deadline = time.monotonic() + BOUND
    while not all(plays[name].pid.exists() for name in "CB") and time.monotonic() < deadline:
        time.sleep(0.01)
    codes = ended({**early, "A": stage.start(plays["A"])})
    assert set(codes.values()) == {0}


def test_ring_sums_go_over_the_same_lines(tmp_path: Path) -> None:
    folder = kits(tmp_path, sums="ring")
    plays = [Play(name=name, kits=folder, traces=tmp_path) for name in NAMES]
    processes = {play.name: play.start() for play in plays}
    assert ended(processes) == dict.fromkeys(NAMES, 0), plays[0].log.read_text()
    assert json.loads(plays[0].outcome.read_text())["sums"] == expected()


def test_a_message_sent_twice_because_a_line_was_cut_changes_nothing(stage: Stage) -> None:
    _, codes = stage.run(C="sends twice")
    assert set(codes.values()) == {0}


def test_a_web_proxy_is_a_way_out(stage: Stage) -> None:
    with Recorder(stage.kits, "C", opened=False, web_proxy=True) as line:
        plays, codes = stage.run(C={"proxy": f"http://{line.address}"})
        assert line.seen.startswith(b"CONNECT 127.0.0.1:")
    assert set(codes.values()) == {0}, plays["C"].log.read_text()


def test_a_proxy_that_reaches_nobody_is_not_waited_for_forever() -> None:
    """What was dialled through it and failed must not hold the only connection."""

    def opens_and_hangs_up(listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                with listening.accept()[0] as line:
                    line.recv(4096)
                    line.sendall(b"HTTP/1.1 200 OK\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=opens_and_hangs_up, args=(listening,), daemon=True).start()
        proxy = f"http://127.0.0.1:{listening.getsockname()[1]}"
        context = ssl.create_default_context()
        with (
            Line("A", "127.0.0.1:1", context, "", SOON, proxy) as line,
            pytest.raises(LineError, match="the leader A cannot be reached"),
        ):
            line.exchange(b"asks")
        listening.shutdown(socket.SHUT_RDWR)


def test_who_waits_is_told_so_and_asks_again(stage: Stage) -> None:
    hasty = replace(LIMITS, poll=1e-9)
    with Recorder(stage.kits, "C", opened=True) as line:
        _, codes = stage.run(C={"address": line.address, "limits": hasty})
        assert b"HTTP/1.1 204" in line.seen
    assert set(codes.values()) == {0}


@pytest.mark.parametrize("cut_at", [3, 8, 11, 14])
def test_a_line_that_is_cut_is_dialled_again(stage: Stage, cut_at: int) -> None:
    with Recorder(stage.kits, "C", opened=True, cut_at=cut_at) as line:
        plays, codes = stage.run(C={"address": line.address})
        assert line.cuts == 1
    assert set(codes.values()) == {0}, plays["C"].log.read_text()
    assert json.loads(plays["A"].outcome.read_text())["sums"] == expected()


@pytest.mark.parametrize(
    ("deed", "cause"),
    [
        ("outlives a killed leader", "cannot be reached"),
        ("outlives a stopped leader", "has given no sign of life for 0.5 s"),
    ],
)
def test_parties_stop_when_the_leader_is_gone(stage: Stage, deed: str, cause: str) -> None:
    plays = stage.play(B=deed, C=deed)
    processes = {name: stage.start(play) for name, play in plays.items()}
    codes = ended({name: processes[name] for name in "BC"})
    for words in stopped(plays, codes, "B", "C").values():
        assert f"the leader A {cause}" in words


def test_a_missing_party_is_named(stage: Stage) -> None:
    plays = stage.play(A={"limits": replace(LIMITS, joining=BRIEF), "gives_up": "C"})
    plays["C"].gone("C").touch()
    codes = ended({name: stage.start(plays[name]) for name in "BA"})
    for words in stopped(plays, codes, "A", "B").values():
        assert "C did not join within 0.5 s" in words


def forms(count: int) -> list[bytes]:
    """How a count could stand in a message."""
    return [
        count.to_bytes(8, "little"),
        count.to_bytes(8, "big"),
        str(count).encode(),
        f"{count:x}".encode(),
        f"{count:,}".encode(),
    ]


def counts_in(seen: bytes, place: int) -> int:
    """How many of a hospital's own counts can be read in what was recorded."""
    own = [int(each) for number in range(SUMS) for each in own_counts(place, number)]
    return sum(any(form in seen for form in forms(count)) for count in own)


@pytest.mark.parametrize("masked", [True, False], ids=["masked", "masking switched off"])
def test_recorded_messages_hold_no_count_unless_masking_is_switched_off(
    stage: Stage, masked: bool
) -> None:
    behaviour = "" if masked else "no masks"
    with (
        Recorder(stage.kits, "B", opened=True) as b,
        Recorder(stage.kits, "C", opened=True) as c,
    ):
        _, codes = stage.run(
            A=behaviour,
            B={"behaviour": behaviour, "address": b.address},
            C={"behaviour": behaviour, "address": c.address},
        )
        assert set(codes.values()) == {0}
        seen = b.seen + c.seen
    assert seen.count(b"POST /v1/exchange") >= 2 * (SUMS + 3)
    for total in expected()[0]:
        assert total.to_bytes(8, "little") in seen, "sums are public, so the record is readable"
    found = [counts_in(seen, place) for place in range(3)]
    # The leader hands around what all sent, its own part included.
    assert found == [0 if masked else 5 * SUMS] * 3


def test_an_eavesdropper_sees_neither_requests_nor_sums(stage: Stage) -> None:
    with Recorder(stage.kits, "C", opened=False) as line:
        _, codes = stage.run(C={"address": line.address})
        assert set(codes.values()) == {0}
        seen = line.seen
    assert len(seen) > 4000
    assert b"exchange" not in seen
    assert b"number" not in seen
    for total in expected()[0]:
        assert total.to_bytes(8, "little") not in seen


def test_sums_are_those_of_all_hospitals_and_kits_can_be_used_again(stage: Stage) -> None:
    """After all runs before, two of them without a leader in the end."""
    runs_well(stage)


def test_web_libraries_are_loaded_only_when_a_run_begins() -> None:
    script = (
        "import sys, incrowd.federation as room; [getattr(room, name) for name in room.__all__];"
        "print({'httpx', 'starlette', 'uvicorn', 'h11'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stdout.strip() == "set()", found.stderr
