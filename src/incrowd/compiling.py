"""Compiled loops: machine code made when first called, and kept on disk where there is room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(loop: Callable[..., Any]) -> Any:
    """The loop as machine code that lets other threads run.

    The code is kept beside the module, or in the user's cache folder, so that only the first run
    compiles. Where neither can be written, every run does.
    """
    try:
        return njit(cache=True, nogil=True)(loop)
    except RuntimeError:
        return njit(nogil=True)(loop)
