"""Compiled loops: machine code made when first called, and kept on disk where there is room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache


def compiled(loop: Callable[..., Any]) -> Any:
    """The loop as machine code that lets other threads run.

    The code is kept beside the module, or in the user's cache folder, so that only the first run
    compiles. Where neither can be written, every run does.
    """
    made: Any = njit(nogil=True)(loop)
    cache: Any = _CheckedCache
    try:
        made._cache = cache(loop)
    except RuntimeError:
        return made
    return made


class _CheckedCache(FunctionCache):
    """Numba's cache on disk, without its one wrong answer.

    Two processes that compile the same loop for different types at the same moment may give both
    the same file name, and the index of one then leads to the code of the other: code for 8-bit
    codes would read 16-bit ones, and miscount. So what is loaded must be for the types asked for.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kept code for a signature, or None where it is not kept or is for other types."""
        found: Any = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is None or tuple(found.signature.args) != tuple(sig):
            return None
        return found
