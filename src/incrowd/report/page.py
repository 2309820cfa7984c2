"""report.html: one page that says what a release promises, what was measured, and what is left.

The private report is the same page with the source beside the release. Whether it is one follows
from the evidence alone: the report of a release has none of the source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd._runtime.console import percent
from incrowd._runtime.manifests import Manifest, counts_in, known_events
from incrowd.attacks.exposure import THRESHOLDS, safe_size
from incrowd.attacks.population import expected_risk
from incrowd.policy.times import told_times
from incrowd.policy.units import one_counted, told_unit
from incrowd.report._attacks import attacks, exposure
from incrowd.report._bounds import about, promises_of
from incrowd.report._known_events import pictures_of_known
from incrowd.report._policy_text import shareable_policy
from incrowd.report._questions import not_protected, own_quasi, questions
from incrowd.report._rows_told import rows_told
from incrowd.report.drawing import Bars, bars, before_after
from incrowd.report.of_events import of_events
from incrowd.utility.count_error import told_error
from incrowd.utility.granularity import in_words, overall

if TYPE_CHECKING:
    from jinja2 import Environment, Template

    from incrowd.policy import Policy
    from incrowd.privacy import PrivacyModel
    from incrowd.report.evidence import Evidence
    from incrowd.verify import Verdict

NAME = "report.html"
PRIVATE_MARK = '<meta name="generator" content="incrowd, private report">'
"""What tells a private report from other pages."""
_WITH_ORIGINAL = "original is the table it was made from"
"""What the judge says where it was given the original, for the files alone do not tell."""
_SIZES = ((1, 1), (2, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, 999), (1000, None))


@dataclass(frozen=True)
class Promised:
    """A promised model in words, with its parameters and what the judge measured."""

    model: str
    words: str
    parameters: str
    measured: str


@dataclass(frozen=True)
class Figure:
    """A risk before, empty where that is not told, and after."""

    name: str
    meaning: str
    before: str
    after: str


def report_page(
    policy: Policy,
    models: Sequence[PrivacyModel],
    manifest: Manifest,
    verdict: Verdict,
    evidence: Evidence,
) -> str:
    """The report of a release as one HTML file that needs nothing else.

    Parameters
    ----------
    policy, models
        What was asked for, and the models as they were judged.
    manifest, verdict
        What the release says of itself, and what the judge found in its files.
    evidence
        What was counted in the release; with what was counted in the source, it is a private
        report.
    """
    promises, known = promises_of(models, own_quasi(manifest)), known_events(manifest)
    varying = of_events(manifest) - {*known}
    who = f"{one_counted(manifest)}s"
    weaknesses = [(model.name, about(who, model.weakness)) for model in models]
    return template("report.html").render(
        manifest=manifest,
        promised=_promised(models, manifest, verdict),
        findings=verdict.findings,
        evidence=evidence,
        headline=[
            (_together(number), words)
            for number, words in _headline(manifest, evidence, models)
        ],
        source=evidence.source,
        private_mark=PRIVATE_MARK,
        risks=[*_promised_risk(manifest, models), *_risks(policy, evidence, manifest)],
        known=known,
        risk_picture=_risk_picture(evidence, who),
        sizes_picture=_sizes_picture(evidence, who),
        seen_picture=_seen_picture(evidence),
        in_words=in_words([each.seen for each in evidence.attributes]),
        distributions=[
            (each, bars(
                [before_after(step.label, step.before, step.after) for step in each.steps],
                f"{who.capitalize()} by {each.name}, before and after",
            ).svg("bars"))
            for each in (() if evidence.source is None else evidence.source.distributions)
        ],
        left=pictures_of_known(() if evidence.source is None else evidence.source.known_events),
        attacks=attacks(manifest, evidence),
        exposure=exposure(evidence),
        questions=questions(manifest, evidence, promises),
        not_protected=not_protected(manifest, weaknesses, promises),
        policy=shareable_policy(policy, manifest),
        draws=policy.method.draws,
        rules=_rules(evidence),
        roles=_roles(manifest),
        unchanged=verdict.unchanged,
        unit=told_unit(manifest),
        times=told_times(manifest),
        counts=counts_in(manifest),
        who=who,
        varying=[name for _, names in _roles(manifest) for name in names if name in varying],
        rows=rows_told(manifest),
        with_original=any(each.promise == _WITH_ORIGINAL for each in verdict.findings),
    )  # fmt: skip


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("incrowd.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["percent"] = lambda share: _together(percent(share))
    environment.filters["error"] = lambda error: _together(_error(error))
    environment.filters["told_error"] = lambda error: _together(told_error(error))
    environment.filters["number"] = lambda value: f"{value:,}"
    return environment


def _together(words: str) -> str:
    """Words in which a number and its % stay on one line."""
    return words.replace(" %", "\N{NO-BREAK SPACE}%")


def _error(error: float) -> str:
    """A relative error, which may be above 1."""
    return percent(error) if error <= 1 else f"{100 * error:,.0f} %"


def template(name: str) -> Template:
    """A template of this package; all that is put into it is escaped."""
    return _environment().get_template(name)


def _promised(
    models: Sequence[PrivacyModel], manifest: Manifest, verdict: Verdict
) -> list[Promised]:
    return [
        Promised(
            model.name,
            about(f"{one_counted(manifest)}s", model.summary),
            _written(promise["parameters"]),
            _written(measured) or "see below",
        )
        for model, promise, measured in zip(
            models, manifest["promises"], verdict.measured, strict=True
        )
    ]


def _written(values: Mapping[str, Any]) -> str:
    """Parameters or measurements on one line: lists by their length, numbers short."""
    told = []
    for name, value in values.items():
        if value is None:
            continue
        if name == "groups_failing":
            told.append("no group fails" if not value else f"{value:,} groups fail")
            continue
        if isinstance(value, Mapping) or (isinstance(value, list) and name != "sensitive"):
            told.append(f"{name}: {len(value)} listed")
        elif isinstance(value, list):
            told.append(f"{name}: {', '.join(map(str, value))}")
        elif isinstance(value, float):
            told.append(f"{name} = {value:.4g}")
        else:
            told.append(f"{name} = {value}")
    return ", ".join(told)


def _least_support(manifest: Manifest, models: Sequence[PrivacyModel]) -> int | None:
    """How many patients fit at least what a promise says is known; None without known events."""
    sizes = [
        int(measured[model.size])
        for model, measured in zip(models, manifest["measured"], strict=True)
        if model.attacker is not None and model.size in measured
    ]
    return min(sizes, default=None)


def _headline(
    manifest: Manifest, evidence: Evidence, models: Sequence[PrivacyModel]
) -> list[tuple[str, str]]:
    """The few numbers that come first."""
    support = _least_support(manifest, models)
    before, identity = evidence.before, evidence.identity
    own, one = percent(identity.unique / identity.records), one_counted(manifest)
    found = [(own, f"of the published {one}s look like no other")]
    if before is not None:
        words = f"of the {one}s look like no other, before → after"
        found = [(f"{percent(before.unique / before.records)} → {own}", words)]
    if support is not None:
        first = (f"{support:,}", "patients or more fit all facts that a promise is about")
        found = [first, *((number, f"{told}, events aside") for number, told in found)]
    smallest = evidence.after.smallest
    words = "that looks alike" + ", events aside" * (support is not None)
    if manifest["publish"] != "generalized":
        words = "that shares its sensitive values"
    counted = one if smallest == 1 else f"{one}s"
    found.append((f"{smallest:,}", f"{counted} in the smallest group {words}"))
    unchanged, hidden = overall([each.seen for each in evidence.attributes])
    found.append((percent(unchanged), "of the cells of quasi-identifiers are as they were"))
    if hidden:
        found.append((percent(hidden), "of them are hidden (*)"))
    records = counts_in(manifest)
    found.append((f"{records['published']:,}", f"{one}s published of {records['source']:,}"))
    return found


def _promised_risk(manifest: Manifest, models: Sequence[PrivacyModel]) -> list[Figure]:
    """The risk that a promise about known events leaves."""
    support = _least_support(manifest, models)
    if support is None:
        return []
    meaning = "knows that the person is in the data, and such facts as a promise is about"
    return [Figure("Prosecutor, as promised", meaning, "", percent(1 / support))]


def _risks(policy: Policy, evidence: Evidence, manifest: Manifest) -> list[Figure]:
    before, after = evidence.before, evidence.identity
    who = f"{one_counted(manifest)}s"
    case = "the worst case"
    if known_events(manifest):
        case = "knows all other quasi-identifiers and no event"
    fraction = policy.report.sampling_fraction
    average = percent(after.count / after.records)
    was_average = "" if before is None else percent(before.count / before.records)
    found = [
        Figure(
            "Prosecutor, highest",
            f"knows that the person is in the data; {case}",
            "" if before is None else percent(1 / before.smallest),
            percent(1 / after.smallest),
        ),
        Figure("Prosecutor, average", f"the same, on average over all {who}", was_average, average),
    ]
    if fraction is None:
        words = "does not know who is in the data: at most the prosecutor's; no population is given"
        was = "" if before is None else "≤ as above"
        found.append(Figure("Journalist", words, was, "≤ as above"))
    else:
        found.append(
            Figure(
                "Journalist, highest",
                f"knows people of a population of which {percent(fraction)} are in the data",
                "" if before is None else _expected(before.smallest, fraction),
                _expected(after.smallest, fraction),
            )
        )
    found.append(
        Figure(
            "Marketer",
            "wants as many as possible: the share that is found by guessing for everyone",
            was_average,
            average,
        )
    )
    return found


def _expected(smallest: int, fraction: float) -> str:
    """The journalist's risk in the smallest crowd, where it is highest."""
    return percent(float(expected_risk(np.array([smallest]), fraction)[0]))


def _risk_picture(evidence: Evidence, who: str) -> Any:
    before, after = evidence.before, evidence.identity
    rows = []
    for threshold in THRESHOLDS:
        size = safe_size(threshold)
        words = f"> {threshold:g} (groups below {size})"
        share = after.below(size) / after.records
        was = None if before is None else before.below(size) / before.records
        rows.append(Bars(words, [_share("before", was), _share("after", share)]))
    title = f"Share of the {who} whose risk of being found is above a threshold"
    return bars(rows, title, most=100).svg("bars")


def _sizes_picture(evidence: Evidence, who: str) -> Any:
    """Records by the size of their crowd, by what the table of records shows."""
    rows, before = [], evidence.before
    for low, high in _SIZES:
        was = None if before is None else before.between(low, high)
        now = evidence.identity.between(low, high)
        if was or now:
            name = "alone" if high == 1 else f"{low:,} or more" if high is None else f"{low}–{high}"
            rows.append(before_after(name, was, now))
    return bars(rows, f"{who.capitalize()} by the size of their group").svg("bars")


def _seen_picture(evidence: Evidence) -> Any:
    rows = [Bars(each.name, [_share("after", each.seen.unchanged)]) for each in evidence.attributes]
    title = "Cells of each quasi-identifier that are as they were"
    return bars(rows, title, most=100).svg("bars")


def _share(kind: str, share: float | None) -> tuple[str, float | None, str | None]:
    """A bar of percents."""
    return (kind, None, None) if share is None else (kind, 100 * share, percent(share))


def _rules(evidence: Evidence) -> list[tuple[str, str, bool, float]]:
    """Every rule: its attribute, its name, whether it is kept, what it cost.

    A rule is named by its number: its values need not be among those that the release shows.
    """
    if evidence.source is None or evidence.source.research is None:
        return []
    return [
        (each.name, f"rule {number}", fate.kept, fate.cost)
        for each in evidence.source.research.attributes
        for number, fate in enumerate(each.rules, start=1)
    ]


def _roles(manifest: Manifest) -> list[tuple[str, list[str]]]:
    words = {
        "quasi": "quasi-identifiers, generalized"
        if manifest["publish"] == "generalized"
        else "quasi-identifiers, as they were",
        "sensitive": "sensitive, not generalized"
        if manifest["publish"] == "generalized"
        else "sensitive, by group only",
        "target": "class to predict, as it was",
        "keep": "untouched and unprotected",
    }
    found = []
    for role, text in words.items():
        names = [
            str(entry["name"]) + (" (dates changed)" if "time" in entry else "")
            for entry in manifest["attributes"]
            if entry["published"] and entry["role"] == role
        ]
        if names:
            found.append((text, names))
    hidden = [str(entry["name"]) for entry in manifest["attributes"] if not entry["published"]]
    if hidden:
        found.append(("not published", hidden))
    return found
