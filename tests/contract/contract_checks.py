"""What must hold of every release, whatever was asked for: one check each, and all of a case."""

from __future__ import annotations

import itertools
import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from patients import (
    OPTIONS,
    OTHERS,
    PRIVACY,
    QUASI,
    Record,
    domain_of,
    frame_of,
    labels_above,
    labels_of,
    option_name,
    patients,
    policy_of,
    values_of_label,
)
from published_labels import bounds, covers, members, penalty, weight

import incrowd
from incrowd.methods import METHOD_OPTIONS
from incrowd.verify import verify

SUPPRESSION = (0.0, 0.1)
TWICE = "several attributes"
"""The model whose releases are made twice, each with its report."""
RECORDS = patients()
Case = tuple[str, int, float]
PARTS = {
    "local": ("mondrian", "top-down-local", "clustering"),
    "specialization": ("top-down-specialization",),
    "lattice": ("incognito", "research-value"),
}
"""The methods of each of the files that go through all cases, which run side by side."""


ABOUT_EVENTS = ("km-anonymity", "coherence", "k-km")
"""Models with nothing to keep where each patient has one row; see test_known_events.py."""
NEVER_DROPS = [name for name, each in METHOD_OPTIONS.own.items() if not each.suppresses]
"""Methods that `suppression:` changes nothing of; see test_methods.py."""
ONE_EACH = list({each["method"]["name"]: i for i, each in enumerate(OPTIONS)}.values())
"""One option of every method."""
BY_EVERY_OPTION = ("k-anonymity", "lkc listed", TWICE)
"""Models that ask searches for different counts: sizes, combinations, values of each attribute."""


def every_case_of(part: str) -> pytest.MarkDecorator:
    """Every model by one option of every method of a part, and every option under some models.

    Options change how a method searches and labels, models what it may do: both are gone through
    whole, their pairs for the models that differ most. Without suppression, as a case of its own,
    goes every such model by one option of every method.
    """
    options = [i for i, each in enumerate(OPTIONS) if each["method"]["name"] in PARTS[part]]
    cases = [
        (name, option, limit)
        for name, option, limit in itertools.product(PRIVACY, options, SUPPRESSION)
        if (not limit or OPTIONS[option]["method"]["name"] not in NEVER_DROPS)
        and (option in ONE_EACH or name in BY_EVERY_OPTION)
        and (
            limit
            or OPTIONS[option]["method"]["name"] in NEVER_DROPS
            or (option in ONE_EACH and name in BY_EVERY_OPTION)
        )
        and not (_is_proven(option) and any("t-closeness" in each for each in PRIVACY[name]))
    ]
    names = [f"{name}-{option_name(option)}-{limit}" for name, option, limit in cases]
    return pytest.mark.parametrize("case", cases, ids=names)


def _is_proven(option: int) -> bool:
    """Whether cuts must hold whoever has which value, which some models cannot say."""
    return bool(OPTIONS[option]["method"].get("resist") == "minimality-proven")


def hold_all(case: Case) -> None:
    """Make the release of a case, and every check of it; all that fail are told."""
    published(case)
    failed = []
    for check in CHECKS:
        try:
            check(case)
        except AssertionError as error:
            error.add_note(f"in {check.__name__}")
            failed.append(error)
    if failed:
        raise ExceptionGroup(f"{len(failed)} of {len(CHECKS)} checks failed", failed)


@dataclass(frozen=True)
class Published:
    """One release as it was saved: its table, its manifest, the bytes of its files."""

    rows: list[Record]
    manifest: dict[str, Any]
    files: dict[str, bytes]
    broken: list[str]


def policy_for(case: Case, **changed: Any) -> dict[str, Any]:
    name, option, limit = case
    return policy_of(PRIVACY[name], suppression=limit, **OPTIONS[option], **changed)


def saved(
    records: list[Record], policy: dict[str, Any], *, again: bool = True, report: bool = False
) -> Published:
    """A release, judged when it was saved, and `again` with all that its manifest then states."""
    release = incrowd.anonymize(frame_of(records), policy, accept_unprotected=True)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "release"
        verdict = release.save(place, report=report)
        if again:
            verdict = verify(place)
        files = {path.name: path.read_bytes() for path in place.iterdir()}
        rows = incrowd.open_release(place).data.to_dicts()
    broken = [finding.promise for finding in verdict.findings if not finding.holds]
    return Published(rows, json.loads(files["manifest.json"]), files, broken)


@cache
def published(case: Case) -> Published:
    again = case[2] == SUPPRESSION[-1] or OPTIONS[case[1]]["method"]["name"] in NEVER_DROPS
    return saved(RECORDS, policy_for(case), again=again, report=case[0] == TWICE)


def groups_of(rows: list[Record]) -> Counter[tuple[str | None, ...]]:
    return Counter(tuple(row[name] for name in QUASI) for row in rows)


def quasi_entries(manifest: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in manifest["attributes"] if each["role"] == "quasi"}


def a_release_verifies(case: Case) -> None:
    release = published(case)
    assert release.broken == []
    assert len(release.manifest["promises"]) == len(PRIVACY[case[0]])
    for promise, asked in zip(release.manifest["promises"], PRIVACY[case[0]], strict=True):
        ((model, parameters),) = asked.items()
        assert promise["model"] == model
        assert parameters.items() <= promise["parameters"].items()


def every_record_is_in_one_group_or_counted_as_suppressed(case: Case) -> None:
    release = published(case)
    source = {record["ward"]: record for record in RECORDS}
    wards = [row["ward"] for row in release.rows]
    assert len(set(wards)) == len(wards), "a record is published twice"
    assert [{name: row[name] for name in OTHERS} for row in release.rows] == [
        {name: source[ward][name] for name in OTHERS} for ward in wards
    ]
    counted = release.manifest["records"]
    assert counted["source"] == len(RECORDS)
    assert counted["published"] == len(release.rows)
    assert counted["suppressed"] == len(RECORDS) - len(release.rows)
    assert counted["suppressed"] <= case[2] * len(RECORDS)
    assert set(release.rows[0]) == {*QUASI, *OTHERS}, "identifiers are left out"


def every_label_covers_the_value_it_stands_for(case: Case) -> None:
    source = {record["ward"]: record for record in RECORDS}
    by_hierarchy = labels_of(case[1]) == "hierarchy"
    for row in published(case).rows:
        for name in QUASI:
            cell = source[row["ward"]][name]
            above = labels_above(name, cell) if by_hierarchy else ()
            assert covers(row[name], cell, above=above), (name, row[name])


def groups_are_not_smaller_than_promised(case: Case) -> None:
    asked = [parameters for each in PRIVACY[case[0]] for parameters in each.values()]
    smallest = max(parameters.get("k", 1) for parameters in asked)
    release = published(case)
    sizes = groups_of(release.rows).values()
    assert min(sizes) >= smallest
    stated = release.manifest["groups"]
    assert (stated["count"], stated["smallest"], stated["largest"]) == (
        len(sizes),
        min(sizes),
        max(sizes),
    )


def the_loss_that_is_stated_is_that_of_the_labels(case: Case) -> None:
    release = published(case)
    entries = quasi_entries(release.manifest)
    gone = release.manifest["records"]["suppressed"]
    means = []
    for name, entry in entries.items():
        shown = [row[name] for row in release.rows]
        assert entry["domain"] == domain_of(name, shown, entry["labels"]), (
            "what is published, and no more"
        )
        lost = Fraction(gone)
        for row in release.rows:
            label = row[name]
            if labels_of(case[1]) == "hierarchy" and label in entry["weights"]:
                stands_for = Fraction(entry["weights"][label])
            else:
                stands_for = weight(label, entry["domain"], entry["decimals"])
            lost += penalty(label, stands_for, entry["domain"])
        means.append(lost / len(RECORDS))
        assert entry["ncp"] == pytest.approx(float(means[-1]), abs=1e-11)
    assert release.manifest["utility"]["ncp"] == pytest.approx(
        float(sum(means) / len(means)), abs=1e-11
    )


def the_weight_of_a_hierarchy_label_is_the_values_below_it(case: Case) -> None:
    release = published(case)
    for name, entry in quasi_entries(release.manifest).items():
        if labels_of(case[1]) == "set":
            assert "weights" not in entry
            continue
        assert set(entry["weights"]) <= {row[name] for row in release.rows}
        for label, stated in entry["weights"].items():
            if label == "*" or bounds(label) or members(label):
                assert stated == weight(label, entry["domain"], entry["decimals"])
            else:
                assert stated == values_of_label(name, label)


def the_order_of_the_records_makes_no_difference(case: Case) -> None:
    """By every option under some models: a model sees counts, which have no order."""
    if case[0] not in BY_EVERY_OPTION:
        return
    shuffled = random.Random(1).sample(RECORDS, len(RECORDS))
    release = incrowd.anonymize(frame_of(shuffled), policy_for(case), accept_unprotected=True)
    assert release.data.to_dicts() == published(case).rows
    assert release.manifest.items() <= published(case).manifest.items()


def the_same_input_gives_the_same_bytes(case: Case) -> None:
    if case[0] == TWICE:
        assert saved(RECORDS, policy_for(case), report=True).files == published(case).files


CHECKS: tuple[Callable[[Case], None], ...] = (
    a_release_verifies,
    every_record_is_in_one_group_or_counted_as_suppressed,
    every_label_covers_the_value_it_stands_for,
    groups_are_not_smaller_than_promised,
    the_loss_that_is_stated_is_that_of_the_labels,
    the_weight_of_a_hierarchy_label_is_the_values_below_it,
    the_order_of_the_records_makes_no_difference,
    the_same_input_gives_the_same_bytes,
)
