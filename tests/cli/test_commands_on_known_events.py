"""Releases for attackers who know events on the command line, and what else is asked of them."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import yaml

import incrowd
from command_line import run
from incrowd import datasets
from incrowd.errors import InputError, PolicyError
from incrowd.federation.run.fitness import check_policy


def tree_of(codes: list[str]) -> dict[str, Any]:
    chapters: dict[str, Any] = {}
    for code in sorted(codes):
        chapters.setdefault(code[0], {}).setdefault(code[:3], []).append(code)
    return chapters


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with histories, a policy for linked tables and one for a flat file, and releases."""
    place = tmp_path_factory.mktemp("known")
    found = datasets.load_histories(150).tables
    flat = found["conditions"].join(found["patients"], on="patient").select(
        "patient", "sex", "birth_date", "code", "start"
    )  # fmt: skip
    found["patients"].write_csv(place / "patients.csv")
    found["conditions"].write_csv(place / "conditions.csv")
    flat.write_csv(place / "flat.csv")
    born = {"role": "quasi", "hierarchy": {"dates": ["year", "decade"]}}
    code = {"role": "quasi", "hierarchy": {"tree": tree_of(flat["code"].unique().to_list())}}
    linked = {
        "patients": {
            "source": "patients.csv", "key": "patient", "other": "drop",
            "attributes": {"sex": "quasi", "birth_date": born},
        },
        "tables": {
            "conditions": {
                "source": "conditions.csv", "unit": "patient", "other": "drop",
                "attributes": {"code": code},
            }
        },
        "privacy": [
            {"lkc": {"L": 2, "K": 5, "events": 2, "C": 0.9, "sensitive": "conditions.code",
                     "values": ["J06"]}}
        ],
        "output": "linked",
    }  # fmt: skip
    alone = {
        "source": "flat.csv", "unit": "patient", "other": "drop", "suppression": 0.2,
        "attributes": {
            "patient": "identifier", "sex": "quasi", "birth_date": born,
            "code": {**code, "level": "event"},
        },
        "privacy": [{"k-km": {"k": 5, "m": 1}}],
        "output": "flat",
    }  # fmt: skip
    for name, policy in (("linked", linked), ("flat", alone)):
        (place / f"{name}.yaml").write_text(yaml.safe_dump(policy), encoding="utf-8")
        made = run("anonymize", f"{name}.yaml", "--private-report", f"{name}.html", cwd=place)
        assert made.returncode == 0, made.stderr
        assert "method: auto took histories" in made.stderr
    return place


def words(page: Path) -> str:
    shown = re.sub(r"<style>.*?</style>", " ", page.read_text(encoding="utf-8"), flags=re.S)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", shown)))


QUESTIONS = {
    "verify": ("verify {}", 0, "Verified: all promises are kept"),
    "policy check": ("policy check {}.yaml", 0, "is legal and fits"),
    "risk": ("risk {}", 0, "Risk of being recognized"),
    "evaluate": ("evaluate {}", 0, "Groups"),
    "linkage": ("attack {} --linkage patients.csv --on sex", 0, "patients attacked"),
    "query of patients": ("query {} sex=Female", 0, "published patients"),
    "query of known events": ("query {} *code=Z23", 2, "are not estimated: attackers may know"),
    "query of rows": ("query {} sex=Female --events", 2, "each that differs stands once"),
    "similarity": ("attack {} --similarity *code", 2, "the attacker knows it"),
    "compare": ("compare {}.yaml", 2, "`incrowd compare` works on"),
}


@pytest.mark.parametrize("name", ["linked", "flat"])
@pytest.mark.parametrize("asked", QUESTIONS)
def test_what_is_asked_of_it_is_answered_or_refused(folder: Path, asked: str, name: str) -> None:
    call, code, told = QUESTIONS[asked]
    call = call.replace("*", "conditions." if name == "linked" else "").format(name)
    done = run(*call.split(), cwd=folder)
    assert done.returncode == code, (done.stdout, done.stderr)
    shown = " ".join((done.stdout + done.stderr).split())
    assert told in shown


def test_evaluation_holds_no_labels_against_values(folder: Path) -> None:
    done = run("evaluate", "flat", "--original", "flat.csv", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    (events,) = json.loads(done.stdout)["events"]
    (code,) = events["attributes"]
    assert code["values_before"] is None
    assert events["rows_before"] > events["rows"]


def test_the_report_says_what_holds_of_who_knows_events(folder: Path) -> None:
    page = words(folder / "linked" / "report.html")
    assert "5 patients or more fit all facts that a promise is about" in page
    assert "at most 2 events among them, finds at least 5 patients that fit" in page
    assert "of the published patients look like no other, events aside" in page
    assert "Rows of conditions, each that differs within a patient once" in page
    assert "Rows of published patients left out of conditions, as too few share" in page
    assert "who knows more facts of a patient than a promise is about" in page.lower()
    assert "for someone who knows up to 2 facts of a patient" in page
    assert "all of which are published" not in page
    assert "who knows some of a patient's events, or how many rows" not in page
    assert words(folder / "linked.html").startswith(" Private report")
    flat = words(folder / "flat" / "report.html")
    assert "knows all quasi-identifiers of a patient and up to 1 event" in flat
    assert "Rows of data, each that differs within a patient once" in flat


def test_hospitals_and_comparisons_refuse_such_policies(folder: Path) -> None:
    policy = incrowd.Policy.from_file(folder / "flat.yaml")
    with pytest.raises(PolicyError, match="`incrowd federation` works on groups of records"):
        check_policy(policy)
    with pytest.raises(PolicyError, match=r"attributes\.code has the role quasi"):
        incrowd.comparison.compare([policy], folder / "flat.csv")


def test_in_python_the_same_is_refused(folder: Path) -> None:
    release = incrowd.open_release(folder / "linked")
    assert release.query("sex = Female").count > 0
    with pytest.raises(InputError, match=r"attackers may know 'conditions\.code'"):
        release.query("conditions.code = Z23")
    with pytest.raises(InputError, match=r"'conditions\.code' is a quasi-identifier"):
        incrowd.attacks.similarity(release, sensitive="conditions.code")
