"""The three questions of the European working party, and attacks, each answered in a sentence.

Article 29 Data Protection Working Party, Opinion 05/2014 on anonymisation techniques, section 3:
singling out, linkability, inference. The answers follow from what was promised and measured; where
a model does not protect, they say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from incrowd._runtime.console import percent
from incrowd._runtime.manifests import Manifest, counts_in, counts_rows
from incrowd._runtime.sentences import listed
from incrowd.policy.units import KNOWN_EVENTS, counts_patients, one_counted, told_unit
from incrowd.report._bounds import Promises, bound_in_words

if TYPE_CHECKING:
    from incrowd.privacy import Certainty
    from incrowd.report._linkage_probe import LinkageProbe
    from incrowd.report.crowds import Crowds
    from incrowd.report.evidence import Evidence
    from incrowd.table.alike import Told

ShortAnswer = Literal["no", "bounded", "yes"]


@dataclass(frozen=True)
class Question:
    """One question with a short answer (whether it is possible) and why."""

    asked: str
    answer: ShortAnswer
    why: tuple[str, ...]


@dataclass(frozen=True)
class Attack:
    """One attack, played on the release; on the source as well in a private report."""

    name: str
    before: str
    after: str


def questions(manifest: Manifest, evidence: Evidence, promises: Promises) -> tuple[Question, ...]:
    """The three questions, in their order."""
    return (
        _singling_out(manifest, evidence, promises),
        _linkability(manifest, evidence, promises),
        _inference(manifest, evidence, promises),
    )


def _singling_out(manifest: Manifest, evidence: Evidence, promises: Promises) -> Question:
    asked = f"Can a {'patient' if counts_patients(manifest) else 'record'} be singled out?"
    beside = [f"But {text}" for text in _untouched(manifest, promises)]
    if counts_rows(manifest):
        beside.append(f"But {KNOWN_EVENTS}")
    beside.append(told_unit(manifest))
    told = bool(_untouched(manifest, promises)) or counts_rows(manifest)
    alone = manifest.get("unprotected", {}).get("unique", 0)
    if alone:
        return Question(asked, "yes", (_alone_untouched(manifest, alone), *beside))
    if manifest["publish"] != "generalized":
        return Question(
            asked,
            "yes",
            (
                "Yes, by quasi-identifiers: they are published as they are, so who knows them "
                "finds the row of a person and learns that the person is in the data. Which "
                "sensitive value belongs to the row is told by group only.",
                *beside,
            ),
        )
    smallest, quasi = evidence.after.smallest, _quasi(manifest)
    limited = [pair for pair in promises.crowds if pair[1] > smallest]
    if limited:
        why = [
            f"Not by who knows up to {known} quasi-identifier{'s' if known > 1 else ''} of a "
            f"person: at least {crowd:,} records fit."
            for known, crowd in limited
        ]
        found = f"Who knows all {quasi} finds {_records(smallest)} at worst."
        answer: ShortAnswer = "bounded" if smallest > 1 else "yes"
        return Question(asked, answer, (" ".join([*why, found]), *beside))
    if smallest == 1:
        alone = evidence.after.unique
        have = "record has" if alone == 1 else "records have"
        return Question(
            asked,
            "yes",
            (
                f"Yes: {alone:,} {have} a combination of quasi-identifiers of their own. No "
                "promise of this release is about the size of groups.",
                *beside,
            ),
        )
    knows = "the quasi-identifier" if quasi == 1 else f"all {quasi} of them"
    return Question(
        asked,
        "bounded" if told else "no",
        (
            f"Not by quasi-identifiers: whoever knows {knows} finds at least {smallest:,} "
            f"{one_counted(manifest)}s that fit.",
            *beside,
        ),
    )


def _alone_untouched(manifest: Manifest, alone: int) -> str:
    """That untouched columns single records out, in words."""
    published, columns = counts_in(manifest)["published"], manifest["unprotected"]["columns"]
    are = "is" if alone == 1 else "are"
    return (
        f"Yes: {alone:,} of {published:,} {one_counted(manifest)}s {are} unique on the columns "
        f"published as they are ({listed(columns)}). Who knows these values of a person finds the "
        f"{one_counted(manifest)}, whatever "
        "is promised. Whoever made the release accepted that."
    )


def _quasi(manifest: Manifest) -> int:
    return sum(e["role"] == "quasi" and e["published"] for e in manifest["attributes"])


def _untouched(manifest: Manifest, promises: Promises) -> tuple[str, ...]:
    names = [
        str(entry["name"])
        for entry in manifest["attributes"]
        if entry["published"] and entry["role"] in ("keep", "target")
    ]
    free = [name for name in names if name not in promises.bounds]
    bound = [name for name in names if name in promises.bounds]
    told = []
    if free:
        told.append(
            f"{listed(free)} {_are(free)} published as in the source and protected by nothing: "
            "who knows a rare value there may single a person out."
        )
    if bound:
        told.append(
            f"{listed(bound)} {_are(bound)} published as in the source: promised is what groups "
            "tell of it, not that a rare value there singles no one out."
        )
    return tuple(told)


def _linkability(manifest: Manifest, evidence: Evidence, promises: Promises) -> Question:
    asked = "Can records of the same person be linked?"
    beside = []
    if _untouched(manifest, promises):
        beside.append(
            "By columns that are published as in the source, rows can be linked with any other "
            "data that show these."
        )
    if manifest["publish"] != "generalized":
        first = (
            "Yes: the quasi-identifiers are as they were, so rows can be linked with any other "
            "data that show them."
        )
        return Question(asked, "yes", (first, *beside, _VERSIONS))
    smallest = evidence.after.smallest
    chance = f"As a single record with a chance of at most 1 in {smallest:,}"
    if smallest == 1:
        chance = "Where a group is a single record, as that record"
    return Question(
        asked,
        "bounded" if smallest > 1 else "yes",
        (
            "As a group, yes: other data that show the same quasi-identifiers can be joined with "
            f"it. {chance}, for someone who knows all quasi-identifiers.",
            *beside,
            _VERSIONS,
        ),
    )


_VERSIONS = (
    "Two releases about the same patients can be compared group by group. None of the models "
    "here protects against that: publish one, or keep its groups."
)


def _inference(manifest: Manifest, evidence: Evidence, promises: Promises) -> Question:
    asked = "Can something be concluded about a person?"
    sensitive = evidence.after.told
    if not sensitive:
        return Question(
            asked,
            "yes",
            ("No attribute was named sensitive, so nothing is promised about what groups tell.",),
        )
    quasi, bounds = _quasi(manifest), promises.bounds
    why = [
        _concluded(name, sensitive[name], evidence.after, bounds[name], quasi)
        for name in sensitive
        if name in bounds
    ]
    unbound = {name: told for name, told in sensitive.items() if name not in bounds}
    if unbound:
        why.append(_unbounded(unbound, evidence.after))
    held = all(
        not bounds[name].listed and not told.alone
        for name, told in sensitive.items()
        if name in bounds
    )
    return Question(asked, "bounded" if held and not unbound else "yes", tuple(why))


def _concluded(name: str, told: Told, after: Crowds, bound: Certainty, quasi: int) -> str:
    return (
        f"'{name}': {bound_in_words(bound, quasi)}. The best guess within a group is right for "
        f"{percent(told.best / after.records)} of the records; {_none(told.alone)} in a group with "
        "one value."
    )


def _unbounded(sensitive: Mapping[str, Told], after: Crowds) -> str:
    """What groups tell of the attributes that no promise is about."""
    best = sorted(told.best / after.records for told in sensitive.values())
    right = percent(best[0])
    if percent(best[-1]) != right:
        right += f" to {percent(best[-1])}"
    alone = max(told.alone for told in sensitive.values())
    certain = "none is in a group with one value."
    if alone:
        most = "up to " if len(sensitive) > 1 else ""
        share = percent(alone / after.records)
        certain = f"{most}{share} are in groups with one value, which is then certain."
    return (
        f"{listed(sensitive)}: no promise bounds how sure an attacker may be. Who finds a "
        f"person's group and guesses its most frequent value is right for {right} of the "
        f"records; {certain}"
    )


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
            f"of at least {_records(evidence.after.smallest)} is whose."
        )
        return Attack(name, before, after)
    after = f"Every group has at least {_records(evidence.after.smallest)}."
    if alone:
        after = f"{alone:,} of {records:,} records {'is' if alone == 1 else 'are'} alone in "
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
        told += f" {_records(found.fewest)} or more fit each,"
    return f"{told} {found.average:,.0f} fit on average."


def not_protected(
    manifest: Manifest, weaknesses: Sequence[tuple[str, str]], promises: Promises
) -> tuple[str, ...]:
    """What the release does not protect against, that of its models first."""
    found = [f"{model}: {text}" for model, text in dict(weaknesses).items()]
    found += _untouched(manifest, promises)
    open_ones = [
        str(entry["name"])
        for entry in manifest["attributes"]
        if entry["published"] and entry["role"] == "sensitive"
    ]
    unbound = [name for name in open_ones if name not in promises.bounds]
    if unbound:
        found.append(f"No promise bounds what may be concluded of {listed(unbound)}.")
    if counts_rows(manifest):
        found.append(KNOWN_EVENTS.capitalize())
    if not counts_patients(manifest):
        found.append(told_unit(manifest))
    found += [
        "That a person is in the data is not hidden.",
        _VERSIONS,
        "No bound holds against someone who knows a great deal of the other records: this is not "
        "differential privacy.",
        "Who knows how the method decides can sometimes exclude possibilities.",
    ]
    return tuple(dict.fromkeys(found))


def _are(names: Sequence[str]) -> str:
    return "are" if len(names) > 1 else "is"


def _records(number: int) -> str:
    return "1 record" if number == 1 else f"{number:,} records"


def _none(number: int) -> str:
    return "none is" if not number else f"{number:,} are" if number > 1 else "1 is"
