"""Consortium: who takes part, with which keys, under which policy. Everyone pins the same file.

The file holds nothing secret. Its digest (the roster hash) enters every signature and every mask,
so hospitals with different files cannot compute anything together.
"""

from __future__ import annotations

import ipaddress
import json
import re
import secrets
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from incrowd._runtime.plain_yaml import as_text, load
from incrowd._runtime.validation_messages import explain_validation
from incrowd.errors import InputError, nearest
from incrowd.federation.membership._certificates import certificate_digest, hosts_of, require_valid
from incrowd.federation.membership.agreed_sessions import TWO_PARTIES, AgreedSession
from incrowd.federation.membership.identities import PublicIdentity
from incrowd.federation.transport.transcripts import digest_of

FORMAT: Literal["incrowd-consortium/1"] = "incrowd-consortium/1"
MOST_PARTIES = 100
_DOMAIN = "incrowd federation consortium/1"
_NAME = re.compile(r"\w(?:[\w .-]{0,38}\w)?")
_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?)")

_MadeOrRefused = TypeVar("_MadeOrRefused")
_YamlText = Annotated[str, BeforeValidator(as_text)]
"""A text, also one that YAML takes for a number."""


def legal_name(name: str) -> str:
    """The name, when a party may bear it: it also names a folder and stands in a certificate."""
    if not _NAME.fullmatch(name) or unicodedata.normalize("NFC", name) != name:
        raise ValueError(
            f"'{name[:60]}' cannot be the name of a party; take 1 to 40 letters, digits, spaces, "
            "dots or hyphens, with a letter or digit at both ends"
        )
    return name


def split_address(address: str) -> tuple[str, int]:
    """Host and port of an address; an IPv6 address stands in brackets.

    Example
    -------
    >>> split_address("leader.example.org:8443"), split_address("[::1]:8443")
    (('leader.example.org', 8443), ('::1', 8443))
    """
    host, _, port = address.rpartition(":")
    if not _HOST.fullmatch(host) or not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65535:
        raise InputError(
            f"'{address[:60]}' is no address; write host:port, as in leader.example.org:8443."
        )
    host = host.strip("[]")
    with suppress(ValueError):
        host = str(ipaddress.ip_address(host))
    return host, int(port)


def _refusable(make: Callable[[], _MadeOrRefused]) -> _MadeOrRefused:
    """What `make` makes; what it refuses is told as a mistake of the file."""
    try:
        return make()
    except InputError as error:
        raise ValueError(str(error)) from None


def _identity(value: str) -> str:
    return _refusable(lambda: PublicIdentity.from_text(value).text)


def _certificate(value: str) -> str:
    _refusable(lambda: certificate_digest(value))
    return value


def _address(value: str) -> str:
    _refusable(lambda: split_address(value))
    return value


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Member(_Part):
    """One hospital, as the others know it."""

    name: Annotated[_YamlText, AfterValidator(legal_name)]
    identity: Annotated[_YamlText, AfterValidator(_identity)] = Field(
        description="the Ed25519 public key, in base64"
    )
    certificate: Annotated[str, AfterValidator(_certificate)] = Field(
        description="the certificate for TLS, in PEM"
    )
    records: int | None = Field(
        default=None, ge=1, strict=True, description="how many records it brings into a run"
    )

    @property
    def public(self) -> PublicIdentity:
        """The identity that checks this hospital's signatures."""
        return PublicIdentity.from_text(self.identity)

    @property
    def certificate_digest(self) -> str:
        """The SHA-256 of the certificate, by which a connection is known."""
        return certificate_digest(self.certificate)


class Consortium(_Part):
    """The parties in their fixed order, the leader's address, and the policy's digest."""

    format: Literal["incrowd-consortium/1"]
    id: _YamlText = Field(pattern=r"^[0-9a-f]{32}$")
    leader: _YamlText = Field(description="the party that opens the sums")
    address: Annotated[str, AfterValidator(_address)] = Field(
        description="where the others dial the leader: host:port"
    )
    sums: Literal["masked", "ring"] = "masked"
    two_parties: bool = Field(default=False, strict=True)
    policy: _YamlText = Field(pattern=r"^[0-9a-f]{64}$", description="the digest of the policy")
    parties: list[Member] = Field(min_length=2, max_length=MOST_PARTIES)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if len(self.parties) == 2 and not self.two_parties:
            raise ValueError(f"{TWO_PARTIES}. Say `two_parties: true` to go on nevertheless")
        for what, values in (
            ("name", [party.name.casefold() for party in self.parties]),
            ("identity", [party.identity for party in self.parties]),
            ("certificate", [party.certificate_digest for party in self.parties]),
        ):
            if len(set(values)) < len(values):
                raise ValueError(f"two parties have the same {what}; each needs its own")
        if self.leader not in self.names:
            raise ValueError(
                f"the leader '{self.leader}' is not a party.{nearest(self.leader, self.names)}"
            )
        host, _ = split_address(self.address)
        if host not in hosts_of(self.parties[self.leader_place].certificate):
            raise ValueError(
                f"the certificate of the leader '{self.leader}' is not for its host '{host}'"
            )
        return self

    @classmethod
    def new(
        cls,
        leader: str,
        address: str,
        sums: Literal["masked", "ring"],
        policy: str,
        members: Sequence[Member],
        *,
        allow_two: bool,
    ) -> Consortium:
        """A consortium with an id of its own; InputError says why it can be none."""
        try:
            return cls(
                format=FORMAT,
                id=secrets.token_hex(16),
                leader=leader,
                address=address,
                sums=sums,
                two_parties=allow_two and len(members) == 2,
                policy=policy,
                parties=list(members),
            )
        except ValidationError as error:
            raise InputError(explain_validation(error, cls, "consortium")) from None

    @classmethod
    def from_file(cls, path: str | Path) -> Consortium:
        """The consortium in a YAML or JSON file; every mistake is told with its place."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(
                f"The consortium file '{path}' cannot be read: {type(error).__name__}. Take it "
                "from your kit again."
            ) from None
        return cls.from_yaml(text, where=path.name)

    @classmethod
    def from_yaml(cls, text: str, *, where: str = "consortium") -> Consortium:
        """The consortium in a YAML or JSON text."""
        consortium: Consortium = parsed(cls, text, where)
        return consortium

    def to_yaml(self) -> str:
        """The text of the consortium file."""
        return as_yaml(self)

    @cached_property
    def digest(self) -> bytes:
        """The roster hash: the SHA-256 over everything that the file says.

        Notes
        -----
        It does not depend on how the file is written (YAML or JSON, comments, order of keys), only
        on what it says; the order of the parties counts.
        """
        said = json.dumps(self.model_dump(exclude_none=True), sort_keys=True, separators=(",", ":"))
        return digest_of(_DOMAIN, said.encode())

    @property
    def names(self) -> list[str]:
        """The parties' names, in their fixed order."""
        return [party.name for party in self.parties]

    @property
    def unstated(self) -> list[str]:
        """The parties whose numbers of records were not agreed."""
        return [party.name for party in self.parties if party.records is None]

    @property
    def records(self) -> int | None:
        """How many records all parties agreed to bring into a run; None where one states none."""
        if self.unstated:
            return None
        return sum(party.records or 0 for party in self.parties)

    @property
    def leader_place(self) -> int:
        """The place of the leader among the parties."""
        return self.names.index(self.leader)

    def place(self, name: str) -> int:
        """The place of a party; fails with the nearest name."""
        if name not in self.names:
            raise InputError(f"The consortium has no party '{name}'.{nearest(name, self.names)}")
        return self.names.index(name)

    def place_of(self, identity: PublicIdentity) -> int | None:
        """The place of the party with this identity, or None."""
        keys = [party.identity for party in self.parties]
        return keys.index(identity.text) if identity.text in keys else None

    def session(self, number: bytes) -> AgreedSession:
        """A session of all parties, with a number of 32 random bytes."""
        return AgreedSession(
            number=number,
            roster=self.digest,
            names=tuple(self.names),
            identities=tuple(party.public for party in self.parties),
            two_parties=self.two_parties,
        )

    def require_valid(self, now: datetime | None = None) -> None:
        """Fail when the certificate of a party is expired or not valid yet; names the party."""
        for party in self.parties:
            require_valid(party.certificate, party.name, now)


def parsed(model: type[Any], text: str, where: str) -> Any:
    """What a YAML text says, as a model; every mistake is told with its place."""
    try:
        mapping = load(text)
    except yaml.YAMLError:
        raise InputError(f"{where} is not a YAML file. Take it from your kit again.") from None
    try:
        return model.model_validate(mapping)
    except ValidationError as error:
        raise InputError(explain_validation(error, model, where)) from None


def as_yaml(model: BaseModel) -> str:
    """A model as YAML that people can read: one key a line, PEM in its own lines."""
    said = model.model_dump(exclude_none=True)
    return yaml.dump(said, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - no anchors in the file
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)
