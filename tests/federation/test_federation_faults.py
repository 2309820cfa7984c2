"""Faults of one hospital: the run stops everywhere, names it and its cause, writes nothing.

All happen to one consortium: its kits begin anew after each, and run to the end after the last.
"""

import signal
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from federation_actors import BOUND, BRIEF, LIMITS, SOON, Play, kits, own_counts
from federation_stage import NAMES, Stage, ended, runs_well, stopped

BUT_C: dict[str, Any] = {"limits": replace(LIMITS, joining=BRIEF, timeout=BRIEF), "gives_up": "C"}
"""For a leader who waits for C in vain."""
FAULTS = {
    # behaviour of C: who must stop with exit code 3, and what everyone is told
    "dies": ("AB", "C was lost in round 4"),
    "hangs": ("AB", "C did not answer round 4 within 0.5 s"),
    "garbage": ("ABC", "C sent bytes that are not a message of this protocol"),
    "empty": ("ABC", "C sent bytes that are not a message of this protocol"),
    "changed": ("ABC", "C sent a message that is not signed by 'C'"),
    "replays": ("ABC", "C repeated a message of round 1 in round 3"),
    "replays hello": ("ABC", "C repeated a message of round 0 in round 3"),
    "another round": ("ABC", "C sent a message for round 7 in round 3"),
    "another session": ("ABC", "C sent a message of another session"),
    "another sender": ("ABC", "C sent a message that is not signed by 'B'"),
    "another kind": ("ABC", "C sent a message of kind 'closed'"),
    "another story": ("ABC", "C has not seen the same messages as the leader"),
    "no counts": ("ABC", "C sent no counts for sum 2"),
    "overflows": ("ABC", "C stopped: 'C' has a count below 0 or above"),
    "counts below 0": ("ABC", "C stopped: 'C' has a count below 0 or above"),
    "counts less": ("ABC", "C sent 40 bytes where 56 were due"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_one_stops_all_with_its_name_and_cause(stage: Stage, fault: str) -> None:
    names, cause = FAULTS[fault]
    noticing: dict[str, Any] = {"dies": {"limits": SOON}, "hangs": BUT_C}.get(fault, {})
    plays, codes = stage.run(names, A=noticing, C=fault)
    for name, words in stopped(plays, codes, *names).items():
        assert cause in words, name


def test_a_message_above_the_limit_is_not_taken(stage: Stage) -> None:
    small = {"limits": replace(LIMITS, size=4096)}
    plays, codes = stage.run(A=small, C="too large")
    for name, words in stopped(plays, codes, "A", "B").items():
        assert "C sent a message of more than 4,096 bytes" in words, name


def test_a_party_that_dies_while_it_waits_is_missed(stage: Stage) -> None:
    plays, codes = stage.run(A={"limits": SOON}, B="kills C")
    assert codes["C"] == -signal.SIGKILL
    for words in stopped(plays, codes, "A", "B").values():
        assert "C was lost in round" in words


def test_a_hospital_that_cannot_count_tells_others_only_the_kind_of_error(stage: Stage) -> None:
    plays, codes = stage.run(C="crashes")
    told = stopped(plays, codes, "A", "B", "C")
    assert "C stopped: it could not count its records (ValueError" in told["A"]
    for play in plays.values():
        assert "Transgender" not in play.log.read_text()


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ("crashes", "A stopped: it could not count its records (ValueError)"),
        ("overflows", "A stopped: 'A' has a count below 0 or above"),
    ],
)
def test_a_leader_that_cannot_count_stops_the_run(stage: Stage, fault: str, cause: str) -> None:
    plays, codes = stage.run(A=fault)
    for name, words in stopped(plays, codes, *NAMES).items():
        assert cause.removeprefix("A stopped: " if name == "A" else "") in words
        assert "Transgender" not in plays[name].log.read_text()


def test_an_interrupted_party_says_so(stage: Stage) -> None:
    plays, codes = stage.run(C="is interrupted")
    for words in stopped(plays, codes, "A", "B").values():
        assert "C stopped: it was interrupted" in words
    assert codes["C"] != 0


def test_a_party_that_starts_again_in_the_middle_stops_the_run(stage: Stage) -> None:
    plays = stage.play(C="dies")
    processes = {name: stage.start(play) for name, play in plays.items()}
    processes["C"].join(BOUND)
    assert processes["C"].exitcode == -signal.SIGKILL
    again = Play(name="C", kits=stage.kits, traces=plays["C"].traces)
    processes["C"] = stage.start(again)
    codes = ended(processes)
    for words in stopped(plays, codes, "A", "B", "C").values():
        assert "C was started again in round 4" in words


@pytest.mark.parametrize(
    ("term", "cause"),
    [
        ("policy", "C has another policy (digest 22222222"),
        ("layout", "C has other columns, or the same in another order (digest 22222222"),
        ("version", "C runs version 222222222222 of incrowd (the leader: "),
        ("consortium", "C has another consortium file (digest 22222222"),
        ("sums", "C computes sums by '222222222222' (the leader: 'masked')"),
    ],
)
def test_hospitals_that_differ_do_not_start(stage: Stage, term: str, cause: str) -> None:
    """Whoever comes when all is over waits for a leader that is gone."""
    waits = {"limits": replace(LIMITS, joining=0.5)}
    plays, codes = stage.run(B=waits, C={"terms": {term: "2" * 64}})
    for name, words in stopped(plays, codes, "A", "C").items():
        assert cause in words, name
    stopped(plays, codes, "B")
    assert "sum 1" not in plays["A"].log.read_text()


def test_a_certificate_that_nobody_pinned_is_refused(own_stage: Stage) -> None:
    plays = own_stage.play(A=BUT_C, C="other certificate")
    codes = ended_without_c(plays)
    told = stopped(plays, codes, "A", "B", "C")
    assert "the leader A refused the certificate of this kit (alert" in told["C"]
    assert "C did not join within 0.5 s" in told["A"]
    assert "(self-signed certificate)" in told["A"]


def test_the_certificate_of_another_hospital_does_not_help(own_stage: Stage) -> None:
    plays, codes = own_stage.run(C="certificate of B")
    for words in stopped(plays, codes, "A", "C").values():
        assert "B sent a message of C" in words


def ended_without_c(plays: dict[str, Play]) -> dict[str, int | None]:
    """The exit codes of a run: the leader gives up on C when C has seen that it may not join."""
    processes = {name: play.start() for name, play in plays.items()}
    processes["C"].join(BOUND)
    plays["C"].gone("C").touch()
    return ended(processes)


def expired(folder: Path, name: str) -> Path:
    """A consortium in which the certificate of one hospital has expired."""
    from incrowd.federation.membership import _certificates as certificates
    from incrowd.federation.membership import kits as making

    long_ago = datetime.now(UTC) - timedelta(days=40)
    honest = certificates.make_certificate

    def make(party: str, hosts: Any = (), **options: Any) -> Any:
        if party == name:
            options["now"] = long_ago
        return honest(party, hosts, **options)

    patch = pytest.MonkeyPatch()
    patch.setattr(making, "make_certificate", make)
    try:
        return kits(folder)
    finally:
        patch.undo()
        assert certificates.DAYS < 40


def test_an_expired_certificate_is_named_before_anybody_is_dialled(tmp_path: Path) -> None:
    from incrowd.errors import FederationError
    from incrowd.federation.membership.consortium import Consortium
    from incrowd.federation.membership.kits import load_kit
    from incrowd.federation.session._leader import Leader
    from incrowd.federation.session._party import serve
    from incrowd.federation.session.session import terms_of

    folder = expired(tmp_path, "C")
    with pytest.raises(FederationError, match="certificate of 'C' expired on"):
        load_kit(folder / "A")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Consortium, "require_valid", lambda *_: None)
        opened = [load_kit(folder / name) for name in NAMES]
    for kit, begin in zip(opened, (Leader, serve, serve), strict=True):
        with pytest.raises(FederationError, match="certificate of 'C' expired on") as caught:
            begin(kit, own_counts, terms=terms_of(kit, "00"), limits=LIMITS)  # type: ignore[operator]
        assert caught.value.exit_code == 3


def test_an_expired_certificate_is_refused_at_the_door(tmp_path: Path) -> None:
    folder = expired(tmp_path, "C")
    plays = {
        name: Play(
            name=name,
            kits=folder,
            traces=tmp_path,
            behaviour="dates unchecked",
            **(BUT_C if name == "A" else {}),
        )
        for name in NAMES
    }
    codes = ended_without_c(plays)
    told = stopped(plays, codes, *NAMES)
    assert (
        "the leader A refused the certificate of this kit (alert certificate expired)" in told["C"]
    )
    assert "C did not join within 0.5 s" in told["A"]
    assert "certificate has expired" in told["A"]


def test_after_all_these_faults_the_same_kits_run_well(stage: Stage) -> None:
    runs_well(stage)
