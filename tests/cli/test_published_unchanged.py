"""What is published as it is, is listed by whoever drafts, makes, judges or reports a release."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from command_line import run

POLICY = """
source: ward.csv
unit: row
attributes:
  age: quasi
  sex: quasi
  diagnosis: sensitive
  smoking: sensitive
  outcome: target
  ward: keep
privacy:
  - k-anonymity: {k: 2}
  - l-diversity: {l: 2, kind: distinct, sensitive: diagnosis}
suppression: 0.2
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unchanged")
    draw = random.Random(5)
    lines = ["age,sex,diagnosis,smoking,outcome,ward"]
    for _ in range(80):
        cells = (draw.randint(20, 80), draw.choice("FM"), draw.choice(["Flu", "HIV", "Gout"]))
        rest = (draw.choice(["yes", "no"]), draw.choice(["cured", "dead"]), draw.choice("AB"))
        lines.append(",".join(map(str, (*cells, *rest))))
    (folder / "ward.csv").write_text("\n".join(lines) + "\n")
    (folder / "policy.yaml").write_text(POLICY)
    return folder


def why(listed: list[dict[str, str]]) -> dict[str, str]:
    return {each["column"]: each["why"] for each in listed}


def test_init_lists_them_with_the_reason_in_its_answer_and_in_the_policy(place: Path) -> None:
    told = run("init", "ward.csv", "--force", "--json", cwd=place)
    found = why(json.loads(told.stdout)["unchanged"])
    assert list(found) == ["diagnosis", "smoking", "outcome"]
    assert "a diagnosis or disease" in found["diagnosis"]
    shown = run("init", "ward.csv", "--force", cwd=place)
    assert "Published as they are" in shown.stdout
    policy = " ".join((place / "ward.yaml").read_text().replace("#", " ").split())
    assert "Published as they are, unless you change their roles: diagnosis, smoking," in policy


def test_anonymize_verify_and_the_report_list_the_same(place: Path) -> None:
    made = run("anonymize", "policy.yaml", "-o", "release", "--json", cwd=place)
    assert made.returncode == 0, made.stderr
    found = why(json.loads(made.stdout)["unchanged"])
    assert list(found) == ["diagnosis", "smoking", "outcome", "ward"]
    assert "a promise limits" in found["diagnosis"]
    assert "no promise is about it" in found["smoking"]
    judged = json.loads(run("verify", "release", "--json", cwd=place).stdout)
    assert why(judged["unchanged"]) == found
    report = (place / "release" / "report.html").read_text(encoding="utf-8")
    for column, sentence in found.items():
        assert f"<tr><td>{column}</td><td>{sentence}</td></tr>" in report
    shown = run("verify", "release", cwd=place).stdout
    assert "Published as they are" in shown


def test_tables_apart_show_the_quasi_identifiers_too(place: Path) -> None:
    text = POLICY.replace("privacy:", "publish: anatomy\nmethod: anatomize\nprivacy:")
    text = text.replace("  - k-anonymity: {k: 2}\n", "").replace("  smoking: sensitive\n", "")
    text = text.replace("distinct,", "frequency,").replace("outcome: target", "outcome: identifier")
    text = text.replace("  ward: keep\n", "other: drop\n")
    (place / "apart.yaml").write_text(text)
    made = run("anonymize", "apart.yaml", "-o", "apart", "--json", cwd=place)
    assert made.returncode == 0, made.stderr
    found = why(json.loads(made.stdout)["unchanged"])
    assert list(found) == ["age", "sex", "diagnosis"]
    assert "shown exactly" in found["age"]
