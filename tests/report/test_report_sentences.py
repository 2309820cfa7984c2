"""What a report says is true of the release: for every model, and every way to publish."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from report_kinds import GAL, ILL2, K3, KINDS, Page, patients, policy, report

import incrowd
from incrowd.policy import Policy
from incrowd.report.bounds import Bound, bounds_of, crowds_promised

MODELS: dict[str, tuple[dict[str, Any], Bound | None]] = {
    "k": ({"k-anonymity": {"k": 2}}, None),
    "distinct": (ILL2, Bound(shares=False)),
    "entropy": ({"l-diversity": {"l": 2, "kind": "entropy", "sensitive": "ill"}}, Bound(True)),
    "close": ({"t-closeness": {"t": 0.5, "sensitive": "ill"}}, Bound(True)),
    "p-sensitive": ({"p-sensitive": {"p": 2, "k": 2, "sensitive": "ill"}}, Bound(False)),
    "alpha": ({"alpha-k": {"alpha": 0.9, "k": 2, "sensitive": "ill"}}, Bound(True)),
    "all of them": ({"alpha-k": {"alpha": 1, "k": 2, "sensitive": "ill"}}, None),
    "listed": (
        {"confidence-bounding": {"C": 0.9, "sensitive": "ill", "values": ["hiv"]}},
        Bound(True, listed=True),
    ),
    "few known": (
        {"lkc": {"L": 2, "K": 2, "C": 0.9, "sensitive": "ill"}},
        Bound(True, known=2),
    ),
    "only crowds": ({"lkc": {"L": 2, "K": 2, "sensitive": "ill"}}, None),
    "several": (GAL, Bound(False)),
    "one of several": (
        {"multi-sensitive": {"k": 2, "l": 2, "sensitive": ["ill", "grade"], "limits": {"ill": 0}}},
        None,
    ),
    "exponential": ({"exponential-l": {"l": 2, "sensitive": ["ill", "grade"]}}, Bound(False)),
    "delta": ({"delta-disclosure": {"delta": 3, "sensitive": "ill"}}, Bound(True)),
    "beta": ({"beta-likeness": {"beta": 2, "sensitive": "ill"}}, Bound(True)),
}


def models_of(*privacy: dict[str, Any]) -> Any:
    return Policy.from_mapping(policy(*privacy)).privacy


@pytest.mark.parametrize("name", MODELS)
def test_a_bound_is_what_the_model_promises(name: str) -> None:
    model, bound = MODELS[name]
    assert bounds_of(models_of(model)).get("ill") == bound


def test_the_strongest_bound_counts() -> None:
    found = bounds_of(models_of(MODELS["listed"][0], MODELS["few known"][0], ILL2))
    assert found["ill"] == Bound(True, known=2)
    assert bounds_of(models_of(MODELS["close"][0], MODELS["few known"][0]))["ill"] == Bound(True)


def test_crowds_belong_to_what_is_known() -> None:
    wanted = [{"lkc": {"L": L, "K": K}} for L, K in ((1, 9), (3, 2), (2, 5), (2, 3))]
    assert crowds_promised(models_of(*wanted), 4) == ((1, 9), (2, 5), (3, 2))
    assert crowds_promised(models_of(*wanted), 2) == ((1, 9),)


@pytest.mark.parametrize(
    ("name", "publish"),
    [
        (name, publish)
        for name in MODELS
        for publish in ("generalized", "anatomy", "lossy-join")
        if publish == "generalized" or "lkc" not in MODELS[name][0]
    ],
)
def test_reports_say_of_every_model_what_holds(name: str, publish: str) -> None:
    model, bound = MODELS[name]
    frame = patients(60).drop_nulls()
    wanted = policy(K3, model, publish=publish)
    wanted["attributes"] = {**wanted["attributes"], "late": "keep"}
    page = Page(report(frame, wanted)).text
    inference = page.split("Can something be concluded about a person?")[1]
    about_ill = re.search(r"'ill'(?: and 'grade')?: (.*?)\.", inference)
    assert about_ill is not None
    assert about_ill[1] == ("bounded by no promise" if bound is None else bound.words(4))
    about_all = name in ("several", "exponential")  # the others say nothing of 'grade'
    assert inference.startswith(" within bounds" if about_all else " yes")
    singled = page.split("Can a person be singled out?")[1]
    assert singled.startswith(" yes" if publish != "generalized" else " within bounds")
    assert ("as they are" in singled.split("Can records")[0]) == (publish != "generalized")


def smallest_of(page: str) -> int:
    found = re.search(r"finds at least ([\d,]+) records that fit", page)
    assert found is not None
    return int(found[1].replace(",", ""))


def test_the_crowd_that_is_told_is_the_smallest_group() -> None:
    frame = patients(120)
    shown = incrowd.anonymize(frame, policy(K3), accept_unprotected=True).data
    smallest = shown.group_by("age", "born", "job", "town").len()["len"].min()
    page = Page(report(frame, policy(K3))).text
    assert smallest_of(page) == smallest
    assert f"{smallest} records in the smallest group that looks alike" in page


@pytest.mark.parametrize(
    ("kind", "said", "unsaid"),
    [
        ("suppressed", "rounded to multiples of 6 records", "At most"),
        ("mondrian", "published files alone", "Figures of the source are rounded"),
        ("anatomy of several", "with the original beside them", "published files alone"),
        ("lossy join, missing dropped", "left out for missing values are in none", "generalized"),
        ("nothing sensitive", "No attribute was named sensitive", "What groups tell of each"),
        ("one quasi-identifier", "whoever knows the quasi-identifier finds", "all 1 of them"),
        ("one group", "After: 1 group of 10 records", "Distributions, before and after"),
        ("protected target", "promised is what groups tell of it", "protected by nothing"),
        ("classification of few", "How far counts from the release", "learns from the source"),
        ("classification", "one that learns from the source", "How far counts from the release"),
        ("categories", "values of one category of 'ill'", "hiv, flu"),
        ("research value", "rule 1", "apart"),
        ("no crowd promised", "'grade': the promises above bound", "'grade': bounded by no"),
        ("anatomy", "group that shares its sensitive values", "All other published columns"),
    ],
)
def test_what_is_said_fits_the_release(kind: str, said: str, unsaid: str) -> None:
    rows, wanted = KINDS[kind]
    page = Page(report(patients(rows), wanted)).text
    assert said in page
    assert unsaid not in page


def test_who_is_suppressed_fits_no_record() -> None:
    rows = [("20", "a")] * 10 + [("21", "b")] * 10 + [("30", "a")]
    frame = pl.DataFrame(rows, schema=["age", "town"], orient="row")
    wanted = {
        "attributes": {"age": {"role": "quasi", "type": "category"}, "town": "quasi"},
        "privacy": [{"k-anonymity": {"k": 5}}],
        "method": "incognito",
        "suppression": 0.1,
    }
    page = Page(report(frame, wanted)).text
    assert "None of 21 patients looked up fits one record only; 1 fits none" in page


def test_hospitals_tell_of_their_release_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parent.parent / "federation"), *sys.path])
    from joint_tables import PARTIES, surgeries, together

    made, _ = together(PARTIES, surgeries())
    pages = []
    for number, each in enumerate(made):
        each.release.save(tmp_path / str(number))
        pages.append((tmp_path / str(number) / "report.html").read_bytes())
    assert len(set(pages)) == 1
    page = Page(pages[0].decode()).text
    assert "by 3 hospitals together" in page
    assert page.count("Not known here: each hospital keeps its records.") == 4
    assert "before: the source" not in page
    assert "Distributions" not in page
    assert "incrowd anonymize" not in page
    assert "Not by who knows up to 2 quasi-identifiers of a person: at least 2 records fit." in page


def test_nothing_is_said_of_the_source_where_nobody_is_surely_alone() -> None:
    same = pl.DataFrame({"town": ["a", "b"] * 30, "ill": ["x", "y", "z"] * 20})
    wanted = {"attributes": {"town": "quasi", "ill": "sensitive"}, "privacy": [K3]}
    words = Page(report(same, wanted)).text
    assert "At least 0 %" not in words
    assert "≥ 0 %" not in words
    assert "Not told of this source" in words
