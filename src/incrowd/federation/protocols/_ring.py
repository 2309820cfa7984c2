"""Ring sums: the paper's secure sum, in which a running sum goes from party to party.

**Weak.** A party's two neighbours in the ring subtract what one of them passed on from what the
other received, and hold the party's counts. `masked` sums have no such weakness and need fewer
waves; the ring is here because the paper uses it, behind an explicit switch.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from incrowd.errors import FederationError, ParameterError
from incrowd.federation.protocols.key_agreement import PairKeys
from incrowd.federation.protocols.sums import Numbers, SecureSum, from_wire, to_wire

_PURPOSE = b"hop"
_TAG = 16
"""The bytes that sealing adds."""
_NONCE = bytes(12)
"""The key is used once, so the nonce may always be the same."""


class RingSum(SecureSum):
    """The paper's secure sum: as many waves as parties, one party in each.

    The leader adds random numbers R to its counts and passes them on; each party adds its counts
    and passes the running sum on; the leader takes R off what comes back.

    Parameters
    ----------
    keys
        The secrets that this party shares with the others.
    leader
        The place of the party that begins and opens the sums.
    neighbours_may_collude
        The switch: true says that the weakness is known and accepted.

    Notes
    -----
    Weakness. The running sum that a party passes on is known to it and to the next one. So the
    party before and the party after a victim together know its counts; any two parties know the
    sum over those between them; and the leader, who knows R, with one other party knows the sum
    over those between. The leader's own counts fall to its two neighbours as soon as the sum is
    told. Only against single parties is the ring as good as masked sums.

    Differs from the paper: parties only dial out, so the leader carries the running sums, and could
    read off everything. Each is therefore sealed (ChaCha20-Poly1305) for the next party under the
    secret of the two.

    References
    ----------
    Mohammed, Fung, Hung, Lee (2010), Centralized and distributed anonymization for
    high-dimensional healthcare data, section 5.1; Schneier (1995), Applied cryptography.
    """

    name: ClassVar[str] = "ring"

    def __init__(
        self, keys: PairKeys, leader: int, *, neighbours_may_collude: bool = False
    ) -> None:
        super().__init__(keys, leader)
        if not neighbours_may_collude:
            raise ParameterError(
                "In a ring sum the two neighbours of a party see its counts together. Take the "
                "masked sum, or set neighbours_may_collude=True to go on nevertheless."
            )
        self._begun: tuple[int, Numbers] | None = None

    @property
    def waves(self) -> tuple[tuple[int, ...], ...]:
        """One party after the other, from the leader on."""
        size = self._session.size
        return tuple(((self._leader + step) % size,) for step in range(size))

    @property
    def before(self) -> int:
        """The neighbour whose running sum this party receives."""
        return (self._keys.own - 1) % self._session.size

    @property
    def after(self) -> int:
        """The neighbour to whom this party passes the running sum."""
        return (self._keys.own + 1) % self._session.size

    def payload_size(self, size: int) -> int:
        """How many bytes a party sends in a round of so many counts: they are sealed."""
        return super().payload_size(size) + _TAG

    def _payload(
        self, round_number: int, transcript: bytes, slots: Numbers, carried: bytes
    ) -> bytes:
        if self._keys.own == self._leader:
            if carried:
                raise ParameterError("Nothing is carried to the leader, who begins the ring.")
            start = np.frombuffer(secrets.token_bytes(8 * slots.size), np.uint64)
            self._begun = (round_number, start)
        else:
            start = self._received(round_number, transcript, carried, slots.size)
        key = self._keys.derive(
            _PURPOSE, self._keys.own, self.after, round_number, transcript, slots.size
        )
        return ChaCha20Poly1305(key).encrypt(_NONCE, to_wire(start + slots), None)

    def _total(
        self, round_number: int, transcript: bytes, payloads: Sequence[bytes], slots: int
    ) -> Numbers:
        begun, self._begun = self._begun, None
        if begun is None or begun[0] != round_number or begun[1].size != slots:
            raise ParameterError(
                "A ring sum is opened by the leader who began it, once, in the same round."
            )
        return self._received(round_number, transcript, payloads[0], slots) - begun[1]

    def _received(
        self, round_number: int, transcript: bytes, carried: bytes, slots: int
    ) -> Numbers:
        """The running sum that the party before sealed for this one."""
        name = self._session.names[self.before]
        key = self._keys.derive(
            _PURPOSE, self.before, self._keys.own, round_number, transcript, slots
        )
        try:
            running = ChaCha20Poly1305(key).decrypt(_NONCE, carried, None)
        except InvalidTag:
            raise FederationError(
                f"The running sum of round {round_number} that '{name}' passed on does not open: "
                "it was changed on its way, or is of another session, roster, round or length, or "
                "came after other messages. Start the session again."
            ) from None
        return from_wire(running, slots, name)
