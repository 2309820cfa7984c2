"""A real `incrowd serve` in a process of its own, for tests that talk to it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

INCROWD = [sys.executable, "-c", "from incrowd.cli import main; main()"]
API = "/api/v1"
CSV = "id,age,sex,disease\n" + "".join(
    f"P{n:05},{20 + n % 40},{'MF'[n % 2]},{('Flu', 'HIV', 'Ulcer')[n % 3]}\n" for n in range(400)
)
POLICY = """# Ours.
source: patients.csv
attributes:
  id: identifier
  age: quasi
  sex: quasi
  disease: sensitive
privacy:
  - k-anonymity: {k: 4}
  - l-diversity: {l: 2}
output: out
"""


@dataclass
class Served:
    """A server, how to reach it, and where its temporary files lie."""

    process: subprocess.Popen[str]
    address: str
    token: str
    temporary: Path
    errors: Path

    def client(self, **options: Any) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        return httpx.Client(
            base_url=self.address.rstrip("/") + API, headers=headers, timeout=600, **options
        )

    def workspaces(self) -> list[Path]:
        return sorted(self.temporary.glob("incrowd-serve-*"))

    def end(self, number: int = signal.SIGINT) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(600)

    def said(self) -> str:
        return self.errors.read_text(encoding="utf-8")


def begin(folder: Path, *arguments: str) -> Served:
    """Start a server whose temporary files lie in a folder."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    errors = folder / "stderr.txt"
    with errors.open("w", encoding="utf-8") as stream:
        process = subprocess.Popen(
            [*INCROWD, "serve", *arguments, "--no-open", "--no-page", "--json", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=stream,
            text=True,
            cwd=folder,
            env={**os.environ, "TMPDIR": str(temporary)},
        )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, errors.read_text(encoding="utf-8")
    told = json.loads(line)
    return Served(process, told["address"], told["token"], temporary, errors)


@contextlib.contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Served]:
    """A server that is ended at the end."""
    served = begin(folder, *arguments)
    try:
        yield served
    finally:
        try:
            served.end()
        finally:
            served.process.kill()
            served.process.wait()
            if served.process.stdout is not None:
                served.process.stdout.close()


def send(client: httpx.Client, name: str, content: Any, **parameters: Any) -> httpx.Response:
    """Send a file."""
    return client.post("/sources", params={"name": name, "wait": 60, **parameters}, content=content)


def added(client: httpx.Client, name: str = "patients.csv", text: str = CSV) -> str:
    """The id of a source that was sent and read."""
    answer = send(client, name, text.encode())
    assert answer.status_code == 201, answer.text
    return str(studied(client, answer.json())["id"])


def studied(client: httpx.Client, source: dict[str, Any]) -> dict[str, Any]:
    """A source once it has been read, however busy the machine is."""
    while source["state"] == "studying":
        source = client.get(f"/sources/{source['id']}", params={"wait": 60}).json()
    assert source["state"] == "ready", source
    return source


def ended(client: httpx.Client, run: str) -> dict[str, Any]:
    """A run once it has ended."""
    for _ in range(20):
        found: dict[str, Any] = client.get(f"/runs/{run}", params={"wait": 30}).json()
        if found["state"] not in ("waiting", "running"):
            return found
    raise AssertionError(found)


def soon(holds: Callable[[], bool], seconds: float = 600) -> None:
    """Return once something holds; fail when it takes too long."""
    last = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < last
        time.sleep(0.01)
