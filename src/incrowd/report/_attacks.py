"""Attacks on a release, as its reports tell them: what groups tell, what looking up finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from incrowd._runtime.console import percent
from incrowd._runtime.manifests import Manifest
from incrowd.policy.units import one_counted

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
    for figure, name, text in _ON_GROUPS:
        played = {
            attribute: count
            for attribute, told in evidence.after.told.items()
            if (count := getattr(told, figure)) is not None
        }
        if played:
            worst = max(played, key=lambda attribute: played[attribute])
            found.append(_on_groups(figure, name, text, worst, len(played), evidence))
    return tuple(found)


_ON_GROUPS = (
    (
        "alone",
        "Homogeneity: read a sensitive value off the group",
        "are in a group with one value of {}.",
    ),
    (
        "two",
        "Elimination: rule out one value of the group",
        "are in a group with at most two values of {}, so that one is left.",
    ),
    (
        "best",
        "Best guess: take the group's most frequent value",
        "have the most frequent value of {} in their group.",
    ),
    (
        "similar",
        "Similarity: values that differ but are of one kind",
        "are in a group with values of one category of {}.",
    ),
)
"""What is counted of the groups, the attack, and what it does to records."""


def _on_groups(
    figure: str, name: str, text: str, worst: str, many: int, evidence: Evidence
) -> Attack:
    which = f"'{worst}'" if many == 1 else f"'{worst}' (the most exposed of {many} attributes)"
    after = evidence.after
    count = getattr(after.told[worst], figure)
    share = percent(count / after.records)
    return Attack(
        name,
        _on_source(_before(evidence), worst, figure, text),
        f"{count:,} of {after.records:,} records ({share}) {text.format(which)}",
    )


def _on_source(before: Crowds | None, name: str, figure: str, text: str) -> str:
    if before is None:
        return ""
    count, which = getattr(before.told[name], figure), f"'{name}'"
    share = percent(count / before.records)
    return f"{count:,} of {before.records:,} records ({share}) {text.format(which)}"


def exposure(evidence: Evidence) -> list[tuple[str, list[str]]]:
    """For every sensitive attribute the shares of records, attack by attack.

    In a private report each is told before and after.
    """
    found = []
    before = _before(evidence)
    for name, after in evidence.after.told.items():
        cells = []
        for figure in ("alone", "two", "best"):
            told = percent(getattr(after, figure) / evidence.after.records)
            if before is not None:
                was = percent(getattr(before.told[name], figure) / before.records)
                told = f"{was} → {told}"
            cells.append(told)
        found.append((name, cells))
    return found


def _before(evidence: Evidence) -> Crowds | None:
    return None if evidence.source is None else evidence.source.before


def _linkage(manifest: Manifest, evidence: Evidence) -> Attack:
    name = "Linkage: look people up by all their quasi-identifiers"
    was, before = _before(evidence), ""
    if was is not None:
        share = percent(was.unique / was.records)
        before = f"{was.unique:,} of {was.records:,} records ({share}) look like no other."
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
    return Attack(name, before, f"{after} {_probe_in_words(found)}".strip())


def _probe_in_words(found: LinkageProbe | None) -> str:
    """What looking some records up found; nothing where none was looked up."""
    if found is None or found.fewest is None or found.average is None:
        return ""
    who = "None" if not found.alone else f"{found.alone:,}"
    fit = "fits" if found.alone < 2 else "fit"
    told = f"{who} of {found.people:,} records looked up {fit} one record only;"
    if found.nowhere:
        told += f" {found.nowhere:,} {'fits' if found.nowhere == 1 else 'fit'} none;"
        told += " of the others,"
    if not found.alone:
        told += f" {number_of(found.fewest)} or more fit each,"
    return f"{told} {found.average:,.0f} fit on average."


def number_of(many: int, one: str = "record") -> str:
    """So many records, or of what else is counted, in words."""
    return f"1 {one}" if many == 1 else f"{many:,} {one}s"
