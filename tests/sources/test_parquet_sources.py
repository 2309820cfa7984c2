"""Parquet files: types kept, damaged and nested files refused."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd.errors import SourceError
from incrowd.sources import read


def test_types_are_kept(tmp_path: Path) -> None:
    columns = {
        "id": [1, 2],
        "share": [0.5, None],
        "name": ["01234", None],
        "alive": [True, None],
        "born": [dt.date(1950, 2, 3), None],
        "seen": [dt.datetime(2024, 2, 29, 13, 5), None],
    }
    pl.DataFrame(columns).with_columns(pl.col("name").cast(pl.Categorical)).write_parquet(
        tmp_path / "a.parquet"
    )
    frame = read(tmp_path / "a.parquet")
    assert frame.to_dict(as_series=False) == columns
    assert frame.schema["name"] == pl.String


def test_chosen_columns_come_in_their_order(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1], "*": [2], "c": [[3]]}).write_parquet(tmp_path / "a.pq")
    assert read(tmp_path / "a.pq", columns=["*", "a"]).to_dict(as_series=False) == {
        "*": [2],
        "a": [1],
    }
    with pytest.raises(SourceError, match=r"No column 'b' in a\.pq"):
        read(tmp_path / "a.pq", columns=["b"])


def test_nested_columns_are_refused_by_name(tmp_path: Path) -> None:
    pl.DataFrame({"id": [1], "visits": [[1, 2]], "home": [{"zip": "1"}]}).write_parquet(
        tmp_path / "a.parquet"
    )
    found = r"'visits' \(lists\) and 'home' \(structs\) have no plain"
    with pytest.raises(SourceError, match=found):
        read(tmp_path / "a.parquet")


@pytest.mark.parametrize("kept", [1, 5, 20, 200, -1, -8])
def test_a_truncated_file_is_refused(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame({"id": range(1000), "name": ["Ann"] * 1000}).write_parquet(path)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(SourceError, match=r"a\.parquet (is cut off|is not a Parquet file)"):
        read(path)


@pytest.mark.parametrize("where", ["pages", "footer"])
def test_a_damaged_file_is_refused(tmp_path: Path, where: str) -> None:
    path = tmp_path / "a.parquet"
    pl.DataFrame({"id": range(1000), "name": ["Ann"] * 1000}).write_parquet(path)
    content = bytearray(path.read_bytes())
    start = 4 if where == "pages" else len(content) - 60
    content[start : start + 40] = b"\xff" * 40
    path.write_bytes(content)
    with pytest.raises(SourceError, match="is damaged") as refused:
        read(path)
    assert refused.value.__context__ is None


def test_another_file_under_the_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("id,age\n1,2\n")
    with pytest.raises(SourceError, match="not a Parquet file in spite of its name"):
        read(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table([[1], [2]], names=["a", "a"]), "several columns of the same name"),
        (pa.table({"": [1], "b": [2]}), "column 1 has no name"),
        (pa.table({"a": pa.array([], pa.int64())}), "no records"),
        (pa.table({}), "no columns"),
        (pa.table({f"c{number}": [1] for number in range(2001)}), "2,001 columns"),
    ],
)
def test_names_and_records_are_checked(tmp_path: Path, table: pa.Table, message: str) -> None:
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(SourceError, match=message):
        read(tmp_path / "a.parquet")


def test_the_nameless_index_of_pandas_is_left_out(tmp_path: Path) -> None:
    pd.DataFrame({"a": [1, 2]}, index=["p", "q"]).to_parquet(tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").columns == ["a"]


def test_missing_empty_and_folder(tmp_path: Path) -> None:
    (tmp_path / "empty.parquet").touch()
    (tmp_path / "folder.parquet").mkdir()
    for name, message in (
        ("empty.parquet", "is empty"),
        ("folder.parquet", "is a folder"),
        ("emty.parquet", "Did you mean 'empty.parquet'"),
    ):
        with pytest.raises(SourceError, match=message):
            read(tmp_path / name)


def test_a_name_with_wildcards_is_just_a_name(tmp_path: Path) -> None:
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "a[1]*.parquet")
    pl.DataFrame({"a": [2]}).write_parquet(tmp_path / "a1.parquet")
    assert read(tmp_path / "a[1]*.parquet").rows() == [(1,)]
