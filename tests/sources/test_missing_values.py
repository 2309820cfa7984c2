"""Cells that mean missing are the same as empty ones, on every way a text file is read."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import incrowd
from incrowd.errors import ParameterError, PolicyError
from incrowd.policy import Policy
from incrowd.sources import as_source, read

MARKED = "age,sex,ill\n" + "30,F,NA\nNA,M,Flu\n ? ,F,Flu\n40,M,999\n" * 10
EMPTY = MARKED.replace("NA", "").replace(" ? ", "").replace("999", "")
MARKS = ["NA", "?", "999"]
POLICY = {
    "attributes": {"age": {"role": "quasi", "type": "numeric"}, "sex": "quasi", "ill": "sensitive"},
    "privacy": [{"k-anonymity": {"k": 2}}],
    "unit": "row",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "marked.csv").write_text(MARKED)
    (tmp_path / "empty.csv").write_text(EMPTY)
    return tmp_path


def test_marked_cells_are_missing(folder: Path) -> None:
    expected = read(folder / "empty.csv")
    assert read(folder / "marked.csv", missing_values=MARKS).equals(expected)
    assert pl.concat(
        as_source(folder / "marked.csv").pieces(None, {"missing_values": MARKS})
    ).equals(expected)
    assert read(folder / "marked*.csv", missing_values=MARKS).equals(expected)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_the_release_is_that_of_empty_cells(folder: Path, engine: str) -> None:
    policy = {**POLICY, "engine": engine}
    marked = {**policy, "missing-values": ["NA", "?", 999]}
    found = incrowd.anonymize(folder / "marked.csv", marked).data
    expected = incrowd.anonymize(folder / "empty.csv", policy).data
    assert found.equals(expected)


def test_only_text_files_have_them(folder: Path) -> None:
    with pytest.raises(ParameterError, match="missing-values: is for text files only"):
        incrowd.anonymize(read(folder / "empty.csv"), {**POLICY, "missing-values": ["NA"]})
    with pytest.raises(PolicyError, match="missing-values"):
        Policy.from_mapping({**POLICY, "missing-values": []})
