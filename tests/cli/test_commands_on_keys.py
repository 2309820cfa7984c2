"""`incrowd key new` and `incrowd anonymize --key`: what they write, tell and refuse."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from command_line import run

POLICY = """\
source: visits.csv
unit: id
attributes:
  id: identifier
  age: quasi
  start: {role: keep, level: event, time: {shift: 180 days, weeks: true}}
  code: {role: sensitive, level: event}
privacy: [{k-anonymity: {k: 3}}]
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    rows = [
        (f"Patient-{n}", 20 + n % 3, f"2020-0{1 + n % 9}-1{visit}", "abc"[visit])
        for n in range(30)
        for visit in range(1 + n % 3)
    ]
    frame = pl.DataFrame(rows, ["id", "age", "start", "code"], orient="row")
    frame.write_csv(tmp_path / "visits.csv")
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def test_releases_by_one_key_have_the_same_pseudonyms(job: Path) -> None:
    made = run("key", "new", "a.key", cwd=job)
    assert (made.returncode, made.stdout) == (0, "")
    assert "another key for another recipient" in made.stderr
    for folder in ("one", "two"):
        done = run(
            "anonymize", "policy.yaml", "--key", "a.key", "-o", folder, "--accept-unprotected",
            cwd=job,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "each recipient needs a key of their own" in done.stderr
        assert "one random shift (whole weeks, at most 180 days either way)" in done.stdout
        assert run("verify", folder, "-q", cwd=job).returncode == 0
    one, two = (pl.read_csv(job / folder / "data.csv") for folder in ("one", "two"))
    assert one.equals(two)
    assert one["patient"].n_unique() == 30
    manifest = json.loads((job / "one" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["pseudonyms"]["fingerprint"] in made.stderr
    whole = "".join(path.read_text(encoding="utf-8") for path in (job / "one").iterdir())
    assert "Patient-" not in whole
    assert (job / "a.key").read_bytes().hex() not in whole


def test_a_key_that_stands_is_not_replaced(job: Path) -> None:
    assert run("key", "new", "a.key", "-q", cwd=job).stderr == ""
    before = (job / "a.key").read_bytes()
    refused = run("key", "new", "a.key", cwd=job)
    assert refused.returncode == 2
    assert "nothing is replaced" in refused.stderr
    assert (job / "a.key").read_bytes() == before


def test_no_key_goes_into_a_release_or_into_the_place_of_one(job: Path) -> None:
    asked = ("anonymize", "policy.yaml", "--accept-unprotected", "-q")
    assert run(*asked, cwd=job).returncode == 0
    refused = run("key", "new", "release/a.key", cwd=job)
    assert refused.returncode == 2
    assert "lies in a release" in refused.stderr
    assert not (job / "release" / "a.key").exists()
    (job / "next").mkdir()
    run("key", "new", "next/a.key", "-q", cwd=job)
    refused = run(*asked, "-o", "next", "--key", "next/a.key", cwd=job)
    assert refused.returncode == 2
    assert [path.name for path in (job / "next").iterdir()] == ["a.key"]


@pytest.mark.parametrize(
    ("line", "key", "told"),
    [
        ("unit: id", "none.key", "incrowd key new FILE"),
        ("unit: row", "a.key", "`unit: row`, each row is another's"),
    ],
)
def test_a_key_that_does_not_fit_is_refused_before_any_work(
    line: str, key: str, told: str, job: Path
) -> None:
    run("key", "new", "a.key", "-q", cwd=job)
    policy = POLICY.replace("unit: id", line)
    if "row" in line:
        policy = policy.replace("level: event, ", "").replace(", level: event", "")
    (job / "policy.yaml").write_text(policy, encoding="utf-8")
    refused = run("anonymize", "policy.yaml", "--key", key, cwd=job)
    assert refused.returncode == 2
    assert told in refused.stderr
    assert not (job / "release").exists()


def test_the_help_of_keys_has_an_example(tmp_path: Path) -> None:
    shown = run("key", "new", "--help", cwd=tmp_path).stdout
    assert "Example: incrowd key new registry.key" in shown
