"""The process that does the work of the page: it studies a file, or makes a release.

Run as `python -m incrowd.serve.workspace._worker`, it waits for a task, a line of JSON on stdin.
Progress, the result or the error go to stdout as lines of JSON; nothing else is printed. On Linux a
fork does the task, which needs no imports and gives all memory back; once that has ended, a line
tells its exit code, and the next task may come. It ends, and leaves nothing behind, when it is
asked to (SIGTERM) and when the process that started it is gone (the end of stdin).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from incrowd.errors import IncrowdError, place_in_package
from incrowd.serve.workspace import _studies as studies

_EVERY = 0.1
"""Seconds between two words about the same stage."""
_GENTLE = 5
"""How much this process lets others go first: the server must answer while it works."""
ACCEPT = "accept-unprotected"
"""The word by which a person accepted columns that single records out."""


class Teller:
    """Lines of JSON for the process that waits."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._stage, self._last = "", 0.0

    def line(self, content: Mapping[str, Any]) -> None:
        """Write one line."""
        self._stream.write(json.dumps(content) + "\n")
        self._stream.flush()

    def progress(self, stage: str, done: int, whole: int) -> None:
        """Tell what is under way: each new stage, and then ten times a second at most."""
        now = time.monotonic()
        if stage != self._stage or now - self._last >= _EVERY:
            self._stage, self._last = stage, now
            self.line({"stage": stage, "done": int(done), "whole": int(whole)})


def release(tell: Teller, policy: str, folder: str, private_report: str, accepted: str = "") -> Any:
    """Make the release that `incrowd anonymize` makes of this policy file, in a folder.

    The private report goes beside the folder.
    """
    from incrowd.pipeline import Plan
    from incrowd.policy.times import told_times
    from incrowd.policy.units import told_unit
    from incrowd.report.summary import release_summary
    from incrowd.serve.workspace._live_risk import risk_of_release

    place = Path(folder)
    plan = Plan(None, policy, place, accept_unprotected=accepted == ACCEPT)
    assert plan.place is not None
    made = plan.begin(tell.progress).searched()
    verdict = made.save(
        plan.place,
        private_report=private_report,
        progress=lambda stage: tell.progress(stage, 0, 1),
    )
    tell.progress("measuring the risk", 0, 1)
    summary = release_summary(made, verdict, place)
    return {
        **summary,
        "release": place.name,
        "publish": made.manifest["publish"],
        "counted": " ".join([told_unit(made.manifest), *told_times(made.manifest)]),
        "risk": risk_of_release(place),
        "remarks": [*plan.policy.remarks, *made.remarks],
        "warnings": [each.detail for each in verdict.warnings],
        "not_judged": list(verdict.not_judged),
        "findings": [
            {"promise": each.promise, "holds": each.holds, "detail": each.detail}
            for each in verdict.findings
        ],
    }


def _study(found: Callable[..., Any]) -> Callable[..., Any]:
    """A study as a task, whose progress is told."""
    return lambda tell, *arguments: found(tell.progress, *arguments)


TASKS: Mapping[str, Callable[..., Any]] = {
    "study": _study(studies.study),
    "tables": _study(studies.study_tables),
    "demo": _study(studies.demo),
    "release": release,
}


def _stop(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _ordered(tell: Teller) -> dict[str, Any] | None:
    """The task, a line of JSON on stdin; None when nobody wants anything any more.

    From then on the process is asked to end once nobody holds the other end of stdin.
    """
    with open(0, "rb", buffering=0, closefd=False) as stream:
        while line := stream.readline():
            if sys.platform != "linux" or _is_fork(tell):
                break
    if not line:
        return None

    def wait() -> None:
        while os.read(0, 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()
    found: dict[str, Any] = json.loads(line)
    return found


def _is_fork(tell: Teller) -> bool:
    """Fork: True in the new process; False in this one, once the other has ended.

    No thread and no pool of threads may have been begun before.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    with warnings.catch_warnings():  # of threads: libraries have some that wait, none is needed
        warnings.simplefilter("ignore", DeprecationWarning)
        number = os.fork()
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        if number == 0:
            return True
        _, status = os.waitpid(number, 0)
    except KeyboardInterrupt:
        if number != 0:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(number, signal.SIGTERM)
                os.waitpid(number, 0)
        raise
    with suppress(BrokenPipeError):
        tell.line({"ended": os.waitstatus_to_exitcode(status)})
    return False


def _import_ahead() -> None:
    """Import what tasks need, before there is one."""
    import duckdb
    import polars

    from incrowd import pipeline, profiling, verify
    from incrowd.attacks import targets
    from incrowd.report import reporting, summary
    from incrowd.sources import csv

    assert all((duckdb, polars, pipeline, profiling, verify, targets, reporting, summary, csv))


def main() -> int:
    """Do the task that stdin names; the exit code."""
    if hasattr(os, "nice"):
        os.nice(_GENTLE)
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which stops us
    # What libraries print must not mix with the lines of JSON, nor reach a log.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    tell = Teller(out)
    try:
        _import_ahead()
        order = _ordered(tell)
        if order is not None:
            tell.line({"result": TASKS[order["task"]](tell, *order["arguments"])})
    except KeyboardInterrupt:
        return 143
    except IncrowdError as error:
        tell.line({"error": str(error), "kind": type(error).__name__})
        return error.exit_code
    except MemoryError:
        tell.line({"error": "Not enough memory; nothing was written.", "kind": "EngineError"})
        return 3
    except Exception as error:
        told = f"A fault in incrowd itself ({type(error).__name__} at {place_in_package(error)})."
        tell.line({"error": told, "kind": "EngineError"})
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
