"""A million rows: others are answered at once while the file is read, measured and released."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from running_server import Served, serving, soon

from incrowd import datasets
from incrowd.sources import write

ROWS = 1_000_000
QUICK = 0.2
"""Seconds in which 19 of 20 requests are answered while all cores are busy."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("large")) as running:
        yield running


@pytest.fixture(scope="module")
def million(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("million") / "million.csv"
    write(datasets.load("cancer-registry", rows=ROWS), path)
    return path


class Pulse:
    """Asks for the status again and again in a thread, and keeps how long each answer took."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat)
        self.seconds: list[float] = []

    def _beat(self) -> None:
        with self._served.client() as client:
            while not self._over.wait(0.01):
                before = time.monotonic()
                assert client.get("/status").status_code == 200
                self.seconds.append(time.monotonic() - before)

    def __enter__(self) -> "Pulse":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def slow(self) -> float:
        """What 19 of 20 answers took at most."""
        return sorted(self.seconds)[len(self.seconds) * 95 // 100]


def test_others_are_answered_while_a_million_rows_are_worked_on(
    served: Served, million: Path
) -> None:
    with served.client() as client:
        with Pulse(served) as sending, million.open("rb") as file:
            answer = client.post(
                "/sources", params={"name": "million.csv", "wait": 60}, content=file
            )
        assert answer.json()["records"] == ROWS, answer.text
        source = answer.json()["id"]
        with Pulse(served) as measuring:
            for quasi in (["gender", "race"], ["zip", "gender"], ["birth_date", "zip", "race"]):
                found = client.get(
                    f"/sources/{source}/risk",
                    params={"quasi": quasi, "sensitive": ["tumor_site"]},
                )
                assert found.json()["records"] == ROWS
        run = client.post(f"/sources/{source}/runs").json()["id"]
        with Pulse(served) as running:
            early = ("waiting", "reading", "coding")
            soon(lambda: not _stage(client, run).startswith(early), 120)
            cancelled = client.post(f"/runs/{run}/cancel").json()
        assert cancelled["state"] == "cancelled"
    for pulse in (sending, measuring, running):
        assert len(pulse.seconds) >= 10
        assert pulse.slow < QUICK
    [workspace] = served.workspaces()
    assert list((workspace / "runs").iterdir()) == []


def _stage(client: httpx.Client, run: str) -> str:
    found = client.get(f"/runs/{run}").json()
    assert found["state"] in ("waiting", "running")
    return str(found["progress"]["stage"])
