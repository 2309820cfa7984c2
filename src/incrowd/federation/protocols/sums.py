"""Secure sums: the parties' counts added up so that only the sum is opened.

One round, driven by the leader, is a few waves. The parties of a wave are asked at the same time
and answer with a contribution; what the wave before answered is carried to them. Whoever drives it
need not know which protocol it is.

Every vector carries two slots more than it has counts:

- a one, so that the sum there is the number of parties;
- a checksum, linear in the counts, so that the checksum of the sum is the sum of the checksums.

Where the masks of a single pair do not cancel (another session, roster, transcript, round or
length), both slots of the sum are uniformly random, and the sum is taken for good once in 2^128
times. Both slots follow from the sum itself and so tell nothing that the sum does not.
"""

from __future__ import annotations

import hmac
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from incrowd._runtime.sentences import listed
from incrowd.errors import FederationError, ParameterError

if TYPE_CHECKING:
    from incrowd.federation.protocols.key_agreement import PairKeys

Numbers = npt.NDArray[np.uint64]
"""Numbers modulo 2^64; arithmetic on them wraps around."""
CHECK_SLOTS = 2
LARGEST_SUM = 2**63 - 1
_WIRE = np.dtype("<u8")


@dataclass(frozen=True)
class Contribution:
    """What one party answers in one round; nothing in it is an open count."""

    party: int
    """The place of the party in the roster."""
    round_number: int
    transcript: bytes
    """The digest of all that the party has seen before."""
    payload: bytes


class SecureSum(ABC):
    """One party's side of all secure sums of a session.

    Parameters
    ----------
    keys
        The secrets that this party shares with the others.
    leader
        The place of the party that opens the sums.
    """

    name: ClassVar[str]

    def __init__(self, keys: PairKeys, leader: int) -> None:
        if not 0 <= leader < keys.session.size:
            raise ParameterError(f"The leader is one of the {keys.session.size} parties.")
        self._keys = keys
        self._leader = leader
        self._session = keys.session

    @property
    @abstractmethod
    def waves(self) -> tuple[tuple[int, ...], ...]:
        """The parties that answer at the same time, one wave after the other."""

    def contribute(
        self,
        round_number: int,
        transcript: bytes,
        counts: npt.NDArray[Any],
        carried: bytes = b"",
        *,
        bounded: bool = True,
    ) -> Contribution:
        """The answer of this party in a round.

        Parameters
        ----------
        round_number
            Above that of all rounds before; an answer that got lost is sent again, not made again.
        transcript
            The digest of all public messages so far.
        counts
            This party's own counts, in the order that all agree on.
        carried
            What the wave before answered.
        bounded
            Whether they are counts; otherwise they are any numbers modulo 2^64, as for marks.

        Raises
        ------
        FederationError
            When a count is negative or so large that the sum could pass 2^63 - 1, when the round
            was asked for before, or when what was carried is not from the party before.
        """
        own = self._keys.own
        slots = with_checks(counts, self._session.size, self._session.names[own], bounded=bounded)
        payload = self._payload(round_number, transcript, slots, carried)
        return Contribution(own, round_number, transcript, payload)

    def opened(
        self,
        round_number: int,
        transcript: bytes,
        answers: Sequence[Contribution],
        size: int,
        *,
        bounded: bool = True,
    ) -> Numbers:
        """The sum of all parties' counts, from the answers of the last wave; for the leader.

        Not `bounded`, the sum is any number modulo 2^64, as all contributions were.

        Raises
        ------
        FederationError
            When an answer is missing, is of another round, transcript or length (the message names
            the party), or when the sum does not pass its checks.
        """
        self.check(round_number, transcript, self.waves[-1], answers)
        payloads = [each.payload for each in answers]
        total = self._total(round_number, transcript, payloads, size + CHECK_SLOTS)
        return checked(total, self._session.size, round_number, bounded=bounded)

    def check(
        self,
        round_number: int,
        transcript: bytes,
        wave: Sequence[int],
        answers: Sequence[Contribution],
    ) -> None:
        """Fail unless these are the answers of a wave, in this round, after these messages."""
        if [each.party for each in answers] != list(wave):
            missing = set(wave) - {each.party for each in answers}
            named = listed(self._session.names[each] for each in sorted(missing))
            who = f"no answer of {named}" if missing else "answers of others, or more than one each"
            raise FederationError(f"Round {round_number}: {who}. Nothing was opened.")
        for each in answers:
            name = self._session.names[each.party]
            if each.round_number != round_number:
                raise FederationError(
                    f"'{name}' answered for round {each.round_number} in round {round_number}. "
                    "Nothing was opened. Start the session again."
                )
            if not hmac.compare_digest(each.transcript, transcript):
                raise FederationError(
                    f"'{name}' has not seen the same messages as the leader before round "
                    f"{round_number}. Nothing was opened. Start the session again."
                )

    def payload_size(self, size: int) -> int:
        """How many bytes a party sends in a round of so many counts."""
        return (size + CHECK_SLOTS) * _WIRE.itemsize

    @abstractmethod
    def _payload(
        self, round_number: int, transcript: bytes, slots: Numbers, carried: bytes
    ) -> bytes: ...

    @abstractmethod
    def _total(
        self, round_number: int, transcript: bytes, payloads: Sequence[bytes], slots: int
    ) -> Numbers: ...


def secure_sum(
    keys: PairKeys, leader: int, *, protocol: Literal["masked", "ring"] = "masked"
) -> SecureSum:
    """One party's side of the secure sums of a session, by the protocol's name.

    `ring` is weaker: two neighbours of a party see its counts together. It is taken only when it is
    named here.
    """
    if protocol == "ring":
        from incrowd.federation.protocols._ring import RingSum

        return RingSum(keys, leader, neighbours_may_collude=True)
    if protocol != "masked":
        raise ParameterError(f"The secure sum must be masked or ring, got '{protocol}'.")
    from incrowd.federation.protocols._masking import MaskedSum

    return MaskedSum(keys, leader)


def with_checks(
    counts: npt.NDArray[Any], parties: int, name: str, *, bounded: bool = True
) -> Numbers:
    """The counts of a party as numbers modulo 2^64, with the two slots that are checked.

    Notes
    -----
    A count is at most (2^63 - 1) / parties, so a sum never passes 2^63 - 1 and a larger one shows
    that something is wrong. Numbers that are not `bounded` may be any below 2^64.

    Example
    -------
    >>> with_checks(np.array([4, 0, 2]), parties=3, name="A").tolist()
    [4, 0, 2, 1, 14]
    """
    counts = np.asarray(counts)
    if counts.ndim != 1 or counts.dtype.kind not in "iu":
        raise ParameterError("The counts of a round are one list of whole numbers.")
    largest = LARGEST_SUM // parties if bounded else 2**64 - 1
    if counts.size and (counts.min() < 0 or counts.max() > largest):
        raise FederationError(
            f"'{name}' has a count below 0 or above {largest}, so the sum of {parties} parties "
            "could not be told. Nothing was sent."
        )
    slots = np.empty(counts.size + CHECK_SLOTS, np.uint64)
    slots[: counts.size] = counts
    slots[-2] = 1
    slots[-1] = _checksum(slots[: counts.size])
    return slots


def checked(total: Numbers, parties: int, round_number: int, *, bounded: bool = True) -> Numbers:
    """The sums without the two slots that are checked; fails when they do not hold."""
    sums = total[:-CHECK_SLOTS]
    if int(total[-2]) != parties or total[-1] != _checksum(sums):
        raise FederationError(
            f"The sum of round {round_number} does not open: what the parties sent does not cancel "
            "out. Some of them have another session, roster, order of messages or length of the "
            "request. Nothing was learnt. Start the session again."
        )
    if bounded and sums.size and int(sums.max()) > LARGEST_SUM:
        raise FederationError(
            f"A sum of round {round_number} is above 2^63 - 1: a party sent what is not a count."
        )
    return sums


def to_wire(numbers: Numbers) -> bytes:
    """Numbers as bytes, eight for each, the lowest first."""
    return numbers.astype(_WIRE, copy=False).tobytes()


def from_wire(payload: bytes, slots: int, name: str) -> Numbers:
    """The numbers that a party sent; fails when they are not as many as they must be."""
    if len(payload) != slots * _WIRE.itemsize:
        raise FederationError(
            f"'{name}' sent {len(payload)} bytes where {slots * _WIRE.itemsize} were due. Nothing "
            "was opened."
        )
    return np.frombuffer(payload, _WIRE).astype(np.uint64, copy=False)


def _checksum(numbers: Numbers) -> np.uint64:
    """A sum with odd weights that rise: one changed number, or two swapped ones, change it."""
    weights = np.arange(1, 2 * numbers.size, 2, dtype=np.uint64)
    return np.dot(weights, numbers) if numbers.size else np.uint64(0)
