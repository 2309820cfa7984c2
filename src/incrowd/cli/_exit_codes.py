"""The command line run to its end: every error becomes one message and an exit code."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from typing import Any

from incrowd._runtime.console import visible
from incrowd.cli.app import app
from incrowd.cli.commands import (
    attack,
    data,
    evaluation,
    federation,
    key,
    planning,
    release,
    risk,
    serve,
)
from incrowd.cli.signals import Stopped, listen
from incrowd.errors import IncrowdError, place_in_package

_INTERRUPTED = 130
_COMMANDS = (release, key, data, risk, attack, evaluation, planning, serve, federation)
"""The modules whose commands are registered by importing them, in the order of the help text."""
_ORDER = [module.__name__ for module in _COMMANDS]
app.registered_commands.sort(key=lambda each: _ORDER.index(each.callback.__module__))


class _Said(logging.Handler):
    """What a person must know before it is done, such as which server is asked as whom."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write it as it is, whatever `--quiet` says."""
        sys.stderr.write(visible(record.getMessage()) + "\n")
        sys.stderr.flush()


def main() -> None:
    """Run the command line; errors become one message and an exit code."""
    said = logging.getLogger("incrowd.sources")
    said.handlers = [_Said()]
    said.setLevel(logging.INFO)
    said.propagate = False
    # Hospitals take part in runs of many processes, which look after each other's signals.
    stopped = Stopped() if sys.argv[1:2] == ["federation"] else listen()
    sys.exit(_guarded(app, stopped))


def _guarded(command: Callable[[], Any], stopped: Stopped) -> int:
    """The exit code of a command. No traceback: it could show cells of the data."""
    try:
        command()
        return 0
    except SystemExit as stop:
        if stop.code == _INTERRUPTED or (stop.code and stopped.by):
            return _interrupted(stopped)
        return stop.code if isinstance(stop.code, int) else 0
    except KeyboardInterrupt:
        return _interrupted(stopped)
    except Exception as error:
        return _interrupted(stopped) if stopped.by else _failed(error)


def _interrupted(stopped: Stopped) -> int:
    sys.stderr.write(f"interrupted: {_written()}\n")
    return stopped.exit_code


def _failed(error: Exception) -> int:
    """Tell what went wrong; the exit code for it."""
    if isinstance(error, IncrowdError):
        sys.stderr.write(visible(f"error: {error}\n"))
        return error.exit_code
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if isinstance(error, MemoryError):
        sys.stderr.write(f"error: not enough memory; {_written()}\n")
        return 3
    if os.environ.get("INCROWD_DEBUG"):
        raise error
    sys.stderr.write(
        f"error: a fault in incrowd itself ({type(error).__name__} at {place_in_package(error)}); "
        f"{_written()}. Set INCROWD_DEBUG=1 for a traceback, which may show cells of the data.\n"
    )
    return 3


def _written() -> str:
    """What is there when a command ends early: a release is complete once it appeared."""
    folder = sys.modules.get("incrowd.publish.folder")  # loaded with the first release
    there = [path for path in folder.appeared if path.exists()] if folder is not None else []
    return f"the release in '{there[-1]}' was complete" if there else "nothing was written"
