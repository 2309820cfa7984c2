"""Runs among hospitals in a terminal: who sees what, kits, results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from incrowd._runtime.console import Output
from incrowd._runtime.plain_fields import plain, plain_fields
from incrowd.cli.output.releases import show_verdict, show_who_knows_more
from incrowd.federation.membership.agreed_sessions import TWO_PARTIES
from incrowd.federation.membership.identities import fingerprint
from incrowd.federation.membership.kit_readme import unstated_in_words
from incrowd.federation.run.levels import level_in_words, opened_in_words
from incrowd.policy.units import NOT_IN_TWO, told_unit
from incrowd.verify.verdict import STATED

if TYPE_CHECKING:
    from incrowd.counts.hospitals.home import Opened
    from incrowd.federation.membership.consents import Consent
    from incrowd.federation.membership.consortium import Consortium, Member
    from incrowd.federation.membership.kits import Kit
    from incrowd.federation.run.hospital import Joint
    from incrowd.federation.run.rehearsal import Rehearsal
    from incrowd.policy import Policy
    from incrowd.verify import Verdict

_OPENING = "Who sees what in this run:"
RING = (
    "With ring sums, the two neighbours of a hospital in the list can compute its counts together. "
    "There is no reason to take them but to repeat the paper"
)


def who_sees_what(consortium: Consortium, policy: Policy, remarks: Sequence[str] = ()) -> list[str]:
    """Whom this run trusts, and what leader, parties and eavesdroppers see in it, line by line.

    Remarks on the policy come behind.
    """
    names, leader = consortium.names, consortium.leader
    others = ", ".join(name for name in names if name != leader)
    ring = consortium.sums == "ring"
    hidden = "sealed running sums" if ring else "the counts of every hospital under masks"
    lines = [
        f"{level_in_words(policy.hospitals)}. All rely on this: {NOT_IN_TWO}.",
        f"{len(names)} hospitals: {leader} (leads), {others}; {consortium.sums} sums. {_OPENING}",
        f"- leader {leader}: {hidden}, random to it, and the sums",
        "- every other hospital: the sums, and no count of a single hospital but its own",
        *(f"- {line}" for line in opened_in_words(policy, len(names))),
    ]
    lines += [f"- WARNING: {warning}" for warning in warnings_of(consortium)]
    if consortium.records is not None:
        stated = ", ".join(f"{party.name} {_stated(party)}" for party in consortium.parties)
        lines.append(
            f"- records agreed: {stated}; the run stops unless they are {consortium.records:,}"
        )
    if not ring and len(names) > 2:
        lines.append(
            f"- any {len(names) - 1} hospitals together: what the last one added to the sums, the "
            "sums minus their own; fewer together learn only the sum over the rest"
        )
    return [
        *lines,
        "- eavesdropper: that these hospitals speak, when, and how much; no sum and no count",
        *(f"- {remark}" for remark in remarks),
    ]


class HospitalLines:
    """Lines of several hospitals in one terminal; what all say alike at the start is said once."""

    def __init__(self, names: Sequence[str], output: Output) -> None:
        self._width = max(3, *(len(name) for name in names))
        self._output = output
        self._said: set[str] = set()

    def __call__(self, name: str, line: str) -> None:
        """Show a line with the name of its hospital."""
        if line.startswith(("- ", "Protection ")) or line.endswith(_OPENING):
            if line in self._said:
                return
            self._said.add(line)
            name = "all"
        self._output.message(f"{name.ljust(self._width)} | {line}")


def kits_summary(folder: Path, consortium: Consortium) -> dict[str, Any]:
    """The kits that were made, for JSON."""
    return {
        "kits": str(folder),
        **consortium_summary(consortium),
        "hospitals": [
            {"name": name, "kit": str(folder / name), "command": start_command(consortium, name)}
            for name in consortium.names
        ],
    }


def consortium_summary(consortium: Consortium) -> dict[str, Any]:
    """What all hospitals of a consortium have in common, for JSON."""
    return {
        "leader": consortium.leader,
        "address": consortium.address,
        "sums": consortium.sums,
        "records": {party.name: party.records for party in consortium.parties},
        "fingerprint": fingerprint(consortium.digest),
    }


def start_command(consortium: Consortium, name: str, kit: str | None = None) -> str:
    """What a hospital types to take part."""
    role = "lead" if name == consortium.leader else "join"
    place = kit if kit is not None else name
    return f"incrowd federation {role} {quote(place)} --data FILE"


def show_kits(folder: Path, consortium: Consortium, output: Output) -> None:
    """What to send to whom, and what to compare by telephone."""
    rows = [
        (
            party.name,
            _stated(party),
            quote(str(folder / party.name)),
            start_command(consortium, party.name),
        )
        for party in consortium.parties
    ]
    output.table(
        "Send every hospital its own folder, by a safe way, and keep no copy",
        ["hospital", "records", "folder", "starts with"],
        rows,
        right=9,
    )
    output.say(
        f"{escape(consortium.leader)} leads and listens at {escape(consortium.address)}; the "
        "others only dial out. Whoever makes kits sees the keys of all: where nobody may, let "
        "every hospital run [bold]incrowd federation enrol[/]."
    )
    show_fingerprint(consortium, output)


def warnings_of(consortium: Consortium) -> list[str]:
    """The weaknesses that were switched on, or not switched off."""
    found = [
        TWO_PARTIES if len(consortium.parties) == 2 else None,
        RING if consortium.sums == "ring" else None,
        unstated_in_words(consortium),
    ]
    return [f"{each}." for each in found if each is not None]


def _stated(party: Member) -> str:
    return "not agreed" if party.records is None else f"{party.records:,}"


def show_fingerprint(consortium: Consortium, output: Output) -> None:
    """The fingerprint of a consortium, to be read aloud."""
    output.say("\nBefore the first run, compare this fingerprint with the others by telephone:\n")
    _read_aloud(fingerprint(consortium.digest), output)


def _read_aloud(digits: str, output: Output) -> None:
    """A fingerprint in two lines of eight groups."""
    groups = digits.split()
    for start in range(0, len(groups), 8):
        output.plain("    " + " ".join(groups[start : start + 8]))
    output.plain("")


def show_enrolled(member: Member, folder: Path, output: Output) -> None:
    """What a hospital that made its own keys does next."""
    output.say(
        f"[bold]{escape(str(folder))}[/] holds the keys of {escape(member.name)}. It stays here.\n"
        f"Send [bold]{escape(str(folder / 'member.yaml'))}[/], which holds nothing secret, to "
        "whoever assembles the consortium, and tell them by telephone the fingerprint of your "
        "identity:\n"
    )
    _read_aloud(member.public.fingerprint, output)
    output.say(
        "You get a folder back. Then: [bold]incrowd federation complete "
        f"{escape(quote(str(folder)))} FOLDER[/]"
    )


def show_assembled(folder: Path, consortium: Consortium, output: Output) -> None:
    """Who is in a consortium that was assembled, and what to do with it."""
    output.table(
        "Compare by telephone that every identity is its hospital's",
        ["hospital", "records", "fingerprint of its identity"],
        [(party.name, _stated(party), party.public.fingerprint) for party in consortium.parties],
        right=9,
    )
    output.say(
        f"Send [bold]{escape(str(folder))}[/], which holds nothing secret, to every hospital. Each "
        "says: [bold]incrowd federation complete KIT FOLDER[/]"
    )
    show_fingerprint(consortium, output)


def show_consent(consent: Consent, place: Path, output: Output) -> None:
    """What a hospital consented to, and what to do with the file."""
    output.say(f"{escape(consent.hospital)} consents to this being seen:\n")
    output.say(f"    {escape(consent.seen)}\n")
    output.say(
        f"Send [bold]{escape(str(place))}[/], which holds nothing secret, to every member of the "
        "new run. Each lays it into the folder [bold]consents[/] of its kit. If this may not be "
        "seen, delete the file."
    )


def show_completed(folder: Path, consortium: Consortium, name: str, output: Output) -> None:
    """How a hospital starts whose kit is complete."""
    output.say(
        f"The kit of {escape(name)} is complete. Start: "
        f"[bold]{escape(start_command(consortium, name, str(folder)))}[/]"
    )
    show_fingerprint(consortium, output)


def joint_summary(kit: Kit, joint: Joint) -> dict[str, Any]:
    """How a run ended for one hospital, for JSON."""
    return {
        "hospital": kit.name,
        "leads": kit.leads,
        "release": str(joint.folder),
        "share": str(joint.share),
        "verified": joint.verdict.holds,
        **plain_fields(joint, without=("folder", "share", "verdict", "replaced", "remarks")),
        "opened": {"counts": joint.opened.cells, "small": joint.opened.small},
        "seconds": round(joint.seconds, 3),
        **({} if joint.replaced is None else {"replaced": joint.replaced.as_dict()}),
    }


def ending(joint: Joint) -> list[str]:
    """The last lines of the log of a run."""
    return [
        *joint.remarks,
        f"release: {joint.folder}, {'verified' if joint.verdict.holds else 'DOES NOT VERIFY'}",
        *([] if joint.replaced is None else [joint.replaced.sentence()]),
        f"own share, never to be published: {joint.share}",
        f"transcript: {joint.transcript}",
        f"{joint.sums:,} answers opened, {joint.sent:,} bytes sent, {joint.received:,} received, "
        f"{joint.seconds:.1f} s",
        opened_line(joint.opened),
    ]


def opened_line(opened: Opened) -> str:
    """How much was opened beside the release, and how much of it is of small crowds."""
    return (
        f"Opened beside the release: {opened.cells:,} counts, {opened.small:,} of them of 1 to "
        "K - 1 records"
    )


def show_joint(kit: Kit, joint: Joint, output: Output) -> None:
    """What came of a run, at one hospital."""
    output.say(
        f"\n[bold green]Verified.[/] {escape(str(joint.folder))} holds {joint.records:,} records "
        f"of {joint.hospitals} hospitals, {joint.own_records:,} of them of {escape(kit.name)}. It "
        "is the same at every hospital.\n"
    )
    _show_promises(joint.verdict, kit.policy, output)
    output.say(
        f"[bold]{escape(str(joint.share))}[/] shows your own records as the release does. Never "
        "publish it: it tells which records of the release are yours."
    )
    output.say(f"Anyone can check the release: [bold]incrowd verify {escape(str(joint.folder))}[/]")


def rehearsal_summary(made: Rehearsal) -> dict[str, Any]:
    """How a rehearsal went, for JSON."""
    return {
        "release": str(made.folder),
        "verified": made.verdict.holds,
        "same_everywhere": True,
        "records": made.records,
        "steps": made.steps,
        "opened": {"counts": made.opened.cells, "small": made.opened.small},
        "transcript": made.transcript,
        "kept": str(made.kept) if made.kept is not None else None,
        "hospitals": plain(made.parts),
        **({} if made.replaced is None else {"replaced": made.replaced.as_dict()}),
    }


def show_rehearsal(made: Rehearsal, policy: Policy, output: Output) -> None:
    """How a rehearsal went: one line for each hospital, and the promises."""
    output.say(
        f"\n[bold green]Verified.[/] {escape(str(made.folder))} holds {made.records:,} records of "
        f"{len(made.parts)} hospitals, byte for byte the same at all of them.\n"
    )
    output.table(
        "The hospitals, each a process of its own",
        ["hospital", "records", "bytes sent", "bytes received", "answers", "seconds"],
        [
            (
                f"{part.name} (leads)" if part.leads else part.name,
                f"{part.records:,}",
                f"{part.sent:,}",
                f"{part.received:,}",
                f"{part.sums:,}",
                f"{part.seconds:.1f}",
            )
            for part in made.parts
        ],
    )
    output.say(f"{level_in_words(policy.hospitals)}.")
    output.say(f"{opened_line(made.opened)}.\n")
    _show_promises(made.verdict, policy, output)
    if made.kept is not None:
        output.say(
            f"Kits, releases, shares and logs of all are in [bold]{escape(str(made.kept))}[/]."
        )
    output.say(f"Anyone can check the release: [bold]incrowd verify {escape(str(made.folder))}[/]")


def _show_promises(verdict: Verdict, policy: Policy, output: Output) -> None:
    """What was promised and found; whether the stated numbers are right is another matter."""
    kept = tuple(each for each in verdict.findings if each.promise != STATED)
    show_verdict(replace(verdict, findings=kept), output, promises_only=True)
    bounds = [model.bounds for model in policy.privacy if model.partial and model.bounds]
    limits = [(each.K, each.known or 0) for each in bounds]
    show_who_knows_more(limits, verdict.groups.get("smallest"), output)
    output.say(f"{escape(told_unit({'unit': verdict.unit, 'hospitals': {}}))}\n")
