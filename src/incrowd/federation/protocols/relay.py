"""Relays: sealed boxes from every hospital to every other one, through the leader.

Hospitals only dial out, so the leader carries what they send one another in a joint computation. It
goes in steps, all at once: with its answer every hospital sends one box for every other one, and
with the next request it gets the boxes of the others. A hospital that has nothing to say sends an
empty box. So a box that is missing is noticed, and nothing is told by who writes to whom.

Invariants
----------
- A box is sealed (ChaCha20-Poly1305) under a key that its sender and its receiver alone know, made
  for this direction, session, roster, transcript and request. The step is its nonce, and every key
  seals each step once.
- A box opens only as the one of its sender, for its receiver, in its step. The leader can hold a
  box back, or change it, and stop the run; it can neither read nor exchange one.
- In the first box every hospital tells what it is about to compute. Hospitals whose parameters
  differ stop before a share is used.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from incrowd._runtime.sentences import listed
from incrowd.errors import FederationError
from incrowd.federation.protocols.secret_shares import (
    Computation,
    Program,
    need_sharing,
    threshold_of,
)
from incrowd.federation.transport.transcripts import DIGEST_SIZE

if TYPE_CHECKING:
    from incrowd.federation.protocols.crowd_bits import CrowdCounts
    from incrowd.federation.protocols.key_agreement import PairKeys

EMPTY_BOX = 16
"""The size of a box with nothing in it."""
YES, NO = b"\x01", b"\x00"
PartyBoxes = Mapping[int, bytes]
"""A box for, or from, every other hospital, by its place."""
_PURPOSE = b"box"
_PART = "box-"


class Relay:
    """One hospital's boxes in one joint computation.

    Parameters
    ----------
    keys
        The secrets that this hospital shares with the others.
    number
        The number of the request, above all before.
    transcript
        The digest of all public messages up to the request.
    """

    def __init__(self, keys: PairKeys, number: int, transcript: bytes) -> None:
        own = keys.own
        self._names = keys.session.names
        self._to = {}
        self._from = {}
        for other in keys.others:
            sealing = keys.derive(_PURPOSE, own, other, number, transcript, 0)
            opening = keys.derive(_PURPOSE, other, own, number, transcript, 0)
            self._to[other] = ChaCha20Poly1305(sealing)
            self._from[other] = ChaCha20Poly1305(opening)
        self._sealed = self._opened = 0

    def sealed(self, outbox: PartyBoxes) -> dict[int, bytes]:
        """The boxes of the next step, one for every other hospital."""
        nonce = _nonce(self._sealed)
        self._sealed += 1
        return {
            other: key.encrypt(nonce, outbox.get(other, b""), None)
            for other, key in self._to.items()
        }

    def opened(self, boxes: PartyBoxes) -> dict[int, bytes]:
        """What is in the boxes that came in the next step, one from every other hospital.

        Raises
        ------
        FederationError
            When the box of a hospital is missing or does not open; the message names it.
        """
        step = self._opened
        self._opened += 1
        found = {}
        for other, key in self._from.items():
            try:
                found[other] = key.decrypt(_nonce(step), boxes.get(other, b""), None)
            except InvalidTag:
                raise FederationError(
                    f"The box that '{self._names[other]}' sealed in step {step} does not open: it "
                    "was not sealed as it must be, or was changed or exchanged on its way. Start "
                    "the session again."
                ) from None
        return found


class JointComputation:
    """One hospital's side of one joint computation, from its counts to the bit.

    Parameters
    ----------
    keys
        The secrets that this hospital shares with the others.
    number
        The number of the request.
    transcript
        The digest of all public messages up to the request.
    crowds
        The hospital's own counts, and what must hold.
    """

    def __init__(self, keys: PairKeys, number: int, transcript: bytes, crowds: CrowdCounts) -> None:
        from incrowd.federation.protocols.crowd_bits import ZeroTest

        names = keys.session.names
        threshold_of(len(names))
        self._names = names
        self._digest = crowds.digest(len(names), need_sharing())
        self._relay = Relay(keys, number, transcript)
        question = ZeroTest.of(crowds, len(names))
        program: Program = question.program(crowds)
        self._computation = Computation(keys.own, names, question.prime, program)
        self.step = 0
        """How many steps were made."""

    @property
    def done(self) -> bool:
        """Whether the bit is known here."""
        return self._computation.done

    @property
    def bit(self) -> bytes:
        """What was opened, as the one byte that hospitals are told."""
        return YES if self._computation.result else NO

    @property
    def awaited(self) -> list[str]:
        """The hospitals without whose next box nothing moves here."""
        return self._computation.awaited

    def begun(self) -> dict[int, bytes]:
        """The boxes of the first step."""
        outbox = self._computation.advance({})
        self.step = 1
        return self._relay.sealed({place: self._digest + data for place, data in outbox.items()})

    def advanced(self, boxes: PartyBoxes) -> dict[int, bytes]:
        """Take the boxes of the others, compute, and return the boxes of the next step."""
        inbox = self._relay.opened(boxes)
        if self.step == 1:
            inbox = {place: self._same(place, data) for place, data in inbox.items()}
        outbox = self._computation.advance({place: data for place, data in inbox.items() if data})
        self.step += 1
        return self._relay.sealed(outbox)

    def close(self) -> None:
        """Forget all shares; the bit is kept."""
        self._computation.close()

    def _same(self, place: int, data: bytes) -> bytes:
        if not hmac.compare_digest(data[:DIGEST_SIZE], self._digest):
            raise FederationError(
                f"'{self._names[place]}' computes with another K, C or 'without', with other "
                "crowds or protected values, or with another version of mpyc. Nothing was opened."
            )
        return data[DIGEST_SIZE:]


def to_parts(boxes: PartyBoxes) -> dict[str, bytes]:
    """Boxes as parts of a message.

    Example
    -------
    >>> to_parts({2: b"sealed"})
    {'box-2': b'sealed'}
    """
    return {f"{_PART}{place}": box for place, box in boxes.items()}


def from_parts(parts: Mapping[str, bytes], others: Iterable[int]) -> dict[int, bytes] | None:
    """The boxes in a message, when there is one for each of the others; None otherwise."""
    boxes = {place: parts.get(f"{_PART}{place}") for place in others}
    found = {place: box for place, box in boxes.items() if box is not None}
    return found if len(found) == len(boxes) else None


def stalled(boxes: Iterable[PartyBoxes]) -> bool:
    """Whether nobody has sent anything to anybody in a step."""
    return all(len(box) == EMPTY_BOX for each in boxes for box in each.values())


def standstill(waits: Mapping[str, object], step: int) -> str:
    """Who waits for whom, by what each says, when nothing moves any more."""
    told = [
        f"{name} waits for {listed((each for each in waits if each in awaited), quoted=False)}"
        for name, awaited in sorted(waits.items())
        if isinstance(awaited, list) and awaited
    ]
    why = "; ".join(told) or "nobody says why"
    return f"the joint computation stands still in step {step}: {why}"


def _nonce(step: int) -> bytes:
    return step.to_bytes(12, "big")
