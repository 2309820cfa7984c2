"""Meetings: the hospitals of a run, as a method sees them from its own one.

Every hospital runs the same method and calls the same meeting in the same order. At the leader a
call asks the others; at the others it waits for the leader to ask for just that, and stops the run
when it asks for anything else, or leaves a question of the method out. Each question has one answer
(`_turns.py`), which every hospital adds up from what all sent, and the method goes on only with it.
So a leader gets no count that the method does not need, and none before those that come first.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.counts.hospitals.home import Answering
from incrowd.errors import FederationError
from incrowd.federation.protocols.marks import Opens, marks_from_wire, opening
from incrowd.federation.protocols.sums import from_wire
from incrowd.federation.session._leader import Leader
from incrowd.federation.session._party import PartyOutcome, serve
from incrowd.federation.session.session import DisagreementError
from incrowd.federation.transport.messages import STOPPED, canonical, parse

if TYPE_CHECKING:
    from incrowd.federation.membership.kits import Kit
    from incrowd.federation.protocols.crowd_bits import CrowdCounts
    from incrowd.federation.transport.rounds import Log
    from incrowd.federation.transport.terms import Terms, TimeLimits

__all__ = ["Ended", "Leader", "LeadersMeeting", "Meeting", "PartysMeeting", "serve"]


@dataclass(frozen=True)
class Ended:
    """What a run was, for the log of one hospital."""

    answers: int
    transcript: str
    sent: int
    received: int


class Meeting(Answering, Protocol):
    """One hospital's place at the table, from the first hello to the last word."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None: ...

    def holds(self, request: Mapping[str, Any], crowds: CrowdCounts) -> bool:
        """Whether all crowds are empty, or large and mixed enough, in the sum over hospitals."""

    def settle(self) -> None:
        """Let all have what was opened last; it travels with the next request, an empty one."""

    def finish(self, payload: Mapping[str, Any]) -> Ended:
        """End the run: all hospitals have come to the same end, and know it."""


class LeadersMeeting:
    """The meeting as its leader sees it.

    Parameters
    ----------
    kit, terms, limits, log, listen_at
        As for `Leader`.
    """

    def __init__(
        self,
        kit: Kit,
        terms: Terms,
        *,
        limits: TimeLimits | None = None,
        log: Log | None = None,
        listen_at: str | None = None,
    ) -> None:
        self._kit = kit
        self._own: Any = None
        self._answers = 0
        self._leader = Leader(
            kit,
            lambda _: self._own,
            crowds=lambda _: self._own,
            terms=terms,
            limits=limits,
            log=log,
            listen_at=listen_at,
        )

    @property
    def hospitals(self) -> int:
        """How many hospitals there are."""
        return len(self._kit.consortium.names)

    def __enter__(self) -> Self:
        self._leader.__enter__()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._leader.__exit__(kind, error, trace)

    def sum(self, request: Mapping[str, Any], counts: IntArray) -> IntArray:
        """The sums over all hospitals of what each counted."""
        self._offer(counts)
        return self._leader.sum(request).astype(np.int64)

    def any(self, request: Mapping[str, Any], marks: BoolArray) -> BoolArray:
        """For each place, whether some hospital has a mark there."""
        self._offer(marks)
        return self._leader.any(request)

    def holds(self, request: Mapping[str, Any], crowds: CrowdCounts) -> bool:
        """Whether all crowds are empty, or large and mixed enough, in the sum over hospitals."""
        self._offer(crowds)
        return self._leader.holds(request)

    def settle(self) -> None:
        """Let the others have what was opened last."""
        self.any(_NOTHING, np.zeros(1, np.bool_))

    def finish(self, payload: Mapping[str, Any]) -> Ended:
        """Tell all hospitals the end, and wait until all have confirmed it."""
        self._leader.finish(payload)
        lines = self._leader.traffic.values()
        return Ended(
            self._answers,
            self._leader.transcript,
            sum(line.sent for line in lines),
            sum(line.received for line in lines),
        )

    def _offer(self, own: Any) -> None:
        self._own = own
        self._answers += 1


@dataclass(frozen=True)
class _Offer:
    """What the method is about to ask for, and the own part of the answer."""

    request: bytes
    own: Any
    awaited: bool = True
    """Whether the method waits for the answer."""


class PartysMeeting:
    """The meeting as a hospital sees it that joins; the network has a thread of its own.

    Parameters
    ----------
    kit, terms, limits, log, address, proxy
        As for `serve`.
    """

    def __init__(
        self,
        kit: Kit,
        terms: Terms,
        *,
        limits: TimeLimits | None = None,
        log: Log | None = None,
        address: str | None = None,
        proxy: str | None = None,
    ) -> None:
        self._kit = kit
        self._serving = partial(
            serve, kit, terms=terms, limits=limits, log=log, address=address, proxy=proxy
        )
        self._offers: queue.Queue[_Offer | BaseException] = queue.Queue()
        self._opened: queue.Queue[tuple[str, bytes] | BaseException] = queue.Queue()
        self._asked: _Offer | None = None
        """What the leader asked for last, whose one answer comes next."""
        self._outcome: PartyOutcome | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._serve, name="hospitals", daemon=True)

    @property
    def hospitals(self) -> int:
        """How many hospitals there are."""
        return len(self._kit.consortium.names)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None and self._thread.is_alive():
            self._offers.put(error)
            self._thread.join(_PARTING)

    def sum(self, request: Mapping[str, Any], counts: IntArray) -> IntArray:
        """The sums over all hospitals of what each counted."""
        told = self._ask(request, "sum", counts)
        return from_wire(told, counts.size, self._kit.consortium.leader).astype(np.int64)

    def any(self, request: Mapping[str, Any], marks: BoolArray) -> BoolArray:
        """For each place, whether some hospital has a mark there."""
        return marks_from_wire(self._ask(request, "any", marks), marks.size)

    def holds(self, request: Mapping[str, Any], crowds: CrowdCounts) -> bool:
        """Whether all crowds are empty, or large and mixed enough, in the sum over hospitals."""
        return self._ask(request, "bit", crowds) == b"\x01"

    def settle(self) -> None:
        """Have an answer ready to the empty request, and go on: it tells nothing."""
        nothing = np.zeros(1, np.bool_)
        self._offers.put(_Offer(canonical(opening(_NOTHING, "any")), nothing, awaited=False))

    def finish(self, payload: Mapping[str, Any]) -> Ended:
        """Confirm the leader's last word, if it is this one, and wait until all have."""
        self._offers.put(_Offer(canonical(dict(payload)), None))
        self._thread.join()
        if self._outcome is None:
            raise self._failure or FederationError(f"{STOPPED}the run ended without a result.")
        told = self._outcome
        return Ended(told.sums, told.transcript, told.sent, told.received)

    def _ask(self, request: Mapping[str, Any], opens: Opens, own: Any) -> bytes:
        """Offer the own part of an answer; what the leader then tells all."""
        self._offers.put(_Offer(canonical(opening(request, opens)), own))
        told = self._opened.get()
        if isinstance(told, BaseException):
            raise told
        kind, data = told
        if kind != opens:
            raise FederationError(
                f"{STOPPED}the leader {self._kit.consortium.leader} told '{kind}' where '{opens}' "
                "was to be opened."
            )
        return data

    def _serve(self) -> None:
        """The thread of the network: from the knock to the end."""
        try:
            self._outcome = self._serving(self._answer, crowds=self._answer, told=self._told)
        except BaseException as error:  # the method's thread raises it
            self._failure = error
            self._opened.put(error)

    def _answer(self, request: Mapping[str, Any]) -> Any:
        """The own part of an answer, if the leader asks for what the method needs."""
        asked = canonical(dict(request))
        self._asked = self._offered(asked, "asks for something else than the method")
        return self._asked.own

    def _told(self, kind: str, data: bytes) -> None:
        """Pass on what was opened; the last word must be the own one."""
        if kind == "finish":
            self._offered(canonical(parse(data)), "has come to another result")
        elif self._asked is not None and self._asked.awaited:
            self._opened.put((kind, data))

    def _offered(self, request: bytes, otherwise: str) -> _Offer:
        """What the method offers next, which must be for this request."""
        offer = self._offers.get()
        if isinstance(offer, BaseException):
            raise offer
        if offer.request != request:
            raise DisagreementError(
                f"{STOPPED}the leader {self._kit.consortium.leader} {otherwise} at "
                f"{self._kit.name}. All hospitals must run the same version on the same policy."
            )
        return offer


_NOTHING = {"ask": "ready"}
_PARTING = 5.0
"""How long a hospital that fails waits for its last message to go out, in seconds."""
