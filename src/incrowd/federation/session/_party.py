"""A hospital that joins: it dials the leader, answers its requests, and stops when told to.

It never listens. Each message it sends is also the question what comes next; the leader holds it
until there is something, or says "not yet" and is asked again.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from incrowd.errors import FederationError, IncrowdError
from incrowd.federation.protocols.marks import Opens
from incrowd.federation.protocols.relay import from_parts, to_parts
from incrowd.federation.protocols.witnesses import part_names
from incrowd.federation.session.session import (
    Count,
    CountCrowds,
    Session,
    TellMessage,
    checker,
    credentials,
    in_words,
    signer,
)
from incrowd.federation.transport.client import Line, LineError
from incrowd.federation.transport.messages import (
    FROM_LEADER,
    NO_SESSION,
    STOPPED,
    Message,
    MessageError,
    decode,
    encode,
    parse,
)
from incrowd.federation.transport.terms import Terms, TimeLimits, need_libraries
from incrowd.federation.transport.tls import party_context

if TYPE_CHECKING:
    from incrowd.federation.membership.kits import Kit
    from incrowd.federation.transport.rounds import Log


@dataclass(frozen=True)
class PartyOutcome:
    """How a run ended for a hospital that joined it."""

    payload: Any
    """What the leader told everybody at the end."""
    sums: int
    """How many requests were answered: sums, and whatever else was opened."""
    transcript: str
    """The digest of all public messages; the same at every hospital."""
    sent: int
    """Bytes of messages, without TLS and HTTP."""
    received: int


def serve(
    kit: Kit,
    count: Count,
    *,
    terms: Terms,
    limits: TimeLimits | None = None,
    log: Log | None = None,
    address: str | None = None,
    proxy: str | None = None,
    crowds: CountCrowds | None = None,
    told: TellMessage | None = None,
) -> PartyOutcome:
    """Take part in a run until the leader ends it.

    Parameters
    ----------
    kit
        The hospital's kit.
    count
        The hospital's own counts, or marks where the request says `opens: any`, for a public
        request. They are masked before they leave.
    terms
        What must be the same everywhere; see `terms_of`.
    limits
        How long to wait.
    log
        Takes lines of progress; they speak of rounds and sizes, never of own counts.
    address
        Where the leader listens, `host:port`, if not where the consortium file says.
    proxy
        The address of a web proxy, where there is no other way out.
    crowds
        The hospital's own counts of crowds for a request that opens one bit; see `Leader.holds`.
    told
        Is told everything that is opened, and the leader's last word; when it raises, the run is
        stopped.

    Raises
    ------
    FederationError
        When the run was stopped, here or elsewhere; the message names who and why. Nothing was
        written.

    Notes
    -----
    Cost per sum: one request over a kept connection. Ends within `limits.timeout` after the last
    sign of life of the leader.
    """
    need_libraries()
    leader = kit.consortium.leader
    party = _Party(kit, count, crowds, terms, limits or TimeLimits(), log or (lambda _: None), told)
    certificates = credentials(kit)
    context = party_context(certificates, leader)
    pinned = next(mark for mark, name in certificates.holders().items() if name == leader)
    dialled = address or kit.consortium.address
    with Line(leader, dialled, context, pinned, party.limits, proxy) as line:
        return party.run(line)


@dataclass(eq=False, repr=False)
class _Party:
    """One run of a hospital that joins."""

    kit: Kit
    count: Count
    crowds: CountCrowds | None
    terms: Terms
    limits: TimeLimits
    log: Log
    told: TellMessage | None

    def __post_init__(self) -> None:
        self._names = self.kit.consortium.names
        self._leader = self.kit.consortium.leader
        self._sign = signer(self.kit)
        self._check = checker(self.kit)
        self._session_number = NO_SESSION
        self._round = 0
        """The round of the last message sent."""

    def run(self, line: Line) -> PartyOutcome:
        """From the knock to the end."""
        try:
            return self._run(line)
        except (_StoppedError, LineError) as stop:
            raise FederationError(str(stop)) from None
        except Exception as error:
            self._tell(line, in_words(error))
            if str(error).startswith(STOPPED):
                raise
            cause = str(error) if isinstance(error, IncrowdError) else in_words(error)
            raise FederationError(f"{STOPPED}{self.kit.name} stopped: {cause}") from error
        except BaseException as error:
            self._tell(line, in_words(error))
            raise

    def _run(self, line: Line) -> PartyOutcome:
        welcome = self._knock(line)
        self.log(f"the leader {self._leader} was found; waiting for the other hospitals")
        self._session_number = welcome.session
        session = Session(self.kit, welcome.session, self.count, self.crowds)
        session.told = self.told
        message = self._send(line, "hello", self.terms.as_dict(), {"key": session.announcement})
        with contextlib.closing(session):
            while message.kind != "finish":
                if message.kind != "request" or message.round != self._round + 1:
                    raise FederationError(
                        f"{STOPPED}the leader {self._leader} sent '{message.kind}' for "
                        f"round {message.round} in round {self._round + 1}."
                    )
                self._round = message.round
                fields, parts = self._answer(session, message)
                message = self._send(line, "answer", fields, parts)
            return self._finish(line, session, message)

    def _knock(self, line: Line) -> Message:
        """The session that the leader is about to begin."""
        nonce = secrets.token_hex(16)
        knock = Message("knock", NO_SESSION, 0, self.kit.name, {"nonce": nonce})
        reply = line.exchange(encode(knock, self._sign), self.limits.joining)
        welcome = self._read(reply or b"")
        if welcome.kind != "welcome" or welcome.fields.get("nonce") != nonce:
            raise self._odd("has not told its session")
        return welcome

    def _answer(
        self, session: Session, message: Message
    ) -> tuple[Mapping[str, Any], Mapping[str, bytes]]:
        """What to reply to a request: the first brings the keys, others ask for counts."""
        if not session.agreed:
            self._only(message, {"keys"})
            session.agree(message.part("keys"))
            self.log(f"{len(self._names)} hospitals are here; the run begins")
            return {"transcript": session.transcript.hex()}, {}
        begins = "request" in message.parts
        if begins:
            self._take_answer(session, message, "request")
            session.requested(message.part("request"))
        turn, told = session.turn, message.fields
        if not begins and turn.opens != "bit":
            self._only(message, {"carried"})
        if told.get("number") != turn.number or told.get("transcript") != session.transcript.hex():
            raise self._odd("tells another story than the messages before")
        fields = {"transcript": session.transcript.hex(), "number": turn.number}
        if turn.opens == "bit":
            return self._boxes(session, message, fields)
        wave = turn.next_wave()
        if not wave or told.get("wave") != list(wave):
            raise self._odd(f"asks for answers to request {turn.number} out of their order")
        if self.kit.place not in wave:
            return fields, {}
        hidden = session.contribute(message.parts.get("carried", b""))
        self.log(f"{turn.opens} {turn.number}: {len(hidden.payload):,} bytes, hidden")
        return fields, {"counts": hidden.payload, "vouch": session.vouch()}

    def _take_answer(self, session: Session, message: Message, brings: str) -> None:
        """Take in the answer to the last request, which this message must tell, if there was one.

        The message may hold that answer, what all sent for it, what it `brings`, and nothing else.
        """
        if not session.waiting:
            self._only(message, {brings})
            return
        opens = session.turn.opens
        if opens not in message.parts:
            others = [f"'{kind}'" for kind in get_args(Opens) if kind in message.parts]
            told = f"told {others[0]} where '{opens}' was to be opened" if others else ""
            raise self._odd(told or f"has not told the answer to request {session.number}")
        shown = part_names(self.kit.consortium) if session.witnessed else set()
        self._only(message, {brings, opens}, shown)
        session.conclude(message.part(opens), message.parts)

    def _only(self, message: Message, due: set[str], may: Iterable[str] = ()) -> None:
        """Fail unless a message has the parts that are due, and no others than may be."""
        found = message.parts.keys()
        for name in sorted(found - due - set(may)):
            raise self._odd(f"sent '{name}' where it was not due")
        for name in sorted(due - found):
            raise self._odd(f"has not sent '{name}' where it was due")

    def _boxes(
        self, session: Session, message: Message, fields: Mapping[str, Any]
    ) -> tuple[Mapping[str, Any], Mapping[str, bytes]]:
        """The next step of a joint computation: boxes in, boxes out."""
        joint = session.joint()
        if message.fields.get("step") != joint.step:
            raise self._odd(f"asked for another step than {joint.step}")
        if joint.step == 0:
            sent = joint.begun()
        else:
            others = [place for place in range(len(self._names)) if place != self.kit.place]
            self._only(message, set(), to_parts(dict.fromkeys(others, b"")))
            boxes = from_parts(message.parts, others)
            if boxes is None:
                raise self._odd(f"held back a box of step {joint.step - 1}")
            sent = joint.advanced(boxes)
        if joint.done:
            self.log(f"bit {session.number}: known after {joint.step} steps")
        told = {**fields, "done": joint.done, "waits": joint.awaited}
        return told, to_parts(sent)

    def _finish(self, line: Line, session: Session, message: Message) -> PartyOutcome:
        """Take the last message, say so, and wait for the leader's word that all have it."""
        if message.round != self._round + 1:
            raise self._odd(f"sent the end of round {message.round} in round {self._round + 1}")
        self._take_answer(session, message, "payload")
        payload = message.part("payload")
        session.finish(payload)
        if message.fields.get("transcript") != session.transcript.hex():
            raise self._odd("tells another story than the messages before")
        self._round = message.round
        closed = self._send(line, "done", {"transcript": session.transcript.hex()}, {})
        if closed.kind != "closed":
            raise self._odd(f"sent '{closed.kind}' after the end")
        self.log(f"the run is over: {session.number} answers")
        return PartyOutcome(
            payload=parse(payload),
            sums=session.number,
            transcript=session.transcript.hex(),
            sent=line.sent,
            received=line.received,
        )

    def _send(
        self, line: Line, kind: str, fields: Mapping[str, Any], parts: Mapping[str, bytes]
    ) -> Message:
        """Send a message of the current round; the leader's next one, however long it takes."""
        end = time.monotonic() + self.limits.patience
        told = {**fields, "hold": self.limits.hold}
        reply = line.exchange(self._signed(kind, told, parts))
        poll = self._signed("poll", {"hold": self.limits.hold}, {})
        while reply is None:
            if time.monotonic() > end:
                raise self._odd(f"has asked nothing for {self.limits.patience:g} s")
            reply = line.exchange(poll)
        return self._read(reply)

    def _read(self, data: bytes) -> Message:
        """A message of the leader, of this session; its word to stop is one of them."""
        try:
            message = decode(data, self._check, FROM_LEADER, self.limits.size)
        except MessageError as error:
            raise self._odd(f"sent {error}") from None
        if message.sender != self._leader:
            raise self._odd(f"sent a message of {message.sender}")
        if message.kind == "abort":
            told = f"{message.text('party')} {message.text('cause')}"
            raise _StoppedError(f"{STOPPED}{told}.")
        if message.kind == "refused":
            raise _StoppedError(f"{STOPPED}{message.text('cause')}. Start again.")
        if self._session_number not in (NO_SESSION, message.session):
            raise self._odd("sent a message of another session")
        return message

    def _tell(self, line: Line, cause: str) -> None:
        """Tell the leader, if it can still be told, why this hospital stops."""
        if self._session_number == NO_SESSION:
            return
        with contextlib.suppress(Exception):
            line.exchange(self._signed("abort", {"cause": cause[:500]}, {}), 0.0)

    def _signed(self, kind: str, fields: Mapping[str, Any], parts: Mapping[str, bytes]) -> bytes:
        message = Message(kind, self._session_number, self._round, self.kit.name, fields, parts)
        return encode(message, self._sign)

    def _odd(self, cause: str) -> FederationError:
        return FederationError(f"{STOPPED}the leader {self._leader} {cause}.")


class _StoppedError(FederationError):
    """The leader said so; it need not be told."""
