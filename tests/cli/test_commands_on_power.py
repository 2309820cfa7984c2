"""Commands about somebody who knows some events of a patient: what they tell and refuse."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from command_line import run

ROWS = [
    *[(f"p{n}", "flu", "A") for n in range(6)],
    *[(f"p{n}", "gout", "B") for n in range(3)],
    ("p5", "hiv", "A"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    people = [(f"p{n}", "FM"[n % 2]) for n in range(7)]
    pl.DataFrame(people, ["Id", "sex"], orient="row").write_csv(tmp_path / "patients.csv")
    visits = pl.DataFrame(ROWS, ["PATIENT", "CODE", "ward"], orient="row")
    visits.write_csv(tmp_path / "conditions.csv")
    return tmp_path


def test_risk_says_whom_known_events_find(folder: Path) -> None:
    done = run("risk", ".", "--events", "conditions.CODE", "--quasi", "sex", cwd=folder)
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "7 patients with 1.4 different events each on average" in told
    assert "Who knows 2 events of a patient finds at least 1 patient" in told
    assert "14.3 % of the patients are found alone by 2 events of theirs" in told
    assert "Whom known events and sex find" in told
    assert "All sets of so many events of each patient were looked at. 7 patients have" in told
    asked = ("patients.csv", "conditions.csv", "--events", "CODE", "--quasi", "sex", "--json")
    found = json.loads(run("risk", *asked, cwd=folder).stdout)
    assert (found["patients"], found["events"]) == (7, ["conditions.CODE"])
    assert [each["fewest"] for each in found["known"]] == [1] * 8
    flat = ("conditions.csv", "--events", "CODE,ward", "--unit", "PATIENT", "--json")
    assert json.loads(run("risk", *flat, cwd=folder).stdout)["patients"] == 6


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((".", "--events", "conditions.CODE", "--memory", "1GB"), "--memory cannot be used with"),
        (("patients.csv", "conditions.csv", "--quasi", "sex"), "go with --events"),
        ((".", "--events", "conditions.COD"), "No column"),
        (("conditions.csv", "--events", "CODE"), "--unit COLUMN"),
    ],
)
def test_what_does_not_go_together_is_refused(
    folder: Path, arguments: tuple[str, ...], told: str
) -> None:
    done = run("risk", *arguments, cwd=folder)
    assert done.returncode == 2
    assert told in done.stderr


POLICY = """
patients:
  source: patients.csv
  key: Id
  attributes: {Id: identifier}
  other: drop
tables:
  conditions:
    source: conditions.csv
    unit: PATIENT
    attributes:
      CODE: {role: quasi, hierarchy: {tree: {lung: [flu, hiv], joint: [gout]}}}
    other: drop
privacy:
  - km-anonymity: {k: 2, m: 2}
output: release
"""


def test_people_are_looked_up_by_their_events(folder: Path) -> None:
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    done = run("anonymize", "policy.yaml", cwd=folder)
    assert done.returncode == 0, done.stderr
    known = [("Ada", "flu"), ("Ada", "gout"), ("Bob", "hiv")]
    pl.DataFrame(known, ["name", "CODE"], orient="row").write_csv(folder / "people.csv")
    asked = ("attack", "release", "--known", "people.csv", "--person", "name")
    done = run(*asked, "--policy", "policy.yaml", cwd=folder)
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "Of 2 people on the list, known by 1.5 events each, none fits exactly one" in told
    assert "How many patients fit" in told
    found = json.loads(run(*asked, "--policy", "policy.yaml", "--json", cwd=folder).stdout)
    assert (found["people"], found["matched_one"], found["k"]) == (2, 0, 2)
    assert found["unreadable_labels"] == {}
    both = ("--events", "CODE", "--original", ".", "--policy", "policy.yaml")
    done = run("risk", "release", *both, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "true values" in done.stdout
    after = json.loads(run("risk", "release", *both, "--json", cwd=folder).stdout)
    assert [each["fewest"] for each in after["before"]["known"]] == [1, 1, 1, 1]
    assert after["looked_up"]["known"][1]["fewest"] >= after["after"]["known"][1]["fewest"] >= 2
    refused = run(*asked, "--level", "2", cwd=folder)
    assert (refused.returncode, "--level cannot be used" in refused.stderr) == (2, True)
