"""TLS between hospitals: both ends show a certificate, and only pinned ones are let in.

Nobody's authority is trusted: the certificates of the consortium file are the only anchors, and
after the handshake the certificate must be the pinned one, byte by byte. A host name could add
nothing to that, so none is checked and the leader may move to another address.
"""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrowd.errors import FederationError
from incrowd.federation.transport.messages import STOPPED

Refusal = Callable[[str], None]
"""Is told why a connection was refused."""


@dataclass(frozen=True)
class Credentials:
    """A hospital's own certificate and key, and the pinned certificate of every hospital."""

    name: str
    certificate: Path
    key: Path
    pinned: Mapping[str, str]
    """The certificates of the roster, as PEM."""

    def holders(self) -> dict[str, str]:
        """Whose certificate it is, by fingerprint."""
        return {
            fingerprint(ssl.PEM_cert_to_DER_cert(pem.strip())): name
            for name, pem in self.pinned.items()
        }


def fingerprint(der: bytes) -> str:
    """SHA-256 of a certificate."""
    return hashlib.sha256(der).hexdigest()


def leader_context(credentials: Credentials, refused: Refusal) -> ssl.SSLContext:
    """TLS for the listener of the leader: every caller shows a pinned certificate, or is refused.

    Parameters
    ----------
    credentials
        Of the leader.
    refused
        Is told the cause of every handshake that fails.
    """
    others = [pem for name, pem in credentials.pinned.items() if name != credentials.name]
    context = _context(ssl.PROTOCOL_TLS_SERVER, credentials, others)

    class Handshake(ssl.SSLObject):
        failed: ssl.SSLError | None = None

        def do_handshake(self) -> None:
            if self.failed is not None:
                raise self.failed
            try:
                super().do_handshake()
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                raise
            except ssl.SSLError as error:
                refused(_in_words(error))
                self.failed = error
                # asyncio would close the line before the caller is told why. As if more were to
                # be read, it sends the alert first, and is told of the failure next time.
                raise ssl.SSLWantReadError from None

    context.sslobject_class = Handshake
    return context


def party_context(credentials: Credentials, leader: str) -> ssl.SSLContext:
    """TLS for a hospital that dials: only the pinned certificate of the leader will do."""
    return _context(ssl.PROTOCOL_TLS_CLIENT, credentials, [credentials.pinned[leader]])


def shown(stream: Any) -> str | None:
    """The fingerprint of the certificate that the other end of a TLS object showed, if any."""
    der = None if stream is None else stream.getpeercert(True)
    return None if der is None else fingerprint(der)


def refusal_in_words(error: BaseException) -> str | None:
    """What a failed dial means when certificates are the cause, or None.

    Example
    -------
    >>> refusal_in_words(ssl.SSLError(1, "[SSL: TLSV1_ALERT_UNKNOWN_CA] tlsv1 alert unknown ca"))
    'refused the certificate of this kit (alert unknown ca)'
    >>> refusal_in_words(ConnectionResetError()) is None
    True
    """
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLCertVerificationError):
            return f"does not show its pinned certificate ({seen.verify_message})"
        text = str(seen).lower().replace("_", " ")
        if "certificate verify failed" in text:
            return "does not show its pinned certificate"
        if "] " in text and "alert" in text:
            alert = text.split("] ", 1)[1]
            told = alert[alert.find("alert") :].split("(")[0].strip()
            return f"refused the certificate of this kit ({told})"
        seen = seen.__cause__ or seen.__context__
    return None


def _in_words(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return str(error.verify_message)
    return (error.reason or "no TLS").replace("_", " ").lower()


def _context(kind: int, credentials: Credentials, trusted: Iterable[str]) -> ssl.SSLContext:
    context = ssl.SSLContext(kind)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.load_verify_locations(cadata="\n".join(trusted))
    try:
        context.load_cert_chain(credentials.certificate, credentials.key)
    except (ssl.SSLError, OSError) as error:
        raise FederationError(
            f"{STOPPED}the certificate and key in the kit of {credentials.name} cannot be "
            f"used ({type(error).__name__}). Take them from the kit again."
        ) from None
    return context
