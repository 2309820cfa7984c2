"""Compiled loops: machine code made when first called, and kept on disk where there is room.

Numba's cache on disk gives wrong answers in two rare cases, which would be miscounts here, so
both are closed. See numba issues 10128 and 10486.
"""

from __future__ import annotations

import itertools
import os
import secrets
from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import FunctionCache


def compiled(loop: Callable[..., Any]) -> Any:
    """The loop as machine code that lets other threads run.

    The code is kept beside the module, or in the user's cache folder, so that only the first run
    compiles. Where neither can be written, every run does.
    """
    made: Any = njit(nogil=True)(loop)
    cache: Any = _CheckedCache
    if not _NUMBERED_AT_RANDOM:
        return made
    try:
        made._cache = cache(loop)
    except RuntimeError:
        return made
    return made


class _CheckedCache(FunctionCache):
    """Numba's cache, in which code for one type is never taken for another.

    Two processes that compile the same loop for different types at the same moment may give both
    the same file name, and the index of one then leads to the code of the other: code for 8-bit
    codes would read 16-bit ones. So what is loaded must be for the types asked for.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kept code for a signature, or None where it is not kept or is for other types."""
        found: Any = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is None or tuple(found.signature.args) != tuple(sig):
            return None
        return found


def _number_functions_at_random() -> None:
    """Let the numbers that Numba gives functions begin anywhere, not at 1 in every process.

    Such a number is all that tells the inner functions of a sort from those of an argsort in the
    names of machine code. Code kept by two processes that counted from 1 could share a name, and
    a process that loads both would run one in the place of the other.
    """
    FunctionIdentity._unique_ids = itertools.count(secrets.randbits(62))


# A Numba that numbers functions otherwise is not trusted with keeping code.
_NUMBERED_AT_RANDOM = hasattr(FunctionIdentity, "_unique_ids")
if _NUMBERED_AT_RANDOM:
    _number_functions_at_random()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_number_functions_at_random)
