"""Runs of three hospitals as processes, and what must hold when they end."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from federation_actors import BOUND, SUMS, Play, kits, own_counts

NAMES = "ABC"


class Stage:
    """One consortium of three hospitals, and the processes of its runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kits = kits(folder)
        self.runs = 0
        self.started: list[Any] = []

    def play(self, **roles: Any) -> dict[str, Play]:
        """The three hospitals of a new run; a role is a behaviour, or changes to a play."""
        self.runs += 1
        traces = self.folder / f"run-{self.runs}"
        traces.mkdir()
        plays = {}
        for name in NAMES:
            role = roles.get(name, {})
            changes = {"behaviour": role} if isinstance(role, str) else role
            plays[name] = Play(name=name, kits=self.kits, traces=traces, **changes)
        return plays

    def start(self, play: Play) -> Any:
        process = play.start()
        self.started.append(process)
        return process

    def clear(self) -> None:
        """End whoever has not ended."""
        for process in self.started:
            if process.is_alive():
                process.kill()
            process.join()
            process.close()
        self.started.clear()

    def run(
        self, names: str = NAMES, **roles: Any
    ) -> tuple[dict[str, Play], dict[str, int | None]]:
        """Run until the named hospitals have ended: the plays, and their exit codes."""
        plays = self.play(**roles)
        processes = {name: self.start(play) for name, play in plays.items()}
        return plays, ended({name: processes[name] for name in names})


@pytest.fixture(scope="module")
def consortium(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Three hospitals for all tests of a file."""
    return Stage(tmp_path_factory.mktemp("stage"))


@pytest.fixture
def stage(consortium: Stage) -> Iterator[Stage]:
    """The kits of the tests before, which faults must not spoil; cleared after every test."""
    yield consortium
    consortium.clear()


@pytest.fixture
def own_stage(tmp_path: Path) -> Iterator[Stage]:
    """For tests that spoil the kits."""
    made = Stage(tmp_path)
    yield made
    made.clear()


def ended(processes: dict[str, Any]) -> dict[str, int | None]:
    """The exit codes, once all processes have ended, or None for those that have not in time."""
    end = time.monotonic() + BOUND
    for process in processes.values():
        process.join(max(0.0, end - time.monotonic()))
    return {name: process.exitcode for name, process in processes.items()}


def expected() -> list[list[int]]:
    return [
        np.sum([own_counts(place, number) for place in range(3)], axis=0).tolist()
        for number in range(SUMS)
    ]


def runs_well(stage: Stage) -> None:
    """The same kits run to the end, and all hospitals saw the same."""
    plays, codes = stage.run()
    assert codes == dict.fromkeys(NAMES, 0), [play.log.read_text() for play in plays.values()]
    told = {name: json.loads(play.outcome.read_text()) for name, play in plays.items()}
    assert told["A"]["sums"] == expected()
    assert told["B"]["payload"] == told["C"]["payload"] == {"digest": "ab12"}
    assert len({each["transcript"] for each in told.values()}) == 1


def stopped(plays: dict[str, Play], codes: dict[str, int | None], *names: str) -> dict[str, str]:
    """The last words of hospitals that had to stop: exit code 3, nothing written, no count told."""
    words = {name: play.log.read_text() for name, play in plays.items() if play.log.exists()}
    for name in names:
        assert codes[name] == 3, (name, codes, words)
    for name, text in words.items():
        assert not plays[name].outcome.exists(), name
        for place, number in np.ndindex(3, SUMS):
            for count in own_counts(place, number):
                assert str(count) not in text
    return {name: words[name].strip().splitlines()[-1] for name in names}
