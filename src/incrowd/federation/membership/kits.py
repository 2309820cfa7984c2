"""Kits: one folder for each hospital, with all it needs to take part.

    kit/
      consortium.yaml    who takes part; the same in every kit
      identity.pem       the hospital's long-term key           secret
      tls.pem, tls.key   its certificate and the key of it      tls.key is secret
      policy/            the policy and its hierarchy files
      README.md          how to start

Whoever runs `make_kits` sees the secrets of all for a moment, and must be trusted not to keep them.
Where nobody is, each hospital calls `enrol` itself and sends only its `Member`, which is public;
`complete` then adds the consortium and the policy that all agreed on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from incrowd._runtime.scratch import staging
from incrowd.errors import FederationError, InputError, OutputError, ParameterError, nearest
from incrowd.federation.membership._certificates import (
    DAYS,
    certificate_digest,
    fits_key,
    make_certificate,
)
from incrowd.federation.membership.agreed_sessions import TWO_PARTIES
from incrowd.federation.membership.consortium import (
    Consortium,
    Member,
    as_yaml,
    legal_name,
    parsed,
    split_address,
)
from incrowd.federation.membership.identities import Identity, read_private, write_private
from incrowd.federation.membership.kit_readme import readme
from incrowd.federation.transport.transcripts import digest_of
from incrowd.hierarchies.explicit import refuse_no_hierarchy
from incrowd.policy import Policy
from incrowd.sources import as_source

CONSORTIUM, MEMBER, IDENTITY = "consortium.yaml", "member.yaml", "identity.pem"
CERTIFICATE, KEY, README = "tls.pem", "tls.key", "README.md"
POLICY = Path("policy", "policy.yaml")
_POLICY_DOMAIN = "incrowd federation policy/1"


@dataclass(frozen=True)
class Kit:
    """An opened kit: everything in it fits together."""

    folder: Path
    name: str
    place: int
    """The place of the hospital in the roster."""
    consortium: Consortium
    identity: Identity
    policy: Policy

    @property
    def leads(self) -> bool:
        """Whether this hospital is the leader."""
        return self.name == self.consortium.leader

    @property
    def certificate_path(self) -> Path:
        """The file with the certificate for TLS."""
        return self.folder / CERTIFICATE

    @property
    def key_path(self) -> Path:
        """The file with the key of the certificate."""
        return self.folder / KEY


def make_kits(
    folder: str | Path,
    names: Sequence[str],
    policy: str | Path,
    leader_address: str,
    *,
    leader: str | None = None,
    hosts: Sequence[str] = (),
    days: int = DAYS,
    sums: Literal["masked", "ring"] = "masked",
    allow_two: bool = False,
    records: Mapping[str, int] | None = None,
    now: datetime | None = None,
) -> Consortium:
    """Make a consortium: a new folder with one kit for each hospital, named after it.

    Parameters
    ----------
    folder
        Where the kits go; it must not exist.
    names
        The hospitals, in the order that all will use.
    policy
        The policy file that all agreed on; hierarchy files lie beside or below it.
    leader_address
        Where the others dial the leader: host:port.
    leader
        The hospital that leads; the first one when left out.
    hosts
        More host names or addresses under which the leader may be dialled.
    days
        How long the certificates are valid.
    sums
        How counts are added up; `ring` is weak and only taken when named.
    allow_two
        Two hospitals are refused unless this is true.
    records
        How many records each hospital brings into a run, by name; a run with others stops.
    now
        When the certificates begin; the present time when left out.

    Notes
    -----
    The folder appears at the end, complete, or not at all. Folders are 0700, secrets 0600.
    """
    folder = Path(folder)
    if folder.exists() or folder.is_symlink():
        raise OutputError(f"The folder '{folder}' exists; kits are never mixed. Name a new one.")
    if not folder.resolve().parent.is_dir():
        raise OutputError(f"The folder '{folder.resolve().parent}' for the kits does not exist.")
    leader = _checked_names(names, leader, allow_two)
    agreed = dict(records or {})
    for name in agreed:
        if name not in names:
            raise ParameterError(f"Records of '{name}', which is no party.{nearest(name, names)}")
    files = policy_files(policy)
    named = [split_address(leader_address)[0], *hosts]
    with staging(folder.resolve()) as stage:
        members = [
            enrol(
                stage / name,
                name,
                hosts=named if name == leader else (),
                days=days,
                records=agreed.get(name),
                now=now,
            )
            for name in names
        ]
        consortium = Consortium.new(
            leader, leader_address, sums, _digest(files), members, allow_two=allow_two
        )
        for name in names:
            complete(stage / name, consortium, policy)
        stage.rename(folder)
    return consortium


def enrol(
    folder: str | Path,
    name: str,
    *,
    hosts: Sequence[str] = (),
    days: int = DAYS,
    records: int | None = None,
    identity: str | Path | None = None,
    now: datetime | None = None,
) -> Member:
    """Make the keys of one hospital in a new folder; what comes back is public.

    Parameters
    ----------
    folder
        A new folder, which becomes the hospital's kit.
    name
        The hospital's.
    hosts
        The host names and addresses under which it may be dialled, if it may lead.
    days
        How long the certificate is valid.
    records
        How many records it will bring into a run, as they enter it; a run with others stops.
    identity
        The file with the identity of an earlier kit, by which it stays known; a new one if left
        out.
    now
        When it begins; the present time when left out.
    """
    folder = Path(folder)
    kept = Identity.make() if identity is None else Identity.load(identity)
    if records is not None and records < 1:
        raise ParameterError(f"The records of '{name}' must be a whole number of at least 1.")
    try:
        legal_name(name)
        folder.mkdir(mode=0o700)
        folder.chmod(0o700)
    except ValueError as error:
        raise ParameterError(f"{error}.") from None
    except OSError as error:
        raise OutputError(
            f"Cannot make the folder '{folder}': {error.strerror}. Name a new folder."
        ) from None
    made = make_certificate(name, list(dict.fromkeys(hosts)), days=days, now=now)
    kept.save(folder / IDENTITY)
    write_private(folder / KEY, made.key)
    (folder / CERTIFICATE).write_text(made.certificate, encoding="ascii")
    member = Member(
        name=name, identity=kept.public.text, certificate=made.certificate, records=records
    )
    (folder / MEMBER).write_text(as_yaml(member), encoding="utf-8")
    return member


def read_member(path: str | Path) -> Member:
    """The public half of a hospital, from the file that `enrol` wrote."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"'{path}' cannot be read: {type(error).__name__}.") from None
    member: Member = parsed(Member, text, path.name)
    return member


def write_policy(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a policy with the files that it names, below a folder."""
    for name, content in files.items():
        path = folder / POLICY.parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def complete(folder: str | Path, consortium: Consortium, policy: str | Path) -> None:
    """Add the consortium, the policy and a README to the keys of a hospital."""
    folder = Path(folder)
    if (folder / CONSORTIUM).exists():
        raise OutputError(f"The kit '{folder}' has a consortium already. Enrol in a new folder.")
    files = policy_files(policy)
    if _digest(files) != consortium.policy:
        raise InputError(
            f"The policy '{policy}' is not the one of the consortium. Use the files that all "
            "agreed on, byte for byte."
        )
    place = own_place(consortium, Identity.load(folder / IDENTITY))
    _refuse_other_entry(folder / MEMBER, consortium.parties[place])
    write_policy(folder, files)
    for inner in (folder / POLICY.parent, *(folder / POLICY.parent).rglob("*")):
        inner.chmod(0o700 if inner.is_dir() else 0o600)
    text = readme(consortium, consortium.names[place], (IDENTITY, KEY))
    (folder / README).write_text(text, encoding="utf-8")
    (folder / MEMBER).unlink(missing_ok=True)
    (folder / CONSORTIUM).write_text(consortium.to_yaml(), encoding="utf-8")


def _refuse_other_entry(enrolled: Path, entry: Member) -> None:
    """Refuse a consortium that says something else of this hospital than it said itself."""
    if enrolled.exists() and read_member(enrolled) != entry:
        raise InputError(
            f"The consortium says something else of '{entry.name}' (its name, records or "
            f"certificate) than '{enrolled}', which was made here. Ask whoever assembled it."
        )


def load_kit(folder: str | Path, *, now: datetime | None = None) -> Kit:
    """Open a kit, once everything in it fits together.

    Raises
    ------
    InputError
        When a file is missing or cannot be read, or when others may read a key.
    FederationError
        When the keys are not the ones that the consortium pins, when the policy is another one, or
        when the certificate of a party is expired; the message says which and what to do.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"There is no kit '{folder}'. `incrowd federation init` makes kits.")
    consortium = Consortium.from_file(folder / CONSORTIUM)
    identity = Identity.load(folder / IDENTITY)
    place = own_place(consortium, identity)
    member = consortium.parties[place]
    try:
        shown = (folder / CERTIFICATE).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        shown = ""
    if not shown or certificate_digest(shown) != member.certificate_digest:
        raise FederationError(
            f"'{folder / CERTIFICATE}' is not the certificate that the consortium pins for "
            f"'{member.name}'. Take it from your kit again."
        )
    if not fits_key(shown, read_private(folder / KEY)):
        raise FederationError(f"'{folder / KEY}' is not the key of the certificate beside it.")
    if _digest(policy_files(folder / POLICY)) != consortium.policy:
        raise FederationError(
            f"The policy in the kit '{folder}' is not the one of the consortium: it, or one of its "
            "hierarchy files, was changed. Take it from your kit again, byte for byte."
        )
    consortium.require_valid(now)
    policy = Policy.from_file(folder / POLICY)
    return Kit(folder, member.name, place, consortium, identity, policy)


def policy_files(policy: str | Path) -> dict[str, bytes]:
    """The policy and the hierarchy files that it names, by their names in a kit."""
    path = Path(policy)
    described = Policy.from_file(path)
    files = {POLICY.name: path.read_bytes()}
    for attribute, each in described.attributes.items():
        named = each.hierarchy.file if each.hierarchy is not None else None
        if named is None:
            continue
        where = Path(named)
        if where.is_absolute() or ".." in where.parts or where.as_posix() == POLICY.name:
            raise InputError(
                f"The hierarchy '{named}' of '{attribute}' does not lie beside or below the "
                "policy, so kits cannot hold it. Move it there and name it by its relative path."
            )
        if any(part.startswith(".") for part in where.parts):
            raise InputError(
                f"The hierarchy of '{attribute}' is a hidden file, or lies in a hidden folder. "
                "Kits carry none of these: put a copy under another name."
            )
        _refuse_no_hierarchy(path.parent / where, described, attribute)
        try:
            files[where.as_posix()] = (path.parent / where).read_bytes()
        except OSError as error:
            raise InputError(
                f"Cannot read the hierarchy '{named}' of '{attribute}': {error.strerror}."
            ) from None
    return files


def _refuse_no_hierarchy(file: Path, policy: Policy, attribute: str) -> None:
    """Refuse a file that is not a hierarchy of this policy: every kit would carry its content.

    Invariant: what a kit holds lies below the policy, through no link, is not the source, and is
    built as hierarchies are.
    """
    source = as_source(policy.source).path
    home = policy.base.resolve()
    if home not in file.resolve().parents:
        raise InputError(
            f"The hierarchy of '{attribute}' is a link that leads out of the folder of the policy. "
            "Put a copy of the file there."
        )
    if source is not None and (home / source).resolve() == file.resolve():
        raise InputError(
            f"The hierarchy of '{attribute}' is the source itself, which every kit would then hold."
        )
    if file.exists():
        refuse_no_hierarchy(attribute, file)


def policy_digest(policy: str | Path) -> str:
    """The SHA-256 over a policy and its hierarchy files, as the consortium pins it."""
    return _digest(policy_files(policy))


def _digest(files: dict[str, bytes]) -> str:
    parts = [part for name in sorted(files) for part in (name.encode(), files[name])]
    return digest_of(_POLICY_DOMAIN, *parts).hex()


def _checked_names(names: Sequence[str], leader: str | None, allow_two: bool) -> str:
    """The leader's name, once the names can be those of a consortium."""
    if len(names) < 2:
        raise ParameterError("A consortium has at least two hospitals, better three or more.")
    if len(names) == 2 and not allow_two:
        raise ParameterError(f"{TWO_PARTIES}. Allow it explicitly to go on nevertheless.")
    if len({name.casefold() for name in names}) < len(names):
        raise ParameterError("Two hospitals have the same name; each needs its own.")
    if leader is not None and leader not in names:
        raise ParameterError(f"The leader '{leader}' is not one of the hospitals.")
    return names[0] if leader is None else leader


def own_place(consortium: Consortium, identity: Identity) -> int:
    """The place in a consortium of the hospital whose identity this is."""
    place = consortium.place_of(identity.public)
    if place is None:
        raise FederationError(
            "The identity in this kit is not one that its consortium file pins. Use both from the "
            "same kit."
        )
    return place
