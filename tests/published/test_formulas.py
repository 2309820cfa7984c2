"""Cells that a spreadsheet would run: said, and escaped on request without a change of meaning."""

import csv
import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import incrowd
from incrowd.cli.app import app
from incrowd.errors import PolicyError
from incrowd.published.escaping import escaped, runs, undone

ILLS = ["=1+1", "@SUM(A1:A9)", "Flu", "'quoted", "-5", "+x"]


def frame() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "=age": [str(30 + n % 4) for n in range(24)],
            "town": ["-a", "=b"] * 12,
            "ill": [ILLS[n % 6] for n in range(24)],
            "note": ["=cmd|' /C calc'!A0", "plain", "\tx", "5,=6"] * 6,
        }
    )


def policy(**more: Any) -> dict[str, Any]:
    listed = {"C": 0.9, "sensitive": "ill", "values": ["=1+1", "'quoted"]}
    return {
        "attributes": {"=age": "quasi", "town": "quasi", "ill": "sensitive", "note": "keep"},
        "privacy": [{"k-anonymity": {"k": 3}}, {"confidence-bounding": listed}],
        **more,
    }


def cells_of(folder: Path) -> list[str]:
    found: list[str] = []
    for path in folder.glob("*.csv"):
        with path.open(encoding="utf-8", newline="") as stream:
            found += [cell for row in csv.reader(stream) for cell in row]
    return found


def dangerous(cell: str) -> bool:
    """As a spreadsheet's makers describe it, without the package's own words."""
    return cell[:1] in tuple("=+-@\t\r") and not number(cell)


def number(cell: str) -> bool:
    """Whether a cell is a number as people and spreadsheets write it."""
    try:
        float(cell)
    except ValueError:
        return False
    return set(cell) <= set("+-.eE0123456789")


LAYOUTS = ["generalized", "anatomy", "lossy-join"]


def test_such_cells_are_said_by_column_and_number_and_never_shown(tmp_path: Path) -> None:
    release = incrowd.anonymize(frame(), policy())
    assert release.manifest["spreadsheet"] == {
        "escaped": False,
        "cells": {"town": 2, "ill": 3, "note": 2},
        "names": 1,
    }
    (said,) = release.remarks
    assert "3 in 'ill'" in said
    assert "spreadsheet: escape" in said
    assert "=1+1" not in said
    release.save(tmp_path / "release")
    assert any(map(dangerous, cells_of(tmp_path / "release"))), "nothing is changed unasked"
    assert incrowd.verify(tmp_path / "release").holds


def test_a_table_without_such_cells_says_nothing() -> None:
    plain = frame().rename({"=age": "age"}).select("age", ill=pl.lit("-5"))
    made = incrowd.anonymize(
        plain,
        {"attributes": {"age": "quasi", "ill": "keep"}, "privacy": [{"k-anonymity": {"k": 3}}]},
    )
    assert "spreadsheet" not in made.manifest
    assert made.remarks == ()


@pytest.mark.parametrize("publish", LAYOUTS)
def test_escaped_files_run_nothing_and_mean_the_same(publish: str, tmp_path: Path) -> None:
    made = {
        name: incrowd.anonymize(frame(), policy(publish=publish, **more))
        for name, more in {"bare": {}, "escaped": {"spreadsheet": "escape"}}.items()
    }
    for name, release in made.items():
        release.save(tmp_path / name)
    folder = tmp_path / "escaped"
    assert not any(map(dangerous, cells_of(folder)))
    assert {"'=1+1", "''quoted", "-5", "Flu", "'=age"} <= set(cells_of(folder))
    assert incrowd.verify(folder).holds
    opened = incrowd.open_release(folder)
    assert set(opened.tables) == set(made["escaped"].tables)
    for name, table in made["escaped"].tables.items():
        again = opened.tables[name]
        assert again.columns == table.columns
        assert again.sort(again.columns).equals(table.sort(table.columns))
    assert opened.query("ill = '=1+1'").count == pytest.approx(4)
    assert incrowd.evaluate(folder).seen == incrowd.evaluate(tmp_path / "bare").seen
    linked = incrowd.link(folder, frame(), on=["=age", "town"])
    assert (
        linked.matched_one
        == incrowd.link(tmp_path / "bare", frame(), on=["=age", "town"]).matched_one
    )


def test_rows_on_disk_are_escaped_too(tmp_path: Path) -> None:
    more = {"spreadsheet": "escape", "engine": "duckdb", "memory": "1GB"}
    incrowd.anonymize(frame(), policy(**more)).save(tmp_path / "release")
    assert not any(map(dangerous, cells_of(tmp_path / "release")))


def test_the_judge_still_sees_what_is_broken(tmp_path: Path) -> None:
    """A promise about an escaped value is judged by that value."""
    release = incrowd.anonymize(frame(), policy(spreadsheet="escape"))
    release.manifest["promises"][1]["parameters"]["C"] = 0.01
    with pytest.raises(incrowd.errors.VerificationError, match="confidence-bounding"):
        release.save(tmp_path / "release")


@pytest.mark.parametrize(
    ("old", "new"),
    [("'=1+1", "=1+1"), ("Flu", "'Flu"), ("'=age", "=age"), ("'=b", "=b")],
)
def test_files_that_are_not_escaped_as_stated_do_not_verify(
    tmp_path: Path, old: str, new: str
) -> None:
    folder = tmp_path / "release"
    incrowd.anonymize(frame(), policy(spreadsheet="escape")).save(folder, report=False)
    path = folder / "data.csv"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    forged(folder)
    assert not incrowd.verify(folder).holds


def test_undoing_joins_no_groups(tmp_path: Path) -> None:
    """Three cells `x` and one `'x` are two groups, however the manifest wants them read."""
    folder = tmp_path / "release"
    table = pl.DataFrame({"x": ["=x"] * 4, "y": ["a"] * 4})
    asked = {"attributes": {"x": "quasi", "y": "keep"}, "privacy": [{"k-anonymity": {"k": 4}}]}
    incrowd.anonymize(table, {**asked, "spreadsheet": "escape"}).save(folder, report=False)
    (folder / "data.csv").write_text("x,y\n'x,a\nx,a\nx,a\nx,a\n", encoding="utf-8")
    forged(folder)
    assert not incrowd.verify(folder).holds


def forged(folder: Path) -> None:
    """Digests as someone would write them who changed the table on purpose."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    data = (folder / "data.csv").read_bytes()
    entry = manifest["files"]["data.csv"]
    entry["sha256"], entry["bytes"] = hashlib.sha256(data).hexdigest(), len(data)
    del manifest["digest"]
    bare = json.dumps(manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    manifest["digest"] = hashlib.sha256(bare.encode()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def test_the_command_line_says_it(tmp_path: Path) -> None:
    frame().write_csv(tmp_path / "data.csv")
    listed = policy(source="data.csv", output="release")
    (tmp_path / "policy.yaml").write_text(json.dumps(listed), encoding="utf-8")
    found = CliRunner().invoke(app, ["anonymize", str(tmp_path / "policy.yaml")])
    assert found.exit_code == 0, found.output
    assert "3 in 'ill'" in " ".join(found.output.split())


@pytest.mark.parametrize("more", [{"format": "parquet"}, {"engine": "spark"}])
def test_escaping_is_refused_where_it_cannot_be_done(more: dict[str, Any]) -> None:
    with pytest.raises(PolicyError, match="CSV files"):
        incrowd.anonymize(frame(), policy(spreadsheet="escape", **more))


@given(st.text(st.sampled_from("=+-@'\t\r\n ＝a1.e5"), max_size=6))
def test_escaping_is_undone_exactly_and_leaves_nothing_to_run(text: str) -> None:
    assert undone(escaped(text)) == text
    assert not runs(escaped(text))
    assert not dangerous(escaped(text))


@pytest.mark.parametrize("text", ["-5", "+5", "-5.25", "1e5", "-1E-3", "a=b", "[1-2)", "*", ""])
def test_numbers_and_labels_are_left_as_they_are(text: str) -> None:
    assert escaped(text) == text
