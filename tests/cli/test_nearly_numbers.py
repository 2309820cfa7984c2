"""A few other cells among numbers or dates are said, with their number and the ways out."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from command_line import run
from incrowd.table.stray_cells import nearly

SECRET = "Mueller"


def table(folder: Path, odd: list[str]) -> Path:
    """A file whose weights are numbers, except for some cells."""
    weights = [str(50 + i % 40) for i in range(300)]
    weights[7 : 7 + len(odd)] = odd
    rows = [f"{weights[i]},{'FM'[i % 2]},{'ABC'[i % 3]}" for i in range(300)]
    (folder / "ward.csv").write_text("\n".join(["weight,sex,diagnosis", *rows]) + "\n")
    return folder


@pytest.mark.parametrize("odd", [["NA"], ["NA", "?", SECRET]])
def test_init_and_anonymize_say_it_and_the_ways_out_work(tmp_path: Path, odd: list[str]) -> None:
    place = table(tmp_path, odd)
    drafted = run("init", "ward.csv", cwd=place)
    policy = (place / "ward.yaml").read_text()
    made = run("anonymize", "ward.yaml", cwd=place)
    assert made.returncode == 0, made.stderr
    for told in (drafted.stdout, policy.replace("#", ""), made.stderr):
        words = " ".join(told.split())
        assert f"{len(odd):,} of 300 cells" in words
        assert "`type: numeric`" in words
        assert "'NA'" in words
        assert SECRET not in words

    typed = policy.replace("  weight:", "  weight: {role: quasi, type: numeric}\n  #", 1)
    typed = "\n".join(line for line in typed.split("\n") if not line.startswith("    "))
    (place / "typed.yaml").write_text(typed)
    refused = run("anonymize", "typed.yaml", "-o", "typed", cwd=place)
    assert refused.returncode == 2
    assert f"{len(odd):,} of 300 rows are not a number" in refused.stderr
    assert SECRET not in refused.stderr

    if SECRET not in odd:
        marked = typed + "missing-values: ['NA']\n"
        (place / "marked.yaml").write_text(marked)
        done = run("anonymize", "marked.yaml", "-o", "marked", cwd=place)
        assert done.returncode == 0, done.stderr
        original = ["--original", "ward.csv"]
        for command in ("verify", "evaluate"):
            checked = run(command, "marked", *original, "--missing-value", "NA", cwd=place)
            assert checked.returncode == 0, checked.stderr

    text = (place / "ward.csv").read_text()
    for cell in odd:
        text = text.replace(f"\n{cell},", "\n,")
    (place / "ward.csv").write_text(text)
    done = run("anonymize", "typed.yaml", "-o", "typed", "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "not a number" not in done.stderr
    manifest = json.loads((place / "typed" / "manifest.json").read_text())
    assert manifest["attributes"][0]["type"] == "numeric"


def found(cells: list[str]) -> tuple[str, int] | None:
    values, counts = pl.Series("c", cells).value_counts().get_columns()
    seen = nearly(values, counts)
    return None if seen is None else (seen.kind, seen.odd)


def test_only_few_other_cells_are_told() -> None:
    assert found(["1", "2.5", "-3", "4e2", "x"]) == ("numeric", 1)
    assert found(["2020-01-01"] * 9 + ["NA"]) == ("date", 1)
    assert found(["1.2.1980 10:00"] * 9 + ["never"]) == ("date", 1)
    assert found(["1", "2", "3"]) is None
    assert found(["1", "2", "x"]) is None
    assert found(["a", "b", "1"]) is None


def test_a_date_is_here_what_it_is_to_whoever_reads_dates() -> None:
    found = nearly(
        pl.Series(["01.02.1980", "1 Feb 1980", "1980-02-01 8:00", "1/2-1980", "1.2.198"]),
        pl.Series([10, 10, 10, 1, 2]),
    )
    assert found is not None
    assert (found.kind, found.odd) == ("date", 3)
