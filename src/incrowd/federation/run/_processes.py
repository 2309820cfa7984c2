"""The processes of a rehearsal: started together, listened to, ended together."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from incrowd.errors import FederationError, IncrowdError, PrivacyError
from incrowd.federation.transport.messages import STOPPED

COMMAND = (sys.executable, "-P", "-m", "incrowd")
"""The command line in a process of its own, whatever lies in the working folder."""
TellLine = Callable[[str, str], None]
"""Takes the name of a hospital and a line that it wrote."""
_PLAIN = {"PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"}
_ERROR = "error: "
GRACE = 3.0
"""So long the others may take to hear of a failure and to end by themselves."""
_POLL = 0.05


@dataclass(frozen=True)
class Hospital:
    """What one hospital starts."""

    name: str
    arguments: Sequence[str]
    result: Path
    """Where its result goes: JSON."""


@dataclass
class _Running:
    """One hospital's process, with the last error that it told."""

    hospital: Hospital
    process: subprocess.Popen[str]
    told: str = ""
    killed: bool = False
    """Ended from here, because another one had failed."""
    listener: threading.Thread | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        return self.hospital.name

    @property
    def failed(self) -> bool:
        return self.process.poll() not in (None, 0)


def run_together(
    hospitals: Sequence[Hospital],
    log: TellLine,
    *,
    command: Sequence[str] = COMMAND,
    grace: float = GRACE,
    environment: Mapping[str, str] | None = None,
) -> dict[str, Mapping[str, Any]]:
    """Start all hospitals and wait until all have ended well; their results by name.

    Parameters
    ----------
    hospitals
        What to start.
    log
        Takes every line that they write to stderr, from several threads, one at a time.
    command
        What comes before the arguments of each.
    grace
        How long the others may go on, in seconds, when one has failed.
    environment
        More variables for their environment.

    Raises
    ------
    FederationError
        When one fails; the message names it and gives its last words. All others are ended.
    PrivacyError
        When the hospitals found that the privacy asked for cannot be reached.
    """
    running: list[_Running] = []
    lock = threading.Lock()

    def relay(name: str, line: str) -> None:
        with lock:
            log(name, line)

    try:
        # One by one, so that those are ended that were started before one could not be.
        for each in hospitals:
            with _held_back():
                running.append(_started(each, command, relay, environment or {}))
        while any(each.process.poll() is None for each in running):
            if any(each.failed for each in running):
                _give_time(running, grace)
                break
            time.sleep(_POLL)
    finally:
        _end(running)
    if any(each.failed for each in running):
        raise _failure(running)
    return {each.name: _result(each) for each in running}


@contextlib.contextmanager
def _held_back() -> Iterator[None]:
    """Let an interrupt wait for the end of the block: what is being started is then known.

    Other threads than the first are not interrupted.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    heard = {each: handler for each, handler in before.items() if callable(handler)}
    for each in heard:
        signal.signal(each, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        for each, handler in heard.items():
            signal.signal(each, handler)
        for number in came:
            signal.raise_signal(number)


def _started(
    hospital: Hospital, command: Sequence[str], relay: TellLine, environment: Mapping[str, str]
) -> _Running:
    with hospital.result.open("w", encoding="utf-8") as result:
        process = subprocess.Popen(  # noqa: S603 - our own command, no shell
            [*command, *hospital.arguments],
            stdin=subprocess.DEVNULL,
            stdout=result,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, **_PLAIN, **environment},
            start_new_session=True,  # an interrupt is for the rehearsal, which ends all
        )
    made = _Running(hospital, process)
    made.listener = threading.Thread(target=_listen, args=(made, relay), daemon=True)
    made.listener.start()
    return made


def _listen(running: _Running, relay: TellLine) -> None:
    """Pass on every line of a process, and remember its last error."""
    stream: IO[str] | None = running.process.stderr
    for line in stream or ():
        text = line.rstrip("\n")
        if text.startswith(_ERROR):
            running.told = text.removeprefix(_ERROR)
        elif running.told:  # an error is the last word, of one line or several
            running.told += f"\n{text}"
        with contextlib.suppress(OSError, ValueError):  # nobody reads on: the process must not hang
            relay(running.name, text)


def _give_time(running: Sequence[_Running], grace: float) -> None:
    """Let the others hear of a failure; whoever still runs then is ended."""
    end = time.monotonic() + grace
    while time.monotonic() < end and any(each.process.poll() is None for each in running):
        time.sleep(_POLL)


def _end(running: Sequence[_Running]) -> None:
    """End what still runs, and hear everything that was said."""
    for each in running:
        if each.process.poll() is None:
            each.killed = True
            each.process.kill()
    for each in running:
        each.process.wait()
        if each.listener is not None:
            each.listener.join()
        if each.process.stderr is not None:
            each.process.stderr.close()


def _failure(running: Sequence[_Running]) -> IncrowdError:
    """The error of the hospital that failed by itself, as far as exit codes and words tell."""
    culprit = min((each for each in running if each.failed and not each.killed), key=_innocence)
    code, told = culprit.process.returncode, culprit.told
    if not told:
        told = f"it ended by signal {-code}." if code < 0 else f"it ended with exit code {code}."
    if code == PrivacyError.exit_code:  # nobody's fault
        return PrivacyError(told)
    named = told.startswith(STOPPED)  # it tells already who and why
    return FederationError(told if named else f"{culprit.name}: {told}")


def _innocence(running: _Running) -> int:
    """Small where a hospital failed by itself; one that was only told of a failure ends with 3."""
    if running.process.returncode != FederationError.exit_code:
        return 0
    told = running.told.removeprefix(STOPPED)
    return 1 if told == running.told or told.startswith(f"{running.name} ") else 2


def _result(running: _Running) -> Mapping[str, Any]:
    try:
        told: Mapping[str, Any] = json.loads(running.hospital.result.read_text(encoding="utf-8"))
    except ValueError:
        raise FederationError(
            f"{running.name}: it ended well but told no result. Nothing was written."
        ) from None
    return told
