"""The three questions of the European working party, and attacks, each answered in a sentence.

Article 29 Data Protection Working Party, Opinion 05/2014 on anonymisation techniques, section 3:
singling out, linkability, inference. The answers follow from what was promised and measured; where
a model does not protect, they say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from incrowd.console import percent

if TYPE_CHECKING:
    from incrowd.report.crowds import Crowds, Told
    from incrowd.report.evidence import Evidence

Answer = Literal["no", "bounded", "yes"]


@dataclass(frozen=True)
class Question:
    """One question with a short answer (whether it is possible) and why."""

    asked: str
    answer: Answer
    why: tuple[str, ...]


@dataclass(frozen=True)
class Attack:
    """One attack, played on the source and on the release."""

    name: str
    before: str
    after: str


def questions(
    manifest: Mapping[str, Any], evidence: Evidence, bounded: Mapping[str, bool]
) -> tuple[Question, ...]:
    """The three questions, in their order.

    `bounded` has the sensitive attributes that promises are about, and whether about all values.
    """
    return (
        _singling_out(manifest, evidence),
        _linkability(manifest, evidence),
        _inference(evidence, bounded),
    )


def _singling_out(manifest: Mapping[str, Any], evidence: Evidence) -> Question:
    asked = "Can a person be singled out?"
    beside = _untouched(manifest)
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
    smallest = evidence.after.smallest
    limited = [p["parameters"] for p in manifest["promises"] if p["model"] == "lkc"]
    known = max((each["L"] for each in limited), default=None)
    quasi = sum(entry["role"] == "quasi" and entry["published"] for entry in manifest["attributes"])
    if known is not None and known < quasi and smallest < max(each["K"] for each in limited):
        crowd = max(each["K"] for each in limited)
        answer: Answer = "bounded" if smallest > 1 else "yes"
        why = (
            f"Not by who knows up to {known} quasi-identifiers of a person: at least {crowd:,} "
            f"records fit. Who knows all {quasi} finds {_records(smallest)} at worst.",
        )
        return Question(asked, answer, (*why, *beside))
    if smallest == 1:
        return Question(
            asked,
            "yes",
            (
                f"Yes: {evidence.after.unique:,} records have a combination of quasi-identifiers "
                "of their own. No promise of this release is about the size of groups.",
                *beside,
            ),
        )
    return Question(
        asked,
        "bounded" if beside else "no",
        (
            f"Not by quasi-identifiers: whoever knows all {quasi} of them finds at least "
            f"{smallest:,} records that fit.",
            *beside,
        ),
    )


def _untouched(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    names = [
        str(entry["name"])
        for entry in manifest["attributes"]
        if entry["published"] and entry["role"] in ("keep", "target")
    ]
    if not names:
        return ()
    several = "are" if len(names) > 1 else "is"
    return (
        f"But {_listed(names)} {several} published as in the source and protected by nothing: who "
        "knows a rare value there may single a person out.",
    )


def _linkability(manifest: Mapping[str, Any], evidence: Evidence) -> Question:
    asked = "Can records of the same person be linked?"
    if manifest["publish"] != "generalized":
        first = (
            "Yes: the quasi-identifiers are as they were, so rows can be linked with any other "
            "data that show them."
        )
        return Question(asked, "yes", (first, _VERSIONS))
    smallest = evidence.after.smallest
    return Question(
        asked,
        "bounded" if smallest > 1 else "yes",
        (
            "As a group, yes: other data that show the same quasi-identifiers can be joined with "
            f"it. As a single record with a chance of at most 1 in {smallest:,}, for someone who "
            "knows all quasi-identifiers.",
            _VERSIONS,
        ),
    )


_VERSIONS = (
    "Two releases about the same patients can be compared group by group. None of the models "
    "here protects against that: publish one, or keep its groups."
)


def _inference(evidence: Evidence, bounded: Mapping[str, bool]) -> Question:
    asked = "Can something be concluded about a person?"
    sensitive = evidence.after.told
    if not sensitive:
        return Question(
            asked,
            "yes",
            ("No attribute was named sensitive, so nothing is promised about what groups tell.",),
        )
    why = [_concluded(name, told, evidence.after, bounded) for name, told in sensitive.items()]
    all_bounded = all(bounded.get(name, False) for name in sensitive)
    return Question(asked, "bounded" if all_bounded else "yes", tuple(why))


def _concluded(name: str, told: Told, after: Crowds, bounded: Mapping[str, bool]) -> str:
    best = percent(told.best / after.records)
    if name not in bounded:
        alone = percent(told.alone / after.records)
        return (
            f"'{name}': no promise bounds it. Who finds a person's group and guesses its most "
            f"frequent value is right for {best} of the records; {alone} are in groups with one "
            "value, which is then certain."
        )
    which = "" if bounded[name] else ", for the listed values"
    return (
        f"'{name}': bounded by the promises above{which}. The best guess within a group is right "
        f"for {best} of the records; {_none(told.alone)} in a group with one value."
    )


def attacks(manifest: Mapping[str, Any], evidence: Evidence) -> tuple[Attack, ...]:
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


_UNKNOWN = "Not known here: each hospital keeps its records."
_ON_GROUPS = (
    ("alone", "Homogeneity: read a sensitive value off the group", "are in a group of one value"),
    ("two", "Elimination: rule out one value of the group", "are then left with one value"),
    ("best", "Best guess: take the group's most frequent value", "are guessed rightly"),
    ("similar", "Similarity: values that differ but are of one kind", "are in a group of one kind"),
)
"""What is counted of the groups, the attack, and what it does to records."""


def _on_groups(
    figure: str, name: str, text: str, worst: str, many: int, evidence: Evidence
) -> Attack:
    which = f"'{worst}'" if many == 1 else f"'{worst}', the most exposed of {many}"

    def told(crowds: Crowds) -> str:
        count = getattr(crowds.told[worst], figure)
        share = percent(count / crowds.records)
        return f"{count:,} of {crowds.records:,} records ({share}) {text} of {which}."

    before = _UNKNOWN if evidence.before is None else told(evidence.before)
    return Attack(name, before, told(evidence.after))


def exposure(evidence: Evidence) -> list[tuple[str, list[tuple[str, str]]]]:
    """For every sensitive attribute the shares of records, before and after, attack by attack."""
    found = []
    for name, after in evidence.after.told.items():
        cells = []
        for figure in ("alone", "two", "best"):
            was = "–"
            if evidence.before is not None:
                was = percent(getattr(evidence.before.told[name], figure) / evidence.before.records)
            cells.append((was, percent(getattr(after, figure) / evidence.after.records)))
        found.append((name, cells))
    return found


def _linkage(manifest: Mapping[str, Any], evidence: Evidence) -> Attack:
    name = "Linkage: look people up by all their quasi-identifiers"
    if evidence.before is None:
        before = _UNKNOWN
    else:
        unique = evidence.before.unique
        before = (
            f"{unique:,} of {evidence.before.records:,} patients "
            f"({percent(unique / evidence.before.records)}) have a record of their own."
        )
    if manifest["publish"] != "generalized":
        after = (
            "As many: quasi-identifiers are published as they are. What is hidden is which "
            f"sensitive value of at least {evidence.after.smallest:,} records is whose."
        )
        return Attack(name, before, after)
    found = evidence.looked_up
    after = f"Every group has at least {_records(evidence.after.smallest)}."
    if evidence.after.smallest == 1:
        after = (
            f"{evidence.after.unique:,} of {evidence.after.records:,} records are alone in their "
            "group."
        )
    if found is not None and found.average is not None and found.fewest is not None:
        who = "None" if not found.alone else f"{found.alone:,}"
        after += (
            f" {who} of {found.people:,} patients looked up fits one record only; "
            f"{found.fewest:,} or more fit each, {found.average:,.0f} on average."
            if found.alone < 2
            else f" {who} of {found.people:,} patients looked up fit one record only; "
            f"{found.average:,.0f} fit on average."
        )
    return Attack(name, before, after)


def not_protected(
    manifest: Mapping[str, Any],
    weaknesses: Sequence[tuple[str, str]],
    bounded: Mapping[str, bool],
) -> tuple[str, ...]:
    """What the release does not protect against, that of its models first."""
    found = [f"{model}: {text}" for model, text in dict(weaknesses).items()]
    found += _untouched(manifest)
    open_ones = [
        str(entry["name"])
        for entry in manifest["attributes"]
        if entry["published"] and entry["role"] == "sensitive"
    ]
    unbound = [name for name in open_ones if name not in bounded]
    if unbound:
        found.append(f"No promise is about the values of {_listed(unbound)}.")
    found += [
        "That a person is in the data is not hidden.",
        _VERSIONS,
        "No bound holds against someone who knows a great deal of the other records: this is not "
        "differential privacy.",
        "Who knows how the method decides can sometimes exclude possibilities.",
    ]
    return tuple(dict.fromkeys(found))


def _listed(names: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _records(number: int) -> str:
    return "1 record" if number == 1 else f"{number:,} records"


def _none(number: int) -> str:
    return "none is" if not number else f"{number:,} are" if number > 1 else "1 is"
