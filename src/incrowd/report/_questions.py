"""The three questions of the European working party, each answered in a sentence.

Article 29 Data Protection Working Party, Opinion 05/2014 on anonymisation techniques, section 3:
singling out, linkability, inference. The answers follow from what was promised and measured; where
a model does not protect, they say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from incrowd._runtime.console import percent
from incrowd._runtime.manifests import Manifest, counts_in, counts_rows, known_events
from incrowd._runtime.sentences import listed
from incrowd.policy.times import told_times
from incrowd.policy.units import counts_patients, one_counted, told_events, told_unit
from incrowd.report._attacks import number_of
from incrowd.report._bounds import Promises, bound_in_words
from incrowd.report.of_events import of_events

if TYPE_CHECKING:
    from incrowd.privacy import Certainty
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
        beside.append(f"But {told_events(manifest)}")
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
    if promises.known:
        return _singling_by_events(asked, manifest, evidence, promises, beside)
    smallest, quasi, one = evidence.after.smallest, own_quasi(manifest), one_counted(manifest)
    limited = [pair for pair in promises.crowds if pair[1] > smallest]
    if limited:
        why = [
            f"Not by who knows up to {known} quasi-identifier{'s' if known > 1 else ''} of a "
            f"person: at least {number_of(crowd, one)} fit."
            for known, crowd in limited
        ]
        found = f"Who knows all {quasi} finds {number_of(smallest, one)} at worst."
        answer: ShortAnswer = "bounded" if smallest > 1 else "yes"
        return Question(asked, answer, (" ".join([*why, found]), *beside))
    if smallest == 1:
        alone = evidence.after.unique
        have = f"{one} has" if alone == 1 else f"{one}s have"
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


def _singling_by_events(
    asked: str, manifest: Manifest, evidence: Evidence, promises: Promises, beside: list[str]
) -> Question:
    """The answer where promises are about who knows events of patients."""
    why = [*promises.known]
    smallest, quasi = evidence.after.smallest, own_quasi(manifest)
    if quasi:
        knows = "the quasi-identifier" if quasi == 1 else f"all {quasi} quasi-identifiers"
        why.append(
            f"Who knows {knows} of a patient, and no event, finds "
            f"{number_of(smallest, 'patient')} at worst."
        )
    return Question(asked, "bounded" if smallest > 1 else "yes", (*why, *beside))


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


def own_quasi(manifest: Manifest) -> int:
    """How many quasi-identifiers are published that are the same in all rows of a patient."""
    every = sum(bool(e["published"]) for e in manifest["attributes"] if e["role"] == "quasi")
    return every - len(known_events(manifest))


def _untouched(manifest: Manifest, promises: Promises) -> tuple[str, ...]:
    entries = [
        entry
        for entry in manifest["attributes"]
        if entry["published"] and entry["role"] in ("keep", "target")
    ]
    names = [str(entry["name"]) for entry in entries if "time" not in entry]
    dates = [str(entry["name"]) for entry in entries if "time" in entry]
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
    if dates:
        told.append(
            f"no promise is about the dates in {listed(dates)}, though they were changed: who "
            "knows when things happened to a person, or how long apart, may single the person out."
        )
    return tuple(told)


def _linkability(manifest: Manifest, evidence: Evidence, promises: Promises) -> Question:
    asked = "Can records of the same person be linked?"
    beside = [_TIED] if counts_rows(manifest) else []
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
    one = one_counted(manifest)
    if promises.known:
        first = (
            "As a crowd, yes: other data that show the same facts of a patient can be joined with "
            "it, and as many patients fit as was promised. Data that show more facts may fit fewer."
        )
        return Question(asked, "bounded", (first, *beside, _VERSIONS))
    chance = f"As a single {one} with a chance of at most 1 in {smallest:,}"
    if smallest == 1:
        chance = f"Where a group is a single {one}, as that {one}"
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


_TIED = (
    "The rows of a patient are tied to each other by a pseudonym of this release alone, by design: "
    "an event that somebody recognizes leads to all others of the patient."
)
_VERSIONS = (
    "Two releases about the same patients can be compared group by group. None of the models "
    "here protects against that: publish one, or keep its groups."
)


def _inference(manifest: Manifest, evidence: Evidence, promises: Promises) -> Question:
    asked = "Can something be concluded about a person?"
    sensitive = evidence.after.told
    quasi, bounds = own_quasi(manifest), promises.bounds
    named = [
        str(each["name"])
        for each in manifest["attributes"]
        if each["published"] and each["name"] not in sensitive
        if each["role"] == "sensitive" or (each["role"] == "quasi" and each["name"] in bounds)
    ]
    if not sensitive and not named:
        return Question(
            asked,
            "yes",
            ("No attribute was named sensitive, so nothing is promised about what groups tell.",),
        )
    why = [
        _concluded(name, sensitive[name], evidence.after, bounds[name], manifest)
        for name in sensitive
        if name in bounds
    ]
    why += [
        f"'{name}': {bound_in_words(bounds[name], quasi)}."
        if name in bounds
        else f"'{name}': no promise bounds how sure an attacker may be."
        for name in named
    ]
    unbound = {name: told for name, told in sensitive.items() if name not in bounds}
    if unbound:
        why.append(_unbounded(unbound, evidence.after, manifest))
    held = all(
        not bounds[name].listed and not told.alone
        for name, told in sensitive.items()
        if name in bounds
    )
    held = held and not named
    return Question(asked, "bounded" if held and not unbound else "yes", tuple(why))


def _concluded(name: str, told: Told, after: Crowds, bound: Certainty, manifest: Manifest) -> str:
    quasi, one = own_quasi(manifest), one_counted(manifest)
    group = "a group with one value"
    if name in of_events(manifest):
        group = "a group all of whom have one value in common"
    return (
        f"'{name}': {bound_in_words(bound, quasi)}. The best guess within a group is right for "
        f"{percent(told.best / after.records)} of the {one}s; {_none(told.alone)} in {group}."
    )


def _unbounded(sensitive: Mapping[str, Told], after: Crowds, manifest: Manifest) -> str:
    """What groups tell of the attributes that no promise is about."""
    best = sorted(told.best / after.records for told in sensitive.values())
    right = percent(best[0])
    if percent(best[-1]) != right:
        right += f" to {percent(best[-1])}"
    alone = max(told.alone for told in sensitive.values())
    some = "with one value"
    if not of_events(manifest).isdisjoint(sensitive):
        some = "all of whom have one value in common"
    certain = f"none is in a group {some}."
    if alone:
        most = "up to " if len(sensitive) > 1 else ""
        share = percent(alone / after.records)
        certain = f"{most}{share} are in groups {some}, which is then certain."
    return (
        f"{listed(sensitive)}: no promise bounds how sure an attacker may be. Who finds a "
        f"person's group and guesses its most frequent value is right for {right} of the "
        f"{one_counted(manifest)}s; {certain}"
    )


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
    who = f"{one_counted(manifest)}s"
    if counts_rows(manifest):
        found.append(told_events(manifest).capitalize())
    found += told_times(manifest)
    if not counts_patients(manifest):
        found.append(told_unit(manifest))
    found += [
        "That a person is in the data is not hidden.",
        _VERSIONS,
        f"No bound holds against someone who knows a great deal of the other {who}: this is not "
        "differential privacy.",
        "Who knows how the method decides can sometimes exclude possibilities.",
    ]
    return tuple(dict.fromkeys(found))


def _are(names: Sequence[str]) -> str:
    return "are" if len(names) > 1 else "is"


def _none(number: int) -> str:
    return "none is" if not number else f"{number:,} are" if number > 1 else "1 is"
