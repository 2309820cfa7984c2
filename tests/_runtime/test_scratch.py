"""Folders that a killed process left: the next run removes them, and no others."""

import fcntl
import os
from pathlib import Path

from incrowd._runtime.scratch import stage_prefix, staging

DEAD = 999999999


def left(place: Path, prefix: str | None = None, process: int = DEAD) -> Path:
    """A stage with a file in it."""
    stage = place.with_name(f"{prefix or stage_prefix(place)}{process}.x.partial")
    stage.mkdir()
    (stage / "data.csv").touch()
    return stage


def test_stages_of_another_machine_or_of_a_running_process_are_left_to_it(tmp_path: Path) -> None:
    place = tmp_path / "r[1]"
    mine, other = left(place), left(place, f".{place.name}.00000000.")
    running, near = left(place, process=os.getpid()), left(tmp_path / "r[1].csv")
    with staging(place) as stage:
        found = set(tmp_path.iterdir())
    assert not mine.exists()
    assert found == {stage, other, running, near}


def test_a_stage_that_somebody_holds_stays_whatever_process_made_it(tmp_path: Path) -> None:
    """In another container a process has another number, or none that is seen here."""
    place = tmp_path / "release"
    stage = left(place)
    held = os.open(stage, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    with staging(place):
        assert stage.exists()
    os.close(held)
    with staging(place):
        assert not stage.exists()


def test_a_stage_is_held_as_long_as_it_is_worked_on(tmp_path: Path) -> None:
    place = tmp_path / "release"
    with staging(place) as stage:
        elsewhere = stage.rename(tmp_path / stage.name.replace(f".{os.getpid()}.", f".{DEAD}."))
        with staging(place):
            assert elsewhere.exists()
    with staging(place):
        assert not elsewhere.exists()
