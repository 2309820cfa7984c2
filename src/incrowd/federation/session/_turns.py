"""Turns: one request, one contribution of every hospital, one answer, before the next request.

Invariants
----------
- A request is answered before the next one, or the end, is taken in. Its answer is taken once, and
  only after this hospital has contributed to it in every wave, or every step, that it takes.
- What a hospital signs names the session, the number of the request, the request, what it opens and
  how many numbers it has; so does the transcript on which its masks hang. Nothing that was sent for
  one request is an answer to another.
- No answer contradicts what the hospital itself put in: where it has a mark a mark is opened, and
  no sum is below its own count. So an objection stands, whoever else adds up, or lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import FederationError
from incrowd.federation.protocols.marks import Opens, marks_from_wire, opened_by
from incrowd.federation.protocols.sums import LARGEST_SUM, Contribution, from_wire
from incrowd.federation.transport.messages import parse
from incrowd.federation.transport.transcripts import digest_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incrowd.federation.protocols.relay import JointComputation

_DOMAIN = "incrowd federation turn/1"
_ASKED = "incrowd federation request/1"


@dataclass
class Turn:
    """One request at one hospital, from its asking until its answer is taken.

    Made by `Turn.of`; a session has one of them at most.
    """

    number: int
    """The first request of a session has the number 1."""
    request: bytes
    asked: dict[str, Any]
    opens: Opens
    session: bytes
    transcript: bytes
    """The digest of all public messages up to the request."""
    waves: tuple[tuple[int, ...], ...]
    """Who contributes when; none where one bit is computed in steps."""
    passed: int = 0
    """How many waves have begun."""
    own: npt.NDArray[Any] | None = None
    """The own counts or marks, once they are counted."""
    sent: Contribution | None = None
    joint: JointComputation | None = None

    @classmethod
    def of(
        cls,
        number: int,
        request: bytes,
        session: bytes,
        transcript: bytes,
        waves: Sequence[tuple[int, ...]],
    ) -> Turn:
        """The turn that a request begins; `transcript` is the digest with the request in it."""
        asked = parse(request)
        if not isinstance(asked, dict):
            raise FederationError("A request is a description in JSON: names and values.")
        opens = opened_by(asked)
        due = () if opens == "bit" else tuple(waves)
        return cls(number, request, asked, opens, session, transcript, due)

    @property
    def complete(self) -> bool:
        """Whether this hospital has contributed all it owes, and is owed the answer."""
        if self.opens == "bit":
            return self.joint is not None and self.joint.done
        return self.sent is not None and self.passed == len(self.waves)

    def next_wave(self) -> tuple[int, ...]:
        """Who contributes now; nobody where all waves have passed."""
        if self.passed == len(self.waves):
            return ()
        self.passed += 1
        return self.waves[self.passed - 1]

    @property
    def binding(self) -> bytes:
        """A digest of what a contribution is for, which is signed together with it."""
        size = 0 if self.own is None else self.own.size
        return digest_of(
            _DOMAIN,
            self.session,
            self.number.to_bytes(8, "big"),
            digest_of(_ASKED, self.request),
            self.opens.encode(),
            size.to_bytes(8, "big"),
            self.transcript,
        )

    def contradicted(self, answer: bytes, leader: str) -> str | None:
        """What the answer says that cannot be, by what this hospital put in; None if nothing.

        Raises
        ------
        FederationError
            When the answer has not the length that is due.
        """
        if self.opens == "bit" or self.own is None:
            return None
        if self.opens == "any":
            marks = marks_from_wire(answer, self.own.size)
            missed = self.own.astype(np.bool_) & ~marks
            return "opened no mark where this hospital has one" if missed.any() else None
        sums = from_wire(answer, self.own.size, leader)
        if (sums > LARGEST_SUM).any():
            return "opened a sum above 2^63 - 1"
        below = sums < self.own.astype(np.uint64)
        return "opened a sum below this hospital's own count" if below.any() else None

    def close(self) -> None:
        """Forget the shares of a joint computation, if there is one."""
        if self.joint is not None:
            self.joint.close()
