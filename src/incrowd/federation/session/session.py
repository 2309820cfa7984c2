"""What leader and parties do alike: keep the transcript, agree on keys, hide their counts.

Both sides take the same public messages into their transcripts in the same order: the keys, then
the request and the answer of every turn, then the last word. Masks hang on the transcript, so a
party that was told another story than the others adds masks that do not cancel. What is due when,
and what an answer may say, is in `_turns.py`.
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
from incrowd.federation.membership.kits import Kit
from incrowd.federation.protocols.key_agreement import Announcement, Ephemeral, PairKeys
from incrowd.federation.protocols.marks import hidden_marks, marks_to_wire, opened_marks
from incrowd.federation.protocols.relay import JointComputation
from incrowd.federation.protocols.sums import Contribution, SecureSum, secure_sum, to_wire
from incrowd.federation.protocols.witnesses import from_parts, vouch
from incrowd.federation.session._turns import Turn
from incrowd.federation.transport.messages import STOPPED, Check, Sign
from incrowd.federation.transport.terms import Terms
from incrowd.federation.transport.tls import Credentials
from incrowd.federation.transport.transcripts import Transcript

if TYPE_CHECKING:
    from incrowd.federation.protocols.crowd_bits import CrowdCounts

Count = Callable[[dict[str, Any]], npt.NDArray[Any]]
"""A hospital's own counts for a public request, in the order that the request fixes."""
CountCrowds = Callable[[dict[str, Any]], "CrowdCounts"]
"""A hospital's own counts of crowds for a public request that opens one bit."""
TellMessage = Callable[[str, bytes], None]
"""Is told what kind of public message came, and its bytes."""
_CONTEXT = "incrowd federation message/1"


class Session:
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
        self.told: TellMessage | None = None
        """Is told what was opened, and the last word, before it is confirmed."""
        self._session = number
        self._turn: Turn | None = None
        self._over = False
        self._count = count
        self._crowds = crowds
        self._pairs: PairKeys | None = None
        self._ephemeral = Ephemeral(kit.consortium.session(number), kit.place, kit.identity)
        self._transcript = Transcript(number, kit.consortium.digest)
        self._sums: SecureSum | None = None

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
            raise self._disagrees("asked for something before it told the keys")
        return self._sums

    @property
    def agreed(self) -> bool:
        """Whether the keys of all are known."""
        return self._sums is not None

    @property
    def waiting(self) -> bool:
        """Whether a request was asked whose answer was not told yet."""
        return self._turn is not None

    @property
    def turn(self) -> Turn:
        """The request that is being answered."""
        if self._turn is None:
            raise self._disagrees("told or asked something out of turn")
        return self._turn

    def agree(self, keys: bytes) -> None:
        """Take the signed keys of all hospitals, behind one another in the order of the roster."""
        if self.agreed:
            raise self._disagrees("told the keys twice")
        size = len(self.announcement)
        pieces = [keys[start : start + size] for start in range(0, len(keys), size)]
        pairs = self._ephemeral.agree([Announcement.from_bytes(piece) for piece in pieces])
        consortium = self.kit.consortium
        self._pairs = pairs
        self._sums = secure_sum(pairs, consortium.leader_place, protocol=consortium.sums)
        self._transcript.add("keys", keys)

    def requested(self, request: bytes) -> None:
        """Take a request in: a new turn begins. The one before must have had its answer."""
        self._nothing_due()
        waves = self.sums.waves
        self._transcript.add("request", request)
        self.number += 1
        self._turn = Turn.of(self.number, request, self._session, self.transcript, waves)

    def counted(self) -> npt.NDArray[Any]:
        """The own counts, or marks, for the last request, made once for all waves of a sum."""
        turn = self.turn
        if turn.own is None:
            try:
                turn.own = np.asarray(self._count(turn.asked))
            except DisagreementError:
                raise
            except Exception as error:
                raise CountError(self.kit.name, error) from error
        return turn.own

    def contribute(self, carried: bytes) -> Contribution:
        """The own counts or marks for the last request, hidden; once for each request."""
        turn = self.turn
        counts, bounded = self.counted(), turn.opens == "sum"
        if not bounded:
            counts = hidden_marks(counts, self.kit.name)
        turn.sent = self.sums.contribute(
            turn.number, turn.transcript, counts, carried, bounded=bounded
        )
        return turn.sent

    def vouch(self) -> bytes:
        """The own signature under what was sent last, and what it was sent for."""
        turn = self.turn
        assert turn.sent is not None
        return vouch(self.kit.identity, turn.sent, turn.binding)

    def joint(self) -> JointComputation:
        """The own side of the joint computation of the last request, begun when first asked for."""
        turn = self.turn
        if turn.joint is None:
            turn.joint = self._new_joint(turn)
        return turn.joint

    def _new_joint(self, turn: Turn) -> JointComputation:
        if self._crowds is None or self._pairs is None:
            raise FederationError(
                f"'{self.kit.name}' was asked for one bit, but counts no crowds: the policies "
                "must say everywhere what is opened."
            )
        try:
            crowds = self._crowds(turn.asked)
        except DisagreementError:
            raise
        except Exception as error:
            raise CountError(self.kit.name, error) from error
        return JointComputation(self._pairs, turn.number, turn.transcript, crowds)

    @property
    def witnessed(self) -> bool:
        """Whether every hospital adds up for itself what the last request opens."""
        return self.turn.opens != "bit" and self.kit.consortium.sums == "masked"

    def conclude(self, answer: bytes, shown: Mapping[str, bytes] | None = None) -> None:
        """Take in the answer to the last request, once; the next request may come then.

        Parameters
        ----------
        answer
            What was opened.
        shown
            At a hospital that was told it: the parts of the leader's message, among them what all
            hospitals sent. The leader itself has added up.

        Raises
        ------
        DisagreementError
            When the answer is not due, is not the sum of what all sent, or contradicts what this
            hospital put in. Nothing more is contributed then.
        """
        turn = self.turn
        if not turn.complete:
            raise self._disagrees(f"told an answer to request {turn.number} before all had sent")
        doubt = None if shown is None else self._doubt(turn, answer, shown)
        doubt = doubt or turn.contradicted(answer, self.kit.consortium.leader)
        if doubt:
            raise self._disagrees(doubt)
        turn.close()
        self._turn = None
        self._take(turn.opens, answer)

    def finish(self, payload: bytes) -> None:
        """Take in the last word, after the answer to the last request."""
        self._nothing_due()
        if not self.agreed:
            raise self._disagrees("ended the run before it told the keys")
        self._over = True
        self._take("finish", payload)

    def _doubt(self, turn: Turn, answer: bytes, shown: Mapping[str, bytes]) -> str | None:
        """What is wrong with what the leader says was opened, if anything can be seen to be."""
        if turn.joint is not None and answer != turn.joint.bit:
            return "told another bit than the hospitals opened together"
        return self._doubt_of_sums(turn, answer, shown) if self.witnessed else None

    def _doubt_of_sums(self, turn: Turn, answer: bytes, shown: Mapping[str, bytes]) -> str | None:
        sent, own = turn.sent, self.kit.place
        assert sent is not None
        all_sent = from_parts(shown, self.kit.consortium, sent, turn.binding)
        if isinstance(all_sent, str):
            return all_sent
        if all_sent[own].payload != sent.payload:
            return f"shows another answer of {self.kit.name} than it gave"
        size, bounded = self.counted().size, turn.opens == "sum"
        sums = self.sums.opened(turn.number, turn.transcript, all_sent, size, bounded=bounded)
        opened = to_wire(sums) if bounded else marks_to_wire(opened_marks(sums))
        return None if answer == opened else f"told something else than the sum {turn.number}"

    def close(self) -> None:
        """Forget the keys of the session, and the shares of a joint computation."""
        if self._turn is not None:
            self._turn.close()
        self._pairs = self._sums = None

    def _nothing_due(self) -> None:
        """Fail where an answer is still due, or the last word was said."""
        if self._turn is not None:
            raise self._disagrees(f"has not told the answer to request {self.number}")
        if self._over:
            raise self._disagrees("went on after the end")

    def _take(self, kind: str, data: bytes) -> None:
        """Take another public message in: what was opened, or the last word."""
        self._transcript.add(kind, data)
        if self.told is not None:
            self.told(kind, data)

    def _disagrees(self, cause: str) -> DisagreementError:
        return DisagreementError(f"{STOPPED}the leader {self.kit.consortium.leader} {cause}.")


def terms_of(kit: Kit, layout: str) -> Terms:
    """What a kit, and the layout of the records beside it, say must be the same everywhere."""
    consortium = kit.consortium
    return Terms(
        consortium=consortium.digest.hex(),
        policy=consortium.policy,
        layout=layout,
        sums=consortium.sums,
    )


def credentials(kit: Kit) -> Credentials:
    """The certificates of a kit.

    Raises
    ------
    FederationError
        When the certificate of a hospital has expired or is not valid yet; the message names it.
    """
    kit.consortium.require_valid()
    pinned = {party.name: party.certificate for party in kit.consortium.parties}
    return Credentials(kit.name, kit.certificate_path, kit.key_path, pinned)


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
