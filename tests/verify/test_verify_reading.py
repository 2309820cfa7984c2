"""Published cells are read as they stand: every text kept, the empty one missing."""

from __future__ import annotations

import io
import itertools
import tempfile
from pathlib import Path

import polars as pl
import pytest
from handmade_release import SAID, csv_text, in_order, make_release
from hypothesis import example, given, settings
from hypothesis import strategies as st

from incrowd.verify import Verdict, verify

ANY = {
    "model": "beta-likeness",
    "parameters": {"beta": 1e9, "kind": "basic", "sensitive": "ill"},
}
"""A promise that every table of a few records keeps."""
COLUMNS = ("age", "ill")
cells = st.one_of(
    st.sampled_from(("", " ", "NULL", "NA", "nan", "0", "00", "a", "A", "é", "\\N", "#", "'", '"')),
    st.text(st.characters(codec="utf-8"), max_size=3),
)
tables = st.lists(st.tuples(cells, cells), min_size=1, max_size=12)


def judged(rows: list[tuple[str, str]], data: bytes, name: str = "data.csv") -> Verdict:
    with tempfile.TemporaryDirectory() as folder:
        return verify(
            make_release(
                Path(folder), COLUMNS, rows, quasi=COLUMNS, promises=[ANY], data=data, name=name
            )
        )


def check_against_python(verdict: Verdict, rows: list[tuple[str, str]]) -> None:
    keys = [tuple(cell.encode() for cell in row) for row in rows]
    misplaced = sum(after < before for before, after in itertools.pairwise(keys))
    failing = [
        finding.promise
        for finding in verdict.findings
        if not finding.holds and finding.promise != SAID
    ]
    assert failing == (["rows are in sorted order"] if misplaced else [])
    sizes = [rows.count(row) for row in set(rows)]
    assert verdict.groups["count"] == len(sizes)
    assert (verdict.groups["smallest"], verdict.groups["largest"]) == (min(sizes), max(sizes))
    if misplaced:
        (order,) = [f for f in verdict.findings if f.promise == "rows are in sorted order"]
        assert order.detail.startswith(f"{misplaced} row")


@settings(max_examples=40)
@given(rows=tables)
@example(rows=[("", ""), ("", "a"), ("NULL", "NA"), ("a,b", 'say "x"'), ("two\nlines", "c\rr")])
@example(rows=[("\x00", ""), ("", "")])
def test_csv_keeps_every_text_and_orders_it_bytewise(rows: list[tuple[str, str]]) -> None:
    check_against_python(judged(rows, csv_text(COLUMNS, rows)), rows)


def test_the_order_of_a_file_larger_than_any_buffer_is_judged_row_by_row() -> None:
    numbers = [f"{number:07d}" for number in range(400_000) for _ in range(2)]
    numbers[345_678], numbers[345_680] = numbers[345_680], numbers[345_678]
    rows = [(number, "x" * 40) for number in numbers]
    found = {f.promise: f for f in judged(rows, csv_text(COLUMNS, rows)).findings}
    assert not found["rows are in sorted order"].holds
    assert found["rows are in sorted order"].detail.startswith("1 row stands after a row")
    assert found["records fall into groups"].measured["count"] == 400_000


@settings(max_examples=20)
@given(rows=tables)
def test_parquet_is_judged_like_csv(rows: list[tuple[str, str]]) -> None:
    frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    frame = frame.with_columns(pl.all().replace("", None))
    written = io.BytesIO()
    frame.write_parquet(written)
    check_against_python(judged(rows, written.getvalue(), "data.parquet"), rows)


@settings(max_examples=20)
@given(rows=tables)
def test_csv_written_by_polars_is_read_back(rows: list[tuple[str, str]]) -> None:
    written = io.BytesIO()
    frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    frame.with_columns(pl.all().replace("", None)).write_csv(written)
    check_against_python(judged(rows, written.getvalue()), rows)


def test_missing_is_a_value_of_its_own_in_quasi_and_sensitive_columns(tmp_path: Path) -> None:
    rows = in_order([("", "x"), ("", ""), ("*", "x"), ("*", "")])
    two = {"model": "l-diversity", "parameters": {"l": 2, "kind": "distinct", "sensitive": "ill"}}
    made = make_release(tmp_path, COLUMNS, rows, quasi=("age",), sensitive=("ill",), promises=[two])
    verdict = verify(made)
    assert verdict.holds
    assert verdict.groups == {"count": 2, "smallest": 2, "average": 2.0, "largest": 2}


def test_a_single_column_may_have_empty_cells(tmp_path: Path) -> None:
    made = make_release(tmp_path, ["age"], [[""], [""], ["1"], ["1"]], quasi=["age"])
    assert verify(made).holds
    assert verify(made).groups["count"] == 2


def test_many_columns(tmp_path: Path) -> None:
    columns = [f"column {number}" for number in range(300)]
    made = make_release(tmp_path, columns, [["1"] * 300] * 3, quasi=columns[:200])
    assert verify(made).holds


def test_column_names_may_hold_anything(tmp_path: Path) -> None:
    columns = ["it's", 'a "b", c', "two\nlines", "; DROP TABLE records; --"]
    promise = {
        "model": "l-diversity",
        "parameters": {"l": 2, "kind": "distinct", "sensitive": columns[3]},
    }
    rows = [["1", "2", "3", "4"], ["1", "2", "3", "5"]]
    made = make_release(
        tmp_path, columns, rows, quasi=columns[:3], sensitive=columns[3:], promises=[promise]
    )
    assert verify(made).holds


@pytest.mark.parametrize(
    "name", ["a[1]", "b*c", "q?r", "year=2020", "c0=5", "it's", "{x,y}", "ü n"]
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_folder_may_have_any_name(tmp_path: Path, name: str, kind: str) -> None:
    # A pattern in place of a name would read the decoys, or nothing.
    rows = [("1", "x"), ("1", "x")]
    data = None
    if kind == "parquet":
        written = io.BytesIO()
        pl.DataFrame(rows, schema=COLUMNS, orient="row").write_parquet(written)
        data = written.getvalue()
    for folder in (name, "a1", "bXc", "qxr", "x", "y"):
        made = make_release(
            tmp_path / folder, COLUMNS, rows, quasi=COLUMNS, data=data, name=f"data.{kind}"
        )
        if folder != name:
            (made / f"data.{kind}").write_bytes(b"decoy")
    assert verify(tmp_path / name).holds


def test_a_long_line_is_read(tmp_path: Path) -> None:
    label = "{" + "|".join(f"{number:06}" for number in range(500_000)) + "}"
    made = make_release(tmp_path, COLUMNS, [(label, "x"), (label, "x")], quasi=["age"])
    assert len(label) > 3_000_000
    assert verify(made).holds


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "has no header row"),
        (b"\n", "has no header row"),
        (b"age,ill\n1,2\n3\n", "is not a whole table near line 3"),
        (b"age,ill\n1,2\n3,4,5\n", "is not a whole table near line 3"),
        (b'age,ill\n1,2\n3,"4\n', "is not a whole table near line 3"),
        (b"age,ill\n1,\xff\n", "is not "),
        (b"\xff\xfe,ill\n1,2\n", "is not text in UTF-8"),
        (b"age,ill\r\n1,2\r\n", "carriage return"),
        (b"age,age\n1,2\n", "names one column twice"),
        (b'"age"x,ill\n1,2\n', "has no readable header row"),
        (bytes(range(256)) * 50, "is not "),
    ],
)
def test_an_unreadable_csv_fails_without_a_traceback(data: bytes, reason: str) -> None:
    verdict = judged([("1", "2"), ("3", "4")], data)
    failing = {finding.promise: finding.detail for finding in verdict.findings if not finding.holds}
    assert reason in failing["data can be read"]
    (told,) = (detail for promise, detail in failing.items() if promise.startswith("beta"))
    assert told.startswith("cannot judge")
    assert verdict.groups == {}


def test_a_byte_order_mark_is_not_part_of_a_column() -> None:
    verdict = judged([("1", "2")], b"\xef\xbb\xbfage,ill\n1,2\n")
    failing = [finding.promise for finding in verdict.findings if not finding.holds]
    assert "columns are the promised ones" in failing


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1" + b"x" * 100 + b"PAR1", b"age,ill\n1,2\n"])
def test_an_unreadable_parquet_fails_without_a_traceback(data: bytes) -> None:
    verdict = judged([("1", "2")], data, "data.parquet")
    assert "data can be read" in [f.promise for f in verdict.findings if not f.holds]


def test_a_nested_parquet_column_is_refused() -> None:
    written = io.BytesIO()
    pl.DataFrame({"age": ["1"], "ill": [["x", "y"]]}).write_parquet(written)
    verdict = judged([("1", "2")], written.getvalue(), "data.parquet")
    (found,) = [f for f in verdict.findings if f.promise == "data can be read"]
    assert not found.holds
    assert "nested" in found.detail
