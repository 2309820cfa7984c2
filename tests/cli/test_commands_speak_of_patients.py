"""Commands on releases of patients with several rows say patients where patients are counted."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from command_line import run

POLICY = """
source: visits.csv
unit: mrn
attributes:
  mrn: identifier
  age: {role: quasi, type: numeric}
  sex: quasi
  dead: sensitive
  ill: {role: sensitive, level: event}
privacy:
  - k-anonymity: {k: 4}
output: release
"""


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("job")
    draw = random.Random(5)
    rows: list[tuple[str, int, str, str, str]] = []
    for number in range(40):
        own = (f"p{number}", draw.randint(20, 50), draw.choice("MF"), draw.choice("yn"))
        rows += [(*own, draw.choice(("flu", "hiv", "gout"))) for _ in range(draw.choice((1, 3)))]
    visits = pl.DataFrame(rows, ["mrn", "age", "sex", "dead", "ill"], orient="row")
    visits.write_csv(folder / "visits.csv")
    visits.unique("mrn", maintain_order=True).write_csv(folder / "people.csv")
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    done = run("anonymize", "policy.yaml", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "40 patients in" in done.stdout + done.stderr
    return folder


COMMANDS = {
    "risk": ("risk", "release"),
    "linkage": ("attack", "release", "--linkage", "people.csv", "--on", "age,sex"),
    "similarity": ("attack", "release", "--similarity", "ill"),
    "elimination": ("attack", "release", "--eliminate", "1", "--original", "visits.csv"),
    "query": ("query", "release", "ill = hiv and age >= 30"),
    "evaluate": ("evaluate", "release", "--original", "visits.csv", "--queries", "20"),
    "risk of a file": (
        *("risk", "visits.csv", "--quasi", "age,sex", "--sensitive", "ill,dead", "--unit", "mrn"),
    ),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_patients_are_spoken_of_where_patients_are_counted(name: str, job: Path) -> None:
    done = run(*COMMANDS[name], cwd=job)
    assert done.returncode == 0, done.stderr
    assert re.search(r"\bpatients?\b", done.stdout)
    assert not re.search(r"\brecords?\b", done.stdout)
    told = json.loads(run(*COMMANDS[name], "--json", cwd=job).stdout)
    patients = told["patients"]
    assert (patients["source"] if isinstance(patients, dict) else patients) == 40
    assert "records" not in told


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("query", "release", "--events", "ill = hiv"), "Rows are counted, not patients."),
        (("risk", "visits.csv", "--quasi", "age"), "Rows are counted here, not patients: 'mrn'"),
        (("attack", "release", "--linkage", "visits.csv"), "'mrn' of the list has 40 different"),
        (("evaluate", "release", "--original", "visits.csv"), "By event:"),
    ],
)
def test_rows_are_said_where_rows_are_counted(command: Sequence[str], told: str, job: Path) -> None:
    done = run(*command, cwd=job)
    assert done.returncode == 0, done.stderr
    assert told in done.stdout


def test_an_attack_that_asks_for_one_value_is_refused_with_another(job: Path) -> None:
    done = run("attack", "release", "--eliminate", "1", "--sensitive", "ill", cwd=job)
    assert done.returncode == 2
    assert "--similarity" in done.stderr
