"""The Ed25519 signature of a manifest, over the same canonical bytes as its digest.

Invariant: with a key given, only a signature by that very key holds; the key inside the manifest
is never trusted then. Without one, a good signature shows that the manifest is as its signer left
it, not who the signer is.
"""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import InputError
from incrowd.verify.verdict import SIGNATURE, Finding

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    from incrowd.verify.files.manifest import ManifestReading

ALGORITHM = "Ed25519"


def read_key(key: str | Path | bytes) -> Ed25519PublicKey:
    """Return the Ed25519 public key of a PEM file, or of PEM bytes."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    remedy = "Give an Ed25519 public key in PEM (it begins with -----BEGIN PUBLIC KEY-----)."
    if isinstance(key, bytes):
        pem, origin = key, "The key"
    else:
        origin = f"The key in {key}"
        try:
            pem = Path(key).read_bytes()
        except OSError as error:
            raise InputError(f"Cannot read the key {key}: {error.strerror}. {remedy}") from None
    try:
        loaded = load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        raise InputError(f"{origin} is not a public key. {remedy}") from None
    if not isinstance(loaded, Ed25519PublicKey):
        raise InputError(f"{origin} is a public key of another kind. {remedy}")
    return loaded


def judge_signature(reading: ManifestReading, key: Ed25519PublicKey | None) -> Finding | None:
    """Return the judgement on the signature; None when there is none and none is demanded."""
    signature = None if reading.raw is None else reading.raw.get("signature")
    if signature is None:
        if key is None:
            return None
        return Finding(SIGNATURE, False, "the release is not signed, and a key was given")
    parts = _parts(signature)
    if parts is None:
        return Finding(SIGNATURE, False, "the signature is malformed")
    return _judge_parts(parts, reading.canonical(), key)


def _parts(signature: Any) -> tuple[bytes, bytes] | None:
    """Return the raw public key and the signature value, or None when malformed."""
    if not isinstance(signature, dict) or signature.get("algorithm") != ALGORITHM:
        return None
    texts = (str(signature.get("key")), str(signature.get("value")))
    try:
        raw, value = (base64.b64decode(text, validate=True) for text in texts)
    except (ValueError, binascii.Error):
        return None
    return (raw, value) if (len(raw), len(value)) == (32, 64) else None


def _judge_parts(
    parts: tuple[bytes, bytes], signed: bytes, pinned: Ed25519PublicKey | None
) -> Finding:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    raw, value = parts
    if pinned is not None and pinned.public_bytes_raw() != raw:
        return Finding(SIGNATURE, False, "the release is signed by another key than the one given")
    try:
        Ed25519PublicKey.from_public_bytes(raw).verify(value, signed)
    except (InvalidSignature, ValueError):
        detail = "the signature does not fit the manifest, which was changed after signing"
        return Finding(SIGNATURE, False, detail)
    if pinned is None:
        detail = "signed by an unpinned key: give the signer's key to know who signed"
        return Finding(SIGNATURE, True, detail)
    return Finding(SIGNATURE, True, "signed by the key given")
