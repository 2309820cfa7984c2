"""SQLite by URL and query."""

from __future__ import annotations

import importlib
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from incrowd.errors import SourceError
from incrowd.sources import read

SCHEMA = """
CREATE TABLE patients (id INTEGER, zip TEXT, weight REAL, note TEXT);
INSERT INTO patients VALUES (1, '01234', 70.5, 'a'), (2, NULL, NULL, ''), (NULL, '99999', 80, 'c');
"""


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    return build(tmp_path, SCHEMA)


def build(folder: Path, script: str) -> Path:
    path = folder / "registry.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path


def url(path: Path) -> str:
    return f"sqlite:///{path}"


def refusal(path: Path, query: str, **options: Any) -> str:
    before = path.read_bytes()
    with pytest.raises(SourceError) as refused:
        read(url(path), query=query, **options)
    assert refused.value.__context__ is None
    assert path.read_bytes() == before
    assert "registry.db" in str(refused.value)
    return str(refused.value)


def test_a_query_gives_typed_columns(registry: Path) -> None:
    frame = read(url(registry), query="SELECT * FROM patients ORDER BY id")
    assert frame.to_dict(as_series=False) == {
        "id": [None, 1, 2],
        "zip": ["99999", "01234", None],
        "weight": [80.0, 70.5, None],
        "note": ["c", "a", None],
    }
    assert frame.dtypes == [pl.Int64, pl.String, pl.Float64, pl.String]


@pytest.mark.parametrize("end", ["", ";", " ; ", " -- all of them", ";\n-- all"])
def test_the_end_of_the_query_may_be_written_in_many_ways(registry: Path, end: str) -> None:
    assert read(url(registry), query=f"SELECT id AS n FROM patients{end}").height == 3


def test_a_relative_path_starts_here(registry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(registry.parent)
    assert read("sqlite:///registry.db", query="SELECT id FROM patients").height == 3


def test_a_path_with_odd_characters_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "année #1 100%"
    folder.mkdir()
    path = build(folder, SCHEMA)
    assert read(url(path), query="SELECT id FROM patients").height == 3


def test_chosen_columns_come_in_their_order(registry: Path) -> None:
    frame = read(url(registry), query="SELECT * FROM patients", columns=["zip", "id"])
    assert frame.columns == ["zip", "id"]
    message = refusal(registry, "SELECT * FROM patients", columns=["zap"])
    assert message == "No column 'zap' in the query of registry.db. Did you mean 'zip'?"


def test_types_are_seen_in_all_records_not_in_the_first_ones(tmp_path: Path) -> None:
    rows = ",".join(["(NULL, 1, 1)"] * 70_000)
    path = build(
        tmp_path,
        f"CREATE TABLE t (a, b, c); INSERT INTO t VALUES {rows}, ('Ann', 2.5, 'x');",
    )
    frame = read(url(path), query="SELECT * FROM t")
    assert frame.dtypes == [pl.String, pl.Float64, pl.String]
    assert frame.row(-1) == ("Ann", 2.5, "x")
    assert frame.row(0) == (None, 1.0, "1")


@pytest.mark.parametrize("values", ["('Ann'), (2.123456789)", "(2.123456789), ('Ann')"])
def test_text_mixed_with_floats_is_refused(tmp_path: Path, values: str) -> None:
    path = build(tmp_path, f'CREATE TABLE t ("a ""b"); INSERT INTO t VALUES {values};')
    assert "column 'a \"b' mixes text and floating-point" in refusal(path, "SELECT * FROM t;")
    frame = read(url(path), query='SELECT CAST("a ""b" AS TEXT) AS a FROM t')
    assert set(frame["a"]) == {"Ann", "2.123456789"}


def test_text_that_looks_like_a_rounded_float_is_text(tmp_path: Path) -> None:
    path = build(tmp_path, "CREATE TABLE t (a); INSERT INTO t VALUES ('1.500000e+00'), ('Ann');")
    assert read(url(path), query="SELECT * FROM t")["a"].to_list() == ["1.500000e+00", "Ann"]


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = build(
        tmp_path,
        "CREATE TABLE t (a); INSERT INTO t VALUES (CAST(x'4dfc' AS TEXT));",
    )
    assert "column 'a' holds text that is not UTF-8" in refusal(path, "SELECT * FROM t")


@pytest.mark.parametrize("values", ["('Ann'), (x'00ff')", "(x'00ff'), ('Ann')", "(x'00ff')"])
def test_binary_cells_are_refused(tmp_path: Path, values: str) -> None:
    path = build(tmp_path, f"CREATE TABLE t (a); INSERT INTO t VALUES {values};")
    message = refusal(path, "SELECT * FROM t")
    assert "binary" in message or "not UTF-8" in message
    assert "Ann" not in message


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FROM patient", "no such table: patient"),
        ("SELECT ages FROM patients", "no such column: ages"),
        ("SELECT 1 +", "incomplete input"),
        ("DELETE FROM patients", "must be one SELECT"),
        ("CREATE TABLE x (a)", "must be one SELECT"),
        ("SELECT 1; DROP TABLE patients", "more than one statement"),
        ("SELECT * FROM patients WHERE id > 5", "returns no records"),
        ("SELECT id, zip AS id FROM patients", "2 columns named 'id' (columns 1, 2)"),
        ('SELECT id AS "" FROM patients', "column 1 has no name"),
        ("SELECT json_extract(zip || 'Ann', '$.a') FROM patients", "in the middle of the query"),
        ("-- nothing", ""),
    ],
)
def test_bad_queries_get_the_words_of_the_database_but_no_cell(
    registry: Path, query: str, message: str
) -> None:
    said = refusal(registry, query)
    assert message in said
    assert "Ann" not in said
    assert "01234" not in said


def test_a_database_that_cannot_be_reached(tmp_path: Path) -> None:
    (tmp_path / "registry.db").touch()
    (tmp_path / "text.db").write_text("id,age\n1,2\n" * 100)
    (tmp_path / "folder.db").mkdir()
    for name, message in (
        ("registri.db", "Did you mean 'registry.db'"),
        ("registry.db", "is empty"),
        ("text.db", "text.db is not an SQLite database"),
        ("folder.db", "is a folder"),
    ):
        with pytest.raises(SourceError, match=message):
            read(url(tmp_path / name), query="SELECT 1")
    assert not (tmp_path / "registri.db").exists()


def test_a_damaged_database_is_refused(tmp_path: Path) -> None:
    path = build(tmp_path, "CREATE TABLE t (a); INSERT INTO t VALUES ('Ann');")
    content = bytearray(path.read_bytes())
    content[100:4096] = b"\xff" * 3996
    path.write_bytes(content)
    assert "Ann" not in refusal(path, "SELECT * FROM t")


@pytest.mark.parametrize("bad", ["sqlite://", "sqlite:///", "sqlite://registry.db"])
def test_a_url_without_path_is_refused_with_its_form(bad: str) -> None:
    with pytest.raises(SourceError, match=r"sqlite:///file\.db"):
        read(bad, query="SELECT 1")


@pytest.mark.parametrize("absent", ["pyarrow", "adbc_driver_sqlite.dbapi"])
def test_without_the_driver_the_command_to_install_it_is_told(
    registry: Path, monkeypatch: pytest.MonkeyPatch, absent: str
) -> None:
    found = importlib.import_module

    def find(name: str) -> Any:
        if name == absent:
            raise ModuleNotFoundError(name)
        return found(name)

    monkeypatch.setattr(importlib, "import_module", find)
    with pytest.raises(SourceError, match=r"pip install 'incrowd\[databases\]'"):
        read(url(registry), query="SELECT 1")


def test_a_file_with_a_log_of_changes_gets_no_file_at_its_side(tmp_path: Path) -> None:
    path = build(
        tmp_path, "PRAGMA journal_mode = wal; CREATE TABLE t (a); INSERT INTO t VALUES (1);"
    )
    beside = sorted(each.name for each in tmp_path.iterdir())
    assert read(f"sqlite:///{path}", query="t").rows() == [(1,)]
    assert sorted(each.name for each in tmp_path.iterdir()) == beside == [path.name]
    with closing(sqlite3.connect(path)) as other:  # its log is not in the file yet
        other.execute("INSERT INTO t VALUES (2)")
        other.commit()
        assert read(f"sqlite:///{path}", query="t").rows() == [(1,), (2,)]
