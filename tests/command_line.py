"""The command line from its words to its exit code: in this process, or in one of its own.

A process of its own takes seconds to start, so it is taken where that is what a test is about.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

from incrowd.cli import main

INCROWD = [sys.executable, "-c", "from incrowd.cli import main; main()"]
TERMINAL = {"COLUMNS": "200", "NO_COLOR": "1"}


@dataclass(frozen=True)
class Ended:
    returncode: int
    stdout: str
    stderr: str


def run(*arguments: str | Path, cwd: Path) -> Ended:
    """The command line in this process."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd),
        mock.patch.object(sys, "argv", ["incrowd", *map(str, arguments)]),
        mock.patch.dict(os.environ, TERMINAL),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        _signals_as_they_were(),
        pytest.raises(SystemExit) as stop,
    ):
        main()
    code = stop.value.code or 0
    assert isinstance(code, int)
    return Ended(code, out.getvalue(), err.getvalue())


def process(*arguments: str | Path, cwd: Path) -> Ended:
    """The command line in a process of its own."""
    done = subprocess.run(
        [*INCROWD, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False,
        env={**os.environ, **TERMINAL},
    )  # fmt: skip
    return Ended(done.returncode, done.stdout, done.stderr)


@contextlib.contextmanager
def _signals_as_they_were() -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
