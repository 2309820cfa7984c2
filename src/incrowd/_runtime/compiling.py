"""Compiled loops: machine code made when first called, and kept on disk where there is room.

Machine code does not look whether an index is inside its array. With NUMBA_BOUNDSCHECK=1 in the
environment it does, and a loop that leaves its arrays raises IndexError: some tests run that way.

Numba's cache on disk gives wrong answers in some rare cases, which would be miscounts here, so
they are closed. See numba issues 10128 and 10486; code that is kept is also bound to the loops that
it calls, and to whether it checks its indices.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import pickle
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from types import CodeType
from typing import Any, ParamSpec, TypeVar

from numba import njit
from numba.core import config
from numba.core.bytecode import FunctionIdentity
from numba.core.caching import FunctionCache

P = ParamSpec("P")
T = TypeVar("T")

LOOPS: list[Any] = []
"""Every compiled loop of the modules that were imported; `signatures` is empty until it runs."""


def compiled(loop: Callable[P, T]) -> Callable[P, T]:
    """The loop as machine code that lets other threads run.

    The code is kept beside the module, or in the user's cache folder, so that only the first run
    compiles. Where neither can be written, every run does.
    """
    made: Any = njit(nogil=True)(loop)
    LOOPS.append(made)
    cache: Any = _CheckedCache
    if _NUMBERED_AT_RANDOM:
        with suppress(RuntimeError):  # nowhere to keep it
            made._cache = cache(loop)
    same: Callable[P, T] = made
    return same


class _CheckedCache(FunctionCache):
    """Numba's cache, in which code is never taken for other code.

    Two processes that compile the same loop for different types at the same moment may give both
    the same file name, and the index of one then leads to the code of the other: code for 8-bit
    codes would read 16-bit ones. So what is loaded must be for the types asked for.

    Numba keeps code by the file that a loop is in, while the code holds all that the loop calls
    from other files too, reads the fields of named tuples by their places, and checks indices or
    not as it was when it was made. So all three are part of what it is kept under.
    """

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        key: Any = super()._index_key(sig, codegen)  # type: ignore[no-untyped-call]
        called = hashlib.sha256()
        for each in _told(self._py_func, set()):
            called.update(each.encode() + b"\0")
        called.update(repr([getattr(each, "fields", None) for each in sig]).encode())
        return (*key, called.hexdigest(), bool(getattr(config, "BOUNDSCHECK", None)))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kept code for a signature, or None where this process is to compile it.

        A process that finds none waits for others that compile loops of the same file.
        """
        found = self._kept(sig, target_context)
        if found is None and _TURNS.take(self._py_func.__code__.co_filename):
            found = self._kept(sig, target_context)
            if found is not None:
                _TURNS.give_back(self._py_func.__code__.co_filename)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code that was compiled, and let others take it."""
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        finally:
            _TURNS.give_back(self._py_func.__code__.co_filename)

    def _kept(self, sig: Any, target_context: Any) -> Any:
        """The kept code for a signature, or None where it is not kept or is for other types.

        What earlier versions kept may name types that are gone: it is forgotten as a whole.
        """
        try:
            found: Any = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except (AttributeError, EOFError, ImportError, pickle.UnpicklingError):
            with suppress(OSError):
                self.flush()  # type: ignore[no-untyped-call]
            return None
        if found is None or tuple(found.signature.args) != tuple(sig):
            return None
        return found


class _Turns:
    """Whose turn it is to compile the loops of a file: seconds of work that others need not redo.

    A turn is a lock on the source, which ends with its process. Who has waited for longer
    than compiling takes waits for no other again; where there are no locks, everybody compiles.
    """

    _patience = 60.0

    def __init__(self) -> None:
        self._held: dict[str, tuple[int, int]] = {}
        """What locks each file here, and how many loops are being compiled, one for another."""

    def take(self, path: str) -> bool:
        """Whether it is our turn now, and was not before."""
        lock, depth = self._held.get(path, (-1, 0))
        if depth:
            self._held[path] = (lock, depth + 1)
            return False
        try:
            import fcntl

            lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except (ImportError, OSError):
            return False
        last = time.monotonic() + self._patience
        while time.monotonic() < last:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                time.sleep(0.02)
            else:
                self._held[path] = (lock, 1)
                return True
        os.close(lock)
        self._patience = 0.0
        return False

    def give_back(self, path: str) -> None:
        """One loop less is being compiled; with the last one the turn ends."""
        lock, depth = self._held.pop(path, (-1, 0))
        if depth > 1:
            self._held[path] = (lock, depth - 1)
        elif depth:
            os.close(lock)


_TURNS = _Turns()


def _told(loop: Any, seen: set[Any]) -> list[str]:
    """All that the code of a loop follows from, with the compiled loops and constants it names."""
    seen.add(loop)
    told = _written(loop.__code__)
    for name in loop.__code__.co_names:
        value = loop.__globals__.get(name)
        if isinstance(value, int | float | str | tuple):
            told.append(f"{name}={value!r}")
        elif isinstance(value, type) and hasattr(value, "_fields"):
            told.append(f"{name}={value._fields!r}")
        inner = getattr(value, "py_func", None)
        if inner is not None and inner not in seen:
            told += _told(inner, seen)
    return told


def _written(code: CodeType) -> list[str]:
    """The instructions of some code, what they name, and their constants."""
    told = [code.co_code.hex(), repr(code.co_names), repr(code.co_varnames)]
    for constant in code.co_consts:
        told += _written(constant) if isinstance(constant, CodeType) else [repr(constant)]
    return told


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
