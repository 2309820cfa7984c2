"""The command itself: what it says, how it ends, and that nothing is left of the data."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from running_server import CSV, INCROWD, added, begin, ended, serving, soon


def command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*INCROWD, "serve", *arguments], cwd=cwd, capture_output=True, text=True, check=False,
        timeout=600, env={**os.environ, "TMPDIR": str(cwd), "NO_COLOR": "1", "COLUMNS": "200"},
    )  # fmt: skip


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_end_wipes_the_workspace_also_in_the_middle_of_a_run(
    tmp_path: Path, number: signal.Signals
) -> None:
    with serving(tmp_path) as served:
        [workspace] = served.workspaces()
        assert workspace.stat().st_mode & 0o777 == 0o700
        with served.client() as client:
            source = added(client)
            client.post(f"/sources/{source}/runs")
        assert served.end(number) == 0
        assert list(served.temporary.iterdir()) == []
        assert served.said() == ""


def test_what_a_killed_server_leaves_is_wiped_by_the_next(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        with served.client() as client:
            added(client)
        served.end(signal.SIGKILL)
        [left] = served.workspaces()
        assert any((left / "sources").iterdir())
    with serving(tmp_path) as served:
        [now] = served.workspaces()
        assert now != left


def test_workers_end_when_the_server_is_killed(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        with served.client() as client:
            source = client.post("/sources/demo", params={"wait": 60}).json()["id"]
            client.post(f"/sources/{source}/runs")
        mine = workers(served.process.pid)
        assert mine
        served.end(signal.SIGKILL)
        soon(lambda: not any(map(alive, mine)))


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


def test_a_file_on_the_command_line_is_there_at_once_and_stays_where_it_is(
    tmp_path: Path,
) -> None:
    path = tmp_path / "patients.csv"
    path.write_text(CSV, encoding="utf-8")
    with serving(tmp_path, "patients.csv") as served, served.client() as client:
        [source] = client.get("/sources").json()
        assert client.get(f"/sources/{source['id']}", params={"wait": 60}).json()["records"] == 400
        run = client.post(f"/sources/{source['id']}/runs").json()["id"]
        assert ended(client, run)["state"] == "done"
        client.delete(f"/sources/{source['id']}")
        served.end()
    assert path.read_text(encoding="utf-8") == CSV


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


def test_a_token_of_ones_own_for_a_proxy(tmp_path: Path) -> None:
    secret = "s3cret" * 8
    (tmp_path / "token").write_text(f"{secret}\n", encoding="utf-8")
    with serving(tmp_path, "--token-file", "token") as served:
        assert served.token == secret
        with served.client() as client:
            assert client.get("/status").status_code == 200


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
    tmp_path: Path, arguments: list[str], told: str
) -> None:
    done = command(*arguments, "--no-open", cwd=tmp_path)
    assert done.returncode == 2
    assert told in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        port = served.address.rstrip("/").rpartition(":")[2]
        done = command("--port", port, "--no-open", cwd=tmp_path)
        assert done.returncode == 3
        assert "Choose another --port" in done.stderr


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


def test_help_has_an_example(tmp_path: Path) -> None:
    shown = command("--help", cwd=tmp_path).stdout
    assert "incrowd serve patients.csv" in shown
    assert "--allow-host" in shown


def test_two_servers_do_not_know_each_other(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = begin(tmp_path / "a"), begin(tmp_path / "b")
    try:
        assert first.token != second.token
        stranger = httpx.get(
            f"{second.address}api/v1/status", headers={"Authorization": f"Bearer {first.token}"}
        )
        assert stranger.status_code == 401
    finally:
        for served in (first, second):
            served.end()
            assert served.process.stdout is not None
            served.process.stdout.close()
