"""Adapters: what MPyC is given in the place of an event loop, a line, `pickle` and `secrets`.

Each does one thing less than what it stands in for: the loop waits for nothing, the line sends
nothing, what is read from others is numbers and never code.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextvars import Context
from typing import Any

import numpy as np
import numpy.typing as npt

_DRAWN_AT_ONCE = 4096


class Loop(asyncio.SelectorEventLoop):
    """An event loop that knows when nothing is left to do."""

    def __init__(self) -> None:
        self.calls_made = 0
        super().__init__()

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Schedule a call, and remember that there was one."""
        self.calls_made += 1
        return super().call_soon(callback, *args, context=context)

    def settle(self) -> None:
        """Run all that can run; what is left then waits for other parties."""
        while True:
            before = self.calls_made
            self.call_soon(self.stop)
            self.run_forever()
            if self.calls_made == before + 1:
                return


class Outbox:
    """Where MPyC writes what it wants to send to one party."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Keep what is to be sent."""
        self._pieces.append(data)

    def taken(self) -> bytes:
        """All that is to be sent, once."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


class Codec:
    """Numbers modulo a prime as bytes of a fixed width: in the place of MPyC's `pickle`."""

    def __init__(self, prime: int) -> None:
        self._prime = prime
        self._width = (prime.bit_length() + 7) // 8

    def dumps(self, numbers: Any) -> bytes:
        """Numbers as bytes, the lowest first."""
        width = self._width
        return b"".join([int(each).to_bytes(width, "little") for each in numbers])

    def loads(self, data: bytes) -> npt.NDArray[np.object_]:
        """The numbers in bytes; anything else than numbers below the prime is refused."""
        width, read = self._width, int.from_bytes
        if len(data) % width:
            raise ValueError("not a list of numbers")
        count = len(data) // width
        numbers = np.empty(count, object)
        numbers[:] = [read(data[at : at + width], "little") for at in range(0, len(data), width)]
        if count and numbers.max() >= self._prime:
            raise ValueError("a number that is not below the prime")
        return numbers


class Dice:
    """Random numbers of the system, drawn many at a time: in the place of `secrets` in MPyC.

    Most of the time of a computation would go into drawing them one by one.
    """

    def __init__(self) -> None:
        self._width = 0
        self._drawn: list[int] = []

    def randbelow(self, bound: int) -> int:
        """A uniformly random number below a bound; those above are drawn again."""
        bits = (bound - 1).bit_length()
        width = (bits + 7) // 8
        while True:
            if not self._drawn or width != self._width:
                self._draw(width)
            number = self._drawn.pop() >> (8 * width - bits)
            if number < bound:
                return number

    def _draw(self, width: int) -> None:
        raw, read = os.urandom(_DRAWN_AT_ONCE * width), int.from_bytes
        self._width = width
        self._drawn = [read(raw[at : at + width], "little") for at in range(0, len(raw), width)]
