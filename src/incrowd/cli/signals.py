"""Signals that end a command: it tidies up first, and says that nothing was written.

Python turns Ctrl-C into an exception, and every temporary folder is removed on the way out. The
same is done here for a polite request to end (SIGTERM) and for a closed terminal (SIGHUP).
"""

from __future__ import annotations

import ctypes
import signal
import sys
from types import FrameType
from typing import Any

_CUT_SHORT = (
    b"error: a file of the source was cut short while it was read. Nothing was written. Run it "
    b"again when nobody changes the source.\n"
)
_LARGE = 50_000_000
"""Files of less than so many bytes are read in a moment."""
_kept: list[Any] = []


class Stopped:
    """Which signal came, if any: libraries may turn the exception of its handler into others."""

    def __init__(self) -> None:
        self.by: int | None = None

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        """Take a signal."""
        self.by = number
        raise KeyboardInterrupt

    @property
    def exit_code(self) -> int:
        """What shells expect of a process that a signal ended."""
        return 128 + (self.by or signal.SIGINT)


def listen() -> Stopped:
    """Handle the signals that ask a process to end, from now on."""
    stopped = Stopped()
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, stopped)
    return stopped


def guard_mapped_files(size: int) -> None:
    """Let a large file that is cut short while it is mapped end the process with a message.

    Reading a part of a mapped file that is no longer there ends a process at once (SIGBUS), with
    no chance to tidy up: the next run removes what is left in the folder of temporary files. No
    release can be there yet, for records are read before one is begun.

    Parameters
    ----------
    size
        The bytes of the source. The handler is machine code, which takes half a second to make,
        so it is only made for large ones.
    """
    if size < _LARGE or not hasattr(signal, "SIGBUS") or sys.platform not in ("linux", "darwin"):
        return
    from numba import cfunc, types

    leave: Any = types.ExternalFunction("_exit", types.void(types.intc))
    write: Any = types.ExternalFunction("write", types.intp(types.intc, types.intp, types.intp))
    text = ctypes.create_string_buffer(_CUT_SHORT)
    address, length = ctypes.addressof(text), len(_CUT_SHORT)

    def handler(_number: int) -> None:
        write(2, address, length)
        leave(3)

    made = cfunc(types.void(types.intc))(handler)
    _kept.extend((text, made))
    library = ctypes.CDLL(None)
    library.signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
    library.signal.restype = ctypes.c_void_p
    library.signal(int(signal.SIGBUS), made.address)
