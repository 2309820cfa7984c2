"""The command line run to its end: every error becomes one message and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from incrowd.cli import anonymizing, attacking, federating, measuring, planning
from incrowd.cli.app import app
from incrowd.errors import IncrowdError

_INTERRUPTED = 130
COMMANDS = (anonymizing, attacking, measuring, planning, federating)
"""The modules whose commands are registered by importing them."""


def main() -> None:
    """Run the command line; errors become one message and an exit code."""
    sys.exit(_guarded(app))


def _guarded(command: Callable[[], Any]) -> int:
    """The exit code of a command. No traceback: it could show cells of the data."""
    try:
        command()
        return 0
    except SystemExit as stop:
        if stop.code == _INTERRUPTED:
            sys.stderr.write("interrupted: nothing was written\n")
        return stop.code if isinstance(stop.code, int) else 0
    except IncrowdError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MemoryError:
        sys.stderr.write("error: not enough memory; nothing was written\n")
        return 3
    except Exception as error:
        if os.environ.get("INCROWD_DEBUG"):
            raise
        place = _place(error)
        sys.stderr.write(
            f"error: a fault in incrowd itself ({type(error).__name__} at {place}); nothing was "
            "written. Set INCROWD_DEBUG=1 for a traceback, which may show cells of the data.\n"
        )
        return 3


def _place(error: BaseException) -> str:
    """The module and line where an error arose, without the values involved."""
    traceback = error.__traceback__
    place = "unknown"
    while traceback is not None:
        module = traceback.tb_frame.f_globals.get("__name__", "")
        if module.startswith("incrowd"):
            place = f"{module}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place
