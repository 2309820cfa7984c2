"""Transcripts: one running hash over all public messages of a session, the same at every party.

Masks are bound to it. So a leader who tells one party another story than the others gets masks that
do not cancel, and no sum.
"""

from __future__ import annotations

import hashlib
import struct

DIGEST_SIZE = 32
"""The bytes of a SHA-256 digest."""
_START = "incrowd federation transcript/1"
_STEP = "incrowd federation transcript step/1"


def packed(*parts: bytes) -> bytes:
    """The parts behind one another, each after its length, so that no two lists look alike.

    Example
    -------
    >>> packed(b"ab", b"c") == packed(b"a", b"bc")
    False
    """
    return b"".join(struct.pack(">Q", len(part)) + part for part in parts)


def digest_of(domain: str, *parts: bytes) -> bytes:
    """The SHA-256 digest of a list of parts, in a domain of its own.

    Notes
    -----
    A digest for one purpose is never one for another, since the domain is hashed first, and never
    one of another list of parts, since lengths are hashed too.
    """
    return hashlib.sha256(packed(domain.encode(), *parts)).digest()


class Transcript:
    """A running hash over the public messages of one session.

    Parameters
    ----------
    session
        The session's number.
    roster
        The digest of the consortium.

    Notes
    -----
    Each step hashes the state before, the kind of the message and the message. Equal digests mean
    equal messages in equal order, unless SHA-256 collides. Cost: one pass over each message.

    Example
    -------
    >>> here, there = Transcript(b"session", b"roster"), Transcript(b"session", b"roster")
    >>> here.add("request", b"count")
    >>> here.digest == there.digest
    False
    >>> there.add("request", b"count")
    >>> here.digest == there.digest
    True
    """

    def __init__(self, session: bytes, roster: bytes) -> None:
        self.digest = digest_of(_START, session, roster)
        """The hash over all messages so far."""

    def add(self, kind: str, message: bytes) -> None:
        """Take one more public message into the hash."""
        self.digest = digest_of(_STEP, self.digest, kind.encode(), message)
