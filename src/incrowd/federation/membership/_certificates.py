"""Certificates: what a hospital shows when a connection is made, signed by itself.

Every certificate is pinned in the consortium file, so none needs an authority to vouch for it.
That is why there is no common authority here: its key could make a certificate for anyone, as long
as a copy of it exists, and every hospital would have to get its certificate from whoever holds it.
A certificate that its owner signs can be made at the hospital, and its key never leaves it.
"""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from incrowd.errors import FederationError, InputError, ParameterError

DAYS = 30
_MOST_DAYS = 825
_CLOCKS_DIFFER = timedelta(hours=1)
_ORGANIZATION = "incrowd federation"


@dataclass(frozen=True)
class NewCertificate:
    """A certificate just made, with its private key, both in PEM."""

    certificate: str
    key: bytes


def make_certificate(
    name: str, hosts: Sequence[str] = (), *, days: int = DAYS, now: datetime | None = None
) -> NewCertificate:
    """A new certificate and its key.

    Parameters
    ----------
    name
        The hospital's.
    hosts
        The host names and addresses under which it may be dialled; none where it only dials out.
    days
        How long the certificate is valid, from an hour ago on, since clocks differ.
    now
        The time of making, with its time zone; the present one when left out.

    Notes
    -----
    The key is a P-256 one, which TLS 1.3 demands of all who speak it. The certificate may sign
    handshakes of either end and nothing else: it cannot vouch for another certificate.

    Example
    -------
    >>> made = make_certificate("Hospital A", ["a.example.org", "10.0.0.7"], days=7)
    >>> hosts_of(made.certificate)
    ['a.example.org', '10.0.0.7']
    """
    if not 1 <= days <= _MOST_DAYS:
        raise ParameterError(f"A certificate is valid for 1 to {_MOST_DAYS} days, got {days}.")
    start = (now or datetime.now(UTC)).replace(microsecond=0)
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, _ORGANIZATION),
            x509.NameAttribute(NameOID.COMMON_NAME, name),
        ]
    )
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start - _CLOCKS_DIFFER)
        .not_valid_after(start + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_handshakes_only(), critical=True)
        .add_extension(
            x509.ExtendedKeyUsage(
                [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
            ),
            critical=False,
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False
        )
    )
    if hosts:
        names = x509.SubjectAlternativeName([_general_name(host) for host in hosts])
        builder = builder.add_extension(names, critical=False)
    certificate = builder.sign(key, SHA256())
    return NewCertificate(
        certificate=certificate.public_bytes(Encoding.PEM).decode("ascii"),
        key=key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    )


def read_certificate(pem: str) -> x509.Certificate:
    """The one certificate in a PEM text."""
    try:
        found = x509.load_pem_x509_certificates(pem.encode("ascii"))
    except ValueError:
        found = []
    if len(found) != 1:
        raise InputError(
            "A certificate is one block of PEM (it begins with -----BEGIN CERTIFICATE-----)."
        )
    return found[0]


def certificate_digest(pem: str) -> str:
    """The SHA-256 of a certificate's bytes, as 64 hexadecimal digits."""
    return hashlib.sha256(read_certificate(pem).public_bytes(Encoding.DER)).hexdigest()


def hosts_of(pem: str) -> list[str]:
    """The host names and addresses that a certificate is for."""
    extensions = read_certificate(pem).extensions
    try:
        names = extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    return [str(name.value) for name in names]


def require_valid(pem: str, name: str, now: datetime | None = None) -> None:
    """Fail when the certificate of a hospital is expired, or not valid yet."""
    certificate = read_certificate(pem)
    moment = now or datetime.now(UTC)
    first, last = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if moment > last:
        raise FederationError(
            f"The certificate of '{name}' expired on {last:%Y-%m-%d at %H:%M} UTC. Make new kits "
            "with `incrowd federation init`."
        )
    if moment < first:
        raise FederationError(
            f"The certificate of '{name}' is valid from {first:%Y-%m-%d at %H:%M} UTC on. Check "
            "the clock of this machine."
        )


def fits_key(pem: str, key_pem: bytes) -> bool:
    """Whether a private key belongs to a certificate."""
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(key_pem, password=None)
    except (ValueError, TypeError):
        return False
    return isinstance(key, ec.EllipticCurvePrivateKey) and (
        key.public_key() == read_certificate(pem).public_key()
    )


def _handshakes_only() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(host: str) -> x509.GeneralName:
    """A host name, or an address, as certificates write it."""
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        pass
    try:
        return x509.DNSName(host)
    except ValueError:
        raise ParameterError(
            f"'{host}' is no host name. Write a name in plain letters, or an address."
        ) from None
