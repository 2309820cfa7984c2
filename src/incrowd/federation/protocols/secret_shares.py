"""Secret shares: several hospitals compute with numbers that none of them sees, by MPyC.

MPyC is a library for computing with Shamir's shares. Of itself it opens connections between all
pairs of parties, reads the command line when it is imported, and keeps one runtime for a process.
Hospitals here only dial out to the leader, so MPyC is given a transport of ours: what it wants to
send is kept, and handed out when nothing moves any more; what others sent is handed in. Nothing is
sent from here and there is no clock: `advance` runs until every task waits for another hospital.

What is used of MPyC, and what is not
-------------------------------------
- Sharing an input, and sharing anew what is a party's part of a product.
- Not its way to open a number, which takes one share more than may be pooled: a false share is not
  seen. Here all shares are compared (`_recombination.py`), and what was multiplied is proved
  before.
- Not its random bits, which trust those who deal them.
- Not its comparisons and zero tests (`np_sgn`, `np_less`, `np_is_zero_public`). In large fields
  they open a product of two polynomials that was not shared anew. A party knows a point of both
  factors, and with three parties that leaves two candidates for the secret. `_comparisons.py` has
  comparisons that open nothing but what is masked.
- Not its way to write arrays, which is `pickle`: whoever sends a pickle runs code at the receiver.
  Here numbers of the field travel in a fixed width and nothing else is read.
- Not its pseudorandom shares: those of `_covers.py` compare the keys first.

References
----------
Schoenmakers (2018), MPyC: secure multiparty computation in Python. Gennaro, Rabin, Rabin (1998),
Simplified VSS and fast-track multiparty computations (multiplication). Shamir (1979), How to share
a secret.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import threading
import warnings
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NoReturn

from incrowd.errors import FederationError, InputError, ParameterError
from incrowd.federation.protocols._desks import Desk
from incrowd.federation.protocols._mpyc_adapters import Codec, Dice, Loop, Outbox
from incrowd.federation.protocols._recombination import SharesError

LEAST_PARTIES, MOST_PARTIES = 3, 13
LOWEST_VERSION = (0, 11)
PRIMES = tuple(2**size - 1 for size in (61, 89, 107, 127))
"""Prime numbers to compute with; the smallest that is large enough is taken."""
_GLOBALS = ("asyncoro", "sectypes", "mpctools", "seclists", "random")
"""The modules of MPyC that look their runtime up in a variable of their own."""
_LOCK = threading.RLock()


def need_sharing() -> str:
    """The version of MPyC; fails with the remedy where it is missing or too old."""
    remedy = 'Opening single bits needs mpyc 0.11 or later: pip install "incrowd[federation-bits]".'
    try:
        found = version("mpyc")
    except PackageNotFoundError:
        raise InputError(remedy) from None
    parts = tuple(int(part) for part in found.split(".")[:2] if part.isdecimal())
    if parts < LOWEST_VERSION:
        raise InputError(f"{remedy} Found {found}.")
    return found


def threshold_of(parties: int) -> int:
    """How many parties may pool their shares and learn nothing: less than half of them.

    Example
    -------
    >>> [threshold_of(parties) for parties in (3, 4, 5)]
    [1, 1, 2]
    """
    if parties < LEAST_PARTIES:
        raise ParameterError(
            f"Single bits are opened among {LEAST_PARTIES} or more hospitals, got {parties}: "
            "shares hide nothing when all but one may pool them. Open sums instead."
        )
    if parties > MOST_PARTIES:
        raise ParameterError(
            f"Single bits are opened among {MOST_PARTIES} hospitals at most, got {parties}: each "
            "group of more than half of them needs a key. Open sums instead."
        )
    return (parties - 1) // 2


Program = Callable[[Desk], Coroutine[Any, Any, Any]]


class Computation:
    """One party's side of one joint computation.

    Parameters
    ----------
    own
        The place of this party.
    names
        All parties, in their order; three or more.
    prime
        What numbers are computed modulo.
    program
        What to compute; the same at every party, up to the own inputs.

    Notes
    -----
    Less than half of the parties may pool what they see, and send what they like: they learn
    nothing but what is opened, and can stop the computation but not change what is opened.
    """

    def __init__(self, own: int, names: Sequence[str], prime: int, program: Program) -> None:
        self._names = names
        self._own = own
        self._loop = Loop()
        self._loop.set_exception_handler(self._take_failure)
        self._failure: BaseException | None = None
        self._codec = Codec(prime)
        self._dice = Dice()
        try:
            self._runtime = _runtime(own, len(names), self._loop)
            self._lines = _lines(self._runtime)
        except BaseException:
            self._loop.close()
            raise
        self._prime = prime
        self._program = program
        self._task: asyncio.Task[Any] | None = None

    @property
    def done(self) -> bool:
        """Whether the program has come to its end here."""
        return self._task is not None and self._task.done()

    @property
    def result(self) -> Any:
        """What the program returned."""
        if self._task is None or not self._task.done():
            raise ParameterError("The joint computation is still under way.")
        return self._task.result()

    @property
    def awaited(self) -> list[str]:
        """The parties without whose next message nothing moves here."""
        return [
            self._names[place]
            for place, line in self._lines.items()
            if any(isinstance(each, asyncio.Future) for each in line.buffers.values())
        ]

    def advance(self, inbox: Mapping[int, bytes]) -> dict[int, bytes]:
        """Take what others sent, compute until all waits for others; what to send to each.

        Raises
        ------
        FederationError
            When what a party sent cannot be read (the message names it), or does not fit.
        """
        with self._installed():
            if self._task is None:
                desk = Desk(self._runtime, self._names, self._prime)
                self._task = self._loop.create_task(self._program(desk))
            for place, data in inbox.items():
                self._take(place, data)
            self._loop.settle()
        if self.done and self._failure is None and self._task.exception() is not None:
            self._failure = self._task.exception()
        if isinstance(self._failure, SharesError):
            raise self._failure
        if self._failure is not None:
            raise FederationError(
                "The joint computation failed: a hospital sent numbers that do not fit "
                f"({type(self._failure).__name__}). Nothing was opened. Start the session again."
            ) from self._failure
        for place, line in self._lines.items():
            if self.done and line.buffers:
                self._blame(place)  # it has sent more than was due
        return {place: line.transport.taken() for place, line in self._lines.items()}

    def close(self) -> None:
        """Forget all shares."""
        if self._loop.is_closed():
            return
        with self._installed():
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.settle()
        self._loop.close()

    def _take(self, place: int, data: bytes) -> None:
        line = self._lines[place]
        try:
            line.data_received(data)
        except Exception:
            self._blame(place)
        if line.bytes:
            self._blame(place)

    def _blame(self, place: int) -> NoReturn:
        raise FederationError(
            f"'{self._names[place]}' sent what is no message of this joint computation. Nothing "
            "was opened by it. Start the session again."
        ) from None

    def _take_failure(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Keep the first error of a task; MPyC would print it."""
        error = context.get("exception")
        if self._failure is None and isinstance(error, Exception):
            self._failure = error

    @contextmanager
    def _installed(self) -> Iterator[None]:
        """Within this, MPyC's variables are those of this computation, and nobody else's."""
        library = _library()
        draws = importlib.import_module("mpyc.thresha")
        lookups: list[Any] = [importlib.import_module(f"mpyc.{name}") for name in _GLOBALS]
        changes = [(library, "pickle", self._codec), (draws, "secrets", self._dice)]
        changes += [(module, "runtime", self._runtime) for module in lookups]
        with _LOCK:
            before = [getattr(module, name, None) for module, name, _ in changes]
            try:
                for module, name, own in changes:
                    setattr(module, name, own)
                yield
            finally:
                for (module, name, _), former in zip(changes, before, strict=True):
                    setattr(module, name, former)


def _library() -> Any:
    """MPyC's module `runtime`, imported so that it reads no command line and logs nothing."""
    with _LOCK:
        handlers, level = list(logging.root.handlers), logging.root.level
        told = os.environ.get("READTHEDOCS")
        try:
            # MPyC parses sys.argv and makes a runtime when imported, but not for documentation.
            os.environ["READTHEDOCS"] = "True"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of NumPy, in MPyC 0.11
                return importlib.import_module("mpyc.runtime")
        finally:
            os.environ.pop("READTHEDOCS") if told is None else os.environ.update(READTHEDOCS=told)
            logging.root.handlers[:] = handlers
            logging.root.setLevel(level)


def _runtime(own: int, parties: int, loop: asyncio.AbstractEventLoop) -> Any:
    """A runtime of MPyC for one party, on a loop of ours."""
    threshold = threshold_of(parties)
    need_sharing()
    library = _library()
    options = importlib.import_module("mpyc")._get_arg_parser().parse_args([])
    options.threshold = threshold
    options.no_log = options.no_prss = options.no_barrier = True
    made: list[Any] = []

    def make() -> None:
        # A runtime takes the loop of its thread; that of the caller's is left alone.
        asyncio.set_event_loop(loop)
        peers = [library.Party(place) for place in range(parties)]
        made.append(library.Runtime(own, peers, options))
        asyncio.set_event_loop(None)

    handler = loop.get_exception_handler()
    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    if not made:
        raise InputError("mpyc could not be started; use the version that the extra names.")
    loop.set_exception_handler(handler)
    return made[0]


def _lines(runtime: Any) -> dict[int, Any]:
    """MPyC's own message exchangers with all other parties, each writing to an outbox."""
    exchanger = importlib.import_module("mpyc.asyncoro").MessageExchanger
    lines = {}
    for peer in runtime.parties:
        if peer.pid != runtime.pid:
            line = exchanger(runtime, peer.pid)
            line.transport = Outbox()
            peer.protocol = lines[peer.pid] = line
    return lines
