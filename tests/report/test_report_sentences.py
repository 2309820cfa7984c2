"""What a report says is true of the release: for every model, and every way to publish."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest
from report_kinds import GAL, ILL2, K3, KINDS, Page, patients, policy, private, report

import incrowd
from incrowd.errors import InputError
from incrowd.policy import Policy
from incrowd.privacy import Certainty, KAnonymity
from incrowd.report._bounds import bound_in_words, bounds_of, crowds_promised, promises_of
from incrowd.report._questions import not_protected, questions
from incrowd.report.crowds import crowds_of_sizes
from incrowd.report.evidence import Evidence
from incrowd.table.alike import Told

SHARES, DISTANCE, SEVERAL = Certainty("shares"), Certainty("distance"), Certainty("several")
MODELS: dict[str, tuple[dict[str, Any], Certainty | None]] = {
    "k": ({"k-anonymity": {"k": 2}}, None),
    "distinct": (ILL2, SEVERAL),
    "entropy": ({"l-diversity": {"l": 2, "kind": "entropy", "sensitive": "ill"}}, SHARES),
    "close": ({"t-closeness": {"t": 0.5, "sensitive": "ill"}}, DISTANCE),
    "p-sensitive": ({"p-sensitive": {"p": 2, "k": 2, "sensitive": "ill"}}, SEVERAL),
    "alpha": ({"alpha-k": {"alpha": 0.9, "k": 2, "sensitive": "ill"}}, SHARES),
    "all of them": ({"alpha-k": {"alpha": 1, "k": 2, "sensitive": "ill"}}, None),
    "listed": (
        {"confidence-bounding": {"C": 0.9, "sensitive": "ill", "values": ["hiv"]}},
        Certainty("shares", listed=True),
    ),
    "few known": (
        {"lkc": {"L": 2, "K": 2, "C": 0.9, "sensitive": "ill"}},
        Certainty("shares", known=2),
    ),
    "only crowds": ({"lkc": {"L": 2, "K": 2, "sensitive": "ill"}}, None),
    "several": (GAL, SEVERAL),
    "one of several": (
        {"multi-sensitive": {"k": 2, "l": 2, "sensitive": ["ill", "grade"], "limits": {"ill": 0}}},
        None,
    ),
    "exponential": ({"exponential-l": {"l": 2, "sensitive": ["ill", "grade"]}}, SEVERAL),
    "delta": ({"delta-disclosure": {"delta": 3, "sensitive": "ill"}}, DISTANCE),
    "beta": ({"beta-likeness": {"beta": 2, "sensitive": "ill"}}, DISTANCE),
}


def models_of(*privacy: dict[str, Any]) -> Any:
    return Policy.from_mapping(policy(*privacy)).privacy


@pytest.mark.parametrize("name", MODELS)
def test_a_bound_is_what_the_model_promises(name: str) -> None:
    model, bound = MODELS[name]
    assert bounds_of(models_of(model)).get("ill") == bound


def test_the_strongest_bound_counts() -> None:
    found = bounds_of(models_of(MODELS["listed"][0], MODELS["few known"][0], ILL2))
    assert found["ill"] == Certainty("shares", known=2)
    assert bounds_of(models_of(MODELS["alpha"][0], MODELS["few known"][0]))["ill"] == SHARES
    assert bounds_of(models_of(MODELS["close"][0], ILL2))["ill"] == DISTANCE


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
    assert about_ill[1] == (
        "no promise bounds how sure an attacker may be"
        if bound is None
        else bound_in_words(bound, 4)
    )
    about_all = name in ("several", "exponential")  # the others say nothing of 'grade'
    assert inference.startswith(" within bounds" if about_all else " yes")
    singled = page.split("Can a record be singled out?")[1]
    assert singled.startswith(" yes" if publish != "generalized" else " within bounds")
    assert ("as they are" in singled.split("Can records")[0]) == (publish != "generalized")


def test_patients_are_spoken_of_only_where_each_has_one_record() -> None:
    frame = patients(60).drop_nulls().with_row_index("number")
    wanted = policy(K3)
    wanted["attributes"] = {**wanted["attributes"], "number": "identifier"}
    of_rows = Page(report(frame, {**wanted, "unit": "row"})).text
    assert "Can a record be singled out?" in of_rows
    assert "Can a patient be" not in of_rows
    assert of_rows.count("A patient with several records is not protected as one") == 3
    of_patients = Page(report(frame, {**wanted, "unit": "number"})).text
    assert "Can a patient be singled out?" in of_patients
    assert "told apart by 'number', which did not repeat in the source" in of_patients


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
        ("suppressed", "follows from the published files", "before"),
        ("mondrian", "published files alone", "On the source"),
        ("anatomy of several", "with the original beside them", "published files alone"),
        ("lossy join, missing dropped", "Left out for missing values", "generalized"),
        ("nothing sensitive", "No attribute was named sensitive", "What groups tell of each"),
        ("one quasi-identifier", "whoever knows the quasi-identifier finds", "all 1 of them"),
        ("one group", "1 group of 10 records", "After:"),
        ("protected target", "promised is what groups tell of it", "protected by nothing"),
        ("classification", "goal: classification", "decision tree"),
        ("categories", "values of one category of 'ill'", "hiv, flu"),
        ("research value", "What became of each", "Research value"),
        ("no crowd promised", "'grade': the promises above bound", "'grade': no promise"),
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
    page = Page(private(frame, wanted)).text
    assert "None of 21 records looked up fits one record only; 1 fits none" in page


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
    assert "each hospital keeps its own" in page
    assert "before" not in page.replace("before the release are not known", "")
    assert "--private-report" not in page
    with pytest.raises(InputError, match="each hospital keeps its records"):
        made[0].release.save(tmp_path / "more", private_report=tmp_path / "private.html")
    assert not (tmp_path / "more").exists()
    assert "incrowd anonymize" not in page
    assert "Not by who knows up to 2 quasi-identifiers of a person: at least 2 records fit." in page


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("mondrian", "of the records look like no other, before → after"),
        ("suppressed", "Distributions, before and after"),
        ("lossy join, missing dropped", "left out for missing values are in none"),
        ("classification", "one that learns from the source"),
        ("research value", "rule 1"),
        ("anatomy", "random counts"),
    ],
)
def test_what_a_private_report_says_of_the_source(kind: str, said: str) -> None:
    rows, wanted = KINDS[kind]
    page = Page(private(patients(min(rows, 150)), wanted)).text
    assert "not for publication" in page
    assert said in page


class Unknown(KAnonymity):
    """A model of a third party that counts values and does not say what it bounds."""

    name: ClassVar[str] = "unknown"
    alpha: float = 0.1
    C: float = 0.1
    sensitive: str = "ill"

    @property
    def sensitive_attributes(self) -> tuple[str, ...]:
        return (self.sensitive,)


def test_a_model_that_does_not_say_what_it_bounds_bounds_nothing() -> None:
    model = Unknown(k=2)
    assert not bounds_of([model])
    told = Told(alone=0, two=0, best=5)
    evidence = Evidence(crowds_of_sizes(np.array([5, 5]), {"ill": told}), None, ())  # type: ignore[arg-type]
    entry = {"name": "ill", "role": "sensitive", "published": True}
    manifest = {"publish": "generalized", "attributes": [entry]}
    _, _, inference = questions(manifest, evidence, promises_of([model], 1))
    assert inference.answer == "yes"
    assert "no promise bounds how sure an attacker may be" in inference.why[0]
    assert any("'ill'" in text for text in not_protected(manifest, [], promises_of([model], 1)))
