"""Attacks on a release, as its reports tell them: what groups tell, what looking up finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from incrowd._runtime.console import percent
from incrowd._runtime.manifests import Manifest, known_events
from incrowd.policy.units import one_counted
from incrowd.report.of_events import of_events

if TYPE_CHECKING:
    from incrowd.report._linkage_probe import LinkageProbe
    from incrowd.report.crowds import Crowds
    from incrowd.report.evidence import Evidence


@dataclass(frozen=True)
class Attack:
    """One attack, played on the release; on the source as well in a private report."""

    name: str
    before: str
    after: str


def attacks(manifest: Manifest, evidence: Evidence) -> tuple[Attack, ...]:
    """The attacks in the order of an attacker, each on the attribute that it exposes most."""
    found = [_linkage(manifest, evidence)]
    varying, many = of_events(manifest), f"{one_counted(manifest)}s"
    for figure, name, text, of_sets in _ON_GROUPS:
        played = {
            attribute: count
            for attribute, told in evidence.after.told.items()
            if (count := getattr(told, figure)) is not None
        }
        if not played:
            continue
        worst = max(played, key=lambda attribute: played[attribute])
        words = of_sets if worst in varying else text
        which = f"'{worst}'"
        if len(played) > 1:
            which += f" (the most exposed of {len(played)} attributes)"
        before = _before(evidence)
        was = (
            "" if before is None else _told(before, worst, figure, many, words.format(f"'{worst}'"))
        )
        found.append(
            Attack(name, was, _told(evidence.after, worst, figure, many, words.format(which)))
        )
    return tuple(found)


_ON_GROUPS = (
    (
        "alone",
        "Homogeneity: read a sensitive value off the group",
        "are in a group with one value of {}.",
        "are in a group all of whom have one value of {} in common.",
    ),
    (
        "two",
        "Elimination: rule out one value of the group",
        "are in a group with at most two values of {}, so that one is left.",
        "",
    ),
    (
        "best",
        "Best guess: take the group's most frequent value",
        "have the most frequent value of {} in their group.",
        "have the value of {} that most of their group have.",
    ),
    (
        "similar",
        "Similarity: values that differ but are of one kind",
        "are in a group with values of one category of {}.",
        "",
    ),
)
"""What is counted of the groups, the attack, and what it does to records, and to patients of whom
each has several values (nothing where it asks for one)."""


def _told(crowds: Crowds, name: str, figure: str, many: str, words: str) -> str:
    count = getattr(crowds.told[name], figure)
    share = percent(count / crowds.records)
    return f"{count:,} of {crowds.records:,} {many} ({share}) {words}"


def exposure(evidence: Evidence) -> list[tuple[str, list[str]]]:
    """For every sensitive attribute the shares of records, attack by attack.

    In a private report each is told before and after; a dash where an attack does not apply.
    """
    found = []
    before = _before(evidence)
    for name, after in evidence.after.told.items():
        cells = []
        for figure in ("alone", "two", "best"):
            count = getattr(after, figure)
            told = "–" if count is None else percent(count / evidence.after.records)
            if before is not None and count is not None:
                was = percent(getattr(before.told[name], figure) / before.records)
                told = f"{was} → {told}"
            cells.append(told)
        found.append((name, cells))
    return found


def _before(evidence: Evidence) -> Crowds | None:
    return None if evidence.source is None else evidence.source.before


def _linkage(manifest: Manifest, evidence: Evidence) -> Attack:
    name = "Linkage: look people up by all their quasi-identifiers"
    name += ", events aside" * bool(known_events(manifest))
    was, before = _before(evidence), ""
    if was is not None:
        share = percent(was.unique / was.records)
        before = f"{was.unique:,} of {was.records:,} {one_counted(manifest)}s ({share}) look like "
        before += "no other."
    alone, records = evidence.identity.unique, evidence.identity.records
    if manifest["publish"] != "generalized":
        after = (
            f"{alone:,} of {records:,} records ({percent(alone / records)}) are alone: "
            "quasi-identifiers are published as they are. What is hidden is which sensitive value "
            f"of at least {number_of(evidence.after.smallest)} is whose."
        )
        return Attack(name, before, after)
    one = one_counted(manifest)
    after = f"Every group has at least {number_of(evidence.after.smallest, one)}."
    if alone:
        after = f"{alone:,} of {records:,} {one}s {'is' if alone == 1 else 'are'} alone in "
        after += "the group."
    found = None if evidence.source is None else evidence.source.probed
    return Attack(name, before, f"{after} {_probe_in_words(found, one)}".strip())


def _probe_in_words(found: LinkageProbe | None, one: str) -> str:
    """What looking some records up found; nothing where none was looked up."""
    if found is None or found.fewest is None or found.average is None:
        return ""
    who = "None" if not found.alone else f"{found.alone:,}"
    fit = "fits" if found.alone < 2 else "fit"
    told = f"{who} of {found.people:,} {one}s looked up {fit} one {one} only;"
    if found.nowhere:
        told += f" {found.nowhere:,} {'fits' if found.nowhere == 1 else 'fit'} none;"
        told += " of the others,"
    if not found.alone:
        told += f" {number_of(found.fewest, one)} or more fit each,"
    return f"{told} {found.average:,.0f} fit on average."


def number_of(many: int, one: str = "record") -> str:
    """So many records, or of what else is counted, in words."""
    return f"1 {one}" if many == 1 else f"{many:,} {one}s"
