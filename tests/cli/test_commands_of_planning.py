"""Commands about what is worth asking for: feasibility, patterns, alternatives."""

import json
from pathlib import Path

import pytest

from command_line import run

CSV = "age,sex,smoker,outcome\n" + "".join(
    f"{20 + n % 40},{'MF'[n % 2]},{'yn'[n % 3 == 0]},{'ill' if n % 40 >= 30 else 'well'}\n"
    for n in range(400)
)
POLICY = """
source: data.csv
attributes:
  age:
    role: quasi
    hierarchy: {intervals: {start: 20, stop: 60, widths: [10, 20]}}
    weight: 0.6
    rules: [{apart: [49, 50], importance: 5}]
  sex: {role: quasi, weight: 0.2}
  smoker: {role: quasi, weight: 0.2}
  outcome: keep
privacy: [{k-anonymity: {k: 20}}]
method: research-value
"""


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("job")
    (folder / "data.csv").write_text(CSV, encoding="utf-8")
    (folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    return folder


def test_feasibility_of_numbers_and_of_a_file(job: Path) -> None:
    asked = ["feasibility", "--domains", "2,2,2", "--records", "50", "--k", "3"]
    told = json.loads(run(*asked, "--json", cwd=job).stdout)
    assert 0.69 < told["probability"] < 0.71
    assert abs(told["simulated"] - told["probability"]) < 4 * told["standard_error"]
    assert "records needed" in run(*asked, cwd=job).stdout
    of_file = ["feasibility", "--data", "data.csv", "--quasi", "sex,smoker", "--k", "5"]
    told = json.loads(run(*of_file, "--json", cwd=job).stdout)
    assert told["in_file"]["k_anonymous"] is True


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--domains", "2,2"],
        ["--domains", "2,x", "--records", "9"],
        ["--data", "data.csv"],
        ["--data", "data.csv", "--domains", "2,2", "--records", "9"],
    ],
)
def test_feasibility_of_too_little_or_too_much_is_refused(options: list[str], job: Path) -> None:
    found = run("feasibility", "--k", "3", *options, cwd=job)
    assert found.returncode == 2
    assert found.stderr.startswith("error: ")


def test_alternatives_are_listed_and_drawn_beside_the_release(job: Path) -> None:
    asked = ["anonymize", "policy.yaml", "--alternatives", "5", "--picture", "others.svg"]
    made = run(*asked, cwd=job)
    assert made.returncode == 0, made.stderr
    assert "Alternatives by research value" in made.stdout
    assert (job / "others.svg").read_text(encoding="utf-8").startswith("<svg")
    told = json.loads(run(*asked, "--replace", "--json", cwd=job).stdout)
    values = [each["value"] for each in told["alternatives"]]
    assert values == sorted(values, reverse=True)
    assert run("verify", "release", cwd=job).returncode == 0
    mondrian = POLICY.replace("research-value", "mondrian")
    (job / "mondrian.yaml").write_text(mondrian, encoding="utf-8")
    for options in (
        ["mondrian.yaml", "--alternatives", "3"],
        ["policy.yaml", "--picture", "x.svg"],
    ):
        assert run("anonymize", *options, cwd=job).returncode == 2


def test_research_value_is_explained_rule_by_rule(job: Path) -> None:
    run("anonymize", "policy.yaml", "-o", "valued", cwd=job)
    asked = ["evaluate", "valued", "--research", "--policy", "policy.yaml"]
    found = run(*asked, cwd=job)
    assert found.returncode == 0, found.stderr
    assert "research value of" in found.stdout
    told = json.loads(run(*asked, "--json", cwd=job).stdout)
    assert 0 < told["research_value"]["total"] <= 1
    assert run("evaluate", "valued", "--research", cwd=job).returncode == 2


def test_patterns_of_a_file_and_what_a_release_keeps_of_them(job: Path) -> None:
    run("anonymize", "policy.yaml", "-o", "kept", cwd=job)
    raw = json.loads(run("patterns", "data.csv", "--control", "outcome", "--json", cwd=job).stdout)
    assert any("50" in str(bucket) for bucket in raw["buckets"])
    asked = ["patterns", "kept", "--control", "outcome", "--original", "data.csv"]
    found = run(*asked, "--policy", "policy.yaml", "--picture", "patterns.svg", cwd=job)
    assert found.returncode == 0, found.stderr
    assert "outcome" in found.stdout
    assert (job / "patterns.svg").is_file()
