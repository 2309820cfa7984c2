"""Many rows: others are answered while the file is read, measured and released."""

import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from running_server import Served, serving, soon, studied

from incrowd import datasets
from incrowd.sources import write

ROWS = 150_000
"""Enough that each step takes far longer than the answers that are waited for."""
ANSWERS = 10
"""Who has to wait for a step to end has one answer, or a few, by its end."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("large")) as running:
        yield running


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("many") / "many.csv"
    write(datasets.load("cancer-registry", rows=ROWS), path)
    return path


class Pulse:
    """Asks for the status again and again in a thread, and counts the answers."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat)
        self.answers = 0

    def _beat(self) -> None:
        with self._served.client() as client:
            while not self._over.wait(0.01):
                assert client.get("/status").status_code == 200
                self.answers += 1

    def __enter__(self) -> "Pulse":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def test_others_are_answered_while_many_rows_are_worked_on(served: Served, many: Path) -> None:
    with served.client() as client:
        with Pulse(served) as sending, many.open("rb") as file:
            answer = client.post("/sources", params={"name": "many.csv", "wait": 60}, content=file)
        assert studied(client, answer.json())["records"] == ROWS
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
            soon(lambda: not _stage(client, run).startswith(early))
            cancelled = client.post(f"/runs/{run}/cancel").json()
        assert cancelled["state"] == "cancelled"
    for pulse in (sending, measuring, running):
        assert pulse.answers >= ANSWERS
    [workspace] = served.workspaces()
    assert list((workspace / "runs").iterdir()) == []


def _stage(client: httpx.Client, run: str) -> str:
    found = client.get(f"/runs/{run}").json()
    assert found["state"] in ("waiting", "running")
    return str(found["progress"]["stage"])
