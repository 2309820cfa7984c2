"""Consents: signed words of hospitals that the difference of two runs may be seen.

Two runs over the same records, one with a hospital and one without it, differ by the counts of that
hospital. So every member of both runs is asked first. A consent is a small file: which two
consortia, in words what may be seen, signed with the identity of the hospital.

    KIT/consents/NAME-EARLIER-NEW.yaml

Invariant: a consent holds for one pair of consortia in one order, and for the words that the
hospital saw; whoever relies on it makes these words anew and checks the signature against an
identity that its own ledger, or the new consortium, pins.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from incrowd.errors import InputError, OutputError
from incrowd.federation.membership.consortium import Consortium, as_yaml, parsed
from incrowd.federation.membership.identities import Identity, PublicIdentity
from incrowd.federation.membership.kits import CONSORTIUM, IDENTITY, own_place
from incrowd.federation.transport.transcripts import packed

FOLDER = "consents"
FORMAT: Literal["incrowd-consent/1"] = "incrowd-consent/1"
_CONTEXT = "incrowd federation consent/1"
_SHOWN = 12


class Consent(BaseModel):
    """What one hospital signed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["incrowd-consent/1"]
    hospital: str
    identity: str = Field(description="the Ed25519 public key, in base64")
    earlier: str = Field(pattern=r"^[0-9a-f]{64}$", description="the earlier consortium's digest")
    new: str = Field(pattern=r"^[0-9a-f]{64}$", description="the new consortium's digest")
    seen: str = Field(description="what may be seen, in words")
    signature: str

    @property
    def signed(self) -> bytes:
        """The bytes under the signature."""
        said = (self.earlier, self.new, self.hospital, self.identity, self.seen)
        return packed(*(each.encode() for each in said))

    @property
    def is_its_own(self) -> bool:
        """Whether the identity that it names signed it."""
        try:
            signature = base64.b64decode(self.signature, validate=True)
            return PublicIdentity.from_text(self.identity).verifies(
                _CONTEXT, self.signed, signature
            )
        except (InputError, binascii.Error, ValueError):
            return False


@dataclass(frozen=True)
class Roster:
    """Who took part, or is about to: names with identities, and the digest of their consortium."""

    digest: str
    members: tuple[tuple[str, str], ...]
    """The name and the identity of each."""

    @classmethod
    def of(cls, consortium: Consortium) -> Roster:
        """The members of a consortium."""
        members = tuple((party.name, party.identity) for party in consortium.parties)
        return cls(consortium.digest.hex(), members)

    @property
    def listed(self) -> str:
        """Their names."""
        return ", ".join(name for name, _ in self.members)


@dataclass(frozen=True)
class Change:
    """How the members of a run differ from those of an earlier one.

    Notes
    -----
    A member is known by its identity. Where not one identity is in both, all kits were made anew,
    and members are known by their names.
    """

    earlier: Roster
    new: Roster

    @property
    def left(self) -> list[tuple[str, str]]:
        """Those of the earlier run alone."""
        return _without(self.earlier, self.new, self.by_name)

    @property
    def came(self) -> list[tuple[str, str]]:
        """Those of the new run alone."""
        return _without(self.new, self.earlier, self.by_name)

    @property
    def is_none(self) -> bool:
        """Whether the members are the same."""
        return not self.left and not self.came

    @property
    def asked(self) -> list[tuple[str, frozenset[str]]]:
        """Every member of both runs, with the identities that may sign for it."""
        came = {identity for _, identity in self.came}
        old = {_known(each, self.by_name): each[1] for each in self.earlier.members}
        everyone = []
        for member in self.new.members:
            name, identity = member
            before = None if identity in came else old.get(_known(member, self.by_name))
            everyone.append((name, frozenset({identity, before or identity})))
        left = zip(self._named_left, self.left, strict=True)
        return [*everyone, *((name, frozenset({key})) for name, (_, key) in left)]

    @property
    def in_words(self) -> str:
        """What whoever sees both runs can compute."""
        left = ", ".join(self._named_left)
        came = ", ".join(name for name, _ in self.came)
        of = f"{left} on one side and of {came} on the other" if left and came else left or came
        return (
            f"The earlier run was of {self.earlier.listed}; the new one is of {self.new.listed}. "
            "Whoever sees what both open over the same records can subtract one from the other. "
            f"That shows counts of {of}, as exact as the runs open them."
        )

    @property
    def _named_left(self) -> list[str]:
        """Who left, told from one of the same name that came."""
        still = {name for name, _ in self.new.members}
        return [f"{name} with its earlier key" if name in still else name for name, _ in self.left]

    @property
    def by_name(self) -> bool:
        """Whether members are known by their names, since not one identity is in both."""
        keys = {identity for _, identity in self.earlier.members}
        return not any(identity in keys for _, identity in self.new.members)


def give(
    kit: str | Path, *, earlier: str | Path | None = None, new: str | Path | None = None
) -> Consent:
    """Sign, as the hospital of a kit, that the difference of two runs may be seen.

    Parameters
    ----------
    kit
        The kit of the new run, or of the earlier one where the hospital has left. Its certificates
        may have expired.
    earlier, new
        The consortium file of the other run (or a folder that holds it): one of the two.
    """
    folder = Path(kit)
    if (earlier is None) == (new is None):
        raise InputError(
            "Name the other run by one of --earlier and --new: the consortium file of the run that "
            "was before, or of the one that comes."
        )
    own = Consortium.from_file(folder / CONSORTIUM)
    identity = Identity.load(folder / IDENTITY)
    name = own.names[own_place(own, identity)]
    before = own if earlier is None else _consortium(earlier)
    after = own if new is None else _consortium(new)
    change = Change(Roster.of(before), Roster.of(after))
    if change.is_none:
        raise InputError("Both runs have the same members, so no consent is needed.")
    unsigned = Consent(
        format=FORMAT,
        hospital=name,
        identity=identity.public.text,
        earlier=change.earlier.digest,
        new=change.new.digest,
        seen=change.in_words,
        signature="",
    )
    signature = base64.b64encode(identity.sign(_CONTEXT, unsigned.signed)).decode()
    return unsigned.model_copy(update={"signature": signature})


def save(consent: Consent, kit: str | Path, file: str | Path | None = None) -> Path:
    """Write a consent, into the kit where no file is named; where it is then."""
    if file is None:
        name = f"{consent.hospital}-{consent.earlier[:_SHOWN]}-{consent.new[:_SHOWN]}.yaml"
        place = Path(kit) / FOLDER / name
    else:
        place = Path(file)
    try:
        if file is None:
            place.parent.mkdir(mode=0o700, exist_ok=True)
        place.write_text(as_yaml(consent), encoding="utf-8")
    except OSError as error:
        raise OutputError(f"Cannot write the consent '{place}': {error.strerror}.") from None
    return place


@dataclass(frozen=True)
class Consents:
    """What lies in the `consents/` of a kit about one change of members."""

    missing: tuple[str, ...]
    """Those who have not consented."""
    odd: tuple[str, ...]
    """The files that do not count, each with the reason."""


def consents_to(change: Change, kit: str | Path) -> Consents:
    """Who has not consented to a change, by the files in a kit."""
    given: set[str] = set()
    odd = []
    pinned = {identity for _, identities in change.asked for identity in identities}
    for path in _files(Path(kit) / FOLDER):
        consent = _read(path)
        doubt = _doubt(consent, change, pinned)
        if doubt is None:
            assert consent is not None
            given.add(consent.identity)
        else:
            odd.append(f"{path.name} {doubt}")
    missing = [name for name, identities in change.asked if not identities & given]
    return Consents(tuple(missing), tuple(odd))


def _doubt(consent: Consent | None, change: Change, pinned: set[str]) -> str | None:
    """Why a consent does not count, or None."""
    if consent is None:
        return "is no consent"
    if (consent.earlier, consent.new) != (change.earlier.digest, change.new.digest):
        return "is for other consortia"
    if consent.identity not in pinned:
        return "is signed by nobody who takes part"
    if consent.seen != change.in_words:
        return "says something else of what may be seen"
    if not consent.is_its_own:
        return "has a signature that is not its hospital's"
    return None


def _files(folder: Path) -> Sequence[Path]:
    return sorted(folder.glob("*.yaml")) if folder.is_dir() else []


def _read(path: Path) -> Consent | None:
    try:
        consent: Consent = parsed(Consent, path.read_text(encoding="utf-8"), path.name)
    except (InputError, OSError, UnicodeDecodeError):
        return None
    return consent


def _consortium(path: str | Path) -> Consortium:
    path = Path(path)
    return Consortium.from_file(path / CONSORTIUM if path.is_dir() else path)


def _known(member: tuple[str, str], by_name: bool) -> str:
    name, identity = member
    return name.casefold() if by_name else identity


def _without(these: Roster, those: Roster, by_name: bool) -> list[tuple[str, str]]:
    known = {_known(each, by_name) for each in those.members}
    return [each for each in these.members if _known(each, by_name) not in known]
