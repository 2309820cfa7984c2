"""Work in processes of its own: it can be stopped at any moment, and the page stays responsive."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from incrowd import errors
from incrowd.errors import EngineError, IncrowdError

State = Literal["waiting", "running", "done", "failed", "cancelled"]
Tell = Callable[[str, int, int], None]
"""Takes a stage, how much of it is done, and of how much."""

_PATIENCE = 10.0
"""Seconds that a process has to tidy up, before it is killed."""


class CancelledError(Exception):
    """The work was stopped because somebody asked for it."""


class Job:
    """One task of `incrowd.serve.worker`, in a process that ends when it is asked to.

    Parameters
    ----------
    task, arguments
        What the worker is to do.
    temporary
        The folder for the temporary files of the process, so that none is left elsewhere.

    Notes
    -----
    Nothing that the process prints reaches a log. It ends by itself when this process is killed,
    since the pipe to its stdin then closes.
    """

    def __init__(self, task: str, arguments: Sequence[str], temporary: Path) -> None:
        self._command = [sys.executable, "-P", "-m", "incrowd.serve.worker", task, *arguments]
        self._temporary = temporary
        self._process: subprocess.Popen[str] | None = None
        self._stopped = threading.Event()
        self._lock = threading.Lock()

    def run(self, tell: Tell) -> dict[str, Any]:
        """Wait for the result; raises what the task raised, or CancelledError."""
        with self._lock:
            if self._stopped.is_set():
                raise CancelledError
            self._process = self._begun()
        try:
            with self._process as process:
                return self._result(process, tell)
        finally:
            _end(self._process)

    def stop(self) -> None:
        """Let the process tidy up and end, and wait for that; nothing when it has ended."""
        self._stopped.set()
        with self._lock:
            process = self._process
        if process is not None:
            _end(process)

    def _begun(self) -> subprocess.Popen[str]:
        place = str(self._temporary)
        loud = bool(os.environ.get("INCROWD_DEBUG"))
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if loud else subprocess.DEVNULL,
            cwd=place,
            env={**os.environ, "TMPDIR": place, "TEMP": place, "TMP": place},
            text=True,
            encoding="utf-8",
        )

    def _result(self, process: subprocess.Popen[str], tell: Tell) -> dict[str, Any]:
        assert process.stdout is not None
        outcome: dict[str, Any] = {}
        for line in process.stdout:
            content = json.loads(line)
            if "stage" in content:
                tell(content["stage"], content["done"], content["whole"])
            else:
                outcome = content
        code = process.wait()
        if self._stopped.is_set():
            raise CancelledError
        if "result" in outcome:
            result: dict[str, Any] = outcome["result"]
            return result
        if "error" in outcome:
            raise _error(outcome["kind"], outcome["error"])
        raise EngineError(
            f"The work ended without a word (exit code {code}). Probably memory ran out: free "
            "some, or say `engine: duckdb` in the policy."
        )


def _end(process: subprocess.Popen[str]) -> None:
    """Ask a process to end, and make sure that it does."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _error(kind: str, message: str) -> IncrowdError:
    """The error that the process told of, as one of `incrowd.errors`."""
    found = getattr(errors, kind, None)
    if isinstance(found, type) and issubclass(found, IncrowdError):
        return found(message)
    return EngineError(message)
