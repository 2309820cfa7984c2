"""Frames to files: whole or not at all."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import OutputError
from incrowd.sources import _writing as writing
from incrowd.sources import read, write

TEXT = st.text(st.characters(exclude_categories=["Cs"], min_codepoint=1), min_size=1)


@given(
    rows=st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.tuples(*[st.none() | TEXT | st.text(',;"\r\n\t |', min_size=1)] * width),
            min_size=1,
            max_size=10,
        )
    ),
    ending=st.sampled_from(["csv", "tsv", "parquet"]),
)
def test_what_is_written_is_read_again(scratch: Path, rows: list[Any], ending: str) -> None:
    names = [f"c{number}" for number in range(len(rows[0]))]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    path = scratch / f"written.{ending}"
    write(frame, path)
    options: dict[str, Any] = (
        {"separator": "," if ending == "csv" else "\t"} if ending != "parquet" else {}
    )
    assert read(path, **options).equals(frame)


def test_csv_is_comma_utf8_newline_and_empty_for_missing(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "name": ["Zoë", None, 'a "b", c'],
            "age": [1, None, 3],
            "born": [dt.date(1950, 1, 2), None, None],
        }
    )
    write(frame, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_bytes() == (
        'name,age,born\nZoë,1,1950-01-02\n,,\n"a ""b"", c",3,\n'.encode()
    )


def test_a_single_missing_cell_is_no_empty_line(tmp_path: Path) -> None:
    write(pl.DataFrame({"age": [1, None]}), str(tmp_path / "a.csv"))
    assert (tmp_path / "a.csv").read_bytes() == b'age\n1\n""\n'


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "pq", "CSV"])
def test_an_older_file_is_replaced_and_nothing_else_left(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_text("old")
    write(pl.DataFrame({"a": ["1"], "b": ["2"]}), path)
    assert read(path).rows() == [("1", "2")]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["a.xlsx", "a", "a.csv.gz", "a.txt"])
def test_an_unknown_ending_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(OutputError, match=r"\.csv, \.tsv, \.parquet and \.pq"):
        write(pl.DataFrame({"a": [1]}), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_folder_in_the_way_or_missing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(OutputError, match="a folder of this name exists"):
        write(pl.DataFrame({"a": [1]}), tmp_path / "a.csv")
    with pytest.raises(OutputError, match="there is no folder"):
        write(pl.DataFrame({"a": [1]}), tmp_path / "nowhere" / "a.csv")


class Interrupted(BaseException):
    pass


@pytest.mark.parametrize(
    ("trouble", "raised"),
    [
        (OSError(28, "No space left on device"), OutputError),
        (pl.exceptions.ComputeError("Ann"), OutputError),
        (Interrupted(), Interrupted),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_trouble_in_the_middle_leaves_the_old_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    trouble: BaseException,
    raised: type[BaseException],
) -> None:
    def half(file: Any, *_: Any) -> None:
        file.write(b"a\nhalf")
        raise trouble

    path = tmp_path / "a.csv"
    path.write_text("old")
    monkeypatch.setattr(writing, "_write_to", half)
    with pytest.raises(raised) as stopped:
        write(pl.DataFrame({"a": [1]}), path)
    assert "Ann" not in str(stopped.value)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_columns_without_plain_cells_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="no plain cells"):
        write(pl.DataFrame({"a": [[1, 2]]}), tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())
