"""The one door: which source goes where, and which options fit it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from incrowd.errors import ParameterError, SourceError
from incrowd.sources import read

ROWS = [("1", "30"), ("2", None)]


@pytest.mark.parametrize(
    "name", ["a.csv", "a.CSV", "a.b.csv", "a.tsv", "a.txt", "a.parquet", "a.PQ"]
)
@pytest.mark.parametrize("kind", [str, Path])
def test_the_ending_decides(tmp_path: Path, name: str, kind: type) -> None:
    frame = pl.DataFrame(ROWS, schema=["id", "age"], orient="row")
    path = tmp_path / name
    if path.suffix.lower() in (".parquet", ".pq"):
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator="\t" if path.suffix == ".tsv" else ",")
    assert read(kind(path)).rows() == ROWS


@pytest.mark.parametrize("name", ["a.xlsx", "a.json", "a", "a.gz", "a.parquet.gz", "a.csv.zip"])
def test_an_unknown_ending_is_refused_with_those_that_are_known(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("id\n1\n")
    with pytest.raises(SourceError, match=r"not supported.*\.csv, \.tsv and \.txt.*\.parquet"):
        read(tmp_path / name)


def test_a_file_that_does_not_exist_comes_before_its_ending(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="No file"):
        read(tmp_path / "a.xlsx")


def test_a_query_needs_a_database(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id\n1\n")
    for source in (tmp_path / "a.csv", pl.DataFrame({"id": [1]})):
        with pytest.raises(SourceError, match="A query needs a database"):
            read(source, query="SELECT 1")


def test_a_database_needs_a_query() -> None:
    for query in (None, "", " \n"):
        with pytest.raises(SourceError, match=r"registry\.db is a database: .* query"):
            read("sqlite:///registry.db", query=query)


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("mysql://ann:s3cret@host/registry", "sqlite:///file.db"),
        ("postgresq://ann:s3cret@host/registry", "Did you mean 'postgresql'"),
        ("postgresql+psycopg://ann:s3cret@host/db", "postgresql://user@host"),
        ("https://ann:s3cret@host/patients.csv", "by its path"),
    ],
)
def test_an_unknown_database_is_refused(url: str, hint: str) -> None:
    with pytest.raises(SourceError) as refused:
        read(url, query="SELECT 1")
    assert hint in str(refused.value)
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("option", ["separator", "encoding"])
def test_options_of_text_files_fit_no_other_source(tmp_path: Path, option: str) -> None:
    pl.DataFrame({"id": [1]}).write_parquet(tmp_path / "a.parquet")
    options: dict[str, Any] = {option: ";"}
    for source in (tmp_path / "a.parquet", pl.DataFrame({"id": [1]}), "sqlite:///a.db"):
        with pytest.raises(ParameterError, match=option):
            read(source, **options)


@pytest.mark.parametrize("columns", ["id", [], ["id", "id"], [1]])
def test_columns_must_be_a_list_of_different_names(columns: Any) -> None:
    with pytest.raises(ParameterError, match="columns"):
        read(pl.DataFrame({"id": [1]}), columns=columns)


def test_a_home_folder_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a.csv").write_text("id\n1\n")
    assert read("~/a.csv").rows() == [("1",)]
