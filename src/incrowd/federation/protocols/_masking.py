"""Masked sums: every pair of parties hides its counts with a mask that cancels in the sum.

Parties i < j share a mask, a keystream that only they can make. Party i adds it to its counts and
party j subtracts it, modulo 2^64. A masked vector alone is uniformly random; all of them together
add up to the sum of the counts.

Why it resists coalitions. Take any coalition that leaves two honest parties i and j, with or
without the leader. It can take off its own masks; what is left of i's vector is v_i + m and of
j's v_j - m, where m is the keystream of i and j, which it cannot tell from random numbers. For
every other pair of values with the same sum, v_i + d and v_j - d, the mask m - d, just as likely,
gives the same view. So the coalition learns v_i + v_j, which follows from the sum and its own
values anyway, and nothing more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

from incrowd.errors import ParameterError
from incrowd.federation.protocols.key_agreement import PairKeys
from incrowd.federation.protocols.sums import Numbers, SecureSum, from_wire, to_wire

_PURPOSE = b"mask"
_PIECE = 1 << 16
"""How many numbers of a keystream are made at a time: half a megabyte, which caches hold."""
_ZEROS = bytes(8 * _PIECE)
_NONCE = bytes(16)
"""The key is used once, so the nonce may always be the same."""


class Masker:
    """Hides the vectors of one party, in each round with other masks.

    Parameters
    ----------
    keys
        The secrets that this party shares with the others.

    Notes
    -----
    The keystream is ChaCha20 under a key that HKDF-SHA256 derives from the pair's secret, bound to
    session, roster, transcript, round and length. ChaCha20 rather than AES-CTR, since it runs in
    constant time on processors without AES instructions too. Cost: one keystream of 8 bytes a
    number for each other party.

    References
    ----------
    Bonawitz et al. (2017), Practical secure aggregation for privacy-preserving machine learning,
    section 4 (masking with one-time pads; here without drop-outs: a party that is lost ends the
    session). RFC 7748 (X25519), RFC 5869 (HKDF), RFC 8439 (ChaCha20).
    """

    def __init__(self, keys: PairKeys) -> None:
        self._keys = keys

    def mask(self, round_number: int, transcript: bytes, vector: Numbers) -> Numbers:
        """The vector with this party's masks of the round; each round is masked once.

        Raises
        ------
        EngineError
            When this round, or a later one, was masked before.
        """
        if vector.ndim != 1 or vector.dtype != np.uint64:
            raise ParameterError("What is masked is one list of unsigned 64-bit numbers.")
        masked = vector.copy()
        own = self._keys.own
        for other in self._keys.others:
            first, second = sorted((own, other))
            key = self._keys.derive(_PURPOSE, first, second, round_number, transcript, vector.size)
            _mask_with(masked, key, add=own == first)
        return masked


def unmask_sum(masked: Sequence[Numbers]) -> Numbers:
    """The sum of all parties' vectors from their masked ones, modulo 2^64.

    With the vector of one party missing, or of another round, the result is uniformly random.
    """
    if not masked or any(each.shape != masked[0].shape for each in masked):
        raise ParameterError("There must be one masked vector of each party, all of one length.")
    total = masked[0].copy()
    for each in masked[1:]:
        total += each
    return total


class MaskedSum(SecureSum):
    """The default secure sum: one wave, in which every party sends one masked vector.

    Notes
    -----
    The leader, who sees all masked vectors, learns the sum and nothing else, alone or together with
    any coalition that leaves two honest parties. A party sees nothing of the others.
    """

    name: ClassVar[str] = "masked"

    def __init__(self, keys: PairKeys, leader: int) -> None:
        super().__init__(keys, leader)
        self._masker = Masker(keys)

    @property
    def waves(self) -> tuple[tuple[int, ...], ...]:
        """All parties at the same time."""
        return (tuple(range(self._session.size)),)

    def _payload(
        self, round_number: int, transcript: bytes, slots: Numbers, carried: bytes
    ) -> bytes:
        if carried:
            raise ParameterError("Nothing is carried to a party in a masked sum.")
        return to_wire(self._masker.mask(round_number, transcript, slots))

    def _total(
        self,
        round_number: int,  # noqa: ARG002 - the masks know it
        transcript: bytes,  # noqa: ARG002
        payloads: Sequence[bytes],
        slots: int,
    ) -> Numbers:
        names = self._session.names
        return unmask_sum(
            [from_wire(each, slots, name) for name, each in zip(names, payloads, strict=True)]
        )


def _mask_with(numbers: Numbers, key: bytes, *, add: bool) -> None:
    """Add the keystream of a key to the numbers, in place, or subtract it."""
    stream = Cipher(ChaCha20(key, _NONCE), mode=None).encryptor()
    piece = np.empty(_PIECE, np.dtype("<u8"))
    room, zeros = memoryview(piece.data).cast("B"), memoryview(_ZEROS)
    for start in range(0, numbers.size, _PIECE):
        part = numbers[start : start + _PIECE]
        stream.update_into(zeros[: 8 * part.size], room)
        if add:
            part += piece[: part.size]
        else:
            part -= piece[: part.size]
