"""What leader and parties do alike: keep the transcript, agree on keys, hide their counts.

Both sides take the same public messages into their transcripts in the same order: the keys, then
request and what was opened of every round. Masks hang on the transcript, so a party that was told
another story than the others adds masks that do not cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import (
    EngineError,
    FederationError,
    IncrowdError,
    OutputError,
    PrivacyError,
    VerificationError,
)
from incrowd.federation.agreements import Announcement, Ephemeral, PairKeys
from incrowd.federation.channels import Papers
from incrowd.federation.kits import Kit
from incrowd.federation.marks import Opens, hidden_marks, marks_to_wire, opened_by, opened_marks
from incrowd.federation.messages import STOPPED, Check, Sign, parse
from incrowd.federation.relaying import Joint
from incrowd.federation.sums import Contribution, SecureSum, secure_sum, to_wire
from incrowd.federation.terms import Terms
from incrowd.federation.transcripts import Transcript
from incrowd.federation.witnesses import from_parts, vouch

if TYPE_CHECKING:
    from incrowd.federation.crowds import Crowds

Count = Callable[[dict[str, Any]], npt.NDArray[Any]]
"""A hospital's own counts for a public request, in the order that the request fixes."""
CountCrowds = Callable[[dict[str, Any]], "Crowds"]
"""A hospital's own counts of crowds for a public request that opens one bit."""
Told = Callable[[str, bytes], None]
"""Is told what kind of public message came, and its bytes."""
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
    crowds
        Counts its own crowds, where single bits are opened.
    """

    def __init__(
        self, kit: Kit, session: str, count: Count, crowds: CountCrowds | None = None
    ) -> None:
        number = bytes.fromhex(session)
        self.kit = kit
        self.number = 0
        """How many requests there were."""
        self.opens: Opens = "sum"
        """What the last request opens."""
        self.told: Told | None = None
        """Is told what was opened, and the last word, before it is confirmed."""
        self._sent: Contribution | None = None
        self._asked: dict[str, Any] = {}
        self._count = count
        self._crowds = crowds
        self._pairs: PairKeys | None = None
        self._joint: Joint | None = None
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
        self._pairs = pairs
        self._sums = secure_sum(pairs, consortium.leader_place, protocol=consortium.sums)
        self._transcript.add("keys", keys)

    def requested(self, request: bytes) -> None:
        """Take a request in: a new sum begins, or whatever it opens."""
        value = parse(request)
        if not isinstance(value, dict):
            raise FederationError("A request is a description in JSON: names and values.")
        self.opens = opened_by(value)
        self._transcript.add("request", request)
        self._asked = value
        self._counts = None
        self.close()
        self.number += 1

    def counted(self) -> npt.NDArray[Any]:
        """The own counts, or marks, for the last request, made once for all waves of a sum."""
        if self._counts is None:
            try:
                self._counts = np.asarray(self._count(self._asked))
            except DisagreementError:
                raise
            except Exception as error:
                raise CountError(self.kit.name, error) from error
        return self._counts

    def contribute(self, carried: bytes) -> Contribution:
        """The own counts or marks for the last request, hidden."""
        counts, bounded = self.counted(), self.opens == "sum"
        if not bounded:
            counts = hidden_marks(counts, self.kit.name)
        self._sent = self.sums.contribute(
            self.number, self.transcript, counts, carried, bounded=bounded
        )
        return self._sent

    def vouch(self) -> bytes:
        """The own signature under what was sent last."""
        assert self._sent is not None
        return vouch(self.kit.identity, self._sent)

    def joint(self) -> Joint:
        """The own side of the joint computation of the last request, begun when first asked for."""
        if self._joint is None:
            self._joint = self._new_joint()
        return self._joint

    def _new_joint(self) -> Joint:
        if self._crowds is None or self._pairs is None:
            raise FederationError(
                f"'{self.kit.name}' was asked for one bit, but counts no crowds: the policies "
                "must say everywhere what is opened."
            )
        try:
            crowds = self._crowds(self._asked)
        except DisagreementError:
            raise
        except Exception as error:
            raise CountError(self.kit.name, error) from error
        return Joint(self._pairs, self.number, self.transcript, crowds)

    @property
    def witnessed(self) -> bool:
        """Whether every hospital adds up for itself what the last request opens."""
        return self.opens != "bit" and self.kit.consortium.sums == "masked"

    def doubt(self, kind: str, data: bytes, parts: Mapping[str, bytes]) -> str | None:
        """What is wrong with what the leader says was opened, if anything can be seen to be.

        `parts` are those of its message, among them what all hospitals sent.
        """
        if kind != self.opens:
            return f"told '{kind}' where '{self.opens}' was to be opened"
        if self._joint is not None and data != self._joint.bit:
            return "told another bit than the hospitals opened together"
        return self._doubt_of_sums(data, parts) if self.witnessed else None

    def _doubt_of_sums(self, data: bytes, parts: Mapping[str, bytes]) -> str | None:
        sent, own = self._sent, self.kit.place
        assert sent is not None
        all_sent = from_parts(parts, self.kit.consortium, self.number, sent.transcript)
        if isinstance(all_sent, str):
            return all_sent
        if all_sent[own].payload != sent.payload:
            return f"shows another answer of {self.kit.name} than it gave"
        size, bounded = self.counted().size, self.opens == "sum"
        sums = self.sums.opened(self.number, sent.transcript, all_sent, size, bounded=bounded)
        opened = to_wire(sums) if bounded else marks_to_wire(opened_marks(sums))
        return None if data == opened else f"told something else than the sum {self.number}"

    def close(self) -> None:
        """Forget the shares of a joint computation, if there is one."""
        if self._joint is not None:
            self._joint.close()
            self._joint = None

    def take(self, kind: str, data: bytes) -> None:
        """Take another public message in: what was opened, or the last word."""
        self._transcript.add(kind, data)
        if self.told is not None:
            self.told(kind, data)


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


class DisagreementError(FederationError):
    """The leader asks for, or has come to, something else; says nothing of the records."""


class CountError(FederationError):
    """A hospital cannot count its own records.

    Its message is for that hospital. The others are told `public`, which says nothing of the
    records: an error of incrowd may tell how many they are, or a row.
    """

    def __init__(self, name: str, error: Exception) -> None:
        self.public = f"it could not count its records ({type(error).__name__})"
        detail = str(error) if isinstance(error, IncrowdError) else self.public
        super().__init__(f"{STOPPED}{name} stopped: {detail.removesuffix('.')}.")


class OwnRecordsError(PrivacyError):
    """The own records of a hospital cannot keep the policy by themselves.

    Its message is for that hospital. The others are told `public`, without a number.
    """

    def __init__(self, detail: str) -> None:
        self.public = "its own records alone cannot keep the policy"
        super().__init__(
            "The records of this hospital alone cannot keep the policy: "
            f"{detail.removesuffix('.')}. Ask for less, leave this hospital out, or let all judge "
            "together under encryption (`hospitals: {protect: joint}`)."
        )


def in_words(error: BaseException) -> str:
    """A cause that the others may be told.

    Errors of the protocol, and a privacy that the sums show to be out of reach, are told in full;
    of anything else only its kind.
    """
    if isinstance(error, CountError | OwnRecordsError):
        return error.public
    if isinstance(error, FederationError | PrivacyError):
        return str(error).removeprefix(STOPPED).removesuffix(".")
    if isinstance(error, EngineError):  # whose words name files and folders
        return "its source was changed, or its machine failed"
    if isinstance(error, KeyboardInterrupt):
        return "it was interrupted"
    if isinstance(error, VerificationError):
        return "its release does not verify"
    if isinstance(error, OutputError):
        return "it could not write its release"
    return f"a fault of its own ({type(error).__name__})"
