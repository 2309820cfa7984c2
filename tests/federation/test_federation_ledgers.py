"""The ledger of a hospital: private, written in one step, never written by two at once."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from incrowd.errors import InputError, OutputError
from incrowd.federation.membership.ledgers import EarlierMember, EarlierRun, Ledger, state_folder


def run_of(number: int) -> EarlierRun:
    return EarlierRun(
        id=f"{number:016x}",
        begun="2026-01-02T03:04:05+00:00",
        hospital="A",
        consortium="ab" * 32,
        consortium_id="cd" * 16,
        members=(EarlierMember(name="A", identity="a"), EarlierMember(name="B", identity="b")),
        policy="ef" * 32,
        records=2,
        columns=("Age",),
        layout="00",
        least="AAAAAAAAAAEAAAAAAAAAAg==",
    )


def anything(_runs: Sequence[EarlierRun]) -> None:
    """Let every run pass."""


def test_a_ledger_is_its_owners_alone_and_keeps_its_key(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "state")
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    ledger.begin(run_of(1), anything)
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    again = Ledger(tmp_path / "state")
    assert again.key == ledger.key
    assert len(again.key) == 32
    assert Ledger(tmp_path / "other").key != ledger.key
    assert again.runs == (run_of(1),)
    assert again.runs[0].sketch.least.tolist() == [1, 2]


def test_a_run_counts_as_stopped_until_it_came_to_its_end(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    for number in (1, 2):
        ledger.begin(run_of(number), anything)
    ledger.finish(run_of(2).id, "12" * 32)
    assert [run.ended for run in ledger.runs] == ["stopped", "12" * 32]


def test_many_at_once_lose_nothing(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: Ledger(tmp_path).begin(run_of(n), anything), range(24)))
    assert sorted(run.id for run in Ledger(tmp_path).runs) == [run_of(n).id for n in range(24)]


def test_what_is_not_let_pass_is_not_written(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.begin(run_of(1), anything)

    def refuse(runs: Sequence[EarlierRun]) -> None:
        raise InputError(f"{len(runs)} before")

    with pytest.raises(InputError, match="1 before"):
        ledger.begin(run_of(2), refuse)
    assert ledger.runs == (run_of(1),)


def test_a_write_that_fails_leaves_the_old_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path)
    ledger.begin(run_of(1), anything)

    def full(_file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match=r"No space left on device.*INCROWD_STATE"):
        ledger.begin(run_of(2), anything)
    monkeypatch.undo()
    assert ledger.runs == (run_of(1),)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ledger.json", "ledger.lock"]


@pytest.mark.parametrize("content", ["", "{}", '{"format": "incrowd-ledger/9"}', "\0"])
def test_a_ledger_that_cannot_be_read_is_not_taken_for_an_empty_one(
    tmp_path: Path, content: str
) -> None:
    Ledger(tmp_path).path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"cannot be read.*move it away"):
        Ledger(tmp_path)
    assert (tmp_path / "ledger.json").read_text(encoding="utf-8") == content


def test_a_ledger_that_others_may_read_is_refused(tmp_path: Path) -> None:
    Ledger(tmp_path).path.chmod(0o644)
    with pytest.raises(InputError, match=r"Other users.*chmod 600"):
        Ledger(tmp_path)


def test_a_place_that_takes_no_ledger_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="INCROWD_STATE"):
        Ledger(tmp_path / "file" / "state")


def test_where_ledgers_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert state_folder() == Path(os.environ["INCROWD_STATE"])
    monkeypatch.delenv("INCROWD_STATE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_folder() == tmp_path / "incrowd"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_folder() == tmp_path / ".local" / "state" / "incrowd"
