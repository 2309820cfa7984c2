"""A consortium of hospitals that made their own keys, so that nobody ever sees those of another.

Each hospital enrols and sends its `member.yaml`. Whoever assembles puts these and the policy into a
folder that holds nothing secret, and sends it to all:

    consortium/
      consortium.yaml    who takes part, with which keys, under which policy
      policy/            the policy and its hierarchy files
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from incrowd._runtime.scratch import staging
from incrowd.errors import InputError, OutputError, ParameterError, nearest
from incrowd.federation.membership._certificates import hosts_of
from incrowd.federation.membership.agreed_sessions import TWO_PARTIES
from incrowd.federation.membership.consortium import Consortium, Member, split_address
from incrowd.federation.membership.kits import (
    CONSORTIUM,
    POLICY,
    complete,
    policy_digest,
    policy_files,
    write_policy,
)


def assemble(
    folder: str | Path,
    members: Sequence[Member],
    policy: str | Path,
    leader_address: str,
    *,
    leader: str | None = None,
    sums: Literal["masked", "ring"] = "masked",
    allow_two: bool = False,
) -> Consortium:
    """Make a consortium of hospitals that enrolled: a new folder for all of them, without secrets.

    Parameters
    ----------
    folder
        Where it goes; it must not exist.
    members
        The hospitals as `enrol` describes them, in the order that all will use.
    policy
        The policy file that all agreed on; hierarchy files lie beside or below it.
    leader_address
        Where the others dial the leader: host:port. The leader enrolled with this host.
    leader
        The hospital that leads; the first one when left out.
    sums
        How counts are added up; `ring` is weak and only taken when named.
    allow_two
        Two hospitals are refused unless this is true.

    Notes
    -----
    The folder appears at the end, complete, or not at all.
    """
    folder = Path(folder)
    if folder.exists() or folder.is_symlink():
        raise OutputError(f"The folder '{folder}' exists. Name a new one.")
    above = folder.resolve().parent
    if not above.is_dir():
        raise OutputError(f"The folder '{above}' for the consortium does not exist.")
    files = policy_files(policy)
    consortium = _consortium(
        members, leader, leader_address, policy_digest(policy), sums, allow_two
    )
    consortium.require_valid()
    with staging(folder.resolve()) as stage:
        write_policy(stage, files)
        (stage / CONSORTIUM).write_text(consortium.to_yaml(), encoding="utf-8")
        stage.rename(folder)
    return consortium


def complete_from(kit: str | Path, folder: str | Path) -> Consortium:
    """Add a consortium that `assemble` made to the keys of a hospital: the kit is ready then."""
    folder = Path(folder)
    if not (folder / CONSORTIUM).is_file() or not (folder / POLICY).is_file():
        raise InputError(
            f"'{folder}' is no consortium: it has no {CONSORTIUM} or no {POLICY.as_posix()}. "
            "`incrowd federation assemble` makes one."
        )
    if not Path(kit).is_dir():
        raise InputError(f"There is no kit '{kit}'. `incrowd federation enrol` makes one.")
    consortium = Consortium.from_file(folder / CONSORTIUM)
    complete(kit, consortium, folder / POLICY)
    return consortium


def _consortium(
    members: Sequence[Member],
    leader: str | None,
    address: str,
    policy: str,
    sums: Literal["masked", "ring"],
    allow_two: bool,
) -> Consortium:
    """The consortium, once its members can be one."""
    names = [member.name for member in members]
    if len(members) < 2:
        raise ParameterError("A consortium has at least two hospitals, better three or more.")
    if len(members) == 2 and not allow_two:
        raise ParameterError(f"{TWO_PARTIES}. Allow it explicitly to go on nevertheless.")
    leader = names[0] if leader is None else leader
    if leader not in names:
        raise ParameterError(
            f"The leader '{leader}' is not one of the hospitals.{nearest(leader, names)}"
        )
    host = split_address(address)[0]
    if host not in hosts_of(members[names.index(leader)].certificate):
        raise InputError(
            f"The certificate of '{leader}' is not for the host '{host}'. Let {leader} enrol again "
            f"with `--host {host}`, or let another hospital lead."
        )
    return Consortium.new(leader, address, sums, policy, members, allow_two=allow_two)
