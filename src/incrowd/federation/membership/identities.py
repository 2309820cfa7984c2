"""Identities: the long-term Ed25519 key of a hospital, which signs what it says.

Invariant: every signature is over a context as well, so that bytes signed for one purpose are
never taken for bytes signed for another.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from incrowd.errors import InputError, OutputError
from incrowd.federation.transport.transcripts import packed

PUBLIC_SIZE = 32
SIGNATURE_SIZE = 64
_DOMAIN = b"incrowd federation signature/1"


@dataclass(frozen=True)
class PublicIdentity:
    """The public half of an identity, as it is pinned in the consortium file."""

    raw: bytes
    """The 32 bytes of the Ed25519 public key."""

    def __post_init__(self) -> None:
        if len(self.raw) != PUBLIC_SIZE:
            raise InputError(f"An Ed25519 public key has {PUBLIC_SIZE} bytes.")

    @classmethod
    def from_text(cls, text: str) -> PublicIdentity:
        """The identity that `text` gave."""
        try:
            return cls(base64.b64decode(text, validate=True))
        except (ValueError, binascii.Error):
            raise InputError(
                "An identity is an Ed25519 public key in base64: 44 characters."
            ) from None

    @property
    def text(self) -> str:
        """The key in base64."""
        return base64.b64encode(self.raw).decode()

    @property
    def fingerprint(self) -> str:
        """What two people compare on the telephone."""
        return fingerprint(self.raw)

    def verifies(self, context: str, message: bytes, signature: bytes) -> bool:
        """Whether the signature is this identity's, over this message in this context."""
        try:
            key = Ed25519PublicKey.from_public_bytes(self.raw)
            key.verify(signature, _signed(context, message))
        except (InvalidSignature, ValueError):
            return False
        return True


class Identity:
    """The long-term key of a hospital. Whoever holds it speaks for the hospital.

    Example
    -------
    >>> hospital = Identity.make()
    >>> signature = hospital.sign("greeting", b"good morning")
    >>> hospital.public.verifies("greeting", b"good morning", signature)
    True
    >>> hospital.public.verifies("order", b"good morning", signature)
    False
    """

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self._public = PublicIdentity(key.public_key().public_bytes_raw())

    def __repr__(self) -> str:
        return f"Identity({self._public.text})"

    @classmethod
    def make(cls) -> Identity:
        """A new identity."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, path: str | Path) -> Identity:
        """The identity in a PEM file, which no other user may read."""
        path = Path(path)
        remedy = "Take the file from your kit again."
        try:
            loaded = load_pem_private_key(read_private(path), password=None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise InputError(f"'{path}' holds no private key in PEM. {remedy}") from None
        if not isinstance(loaded, Ed25519PrivateKey):
            raise InputError(f"'{path}' holds a key that is not an Ed25519 one. {remedy}")
        return cls(loaded)

    def save(self, path: str | Path) -> None:
        """Write the key as PEM into a new file that only its owner may read."""
        pem = self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        write_private(Path(path), pem)

    @property
    def public(self) -> PublicIdentity:
        """The half that others may know."""
        return self._public

    def sign(self, context: str, message: bytes) -> bytes:
        """The signature over a message in a context: 64 bytes."""
        return self._key.sign(_signed(context, message))


def fingerprint(data: bytes) -> str:
    """The SHA-256 of some bytes, in groups of four hexadecimal digits.

    Example
    -------
    >>> fingerprint(b"")[:19]
    'e3b0 c442 98fc 1c14'
    """
    digits = hashlib.sha256(data).hexdigest()
    return " ".join(digits[start : start + 4] for start in range(0, len(digits), 4))


def write_private(path: Path, data: bytes) -> None:
    """Write a new file that only its owner may read, from its first byte on."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise OutputError(f"The file '{path}' exists; a key is never overwritten.") from None
    except OSError as error:
        raise OutputError(f"Cannot write the key '{path}': {error.strerror}.") from None
    with os.fdopen(descriptor, "wb") as stream:
        path.chmod(0o600)
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def read_private(path: Path) -> bytes:
    """The content of a file with a key; refused where other users may read it."""
    try:
        mode = path.stat().st_mode
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"Cannot read the key '{path}': {error.strerror}. Take the file from your kit again."
        ) from None
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise InputError(
            f"Other users of this machine may read the key '{path}'. Say `chmod 600 '{path}'`, and "
            "ask for new kits if someone may have read it."
        )
    return data


def _signed(context: str, message: bytes) -> bytes:
    """What is signed: the domain, the context, the message."""
    return packed(_DOMAIN, context.encode(), message)
