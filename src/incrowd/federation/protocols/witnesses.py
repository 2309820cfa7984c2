"""Witnesses: what every hospital sent for a sum, signed, so that each can add up for itself.

Only the leader receives the hidden counts of all. Without more, it could tell any sum it likes, and
the method would go on with it: told fifty times as many records as there are, it would specialize
until single records show. So the leader hands around what each hospital sent, under that hospital's
signature, and every hospital adds up and compares. Hidden counts are random to all who do not hold
the masks, so this opens nothing.

A ring sum has no such witnesses: each hospital sends a running sum to the next one alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from incrowd.federation.membership.consortium import Consortium
from incrowd.federation.membership.identities import Identity
from incrowd.federation.protocols.sums import Contribution
from incrowd.federation.transport.transcripts import digest_of

_CONTEXT = "incrowd federation contribution/2"
_SIGNATURE = 64


def vouch(identity: Identity, sent: Contribution, binding: bytes) -> bytes:
    """A hospital's signature under what it sent, and under what it sent it for.

    `binding` is the digest of session, number, request, what it opens and its length; see `Turn`.
    """
    return identity.sign(_CONTEXT, _told(sent, binding))


def vouched(consortium: Consortium, sent: Contribution, binding: bytes, signature: bytes) -> bool:
    """Whether a signature is that of the hospital which is said to have sent something."""
    public = consortium.parties[sent.party].public
    told = _told(sent, binding)
    return len(signature) == _SIGNATURE and public.verifies(_CONTEXT, told, signature)


def to_parts(witnesses: Mapping[int, tuple[Contribution, bytes]]) -> dict[str, bytes]:
    """What all hospitals sent, as parts of a message."""
    return {_name(place): sign + sent.payload for place, (sent, sign) in witnesses.items()}


def part_names(consortium: Consortium) -> set[str]:
    """The names of the parts that show what all hospitals sent."""
    return {_name(place) for place in range(len(consortium.names))}


def from_parts(
    parts: Mapping[str, bytes], consortium: Consortium, own: Contribution, binding: bytes
) -> list[Contribution] | str:
    """What all hospitals sent, in the order of the roster; or what is wrong with it, in words.

    `own` is what this hospital sent; the others must have sent theirs for the same.
    """
    found = []
    for place, name in enumerate(consortium.names):
        part = parts.get(_name(place), b"")
        sent = replace(own, party=place, payload=part[_SIGNATURE:])
        if not vouched(consortium, sent, binding, part[:_SIGNATURE]):
            return f"does not show what {name} sent for sum {own.round_number}"
        found.append(sent)
    return found


def _name(place: int) -> str:
    return f"witness {place}"


def _told(sent: Contribution, binding: bytes) -> bytes:
    place, number = sent.party.to_bytes(4, "big"), sent.round_number.to_bytes(8, "big")
    return digest_of(_CONTEXT, place, number, sent.transcript, binding, sent.payload)
