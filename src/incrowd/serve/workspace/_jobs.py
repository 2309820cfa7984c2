"""Work in processes of its own: it can be stopped at any moment, and the page stays responsive."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
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


class Workers:
    """Processes that do the work. One always waits ahead, so that no task waits for imports.

    Parameters
    ----------
    temporary
        The folder for the temporary files of the processes, so that none is left elsewhere.

    Notes
    -----
    Nothing that a process prints reaches a log. It ends by itself when this process is killed,
    since the pipe to its stdin then closes.
    """

    def __init__(self, temporary: Path) -> None:
        self._temporary = temporary
        self._ready: subprocess.Popen[str] | None = None
        self._closed = False
        self._lock = threading.Lock()

    def prepare(self) -> None:
        """Begin a process ahead, unless one waits already."""
        with self._lock:
            if self._ready is None and not self._closed:
                self._ready = self._begun()

    def take(self) -> subprocess.Popen[str]:
        """A process that waits for its task."""
        with self._lock:
            process, self._ready = self._ready, None
        if process is not None:
            if process.poll() is None:
                return process
            _close(process)
        return self._begun()

    def give_back(self, process: subprocess.Popen[str]) -> None:
        """Let a process wait for its next task, unless one waits already."""
        with self._lock:
            if self._ready is None and not self._closed:
                self._ready = process
                return
        _end(process)
        _close(process)

    def close(self) -> None:
        """End the process that waits."""
        with self._lock:
            self._closed = True
            process, self._ready = self._ready, None
        if process is not None:
            _end(process)
            _close(process)

    def _begun(self) -> subprocess.Popen[str]:
        place = str(self._temporary)
        loud = bool(os.environ.get("INCROWD_DEBUG"))
        return subprocess.Popen(
            # Not from the folder of the process, where names are those that users chose.
            [sys.executable, "-P", "-m", "incrowd.serve.workspace._worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if loud else subprocess.DEVNULL,
            cwd=place,
            env={**os.environ, "TMPDIR": place, "TEMP": place, "TMP": place},
            text=True,
            encoding="utf-8",
            process_group=None if sys.platform == "win32" else 0,
        )


class WorkerTask:
    """One task of `incrowd.serve.workspace._worker`, in a process that ends when it is asked to.

    Parameters
    ----------
    workers
        Where the process comes from.
    task, arguments
        What it is to do.
    """

    def __init__(self, workers: Workers, task: str, arguments: Sequence[str | bool | None]) -> None:
        self._workers = workers
        self._order = json.dumps({"task": task, "arguments": list(arguments)})
        self._process: subprocess.Popen[str] | None = None
        self._stopped = threading.Event()
        self._outlived = False
        """Whether the process waits for another task, since only a fork of it did this one."""
        self._lock = threading.Lock()

    def run(self, tell: Tell) -> dict[str, Any]:
        """Wait for the result; raises what the task raised, or CancelledError."""
        with self._lock:
            if self._stopped.is_set():
                raise CancelledError
            self._process = process = self._workers.take()
        try:
            return self._result(process, tell)
        finally:
            with self._lock:
                self._process = None
                outlived = self._outlived and not self._stopped.is_set()
            if outlived:
                self._workers.give_back(process)
            else:
                _end(process)
                _close(process)
                self._workers.prepare()

    def stop(self) -> None:
        """Let the process tidy up and end, and wait for that; nothing when it has ended."""
        with self._lock:
            self._stopped.set()
            process = self._process
        if process is not None:
            _end(process)

    def _result(self, process: subprocess.Popen[str], tell: Tell) -> dict[str, Any]:
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):  # its end is told below
            process.stdin.write(self._order + "\n")
            process.stdin.flush()
        outcome: dict[str, Any] = {}
        code = None
        for line in process.stdout:
            content = json.loads(line)
            if "stage" in content:
                tell(content["stage"], content["done"], content["whole"])
            elif "ended" in content:
                self._outlived, code = True, content["ended"]
                break
            else:
                outcome = content
        if code is None:
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
        if sys.platform == "win32":
            process.kill()
        else:  # with its fork
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _close(process: subprocess.Popen[str]) -> None:
    """Close the pipes of a process that has ended."""
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()


def _error(kind: str, message: str) -> IncrowdError:
    """The error that the process told of, as one of `incrowd.errors`."""
    found = getattr(errors, kind, None)
    if isinstance(found, type) and issubclass(found, IncrowdError):
        return found(message)
    return EngineError(message)
