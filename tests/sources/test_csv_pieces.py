"""A large text file comes in many frames, cut between records and nowhere else."""

import csv
import io
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.sources import as_source, read
from incrowd.sources import csv as text_files

cells = st.text(alphabet='ab,"\n é', max_size=6)
tables = st.lists(st.tuples(cells, cells), min_size=1, max_size=40)


@given(rows=tables, size=st.integers(1, 60))
def test_pieces_joined_are_the_whole(rows: list[tuple[str, str]], size: int) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([("x", "y"), *rows])
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        path = Path(folder) / "table.csv"
        path.write_text(written.getvalue(), encoding="utf-8", newline="")
        whole = read(path)
        patch.setattr(text_files, "_PIECE", size)
        pieces = list(as_source(path).pieces(None, {}))
    assert pl.concat(pieces).equals(whole)
    assert whole.height == len(rows)


def test_a_long_file_comes_in_several_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.csv"
    path.write_text("x,y\n" + "1,2\n" * 1_000, encoding="utf-8")
    monkeypatch.setattr(text_files, "_PIECE", 100)
    pieces = list(as_source(path).pieces(None, {}))
    assert len(pieces) > 10
    assert sum(piece.height for piece in pieces) == 1_000


def test_other_sources_come_whole() -> None:
    frame = pl.DataFrame({"x": [1, 2]})
    (piece,) = as_source(frame).pieces(None, {})
    assert piece.equals(frame)
