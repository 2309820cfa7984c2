"""The leader's side of a session: who has joined, what was asked, who has answered.

A round is one signed message of the leader to all hospitals, and one of each back. Hospitals only
dial out, so every message of theirs is a question too: what comes next? It is held until there is
an answer to it. All of this runs in one event loop and needs no locks.

    lobby:    knock -> welcome (the session)     hello, round 0
    rounds:   request, round n                   answer, round n
    the end:  finish, round n                    done, round n       closed, round n + 1

Invariant: a hospital's message counts only when its round is the one asked for and the hospital's
last message was of the round before. The very same bytes sent again (a line was cut) change
nothing; anything else, from whoever holds a hospital's certificate, ends the run for all.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from incrowd._runtime.sentences import listed
from incrowd.errors import FederationError
from incrowd.federation.transport.messages import (
    FROM_PARTIES,
    STOPPED,
    Check,
    Message,
    MessageError,
    Sign,
    decode,
    encode,
    mark_of,
)
from incrowd.federation.transport.terms import Terms, TimeLimits

_LONGEST_CAUSE = 500
Log = Callable[[str], None]
"""Takes one line of the log."""


@dataclass
class Traffic:
    """What went over a hospital's line, in bytes of messages."""

    received: int = 0
    sent: int = 0


@dataclass
class _Participant:
    """What the leader knows about one hospital."""

    key: bytes | None = None
    """Its signed key for the session; None before it has joined."""
    round: int = -1
    """The round of its last message; -1 before it has joined."""
    last: bytes = b""
    """The mark of that message."""
    answer: Message | None = None
    lines: int = 0
    """Open connections."""
    told: bool = False
    """Whether it was handed the end of the session."""
    traffic: Traffic = field(default_factory=Traffic)


class _Bell:
    """Something that can be waited for: each ring lets all who wait look again."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def ring(self) -> None:
        self._event.set()
        self._event = asyncio.Event()

    async def until(self, ready: Callable[[], bool], seconds: float) -> None:
        """Wait until something holds or time is over."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while not ready() and (left := end - loop.time()) > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._event.wait(), left)


@dataclass
class Rounds:
    """The session as the leader sees it."""

    name: str
    """The leader."""
    parties: Sequence[str]
    """The other hospitals, in the order of the roster."""
    terms: Terms
    limits: TimeLimits
    sign: Sign
    check: Check
    log: Log
    session: str = field(default_factory=lambda: secrets.token_hex(32))
    round: int = 0
    """The round that was asked for last; 0 in the lobby."""
    failure: FederationError | None = None
    places: dict[str, _Participant] = field(default_factory=dict)
    _outgoing: dict[str, bytes] = field(default_factory=dict)
    """The message of this round for each hospital; the same bytes unless they are told apart."""
    _ended: bytes | None = None
    _silent: set[str] = field(default_factory=set)
    _asked: _Bell = field(default_factory=_Bell)
    """Rings for hospitals that wait: there is a next message."""
    _came: _Bell = field(default_factory=_Bell)
    """Rings for the leader: a hospital was heard or told."""

    def __post_init__(self) -> None:
        self.places = {name: _Participant() for name in self.parties}

    # What the leader does

    async def assemble(self) -> dict[str, bytes]:
        """The signed key of every other hospital, once all have come."""
        await self._came.until(
            lambda: self._ended is not None or all(place.key for place in self.places.values()),
            self.limits.joining,
        )
        missing = [name for name, place in self.places.items() if place.key is None]
        if missing and self.failure is None:
            self.fail(missing[0], f"did not join within {self.limits.joining:g} s", missing)
        self._stop_if_failed()
        return {name: place.key or b"" for name, place in self.places.items()}

    async def ask(
        self,
        kind: str,
        fields: Mapping[str, Any],
        parts: Mapping[str, bytes],
        apart: Mapping[str, Mapping[str, bytes]] | None = None,
    ) -> dict[str, Message]:
        """One round: the answers of all other hospitals to one message of the leader.

        Parts that are for one hospital alone are given `apart`, by its name.
        """
        self._stop_if_failed()
        number = self.round + 1
        if apart is None:
            self._outgoing = dict.fromkeys(self.places, self._signed(kind, number, fields, parts))
        else:
            self._outgoing = {
                name: self._signed(kind, number, fields, {**parts, **apart[name]})
                for name in self.places
            }
        self.round = number
        for place in self.places.values():
            place.answer = None
        self._asked.ring()
        await self._came.until(
            lambda: self._ended is not None or all(place.answer for place in self.places.values()),
            self.limits.timeout,
        )
        silent = [name for name, place in self.places.items() if place.answer is None]
        if silent and self.failure is None:
            cause = f"did not answer round {number} within {self.limits.timeout:g} s"
            self.fail(silent[0], cause, silent)
        self._stop_if_failed()
        return {name: place.answer for name, place in self.places.items() if place.answer}

    async def close(self) -> None:
        """End the session well: every hospital is told, or the wait for it ends."""
        self._stop_if_failed()
        self.round += 1
        self._ended = self._signed("closed", self.round, {}, {})
        await self._tell_the_end()

    async def abort(self, party: str, cause: str) -> None:
        """End the session everywhere with a cause, and wait until those who live are told."""
        if self._ended is None:
            self.fail(party, cause)
        await self._tell_the_end()

    def fail(self, party: str, cause: str, silent: Sequence[str] = ()) -> None:
        """End the session: the first cause is the one that everybody is told."""
        if self._ended is not None:
            return
        names = listed([party, *(name for name in silent if name != party)], quoted=False)
        cause = _printable(cause)
        self.failure = FederationError(f"{STOPPED}{names} {cause}.")
        self._silent = set(silent)
        fields = {"party": names, "cause": cause}
        self._ended = self._signed("abort", self.round, fields, {})
        self.log(str(self.failure))
        self._asked.ring()
        self._came.ring()

    # What a hospital's line brings

    def opened(self, party: str) -> None:
        """A connection with the certificate of a hospital was made."""
        self.places[party].lines += 1

    def lost(self, party: str) -> None:
        """A connection of a hospital was cut; without another one soon, it is gone."""
        place = self.places[party]
        place.lines -= 1
        if place.lines == 0 and self._ended is None and place.key is not None:
            asyncio.get_running_loop().call_later(self.limits.reconnect, self._gone, party)

    def _gone(self, party: str) -> None:
        place = self.places[party]
        if place.lines or self._ended is not None or place.key is None:
            return
        if self.round == 0:
            self.log(f"{party} left again")
            place.key, place.round, place.last = None, -1, b""
        else:
            self.fail(party, f"was lost in round {self.round} (its connection was cut)", [party])

    async def exchange(self, party: str, data: bytes) -> bytes | None:
        """The leader's reply to a message that came over a hospital's line.

        Parameters
        ----------
        party
            Whose certificate the line was opened with.
        data
            The bytes received.

        Returns
        -------
        bytes or None
            The next message for that hospital; None when there is none yet and it should ask again.
        """
        place = self.places[party]
        place.traffic.received += len(data)
        reply = await self._reply(party, data)
        place.traffic.sent += len(reply or b"")
        if reply is not None and reply is self._ended:
            place.told = True
            self._came.ring()
        return reply

    async def _reply(self, party: str, data: bytes) -> bytes | None:
        if self._ended is not None and self.failure is not None:
            return self._ended
        try:
            message = decode(data, self.check, FROM_PARTIES, self.limits.size)
            if message.sender != party:
                raise MessageError(f"a message of {message.sender}")
            if message.kind == "knock":
                return self._welcome(message)
        except MessageError as error:
            self.fail(party, f"sent {error}")
            return self._ended
        if message.session != self.session:
            return self._of_another_session(message)
        if message.kind == "poll" and self.round == 0 and self.places[party].key is None:
            return self._refusal("its line was cut for too long")
        try:
            fault = self._take(message, data)
        except MessageError as error:
            fault = f"sent {error}"
        if fault:
            self.fail(party, fault)
        wished = message.fields.get("hold")
        longest = self.limits.hold
        await self._asked.until(
            lambda: self._ended is not None or self.round > message.round,
            wished if isinstance(wished, int | float) and 0 <= wished < longest else longest,
        )
        if self._ended is not None:
            return self._ended
        return self._outgoing[party] if self.round > message.round else None

    def _welcome(self, message: Message) -> bytes | None:
        """The session, for a hospital that has come; not in the middle of a run."""
        if self.round > 0:
            self.fail(message.sender, f"was started again in round {self.round}")
            return self._ended
        fields = {**self.terms.as_dict(), "nonce": message.text("nonce")}
        return self._signed("welcome", 0, fields, {})

    def _of_another_session(self, message: Message) -> bytes | None:
        if self.round > 0:
            self.fail(message.sender, "sent a message of another session")
            return self._ended
        return self._refusal("the leader has begun another session")

    def _refusal(self, cause: str) -> bytes:
        """Send a hospital away that may come again; the others need not know."""
        return self._signed("refused", 0, {"cause": cause}, {})

    def _take(self, message: Message, data: bytes) -> str | None:
        """Take a message of this session in; returns what is wrong with it, if anything."""
        place, told = self.places[message.sender], message.round
        if message.kind == "abort":
            return f"stopped: {message.text('cause')}"
        if message.kind == "poll":
            return None if told == place.round else self._out_of_turn(told, place)
        mark = mark_of(data)
        if mark == place.last:
            return None
        if message.kind == "hello" and self.round == 0 and told == 0:
            difference = self.terms.difference(message.fields)
            if difference:
                return difference
            place.key = message.part("key")
            self.log(f"{message.sender} has joined")
        elif message.kind != "hello" and told == self.round and place.round == told - 1:
            place.answer = message
        else:
            return self._out_of_turn(told, place)
        place.round, place.last = told, mark
        self._came.ring()
        return None

    def _out_of_turn(self, told: int, place: _Participant) -> str:
        if told == place.round == self.round:
            return f"sent two different messages for round {told}"
        if told < self.round:
            return f"repeated a message of round {told} in round {self.round}"
        return f"sent a message for round {told} in round {self.round}"

    # Underneath

    async def _tell_the_end(self) -> None:
        self._asked.ring()
        await self._came.until(
            lambda: all(
                place.told or name in self._silent or (place.key is None and not place.lines)
                for name, place in self.places.items()
            ),
            self.limits.timeout,
        )

    def _signed(
        self, kind: str, number: int, fields: Mapping[str, Any], parts: Mapping[str, bytes]
    ) -> bytes:
        return encode(Message(kind, self.session, number, self.name, fields, parts), self.sign)

    def _stop_if_failed(self) -> None:
        if self.failure is not None:
            raise self.failure


def _printable(text: str) -> str:
    """A cause that may have come from elsewhere, fit for a log: short, in one line."""
    return "".join(each if each.isprintable() else " " for each in text[:_LONGEST_CAUSE])
