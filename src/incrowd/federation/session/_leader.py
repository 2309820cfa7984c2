"""The leader: it listens, waits for all hospitals, asks for sums or bits, ends the run.

The leader is a hospital too: it counts its own records while the others count theirs, and its
masks hide them like those of the others.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any, NoReturn

from incrowd.errors import EngineError, FederationError
from incrowd.federation.membership.consortium import split_address
from incrowd.federation.membership.kits import Kit
from incrowd.federation.protocols import witnesses
from incrowd.federation.protocols.marks import Bits, Opens, marks_to_wire, opened_marks, opening
from incrowd.federation.protocols.relay import (
    YES,
    PartyBoxes,
    from_parts,
    stalled,
    standstill,
    to_parts,
)
from incrowd.federation.protocols.secret_shares import need_sharing, threshold_of
from incrowd.federation.protocols.sums import Contribution, Numbers, to_wire
from incrowd.federation.session.session import (
    Count,
    CountCrowds,
    Session,
    checker,
    credentials,
    in_words,
    signer,
)
from incrowd.federation.transport.listener import Listener, listen
from incrowd.federation.transport.messages import STOPPED, Message, canonical
from incrowd.federation.transport.rounds import Log, Rounds, Traffic
from incrowd.federation.transport.terms import Terms, TimeLimits
from incrowd.federation.transport.tls import leader_context


class Leader:
    """A run among hospitals, as its leader drives it.

    Parameters
    ----------
    kit
        The leader's kit.
    count
        The leader's own counts, or marks, for a request.
    terms
        What must be the same everywhere; see `terms_of`.
    limits
        How long to wait.
    log
        Takes lines of progress: who joined, rounds, sizes, seconds. No counts.
    listen_at
        The address to listen at, `host:port`, if not the port of the consortium file on all
        addresses of this machine.
    crowds
        The leader's own counts of crowds for a request that opens one bit; see `holds`.

    Notes
    -----
    Used as a context. Whatever ends it before `finish` stops the run at every hospital, with a
    cause. One round of n hospitals costs n requests over kept connections; all answer at once.

    Example
    -------
    ::

        with Leader(kit, count, terms=terms_of(kit, layout)) as leader:
            sizes = leader.sum({"ask": "sizes"})
            leader.finish({"groups": len(sizes)})
    """

    def __init__(
        self,
        kit: Kit,
        count: Count,
        *,
        terms: Terms,
        limits: TimeLimits | None = None,
        log: Log | None = None,
        listen_at: str | None = None,
        crowds: CountCrowds | None = None,
    ) -> None:
        consortium = kit.consortium
        if not kit.leads:
            raise FederationError(
                f"The kit of {kit.name} joins; the consortium file says that {consortium.leader} "
                "leads. Start with `incrowd federation join`."
            )
        self._kit = kit
        self._limits = limits or TimeLimits()
        self._log: Log = log or (lambda _: None)
        self._refusals: Counter[str] = Counter()
        certificates = credentials(kit)
        context = leader_context(certificates, self._refused)
        self._rounds = Rounds(
            name=kit.name,
            parties=[name for name in consortium.names if name != kit.name],
            terms=terms,
            limits=self._limits,
            sign=signer(kit),
            check=checker(kit),
            log=self._log,
        )
        self._session = Session(kit, self._rounds.session, count, crowds)
        port = split_address(consortium.address)[1]
        everywhere = "0.0.0.0"  # noqa: S104 - others must reach it; TLS admits members alone
        host, port = split_address(listen_at) if listen_at else (everywhere, port)
        self._listener = Listener(self._rounds, listen(host, port), context, certificates.holders())
        self._told: tuple[Opens, bytes] | None = None
        self._witnesses: dict[str, bytes] = {}
        self._over = False

    def __enter__(self) -> Leader:
        self._listener.open()
        try:
            self._assemble()
        except BaseException as error:
            self._abort(error)
            raise
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._session.close()
        if self._over:
            self._listener.close()
            return
        self._abort(error or FederationError("it ended without a result"))

    @property
    def transcript(self) -> str:
        """The digest of all public messages so far."""
        return self._session.transcript.hex()

    @property
    def traffic(self) -> dict[str, Traffic]:
        """What went over the line of each other hospital."""
        return {name: place.traffic for name, place in self._rounds.places.items()}

    def sum(self, request: Mapping[str, Any]) -> Numbers:
        """The sum over all hospitals of what each counts for a public request.

        Parameters
        ----------
        request
            A description in JSON that every hospital understands in the same way.

        Raises
        ------
        EngineError
            When a hospital fails or does not keep to the protocol; the run is over then.
        """
        begun = time.perf_counter()
        sums = self._added_up(opening(request, "sum"))
        self._opened(to_wire(sums), f"{sums.size:,} counts of all hospitals", begun)
        return sums

    def any(self, request: Mapping[str, Any]) -> Bits:
        """For each place, whether any hospital has a 1 there, not how many have.

        Parameters
        ----------
        request
            A description in JSON that every hospital understands in the same way. The callback
            `count` answers it with zeros and ones; it is handed the request with `opens: any`.

        Raises
        ------
        EngineError
            When a hospital fails, has a mark that is neither 0 nor 1, or does not keep to the
            protocol; the run is over then.

        Notes
        -----
        Costs what a sum costs; all but the leader are told bits alone. A 1 is missed once in 2^64
        times. The leader, who knows its own random numbers, learns whether one of the *others* has
        a 1; see `marks.py`.
        """
        begun = time.perf_counter()
        marks = opened_marks(self._added_up(opening(request, "any")))
        self._opened(marks_to_wire(marks), f"{marks.size:,} marks of any hospital", begun)
        return marks

    def holds(self, request: Mapping[str, Any]) -> bool:
        """Whether all crowds of all hospitals together are large and mixed enough: one bit.

        Parameters
        ----------
        request
            A description in JSON that every hospital understands in the same way. The callback
            `crowds` answers it with `Crowds`; it is handed the request with `opens: bit`.

        Raises
        ------
        ParameterError
            With fewer than three hospitals.
        EngineError
            When a hospital fails or does not keep to the protocol; the run is over then.

        Notes
        -----
        Nothing but the bit is opened, to anybody: see `crowd_bits.py` for what it says,
        `_comparisons.py` for how. Less than half of the hospitals may do what they like. Cost: some
        forty rounds, in which the leader carries sealed boxes between all pairs.
        """
        begun = time.perf_counter()
        threshold_of(len(self._kit.consortium.names))
        need_sharing()
        data = canonical(opening(request, "bit"))
        self._session.requested(data)
        boxes = self._step({"request": data, **self._last_opened()}, {})
        while boxes:
            boxes = self._step({}, boxes)
        joint = self._session.joint()
        bit = joint.bit
        self._opened(bit, f"one bit of all hospitals in {joint.step} steps", begun)
        return bit == YES

    def finish(self, payload: Mapping[str, Any]) -> None:
        """End the run: every hospital gets the payload, and knows that all have it.

        Parameters
        ----------
        payload
            What all may know at the end: the steps taken, the release's digest.
        """
        data = canonical(dict(payload))
        parts = {"payload": data, **self._last_opened()}
        self._session.finish(data)
        fields = {"transcript": self.transcript}
        answers = self._listener.run(self._rounds.ask("finish", fields, parts))
        self._same_story(answers)
        self._listener.run(self._rounds.close())
        self._over = True
        self._log(f"the run is over: {self._session.number} answers")

    def _assemble(self) -> None:
        """Wait for all hospitals, and hand their signed keys around."""
        others = len(self._rounds.places)
        self._log(f"waiting for {others} hospitals, for {self._limits.joining:g} s at most")
        try:
            keys = self._listener.run(self._rounds.assemble())
        except FederationError as error:
            if self._refusals and "did not join" in str(error):
                causes = ", ".join(sorted(self._refusals))
                raise FederationError(
                    f"{error} Connections refused in that time: {self._refusals.total():,} "
                    f"({causes})."
                ) from None
            raise
        keys[self._kit.name] = self._session.announcement
        joined = b"".join(keys[name] for name in self._kit.consortium.names)
        self._session.agree(joined)
        answers = self._listener.run(self._rounds.ask("request", {}, {"keys": joined}))
        self._same_story(answers)

    def _added_up(self, request: Mapping[str, Any]) -> Numbers:
        """Ask wave after wave, and add up what all hospitals sent."""
        data = canonical(dict(request))
        session = self._session
        session.requested(data)
        parts = {"request": data, **self._last_opened()}
        carried = b""
        answers: Sequence[Contribution] = ()
        while wave := session.turn.next_wave():
            answers = self._wave(wave, carried, parts)
            session.sums.check(session.number, session.transcript, wave, answers)
            carried = answers[0].payload if len(wave) == 1 else b""
            parts = {"carried": carried}
        size, bounded = session.counted().size, session.turn.opens == "sum"
        return session.sums.opened(
            session.number, session.transcript, answers, size, bounded=bounded
        )

    def _opened(self, told: bytes, what: str, begun: float) -> None:
        """Keep what was opened; the others are told with the next message."""
        session, opens = self._session, self._session.turn.opens
        session.conclude(told)
        self._told = (opens, told)
        taken = 1000 * (time.perf_counter() - begun)
        self._log(f"{opens} {session.number}: {what}, {taken:.1f} ms")

    def _wave(
        self, wave: Sequence[int], carried: bytes, parts: Mapping[str, bytes]
    ) -> list[Contribution]:
        """Ask all hospitals at once; the contributions of those whose turn it is."""
        session, own = self._session, self._kit.place
        fields = {"number": session.number, "transcript": self.transcript, "wave": list(wave)}
        asked: Future[dict[str, Message]] = self._listener.begin(
            self._rounds.ask("request", fields, parts)
        )
        mine = session.contribute(carried) if own in wave else None
        answers = asked.result()
        self._same_story(answers)
        names = self._kit.consortium.names
        contributions = [
            mine
            if place == own and mine is not None
            else self._checked(answers[names[place]], place)
            for place in wave
        ]
        if session.witnessed and mine is not None:
            signed = {place: answers[names[place]].parts["vouch"] for place in wave if place != own}
            signed[own] = session.vouch()
            self._witnesses = witnesses.to_parts(
                {each.party: (each, signed[each.party]) for each in contributions}
            )
        return contributions

    def _step(
        self, parts: Mapping[str, bytes], carried: Mapping[int, PartyBoxes]
    ) -> dict[int, PartyBoxes]:
        """One step of a joint computation: carry the boxes of all, and collect the next ones.

        Boxes are kept by sender, then by receiver. None are left once all hospitals are done.
        """
        session, names, own = self._session, self._kit.consortium.names, self._kit.place
        step = session.joint().step if carried else 0
        fields = {"number": session.number, "transcript": self.transcript, "step": step}
        inboxes = [
            {sender: boxes[place] for sender, boxes in carried.items() if sender != place}
            for place in range(len(names))
        ]
        apart = {name: to_parts(inboxes[place]) for place, name in enumerate(names)}
        asked: Future[dict[str, Message]] = self._listener.begin(
            self._rounds.ask("request", fields, parts, apart)
        )
        joint = session.joint()
        boxes: dict[int, PartyBoxes] = {
            own: joint.advanced(inboxes[own]) if step else joint.begun()
        }
        answers = asked.result()
        self._same_story(answers)
        for place, name in enumerate(names):
            if place != own:
                others = [other for other in range(len(names)) if other != place]
                found = from_parts(answers[name].parts, others)
                if found is None:
                    self._blame(name, f"sent no boxes in step {step}")
                boxes[place] = found
        if joint.done and all(answer.fields.get("done") is True for answer in answers.values()):
            return {}
        if stalled(boxes.values()):
            waits = {name: answer.fields.get("waits") for name, answer in answers.items()}
            waits[self._kit.name] = joint.awaited
            raise FederationError(f"{STOPPED}{standstill(waits, joint.step)}.")
        return boxes

    def _checked(self, answer: Message, place: int) -> Contribution:
        """What a hospital sent, with its signature under it."""
        session = self._session
        if "counts" not in answer.parts:
            self._blame(answer.sender, f"sent no counts for sum {session.number}")
        sent = Contribution(place, session.number, session.transcript, answer.parts["counts"])
        due = session.sums.payload_size(session.counted().size)
        if len(sent.payload) != due:
            self._blame(answer.sender, f"sent {len(sent.payload)} bytes where {due} were due")
        signed = answer.parts.get("vouch", b"")
        if not witnesses.vouched(self._kit.consortium, sent, session.turn.binding, signed):
            self._blame(answer.sender, f"has not signed its counts for sum {session.number}")
        return sent

    def _same_story(self, answers: Mapping[str, Message]) -> None:
        """Fail when a hospital has seen other messages than the leader."""
        for name, answer in answers.items():
            if answer.fields.get("transcript") != self.transcript:
                self._blame(name, "has not seen the same messages as the leader")

    def _blame(self, party: str, cause: str) -> NoReturn:
        """Stop the run everywhere because of a hospital."""
        self._listener.run(self._rounds.abort(party, cause))
        raise self._rounds.failure or FederationError(f"{STOPPED}{party} {cause}.")

    def _last_opened(self) -> dict[str, bytes]:
        """What was opened before, which goes out with the next message, and how it came about."""
        told, self._told = self._told, None
        shown, self._witnesses = self._witnesses, {}
        return {} if told is None else {told[0]: told[1], **shown}

    def _abort(self, error: BaseException) -> None:
        """Stop the run everywhere, with the cause as far as others may know it."""
        try:
            self._listener.run(self._rounds.abort(self._kit.name, f"stopped: {in_words(error)}"))
        except EngineError:
            self._log("the other hospitals could not be told")
        finally:
            self._over = True
            self._listener.close()

    def _refused(self, cause: str) -> None:
        self._refusals[cause] += 1
        self._log(f"a connection was refused: {cause}")
