"""Agreements: a secret for every pair of parties, fresh for every session.

Each party makes an X25519 key for one session and signs it with its long-term identity. The leader
hands the signed keys around. Every pair then shares a secret that nobody else knows.

Invariants
----------
- A key that its party did not sign for this very session, roster and place is refused. So nobody in
  the middle, the leader included, can put an own key in its place.
- All announcements together enter every secret. Parties that were shown different ones share
  nothing, and their masks do not cancel.
- What is derived for one purpose, pair and round is given out once. Rounds only rise.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand

from incrowd.errors import FederationError, InputError, ParameterError
from incrowd.federation.membership.agreed_sessions import AgreedSession
from incrowd.federation.membership.identities import PUBLIC_SIZE, SIGNATURE_SIZE, Identity
from incrowd.federation.transport.transcripts import DIGEST_SIZE, digest_of, packed

_ANNOUNCE = "incrowd federation ephemeral key/1"
_AGREED = "incrowd federation agreement/1"
_PAIR = b"incrowd federation pair/1"
_ROUND = b"incrowd federation round/1"
_WIRE = struct.Struct(f">H{PUBLIC_SIZE}s{SIGNATURE_SIZE}s")
_LAST_ROUND = 2**63


@dataclass(frozen=True)
class Announcement:
    """The key of one party for one session, signed by its identity."""

    party: int
    key: bytes
    signature: bytes

    def to_bytes(self) -> bytes:
        """The announcement as 98 bytes."""
        return _WIRE.pack(self.party, self.key, self.signature)

    @classmethod
    def from_bytes(cls, data: bytes) -> Announcement:
        """The announcement in 98 bytes."""
        if len(data) != _WIRE.size:
            raise FederationError(f"An announced key has {_WIRE.size} bytes, got {len(data)}.")
        return cls(*_WIRE.unpack(data))


class Ephemeral:
    """One party's key for one session; it agrees once and is forgotten.

    Parameters
    ----------
    session
        What all parties know.
    own
        The place of this party in the roster.
    identity
        Its long-term key, which signs the announcement.
    """

    def __init__(self, session: AgreedSession, own: int, identity: Identity) -> None:
        if not 0 <= own < session.size or session.identities[own] != identity.public:
            raise InputError(
                "The identity is not the one that the consortium file pins for this party. Use the "
                "identity and the consortium file of the same kit."
            )
        self._session = session
        self._own = own
        self._private: X25519PrivateKey | None = X25519PrivateKey.generate()
        key = self._private.public_key().public_bytes_raw()
        signature = identity.sign(_ANNOUNCE, _announced(session, own, key))
        self.announcement = Announcement(own, key, signature)

    def agree(self, announcements: Sequence[Announcement]) -> PairKeys:
        """The secrets shared with all other parties.

        Parameters
        ----------
        announcements
            Of all parties, one's own included, in the order of the roster.

        Raises
        ------
        FederationError
            When one is missing, is not signed by its party, was changed, or is of another session;
            the message names the party.

        Notes
        -----
        Cost: one signature check and one X25519 agreement for each party, about 0.2 ms together.
        """
        private, self._private = self._private, None
        if private is None:
            raise ParameterError("A key agrees once. Make a new one for a new session.")
        session = self._session
        check_announcements(session, announcements)
        if announcements[self._own] != self.announcement:
            raise FederationError(
                f"Another key than its own was announced for '{session.names[self._own]}'. Someone "
                "uses its identity, or the leader took an old one. The session was stopped."
            )
        agreed = digest_of(
            _AGREED,
            session.number,
            session.roster,
            *(each.to_bytes() for each in announcements),
        )
        keys = {}
        for each in announcements:
            if each.party == self._own:
                continue
            try:
                shared = private.exchange(X25519PublicKey.from_public_bytes(each.key))
            except ValueError:
                raise FederationError(
                    f"The key that '{session.names[each.party]}' announced is not a usable one."
                ) from None
            pair = _numbers(*sorted((self._own, each.party)))
            kdf = HKDF(SHA256(), 32, salt=agreed, info=packed(_PAIR, pair))
            keys[each.party] = kdf.derive(shared)
        return PairKeys(session, self._own, keys)


class PairKeys:
    """The secrets that one party shares with every other one, for one session.

    Made by `Ephemeral.agree`. Not for several threads at once.
    """

    def __init__(self, session: AgreedSession, own: int, keys: dict[int, bytes]) -> None:
        self.session = session
        self.own = own
        self._keys = keys
        self._last: dict[tuple[bytes, int, int], int] = {}

    @property
    def others(self) -> list[int]:
        """The places of all other parties."""
        return sorted(self._keys)

    def derive(
        self,
        purpose: bytes,
        first: int,
        second: int,
        round_number: int,
        transcript: bytes,
        size: int,
    ) -> bytes:
        """A key of 32 bytes that `first` and `second` alone know, given out once.

        Parameters
        ----------
        purpose
            What the key is for.
        first, second
            A pair of parties in an order that both use; one of them is this party.
        round_number
            The number of the round, above all before.
        transcript
            The digest of the session so far.
        size
            How many numbers are exchanged in this round.
        """
        if not 0 <= round_number < _LAST_ROUND or len(transcript) != DIGEST_SIZE:
            raise ParameterError(
                f"A round has a number from 0 and a transcript's digest of {DIGEST_SIZE} bytes."
            )
        last = self._last.get((purpose, first, second), -1)
        if round_number <= last:
            raise FederationError(
                f"Round {round_number} was asked for after round {last}. Masks are never "
                "used twice, so the session was stopped."
            )
        self._last[purpose, first, second] = round_number
        other = second if first == self.own else first
        place = _numbers(first, second, round_number, size)
        info = packed(_ROUND, purpose, place, self.session.number, self.session.roster, transcript)
        return HKDFExpand(SHA256(), 32, info=info).derive(self._keys[other])


def check_announcements(session: AgreedSession, announcements: Sequence[Announcement]) -> None:
    """Fail unless there is one announcement by each party, signed by it for this session."""
    if len(announcements) != session.size:
        raise FederationError(
            f"{session.size} parties must announce a key, {len(announcements)} did."
        )
    seen: dict[bytes, str] = {}
    for place, each in enumerate(announcements):
        name = session.names[place]
        signed = _announced(session, place, each.key)
        identity = session.identities[place]
        if each.party != place or not identity.verifies(_ANNOUNCE, signed, each.signature):
            raise FederationError(
                f"The key announced for '{name}' is not signed by '{name}' for this session. "
                "Someone in the middle may have put an own key in its place, or the kits are not "
                "of the same consortium. The session was stopped."
            )
        if each.key in seen:
            raise FederationError(f"'{seen[each.key]}' and '{name}' announced the same key.")
        seen[each.key] = name


def _announced(session: AgreedSession, party: int, key: bytes) -> bytes:
    """What an identity signs for its key."""
    name = session.names[party].encode()
    return packed(session.number, session.roster, _numbers(party), name, key)


def _numbers(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}Q", *numbers)
