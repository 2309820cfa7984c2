"""Linked tables on the command line: from a folder to a release that is verified and asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import run
from incrowd import datasets


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with histories, the policy that init wrote, and the release by it."""
    place = tmp_path_factory.mktemp("linked")
    datasets.write_histories(place / "histories", 200)
    done = run("init", "histories", "-o", "policy.yaml", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "Tables that hang on patients.csv by 'patient'" in done.stdout
    made = run("anonymize", "policy.yaml", cwd=place)
    assert made.returncode == 0, made.stderr
    assert "each has one row in the table of patients" in " ".join(made.stdout.split())
    return place


def test_a_release_of_linked_tables_is_verified_and_its_report_tells_of_rows(folder: Path) -> None:
    done = run("verify", "release", cwd=folder)
    assert done.returncode == 0, done.stdout
    assert "each of a patient" in " ".join(done.stdout.split())
    report = (folder / "release" / "report.html").read_text(encoding="utf-8")
    assert "Rows of the published patients in conditions" in report
    assert "unit: patient" in report


def test_several_files_and_json(folder: Path) -> None:
    names = [f"histories/{each}.csv" for each in ("patients", "conditions")]
    done = run("init", *names, "-o", "two.yaml", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["records"] == 200
    assert [each["name"] for each in told["tables"]] == ["conditions"]
    refused = run("init", *names, "-o", "three.yaml", "--query", "SELECT 1", cwd=folder)
    assert refused.returncode == 2
    assert "--query is for one database" in refused.stderr


QUESTIONS = {
    "risk": (("risk", "release"), 0, "release: "),
    "query of patients": (("query", "release", "sex = F"), 0, "of "),
    "query of events": (("query", "release", "conditions.code = I10"), 0, "at least one row"),
    "a column without its table": (("query", "release", "code = I10"), 2,
                                   "Did you mean 'conditions.code'?"),
    "evaluate with all": (("evaluate", "release", "--original", "histories"), 0,
                          "rows of 'conditions' are published (100 %)"),
    "evaluate": (("evaluate", "release", "--original", "histories/patients.csv"), 0, "Groups"),
    "similarity": (("attack", "release", "--similarity", "conditions.code"), 0, "patients"),
    "policy check": (("policy", "check", "policy.yaml"), 0, "fits"),
    "compare": (("compare", "policy.yaml", "--over", "k=5,8"), 0, "of the patients satisfy"),
    "compare one table": (("compare", "policy.yaml", "--source", "histories/patients.csv"), 2,
                          "one source is not enough"),
    "a source alone": (("anonymize", "policy.yaml", "--source", "histories/patients.csv"), 2,
                       "one source is not enough"),
}  # fmt: skip


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_asks_of_patients_works_on_their_table_or_refuses(name: str, folder: Path) -> None:
    arguments, code, told = QUESTIONS[name]
    if name == "a source alone":
        arguments = (*arguments, "-o", "other")
    done = run(*arguments, cwd=folder)
    assert done.returncode == code, done.stderr
    assert told in " ".join((done.stdout + done.stderr).split())


def test_a_private_report_holds_the_patients_against_their_table(folder: Path) -> None:
    done = run(
        "anonymize", "policy.yaml", "-o", "again", "--private-report", "private.html", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    assert "before → after" in (folder / "private.html").read_text(encoding="utf-8")
