"""DuckDB files by URL and query, or the name of a table."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import incrowd
from incrowd.engines.choice import choose
from incrowd.errors import IncrowdError, ParameterError, SourceError
from incrowd.sources import as_source, duckdb_files, read
from incrowd.sources.duckdb_files import Duckdb
from incrowd.sources.source import Selection

SCRIPT = """
CREATE TABLE patients (id INTEGER, zip VARCHAR, weight DOUBLE, seen DATE, note VARCHAR);
INSERT INTO patients VALUES
    (1, '01234', 70.5, '2024-02-29', 'a'), (2, NULL, NULL, NULL, ''), (NULL, '99999', 80, NULL, 'c')
"""
SECRET = "Jane Doe"


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    return build(tmp_path, SCRIPT)


def build(folder: Path, script: str) -> Path:
    path = folder / "registry.duckdb"
    with closing(duckdb.connect(str(path))) as connection:
        connection.execute(script)
    return path


def url(path: Path) -> str:
    return f"duckdb:///{path}"


def refusal(path: Path, query: str | None, **options: Any) -> str:
    """What is said of a source that cannot be read, in one piece or in several."""
    before = path.read_bytes() if path.is_file() else b""
    with pytest.raises(SourceError) as refused:
        read(url(path), query=query, **options)
    assert refused.value.__context__ is None
    with pytest.raises(SourceError) as again:
        list(as_source(url(path)).pieces(query, {}))
    assert again.value.__context__ is None
    if not options:
        assert str(again.value) == str(refused.value)
    assert (path.read_bytes() if path.is_file() else b"") == before
    return str(refused.value)


@pytest.mark.parametrize(
    "query",
    ["patients", " main.patients ", '"patients"', "SELECT * FROM patients", "FROM patients;",
     "SELECT * FROM patients -- all", "WITH p AS (FROM patients) SELECT * FROM p"],
)  # fmt: skip
def test_a_table_or_a_query_gives_typed_columns(registry: Path, query: str) -> None:
    frame = read(url(registry), query=query)
    assert frame.to_dict(as_series=False) == {
        "id": [1, 2, None],
        "zip": ["01234", None, "99999"],
        "weight": [70.5, None, 80.0],
        "seen": [pl.Series(["2024-02-29"]).str.to_date()[0], None, None],
        "note": ["a", None, "c"],
    }
    assert frame.dtypes == [pl.Int32, pl.String, pl.Float64, pl.Date, pl.String]


def test_columns_are_chosen_and_ordered(registry: Path) -> None:
    assert read(url(registry), query="patients", columns=["zip", "id"]).columns == ["zip", "id"]
    with pytest.raises(SourceError, match=r"No column 'zap' in the query of registry.*'zip'"):
        read(url(registry), query="patients", columns=["zap"])


def test_pieces_are_the_whole_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = build(
        tmp_path, "CREATE TABLE t AS SELECT range AS n, 'x' || range AS s FROM range(9000)"
    )
    monkeypatch.setattr(duckdb_files, "_AT_ONCE", 2048)
    pieces = list(as_source(url(path)).pieces("t", {}))
    assert len(pieces) > 3
    assert pl.concat(pieces).equals(read(url(path), query="t"))


def test_numbers_are_written_alike_in_all_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How a cell is written hangs on all cells of its column, also those of later pieces."""
    path = build(
        tmp_path,
        """CREATE TABLE t AS SELECT
            range::DOUBLE AS whole,
            CASE WHEN range = 8999 THEN 0.5 ELSE range END::DOUBLE AS half,
            range::DECIMAL(18, 3) AS whole_decimal,
            CASE WHEN range = 8999 THEN 0.5 ELSE 1 END::DECIMAL(18, 3) AS decimal,
            (123456789012345 + range)::DECIMAL(18, 3) AS long_decimal,
            CASE WHEN range = 8999 THEN 123456789012345.125 ELSE 1 END::DECIMAL(18, 3) AS too_long,
            range::HUGEINT AS huge,
            '12345678901234567890'::HUGEINT AS huger,
            TIMESTAMP '2024-01-01' + INTERVAL (range) DAY AS day,
            TIMESTAMP '2024-01-01' + INTERVAL (range) HOUR AS hour,
            'nan'::DOUBLE AS nothing
        FROM range(9000)""",
    )
    monkeypatch.setattr(duckdb_files, "_AT_ONCE", 2048)
    first, *_, last = as_source(url(path)).pieces("t", {})
    assert first.schema == last.schema
    assert first.row(1) == (
        1, "1.0", 1, "1.0", 123456789012346, "1.000", 1, "12345678901234567890",
        pl.Series(["2024-01-02"]).str.to_date()[0], "2024-01-01T01:00:00.000000", None,
    )  # fmt: skip
    assert last.row(-1)[1] == "0.5"


def test_a_query_that_changes_its_mind_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = build(tmp_path, "CREATE TABLE t AS SELECT 1 AS n FROM range(50)")
    query = "SELECT CASE WHEN random() < 0.02 THEN 0.5 ELSE 1.0 END::DOUBLE AS n FROM t"
    said = set()
    for _ in range(60):
        try:
            list(as_source(url(path)).pieces(query, {}))
        except SourceError as error:
            said.add(str(error))
    assert len(said) == 1
    assert "gives other records each time" in said.pop()


@pytest.mark.parametrize(
    ("script", "column"),
    [
        ("SELECT [1] AS a", "lists"),
        ("SELECT {'x': 1} AS a", "structs"),
        ("SELECT 'a'::BLOB AS a", "binary"),
        ("SELECT INTERVAL 1 DAY AS a", "durations"),
    ],
)
def test_columns_without_plain_cells_are_refused(registry: Path, script: str, column: str) -> None:
    assert column in refusal(registry, script)


def test_enumerations_and_other_types_become_plain(registry: Path) -> None:
    query = (
        "SELECT 'x'::ENUM('x', 'y') AS e, TIME '10:00' AS t, true AS b, NULL AS n,"
        " 'c0ffee00-0000-0000-0000-000000000000'::UUID AS u"
    )
    frame = read(url(registry), query=query)
    assert frame.row(0) == ("x", "10:00:00", True, None, "c0ffee00-0000-0000-0000-000000000000")
    assert next(as_source(url(registry)).pieces(query, {})).equals(frame)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (None, "say which records to read"),
        ("  ", "say which records to read"),
        ("SELEC 1", "must be one SELECT"),
        ("SELECT 1 +", "DuckDB refuses the query: Parser Error"),
        ("SELECT nope FROM patients", 'column "nope" not found'),
        ("patient", 'Did you mean "patients"'),
        ("SELECT 1; SELECT 2", "must be one SELECT"),
        ("DROP TABLE patients", "must be one SELECT"),
        ("INSERT INTO patients (id) VALUES (9)", "must be one SELECT"),
        ("SET memory_limit = '9GB'", "must be one SELECT"),
        ("COPY patients TO 'copy.csv'", "must be one SELECT"),
        ("ATTACH 'other.duckdb'", "must be one SELECT"),
        ("INSTALL httpfs", "must be one SELECT"),
        ("LOAD httpfs", "must be one SELECT"),
        ("SELECT * FROM patients WHERE id = 7", "returns no records"),
        ("SELECT id, id FROM patients", "2 columns named 'id'"),
    ],
)
def test_bad_queries_are_refused(registry: Path, query: str | None, expected: str) -> None:
    assert expected in refusal(registry, query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_csv('{}')",
        "SELECT * FROM read_csv_auto('{}')",
        "SELECT * FROM read_text('{}')",
        "SELECT * FROM read_blob('{}')",
        "SELECT * FROM read_json('{}')",
        "SELECT * FROM read_parquet('{}')",
        "SELECT * FROM glob('{}')",
        "SELECT * FROM '{}'",
        "SELECT * FROM query('SELECT * FROM read_text(''{}'')')",
        "SELECT (SELECT content FROM read_text('{}')) AS a",
        "SELECT * FROM 'https://example.org/patients.parquet'",
        "SELECT * FROM sqlite_scan('{}', 'patients')",
        "SELECT name FROM duckdb_secrets()",
    ],
)
def test_nothing_outside_the_file_is_read(
    tmp_path: Path, registry: Path, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside.csv"
    outside.write_text(f"name\n{SECRET}\n")
    told = refusal(registry, query.format(outside))
    assert SECRET not in told
    refusals = ("nothing but this database", "refuses the query", "reaches beyond the tables")
    assert any(each in told for each in refusals)
    # The database itself refuses it too, were the query not read before.
    monkeypatch.setattr(Duckdb, "select", lambda _, unread: unread)
    with pytest.raises(SourceError) as refused:
        Duckdb(url(registry)).frame(Selection(query.format(outside)))
    assert SECRET not in str(refused.value)
    assert any(each in str(refused.value) for each in refusals[:2])


def test_variables_of_the_program_are_not_tables(registry: Path) -> None:
    frame = pl.DataFrame({"name": [SECRET]})
    assert "does not exist" in refusal(registry, "frame")
    assert frame.height == 1


def test_no_error_shows_a_cell(tmp_path: Path) -> None:
    path = build(tmp_path, f"CREATE TABLE t AS SELECT '{SECRET}' AS name FROM range(3)")
    for query in (
        "SELECT name::INTEGER AS n FROM t",
        "SELECT name::DATE AS n FROM t",
        "SELECT error(name) AS n FROM t",
    ):
        told = refusal(path, query)
        assert SECRET not in told
        assert "registry.duckdb" in told


def test_a_missing_file_is_named_with_the_nearest(registry: Path) -> None:
    told = refusal(registry.with_name("registri.duckdb"), "patients")
    assert "Did you mean 'registry.duckdb'?" in told


@pytest.mark.parametrize("content", [b"id,zip\n1,2\n", b"SQLite format 3\0" + b"\0" * 100, b"x"])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "registry.duckdb"
    path.write_bytes(content)
    assert "is not a DuckDB database" in refusal(path, "patients")


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = build(tmp_path, "CREATE TABLE t AS SELECT 'x' || range AS s FROM range(200000)")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert "registry.duckdb" in refusal(path, "t")
    path.write_bytes(whole[:12] + b"\xff\xff" + whole[14:])
    assert "cannot be opened" in refusal(path, "t")


def test_a_file_that_is_being_written_is_refused(registry: Path) -> None:
    script = (
        "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(1, flush=True);"
        " sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(registry)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdin is not None
        writer.stdout.readline()
        assert "another program has it open for writing" in refusal(registry, "patients")
        writer.stdin.close()
    assert read(url(registry), query="patients").height == 3


def test_a_file_that_is_open_here_is_refused(registry: Path) -> None:
    with closing(duckdb.connect(str(registry))):
        assert "open in this program already" in refusal(registry, "patients")


@pytest.mark.parametrize("text", ["duckdb://registry.duckdb", "duckdb:///", "duckdb://"])
def test_a_url_without_a_path_says_how_to_write_it(text: str) -> None:
    with pytest.raises(SourceError, match=r"is written duckdb:///file\.duckdb"):
        read(text, query="patients")


def test_text_options_are_refused(registry: Path) -> None:
    with pytest.raises(ParameterError, match="separator: is for text files only"):
        list(as_source(url(registry)).pieces("patients", {"separator": ","}))


def test_a_database_as_a_text_file_is_told_apart(registry: Path) -> None:
    renamed = registry.with_suffix(".csv")
    registry.rename(renamed)
    with pytest.raises(SourceError, match=r"a DuckDB database.*duckdb:///file"):
        read(renamed)


def test_nothing_is_left_beside_the_file(registry: Path) -> None:
    read(url(registry), query="SELECT * FROM patients ORDER BY id")
    pieces = as_source(url(registry)).pieces("patients", {})
    next(pieces)
    pieces.close()  # type: ignore[attr-defined]
    assert list(registry.parent.iterdir()) == [registry]


POLICY = """
source: {source}
query: {query}
attributes: {{id: identifier, age: quasi, weight: quasi, ill: sensitive}}
privacy: [{{k-anonymity: {{k: 4}}}}]
engine: {engine}
format: csv
"""


@pytest.mark.parametrize("engine", ["memory", "duckdb", "auto"])
@pytest.mark.parametrize("query", ["visits", "SELECT * FROM visits WHERE age >= 0"])
def test_a_release_is_that_of_the_same_records_in_a_file(
    tmp_path: Path, engine: str, query: str
) -> None:
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "visits.duckdb"
    with closing(duckdb.connect(str(path))) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT range AS id, 20 + range % 37 AS age,"
            " (range % 11) / 2 AS weight, ['flu', 'gout', NULL][range % 3 + 1] AS ill"
            " FROM range(400)"
        )
        connection.sql("FROM visits").pl().write_parquet(tmp_path / "visits.parquet")
    made = {}
    for source, asked in (("duckdb:///data/visits.duckdb", query), ("visits.parquet", "null")):
        policy = tmp_path / "policy.yaml"
        policy.write_text(POLICY.format(source=source, query=asked, engine=engine))
        release = incrowd.anonymize(None, policy)
        release.save(tmp_path / "release", replace=True)
        made[source] = (tmp_path / "release" / "data.csv").read_bytes()
    assert len({*made.values()}) == 1


def test_auto_looks_at_the_size_of_the_file(tmp_path: Path) -> None:
    path = build(tmp_path, "CREATE TABLE t AS SELECT 'x' || random() AS s FROM range(100000)")
    policy = incrowd.Policy.from_mapping(
        {
            "attributes": {"s": "quasi"},
            "privacy": [{"k-anonymity": {"k": 2}}],
            "memory": f"{path.stat().st_size * 2 // 1000}KB",
            "engine": "auto",
        }
    )
    assert choose(policy, as_source(url(path))).name == "duckdb"
    roomy = policy.model_copy(update={"memory": "4GB"})
    assert choose(roomy, as_source(url(path))).name == "memory"


def test_risk_and_profiles_read_it_too(registry: Path) -> None:
    from incrowd.profiling import profile

    frame = read(url(registry), query="patients")
    assert incrowd.risk(frame, quasi=["zip"]).records == 3
    assert profile(url(registry), query="patients").reading == {"query": "patients"}


def test_without_the_library_it_says_what_to_install(
    registry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install 'incrowd[databases]'" in refusal(registry, "patients")


def test_every_refusal_is_one_of_the_house(registry: Path) -> None:
    with pytest.raises(IncrowdError):
        read("duckdv:///x.duckdb", query="patients")
