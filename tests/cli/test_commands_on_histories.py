"""`incrowd data patient-histories`: what it writes and tells, and what it refuses."""

import re
from pathlib import Path

import polars as pl
import pytest

from command_line import run
from incrowd import datasets


def test_histories_are_written_and_counted(tmp_path: Path) -> None:
    done = run("data", "patient-histories", "--patients", "300", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "No row stands for a real person" in done.stderr
    assert "wrong" not in done.stderr
    made = datasets.load_histories(300).tables
    assert sorted(path.stem for path in (tmp_path / "out").iterdir()) == sorted(made)
    for name, frame in made.items():
        assert f"{name}.csv: {frame.height:,} rows" in done.stderr
        text = (tmp_path / "out" / f"{name}.csv").read_text(encoding="utf-8")
        assert text == frame.write_csv(), name


def test_every_kind_of_dirt_is_counted_and_told(tmp_path: Path) -> None:
    done = run(
        "data", "patient-histories", "--patients", "400", "--dirt", "0.1", "--seed", "2",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    wrong = datasets.load_histories(400, dirt=0.1, seed=2).wrong
    told = re.findall(r"wrong on purpose: ([\d,]+) × (.+)", done.stderr)
    expected = [(f"{rows:,}", way) for counts in wrong.values() for way, rows in counts.items()]
    assert told == expected
    assert (tmp_path / "patient-histories" / "conditions.csv").exists()


def test_flat_histories_are_one_file(tmp_path: Path) -> None:
    done = run("data", "patient-histories", "--patients", "50", "--flat", "-q", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (path,) = (tmp_path / "patient-histories").iterdir()
    assert path.name == "visits.csv"
    assert pl.read_csv(path, infer_schema=False).width == 14


REFUSED = {
    "rows of histories": (("patient-histories", "--rows", "30"), "--patients 30"),
    "patients of a table": (("adult", "--patients", "30"), "--rows says how many"),
    "dirt in a table": (("cancer-registry", "--dirt", "0"), "--dirt goes with"),
    "a flat table": (("adult", "--flat"), "--flat goes with"),
    "a file": (("patient-histories", "-o", "out.csv"), "Name a folder: -o out."),
    "too much dirt": (("patient-histories", "--dirt", "7"), "share from 0 to 1"),
    "nobody": (("patient-histories", "--patients", "0"), "at least 1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_options_that_do_not_go_with_the_data_are_refused(name: str, tmp_path: Path) -> None:
    arguments, told = REFUSED[name]
    done = run("data", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert told in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_files_that_stand_are_replaced_only_by_force(tmp_path: Path) -> None:
    asked = ("data", "patient-histories", "-o", ".", "--patients", "5")
    (tmp_path / "patients.csv").write_text("precious")
    refused = run(*asked, cwd=tmp_path)
    assert refused.returncode == 2
    assert "--force" in refused.stderr
    assert (tmp_path / "patients.csv").read_text() == "precious"
    assert run(*asked, "--force", cwd=tmp_path).returncode == 0
    assert len((tmp_path / "patients.csv").read_text().splitlines()) == 6
