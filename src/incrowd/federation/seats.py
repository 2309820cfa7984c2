"""What leader and parties do alike: keep the transcript, agree on keys, hide their counts.

Both sides take the same public messages into their transcripts in the same order: the keys, then
request and sum of every round. Masks hang on the transcript, so a party that was told another
story than the others adds masks that do not cancel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import EngineError, FederationError, IncrowdError, PrivacyError
from incrowd.federation.agreements import Announcement, Ephemeral
from incrowd.federation.channels import Papers
from incrowd.federation.kits import Kit
from incrowd.federation.messages import STOPPED, Check, Sign, parse
from incrowd.federation.sums import Contribution, SecureSum, secure_sum
from incrowd.federation.terms import Terms
from incrowd.federation.transcripts import Transcript

Count = Callable[[dict[str, Any]], npt.NDArray[Any]]
"""A hospital's own counts for a public request, in the order that the request fixes."""
_CONTEXT = "incrowd federation message/1"


class Seat:
    """One hospital's place in one session.

    Parameters
    ----------
    kit
        The hospital's kit.
    session
        The session's number, as 64 hexadecimal digits.
    count
        Counts the hospital's own records.
    """

    def __init__(self, kit: Kit, session: str, count: Count) -> None:
        number = bytes.fromhex(session)
        self.kit = kit
        self.number = 0
        """How many sums were asked for."""
        self._count = count
        self._ephemeral = Ephemeral(kit.consortium.session(number), kit.place, kit.identity)
        self._transcript = Transcript(number, kit.consortium.digest)
        self._sums: SecureSum | None = None
        self._counts: npt.NDArray[Any] | None = None

    @property
    def announcement(self) -> bytes:
        """The own signed key for this session."""
        return self._ephemeral.announcement.to_bytes()

    @property
    def transcript(self) -> bytes:
        """The digest of all public messages so far."""
        return self._transcript.digest

    @property
    def sums(self) -> SecureSum:
        """The own side of the secure sums; there is none before the keys are known."""
        if self._sums is None:
            raise FederationError("A sum was asked for before the keys were told.")
        return self._sums

    def agree(self, keys: bytes) -> None:
        """Take the signed keys of all hospitals, behind one another in the order of the roster."""
        size = len(self.announcement)
        pieces = [keys[start : start + size] for start in range(0, len(keys), size)]
        pairs = self._ephemeral.agree([Announcement.from_bytes(piece) for piece in pieces])
        consortium = self.kit.consortium
        self._sums = secure_sum(pairs, consortium.leader_place, protocol=consortium.sums)
        self._transcript.add("keys", keys)

    def requested(self, request: bytes) -> None:
        """Take a request in: a new sum begins."""
        self._transcript.add("request", request)
        self._counts = None
        self.number += 1

    def counted(self, request: bytes) -> npt.NDArray[Any]:
        """The own counts for a request, made once for all waves of a sum."""
        if self._counts is None:
            value = parse(request)
            if not isinstance(value, dict):
                raise FederationError("A request is a description in JSON: names and values.")
            try:
                self._counts = np.asarray(self._count(value))
            except Exception as error:
                raise CountError(self.kit.name, error) from error
        return self._counts

    def contribute(self, request: bytes, carried: bytes) -> Contribution:
        """The own counts, hidden."""
        return self.sums.contribute(self.number, self.transcript, self.counted(request), carried)

    def take(self, kind: str, data: bytes) -> None:
        """Take another public message in: a sum that was opened, or the last word."""
        self._transcript.add(kind, data)


def terms_of(kit: Kit, layout: str) -> Terms:
    """What a kit, and the layout of the records beside it, say must be the same everywhere."""
    consortium = kit.consortium
    return Terms(
        consortium=consortium.digest.hex(),
        policy=consortium.policy,
        layout=layout,
        sums=consortium.sums,
    )


def papers(kit: Kit) -> Papers:
    """The certificates of a kit.

    Raises
    ------
    FederationError
        When the certificate of a hospital has expired or is not valid yet; the message names it.
    """
    kit.consortium.require_valid()
    pinned = {party.name: party.certificate for party in kit.consortium.parties}
    return Papers(kit.name, kit.certificate_path, kit.key_path, pinned)


def signer(kit: Kit) -> Sign:
    """Signs messages as this hospital."""
    return lambda data: kit.identity.sign(_CONTEXT, data)


def checker(kit: Kit) -> Check:
    """Checks signatures of messages against the pinned identities."""
    pinned = {party.name: party.public for party in kit.consortium.parties}

    def check(sender: str, signature: bytes, data: bytes) -> bool:
        identity = pinned.get(sender)
        return identity is not None and identity.verifies(_CONTEXT, data, signature)

    return check


class CountError(FederationError):
    """A hospital cannot count its own records.

    Its message is for that hospital. The others are told `public`, which says nothing of the
    records: an error of incrowd may tell how many they are, or a row.
    """

    def __init__(self, name: str, error: Exception) -> None:
        self.public = f"it could not count its records ({type(error).__name__})"
        detail = str(error) if isinstance(error, IncrowdError) else self.public
        super().__init__(f"{STOPPED}{name} stopped: {detail.removesuffix('.')}.")


def in_words(error: BaseException) -> str:
    """A cause that the others may be told.

    Errors of the protocol, and a privacy that the sums show to be out of reach, are told in full;
    of anything else only its kind.
    """
    if isinstance(error, CountError):
        return error.public
    if isinstance(error, EngineError | PrivacyError):
        return str(error).removeprefix(STOPPED).removesuffix(".")
    if isinstance(error, KeyboardInterrupt):
        return "it was interrupted"
    return f"a fault of its own ({type(error).__name__})"
