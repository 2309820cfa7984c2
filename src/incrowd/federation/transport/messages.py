"""Messages between hospitals: canonical bytes, signed, bound to session, round and sender.

    magic | length of the header | header | parts, one after the other | signature

The header is canonical JSON: kind, version of the protocol, session, round, sender, small fields,
and name, size and SHA-256 of every part. The signature is the sender's Ed25519 identity over a
fixed prefix and the header, so it covers the parts as well, and a message cannot be taken for one
of another session, round, sender or kind. Nothing here decides whether a message is due: that is
the receiver's business (`rounds.py`, `_party.py`).
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from incrowd.errors import FederationError

PROTOCOL = 2
"""Raised whenever the meaning of a message changes."""
PATH = "/v1/exchange"
"""The one address of the leader's server."""
MAGIC = b"INCROWD\x01"
_PREFIX = b"incrowd federation message\x00"
_LENGTH = struct.Struct(">I")
_SIGNATURE = 64
_HEADER_LIMIT = 64 * 1024
_SESSION_BYTES = 32

FROM_PARTIES = frozenset({"knock", "hello", "answer", "poll", "done", "abort"})
FROM_LEADER = frozenset({"welcome", "hello", "request", "finish", "closed", "abort", "refused"})
_KEYS = {"protocol", "kind", "session", "round", "sender", "fields", "parts"}

Sign = Callable[[bytes], bytes]
"""Signs bytes with the sender's identity."""
Check = Callable[[str, bytes, bytes], bool]
"""Whether `signature` is the named sender's over `data`: check(sender, signature, data)."""


class MessageError(FederationError):
    """Bytes that are not a message of this protocol."""


@dataclass(frozen=True)
class Message:
    """One message, before it is signed or after its signature was checked."""

    kind: str
    session: str
    """The session's number as 64 hexadecimal digits; zeros before there is one."""
    round: int
    sender: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Small values of JSON."""
    parts: Mapping[str, bytes] = field(default_factory=dict)
    """What may be large: requests, masked counts, sums."""

    def part(self, name: str) -> bytes:
        """The named part; a message without it is not a legal one of its kind."""
        if name not in self.parts:
            raise MessageError(f"a message '{self.kind}' has no part '{name}'")
        return self.parts[name]

    def text(self, name: str) -> str:
        """The named field, which must be text."""
        value = self.fields.get(name)
        if not isinstance(value, str):
            raise MessageError(f"a message '{self.kind}' has no text '{name}'")
        return value


STOPPED = "The run was stopped: "
"""How the message of every error begins that ends a run."""
NO_SESSION = "0" * 2 * _SESSION_BYTES
"""The session of a message sent before the leader has told its session."""


def canonical(value: Any) -> bytes:
    """The one way to write a value of JSON: keys sorted, no spaces, ASCII, no NaN.

    Example
    -------
    >>> canonical({"b": 1, "a": [True, None, "x"]})
    b'{"a":[true,null,"x"],"b":1}'
    """
    try:
        text = json.dumps(
            value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise MessageError(f"a message must be made of JSON values: {error}") from error
    return text.encode("ascii")


def parse(data: bytes) -> Any:
    """The value of canonical JSON; any other spelling of it is refused."""
    try:
        value = json.loads(data.decode("ascii"))
    except (ValueError, RecursionError):
        raise MessageError("a message holds what is not JSON") from None
    if canonical(value) != data:
        raise MessageError("a message holds JSON that is not in canonical form")
    return value


def encode(message: Message, sign: Sign) -> bytes:
    """The message as signed bytes.

    Notes
    -----
    Cost: one SHA-256 over the parts and one signature over the header.
    """
    header = canonical(
        {
            "protocol": PROTOCOL,
            "kind": message.kind,
            "session": message.session,
            "round": message.round,
            "sender": message.sender,
            "fields": dict(message.fields),
            "parts": [[name, len(data), _digest(data)] for name, data in message.parts.items()],
        }
    )
    if len(header) > _HEADER_LIMIT:
        raise MessageError(f"the header of a message may have {_HEADER_LIMIT:,} bytes at most")
    pieces = [MAGIC, _LENGTH.pack(len(header)), header, *message.parts.values()]
    return b"".join([*pieces, sign(_PREFIX + header)])


def decode(data: bytes, check: Check, kinds: frozenset[str], limit: int) -> Message:
    """The message in signed bytes, once every check has passed.

    Parameters
    ----------
    data
        What came over the network.
    check
        Knows the pinned identities.
    kinds
        What this side may be sent.
    limit
        The largest size in bytes.

    Raises
    ------
    MessageError
        When the bytes are not a message, are too many, are not signed by the sender they name, or
        are of a kind that this side is never sent.
    """
    if len(data) > limit:
        raise MessageError(f"a message of more than {limit:,} bytes")
    start = len(MAGIC) + _LENGTH.size
    if len(data) < start + _SIGNATURE or not data.startswith(MAGIC):
        raise MessageError("bytes that are not a message of this protocol")
    (size,) = _LENGTH.unpack_from(data, len(MAGIC))
    if size > min(_HEADER_LIMIT, len(data) - start - _SIGNATURE):
        raise MessageError("a message whose header does not fit into it")
    header = data[start : start + size]
    fields = _legal_header(parse(header))
    signature = data[-_SIGNATURE:]
    if fields["protocol"] != PROTOCOL:
        raise MessageError(
            f"a message of protocol version {fields['protocol']}, where this is {PROTOCOL}"
        )
    if not check(fields["sender"], signature, _PREFIX + header):
        raise MessageError(f"a message that is not signed by '{fields['sender']}', whom it names")
    if fields["kind"] not in kinds:
        raise MessageError(f"a message of kind '{fields['kind']}', which is not sent here")
    parts = _cut(memoryview(data)[start + size : -_SIGNATURE], fields["parts"])
    return Message(
        kind=fields["kind"],
        session=fields["session"],
        round=fields["round"],
        sender=fields["sender"],
        fields=fields["fields"],
        parts=parts,
    )


def mark_of(data: bytes) -> bytes:
    """What only two sendings of the same checked message have in common: its signature."""
    return data[-_SIGNATURE:]


def _legal_header(header: Any) -> dict[str, Any]:
    """The header, when it has the keys and types of one."""
    legal = (
        isinstance(header, dict)
        and header.keys() == _KEYS
        and type(header["protocol"]) is int
        and type(header["round"]) is int
        and header["round"] >= 0
        and all(isinstance(header[key], str) for key in ("kind", "session", "sender"))
        and len(header["session"]) == 2 * _SESSION_BYTES
        and isinstance(header["fields"], dict)
        and isinstance(header["parts"], list)
        and all(_legal_part(part) for part in header["parts"])
    )
    if not legal:
        raise MessageError("a message whose header is not legal")
    return dict(header)


def _legal_part(part: Any) -> bool:
    """Whether an entry of the header's list of parts is one: name, size, digest."""
    return (
        isinstance(part, list)
        and len(part) == 3
        and isinstance(part[0], str)
        and type(part[1]) is int
        and part[1] >= 0
        and isinstance(part[2], str)
    )


def _cut(data: memoryview, listed: list[list[Any]]) -> dict[str, bytes]:
    """The parts of a message, each as long and with the digest that its header says."""
    parts: dict[str, bytes] = {}
    position = 0
    for name, size, told in listed:
        part = bytes(data[position : position + size])
        position += size
        if name in parts or len(part) != size or _digest(part) != told:
            raise MessageError("a message whose parts are not those of its header")
        parts[name] = part
    if position != len(data):
        raise MessageError("a message with more bytes than its header lists")
    return parts


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
