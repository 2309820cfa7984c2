"""The leader: it opens the door, waits for all hospitals, asks for sums, and ends the run.

The leader is a hospital too: it counts its own records while the others count theirs, and its
masks hide them like those of the others.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NoReturn

from incrowd.errors import EngineError, FederationError
from incrowd.federation.channels import leader_context
from incrowd.federation.consortium import split_address
from incrowd.federation.kits import Kit
from incrowd.federation.messages import STOPPED, Message, canonical
from incrowd.federation.rounds import Hall, Log
from incrowd.federation.seats import Count, Seat, checker, in_words, papers, signer
from incrowd.federation.serving import Door, listen
from incrowd.federation.sums import Contribution, Numbers, to_wire
from incrowd.federation.terms import Limits, Terms


@dataclass(frozen=True)
class Traffic:
    """What went over a hospital's line, in bytes of messages."""

    received: int
    sent: int


class Leader:
    """A run among hospitals, as its leader drives it.

    Parameters
    ----------
    kit
        The leader's kit.
    count
        The leader's own counts for a request.
    terms
        What must be the same everywhere; see `terms_of`.
    limits
        How long to wait.
    log
        Takes lines of progress: who joined, rounds, sizes, seconds. No counts.
    listen_at
        The address to listen at, `host:port`, if not the port of the consortium file on all
        addresses of this machine.

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
        limits: Limits | None = None,
        log: Log | None = None,
        listen_at: str | None = None,
    ) -> None:
        consortium = kit.consortium
        if not kit.leads:
            raise FederationError(
                f"The kit of {kit.name} joins; the consortium file says that {consortium.leader} "
                "leads. Start with `incrowd federation join`."
            )
        self._kit = kit
        self._limits = limits or Limits()
        self._log: Log = log or (lambda _: None)
        self._refusals: Counter[str] = Counter()
        certificates = papers(kit)
        context = leader_context(certificates, self._refused)
        self._hall = Hall(
            name=kit.name,
            parties=[name for name in consortium.names if name != kit.name],
            terms=terms,
            limits=self._limits,
            sign=signer(kit),
            check=checker(kit),
            log=self._log,
        )
        self._seat = Seat(kit, self._hall.session, count)
        port = split_address(consortium.address)[1]
        host, port = split_address(listen_at) if listen_at else ("0.0.0.0", port)
        self._door = Door(self._hall, listen(host, port), context, certificates.holders())
        self._told_sum: bytes | None = None
        self._over = False

    def __enter__(self) -> Leader:
        self._door.open()
        try:
            self._assemble()
        except BaseException as error:
            self._abort(error)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._over:
            self._door.close()
            return
        self._abort(error or FederationError("it ended without a result"))

    @property
    def transcript(self) -> str:
        """The digest of all public messages so far."""
        return self._seat.transcript.hex()

    @property
    def traffic(self) -> dict[str, Traffic]:
        """What went over the line of each other hospital."""
        return {
            name: Traffic(place.bytes_in, place.bytes_out)
            for name, place in self._hall.places.items()
        }

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
        data = canonical(dict(request))
        seat = self._seat
        seat.requested(data)
        parts = {"request": data, **self._last_sum()}
        carried = b""
        answers: Sequence[Contribution] = ()
        for wave in seat.sums.waves:
            answers = self._wave(wave, data, carried, parts)
            seat.sums.check(seat.number, seat.transcript, wave, answers)
            carried = answers[0].payload if len(wave) == 1 else b""
            parts = {"carried": carried}
        size = seat.counted(data).size
        sums = seat.sums.opened(seat.number, seat.transcript, answers, size)
        self._told_sum = to_wire(sums)
        seat.take("sum", self._told_sum)
        taken = 1000 * (time.perf_counter() - begun)
        self._log(f"sum {seat.number}: {sums.size:,} counts of all hospitals, {taken:.1f} ms")
        return sums

    def finish(self, payload: Mapping[str, Any]) -> None:
        """End the run: every hospital gets the payload, and knows that all have it.

        Parameters
        ----------
        payload
            What all may know at the end: the steps taken, the release's digest.
        """
        data = canonical(dict(payload))
        parts = {"payload": data, **self._last_sum()}
        self._seat.take("finish", data)
        fields = {"transcript": self.transcript}
        answers = self._door.run(self._hall.ask("finish", fields, parts))
        self._same_story(answers)
        self._door.run(self._hall.close())
        self._over = True
        self._log(f"the run is over: {self._seat.number} sums")

    def _assemble(self) -> None:
        """Wait for all hospitals, and hand their signed keys around."""
        others = len(self._hall.places)
        self._log(f"waiting for {others} hospitals, for {self._limits.joining:g} s at most")
        try:
            keys = self._door.run(self._hall.assemble())
        except FederationError as error:
            if self._refusals and "did not join" in str(error):
                causes = ", ".join(sorted(self._refusals))
                raise FederationError(
                    f"{error} Connections refused in that time: {self._refusals.total():,} "
                    f"({causes})."
                ) from None
            raise
        keys[self._kit.name] = self._seat.announcement
        joined = b"".join(keys[name] for name in self._kit.consortium.names)
        self._seat.agree(joined)
        answers = self._door.run(self._hall.ask("request", {}, {"keys": joined}))
        self._same_story(answers)

    def _wave(
        self, wave: Sequence[int], request: bytes, carried: bytes, parts: Mapping[str, bytes]
    ) -> list[Contribution]:
        """Ask all hospitals at once; the contributions of those whose turn it is."""
        seat, own = self._seat, self._kit.place
        fields = {"number": seat.number, "transcript": self.transcript, "wave": list(wave)}
        asked: Future[dict[str, Message]] = self._door.begin(
            self._hall.ask("request", fields, parts)
        )
        mine = seat.contribute(request, carried) if own in wave else None
        answers = asked.result()
        self._same_story(answers)
        names = self._kit.consortium.names
        return [
            mine
            if place == own and mine is not None
            else Contribution(
                place, seat.number, seat.transcript, self._counts(answers[names[place]])
            )
            for place in wave
        ]

    def _counts(self, answer: Message) -> bytes:
        if "counts" not in answer.parts:
            self._blame(answer.sender, f"sent no counts for sum {self._seat.number}")
        return answer.parts["counts"]

    def _same_story(self, answers: Mapping[str, Message]) -> None:
        """Fail when a hospital has seen other messages than the leader."""
        for name, answer in answers.items():
            if answer.fields.get("transcript") != self.transcript:
                self._blame(name, "has not seen the same messages as the leader")

    def _blame(self, party: str, cause: str) -> NoReturn:
        """Stop the run everywhere because of a hospital."""
        self._door.run(self._hall.abort(party, cause))
        raise self._hall.failure or FederationError(f"{STOPPED}{party} {cause}.")

    def _last_sum(self) -> dict[str, bytes]:
        """The sum before, which goes out with the next message."""
        told, self._told_sum = self._told_sum, None
        return {} if told is None else {"sum": told}

    def _abort(self, error: BaseException) -> None:
        """Stop the run everywhere, with the cause as far as others may know it."""
        try:
            self._door.run(self._hall.abort(self._kit.name, f"stopped: {in_words(error)}"))
        except EngineError:
            self._log("the other hospitals could not be told")
        finally:
            self._over = True
            self._door.close()

    def _refused(self, cause: str) -> None:
        self._refusals[cause] += 1
        self._log(f"a connection was refused: {cause}")
