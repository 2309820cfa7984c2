"""What stands in the output of a command is not replaced without a word."""

from __future__ import annotations

import io
import json
import random
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import command_line
import incrowd
from command_line import run
from incrowd import pipeline
from incrowd.errors import OutputError
from incrowd.publish import folder as folders
from incrowd.serve.workspace import _worker as worker

POLICY = """
source: {source}
attributes: {{id: identifier, age: quasi, sex: {sex}, ill: sensitive}}
privacy: [{{k-anonymity: {{k: 4}}}}]
"""
HOSPITALS = Path(__file__).parents[2] / "examples" / "hospitals"


def patients() -> pl.DataFrame:
    draw = random.Random(3)
    rows = [(number, draw.randrange(20, 80), draw.choice("fm"), draw.choice(["flu", "gout"]))
            for number in range(53)]  # fmt: skip
    rows += [(53 + number, 30 + number, "f", "hiv") for number in range(7)]
    return pl.DataFrame(rows, schema=["id", "age", "sex", "ill"], orient="row")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two policies without `output:`: of a month, and of the same patients a month later."""
    patients().head(53).write_csv(tmp_path / "march.csv")
    patients().write_csv(tmp_path / "april.csv")
    for month in ("march", "april"):
        text = POLICY.format(source=f"{month}.csv", sex="quasi")
        (tmp_path / f"{month}.yaml").write_text(text)
    (tmp_path / "narrow.yaml").write_text(POLICY.format(source="april.csv", sex="identifier"))
    return tmp_path


def made(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "release").iterdir()}


def test_the_second_of_two_policies_without_output_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("anonymize", "march.yaml", cwd=folder).returncode == 0
    before = made(folder)
    monkeypatch.setattr(pipeline, "run", lambda *_: pytest.fail("the search was begun"))
    later = run("anonymize", "april.yaml", cwd=folder)
    assert later.returncode == 2
    assert "holds a release already, of 53 records with the same columns." in later.stderr
    for word in ("follow from the difference", "`output:` or -o", "--replace"):
        assert word in later.stderr
    narrow = run("anonymize", "narrow.yaml", cwd=folder)
    assert narrow.returncode == 2
    assert "The old one alone has 'sex'." in narrow.stderr
    assert "join both on what they share ('age' and 'ill')" in narrow.stderr
    assert made(folder) == before


def test_replace_tells_what_whoever_kept_the_old_one_learns(folder: Path) -> None:
    assert run("anonymize", "march.yaml", cwd=folder).returncode == 0
    kept = incrowd.open_release(folder / "release").data["ill"].to_list()
    done = run("anonymize", "april.yaml", "--replace", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    for value in incrowd.open_release(folder / "release").data["ill"]:
        if value in kept:
            kept.remove(value)
        else:
            assert value == "hiv"  # the diagnoses of the seven newcomers, by subtraction
    assert kept == []
    assert "has 53 records, the new one 60, with the same columns:" in done.stderr
    assert "7 values of 'ill' came and 0 went" in done.stderr
    told = json.loads(done.stdout)["replaced"]
    assert told["records"] == {"old": 53, "new": 60}
    assert told["values"] == {"ill": {"gone": 0, "come": 7}}


def test_a_link_is_followed_and_told(folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "release").symlink_to("elsewhere/real")
    first = run("anonymize", "march.yaml", cwd=folder)
    assert first.returncode == 0
    assert "is a link: the release goes to" in first.stderr
    again = run("anonymize", "april.yaml", cwd=folder)
    assert again.returncode == 2
    assert f"{folder / 'elsewhere' / 'real'}' holds a release already" in again.stderr
    assert incrowd.open_release(folder / "release").data.height == 53


@pytest.mark.parametrize("more", [[], ["--replace"]])
def test_a_release_that_comes_while_another_is_made_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    usual = pipeline.run  # type: ignore[attr-defined]

    def interrupted(*arguments: Any) -> object:
        monkeypatch.setattr(pipeline, "run", usual)
        assert run("anonymize", "march.yaml", cwd=folder).returncode == 0
        return usual(*arguments)

    monkeypatch.setattr(pipeline, "run", interrupted)
    second = run("anonymize", "april.yaml", *more, cwd=folder)
    assert second.returncode == 2
    assert "release' was made while this ran" in second.stderr
    assert incrowd.open_release(folder / "release").data.height == 53
    assert not list(folder.glob(".release*"))


def test_a_comparison_is_not_replaced(folder: Path) -> None:
    words = ["compare", "march.yaml", "--queries", "0", "-o", "compared"]
    assert run(*words, cwd=folder).returncode == 0
    again = run(*words, cwd=folder)
    assert again.returncode == 2
    assert "holds a comparison already, with 1 release." in again.stderr
    (release,) = [path for path in (folder / "compared").iterdir() if path.is_dir()]
    (release / "notes.txt").write_text("mine")
    strange = run(*words, "--replace", cwd=folder)
    assert strange.returncode == 2
    assert "holds other things than a comparison" in strange.stderr
    (release / "notes.txt").unlink()
    assert run(*words, "--replace", cwd=folder).returncode == 0


def test_the_demo_writes_over_nothing(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("mine")
    for more, told in (([], "is not empty"), (["--replace"], "holds 'thesis.doc'")):
        (tmp_path / "thesis.doc").write_text("mine")
        refused = run("demo", "-o", ".", *more, cwd=tmp_path)
        assert refused.returncode == 2
        assert told in refused.stderr
    assert (tmp_path / "policy.yaml").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["policy.yaml", "thesis.doc"]


def test_a_run_of_the_page_replaces_nothing(folder: Path) -> None:
    places = [str(folder / name) for name in ("march.yaml", "release", "private.html")]
    teller = worker.Teller(io.StringIO())
    assert worker.release(teller, *places)["verified"]
    before = made(folder)
    with pytest.raises(OutputError, match="holds a release already"):
        worker.release(teller, *places)
    assert made(folder) == before


def test_an_interrupt_once_the_release_is_there_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("anonymize", "march.yaml", cwd=folder).returncode == 0
    monkeypatch.setattr(folders, "appeared", [])
    usual = shutil.rmtree

    def interrupted(path: Path, **options: Any) -> None:
        monkeypatch.setattr(shutil, "rmtree", usual)
        usual(path, **options)
        if folders.appeared:  # the old release is removed
            raise KeyboardInterrupt
        monkeypatch.setattr(shutil, "rmtree", interrupted)

    monkeypatch.setattr(shutil, "rmtree", interrupted)
    done = run("anonymize", "april.yaml", "--replace", "-q", cwd=folder)
    assert done.returncode == 130
    assert "release' was complete" in done.stderr
    assert "nothing was written" not in done.stderr
    assert incrowd.verify(folder / "release").holds
    assert incrowd.open_release(folder / "release").data.height == 60


def test_a_rehearsal_replaces_nothing(folder: Path) -> None:
    assert run("anonymize", "march.yaml", cwd=folder).returncode == 0
    shutil.copytree(HOSPITALS, folder / "hospitals")
    words = ["federation", "rehearse", "policy.yaml", "north.csv", "south.csv", "west.csv"]
    refused = command_line.run(*words, "-o", "../release", cwd=folder / "hospitals")
    assert refused.returncode == 2
    assert "holds a release already, of 53 records" in refused.stderr
    assert "--replace" in refused.stderr
