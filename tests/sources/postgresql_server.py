"""A folder to write to, and a real PostgreSQL server."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

USER = "incrowd"
PASSWORD = "s3cret/of@registry"


@dataclass(frozen=True)
class Server:
    """A running PostgreSQL server that listens on a socket in its own folder only."""

    folder: Path

    def url(self, database: str = "postgres", user: str = USER, password: str = PASSWORD) -> str:
        secret = quote(password, safe="")
        return f"postgresql://{user}:{secret}@/{database}?host={quote(str(self.folder), safe='')}"

    def run(self, *statements: str, database: str = "postgres") -> None:
        import adbc_driver_postgresql.dbapi as dbapi

        with (
            closing(dbapi.connect(self.url(database), autocommit=True)) as connection,
            closing(connection.cursor()) as cursor,
        ):
            for statement in statements:
                cursor.execute(statement)


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that lasts for the session, which property tests need."""
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A server of this test process alone, in a folder that the server's user may enter."""
    programs = _programs()
    if programs is None:
        reason = "no PostgreSQL server is installed: initdb and pg_ctl are not found"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    folder = Path(tempfile.mkdtemp(prefix="incrowd-pg-"))
    try:
        yield from _serve(programs, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _serve(programs: Path, folder: Path) -> Iterator[Server]:
    cluster, log, secret = folder / "cluster", folder / "log", folder / "secret"
    secret.write_text(PASSWORD + "\n")
    account = _account()
    if account is not None:
        for path in (folder, secret):
            os.chown(path, account.pw_uid, account.pw_gid)

    def run(program: str, *arguments: str) -> None:
        extra: dict[str, Any] = {}
        if account is not None:
            extra = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        completed = subprocess.run(
            [str(programs / program), "-D", str(cluster), *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            # A pipe would be inherited by the server and never end.
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
            **extra,
        )
        if completed.returncode:
            written = log.read_text() if log.exists() else "no log"
            pytest.fail(f"{program} failed with code {completed.returncode}: {written[-2000:]}")

    run("initdb", "-U", USER, "-E", "UTF8", "--locale=C", "-N", "-A", "scram-sha-256",
        f"--pwfile={secret}")  # fmt: skip
    options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
    run("pg_ctl", "-w", "-l", str(log), "-o", options, "start")
    try:
        yield Server(folder)
    finally:
        run("pg_ctl", "-w", "-m", "immediate", "stop")


def _programs() -> Path | None:
    """The folder with initdb and pg_ctl: on the path, or the newest that Debian installs."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    installed = Path("/usr/lib/postgresql").glob("*/bin")
    folders += sorted(installed, key=lambda each: each.parent.name.zfill(4), reverse=True)
    for folder in folders:
        if (folder / "initdb").is_file() and (folder / "pg_ctl").is_file():
            return folder
    return None


def _account() -> pwd.struct_passwd | None:
    """The account that runs the server, which refuses to run as root; None for our own."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    pytest.skip("running as root, and there is no other account to run the server")
