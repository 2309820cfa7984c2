"""The README of a kit: how to start, who takes part with how many records, what to compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd.federation.membership.agreed_sessions import TWO_PARTIES
from incrowd.federation.membership.identities import fingerprint
from incrowd.policy.units import NOT_IN_TWO

if TYPE_CHECKING:
    from incrowd.federation.membership.consortium import Consortium, Member


def readme(consortium: Consortium, name: str, secrets: tuple[str, str]) -> str:
    """The text for the kit of one hospital, whose secret files are named."""
    identity, key = secrets
    leads = name == consortium.leader
    command = (
        "incrowd federation lead . --data FILE"
        if leads
        else "incrowd federation join . --data FILE"
    )
    dial = f"listens at {consortium.address}" if leads else f"dials {consortium.address}"
    others = "\n".join(f"- {_listed(each)}" for each in consortium.parties)
    warning = f"\n**{TWO_PARTIES}.**\n" if len(consortium.parties) == 2 else ""
    ring = (
        "\n**Ring sums: the two neighbours of a hospital in the list can compute its counts.**\n"
        if consortium.sums == "ring"
        else ""
    )
    return f"""# The kit of {name}

Keep this folder to yourself: `{identity}` and `{key}` speak for {name}. If a way of sending made
them readable for other users, incrowd refuses them and says what to do.

Install with `pip install "incrowd[federation]"`, the same version everywhere. Start, in this
folder, with your own records in FILE (csv, tsv or parquet):

    {command}

It {dial}. The hospitals, in their order ({consortium.leader} leads):

{others}

{_agreed(consortium)}

**One row for each patient, and {NOT_IN_TWO}.**
Does another hospital of the list treat some of your patients? Then agree which one leaves them out.
{warning}{ring}
It says first whom the hospitals trust and who sees what, and waits until all are there. At the end
every hospital has the same release, and a file with its own share of it, which is never published.
If a hospital fails, all stop with exit code 3, nothing is written, and all may start again. If an
earlier run over the same records had other members, it does not start: it says who must consent,
and how.

Before you start, compare the fingerprint of the consortium with the others, on the telephone:

    {fingerprint(consortium.digest)}
"""


def unstated_in_words(consortium: Consortium) -> str | None:
    """What it means that a number of records was not agreed, or None where all were."""
    if not consortium.unstated:
        return None
    return (
        f"No number of records is agreed for {', '.join(consortium.unstated)}: a hospital may "
        "bring as many as it likes, invented ones too, and no run is stopped for it. State them "
        "with `--records`"
    )


def _listed(party: Member) -> str:
    stated = "number not agreed" if party.records is None else f"{party.records:,} records"
    return f"{party.name}: {stated}"


def _agreed(consortium: Consortium) -> str:
    unstated = unstated_in_words(consortium)
    if unstated is not None:
        return f"**{unstated}.**"
    return (
        f"Together {consortium.records:,} records. Look whether each number can be true: a "
        "hospital does not\nstart with another number of its own, and a run with another sum stops."
    )
