"""The command itself: what it says, how it ends, and that nothing is left of the data."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from running_server import CSV, INCROWD, Served, added, ended, serving, soon, studied

from incrowd.cli import main

SECRET = "s3cret" * 8
Command = Callable[..., tuple[object, str, str]]


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Command]:
    """`incrowd serve` in this process: its exit code, and what it wrote."""

    def said(*arguments: str) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["incrowd", "serve", *arguments, "--no-open"])
        with contextlib.chdir(tmp_path), pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code, *capsys.readouterr()

    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield said
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with a file and a token of its own, wiped by Ctrl-C."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "patients.csv").write_text(CSV, encoding="utf-8")
    (folder / "token").write_text(f"{SECRET}\n", encoding="utf-8")
    with serving(folder, "patients.csv", "--token-file", "token") as running:
        yield running
        wipes_all(running, signal.SIGINT)
    assert (folder / "patients.csv").read_text(encoding="utf-8") == CSV


def wipes_all(served: Served, number: signal.Signals) -> None:
    assert served.end(number) == 0
    assert list(served.temporary.iterdir()) == []
    assert served.said() == ""


def test_the_end_wipes_the_workspace_also_in_the_middle_of_a_run(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        [workspace] = served.workspaces()
        assert workspace.stat().st_mode & 0o777 == 0o700
        with served.client() as client:
            source = added(client)
            client.post(f"/sources/{source}/runs")
        wipes_all(served, signal.SIGTERM)


def test_a_killed_server_takes_its_workers_along_and_the_next_wipes_what_it_left(
    tmp_path: Path,
) -> None:
    with serving(tmp_path) as served:
        with served.client() as client:
            source = added(client)
            client.post(f"/sources/{source}/runs")
        soon(lambda: len(workers(served.process.pid)) >= 2)
        mine = workers(served.process.pid)
        served.end(signal.SIGKILL)
        soon(lambda: not any(map(alive, mine)))
        [left] = served.workspaces()
        assert any((left / "sources").iterdir())
    with serving(tmp_path) as served:
        [now] = served.workspaces()
        assert now != left
        wipes_all(served, signal.SIGHUP)


def workers(parent: int) -> list[int]:
    """The processes that a process began, and those that they began."""
    tasks = Path(f"/proc/{parent}/task").iterdir()
    lines = [(task / "children").read_text(encoding="ascii").split() for task in tasks]
    found = [int(each) for line in lines for each in line]
    return [*found, *(below for each in found for below in workers(each))]


def alive(process: int) -> bool:
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except FileNotFoundError:
        return False
    return "State:\tZ" not in status


def test_a_file_on_the_command_line_is_there_at_once_and_its_guessed_policy_runs_as_it_is(
    served: Served,
) -> None:
    with served.client() as client:
        [source] = client.get("/sources").json()
        assert studied(client, source)["records"] == 400
        text = client.get(f"/sources/{source['id']}/policy").text
        assert "source: patients.csv" in text
        assert "# " in text
        done = ended(client, client.post(f"/sources/{source['id']}/runs").json()["id"])
        assert done["state"] == "done", done["message"]
        assert client.get(f"/runs/{done['id']}/policy").text == text
        client.delete(f"/sources/{source['id']}")


def test_a_token_of_ones_own_for_a_proxy(served: Served) -> None:
    assert served.token == SECRET
    with served.client() as client:
        assert client.get("/status").status_code == 200


def test_a_port_that_is_taken(served: Served, command: Command) -> None:
    port = served.address.rstrip("/").rpartition(":")[2]
    code, _, told = command("--port", port)
    assert code == 3
    assert "Choose another --port" in told


def test_the_first_message_is_the_address_with_the_token(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen(
        [*INCROWD, "serve", "--no-open", "--no-page", "--port", "0"],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    assert process.stderr is not None
    line, second = process.stderr.readline(), process.stderr.readline()
    try:
        assert line.startswith("The page is at http://127.0.0.1:")
        address = line.split()[-1]
        answer = httpx.get(address, follow_redirects=True)
        assert answer.status_code == 200
        assert "token" not in str(answer.url)
    finally:
        process.send_signal(signal.SIGINT)
        out, rest = process.communicate(timeout=600)
    assert (process.returncode, out) == (0, "")
    assert "Ctrl-C" in second
    assert "Nothing is left" in rest


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--host", "0.0.0.0"], "--allow-host"),
        (["--host", "no.such.host.invalid"], "no address of this machine"),
        (["--upload-limit", "much"], "500MB"),
        (["--token-file", "none"], "cannot be read"),
        (["missing.csv"], "No file"),
        (["--port", "70000"], "Invalid value"),
    ],
)
def test_wrong_arguments_are_refused_with_what_to_do(
    tmp_path: Path, command: Command, arguments: list[str], told: str
) -> None:
    code, _, said = command(*arguments)
    assert code == 2
    assert told in said
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra_the_command_says_what_to_install(tmp_path: Path) -> None:
    hidden = (
        "import sys; sys.modules['fastapi'] = None; from incrowd.cli import main; "
        "sys.argv = ['incrowd', 'serve']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", hidden], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert 'pip install "incrowd[serve]"' in done.stderr


def test_help_has_an_example(command: Command) -> None:
    _, shown, _ = command("--help")
    assert "incrowd serve patients.csv" in shown
    assert "--allow-host" in shown
