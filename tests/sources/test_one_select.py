"""SQL of a source: one SELECT and nothing else, in every database and for every command."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_databases import registry, warehouse
from typer.testing import CliRunner

from incrowd.cli.app import app
from incrowd.errors import PolicyError, SourceError
from incrowd.policy import Policy
from incrowd.sources import read
from incrowd.sources._selecting import one_select
from incrowd.sources.sqlite import Sqlite

ATTACKS = [
    "ATTACH 'made.db' AS made",
    "ATTACH DATABASE 'made.db' AS made; SELECT * FROM patients",
    "SELECT * FROM patients; ATTACH 'made.db' AS made",
    "SELECT * FROM patients; SELECT 1",
    "SELECT * FROM patients -- one\n; DROP TABLE patients",
    "COPY patients TO 'made.csv'",
    "EXPORT DATABASE 'made'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "PRAGMA writable_schema = on",
    "SET memory_limit = '1TB'",
    "CREATE TABLE made AS SELECT * FROM patients",
    "VACUUM INTO 'made.db'",
    "EXPLAIN ANALYZE SELECT 1",
    "CALL pragma_version()",
    "WITH made AS (SELECT 1) INSERT INTO patients SELECT 1, 2, 3",
    "WITH gone AS (DELETE FROM patients RETURNING *) SELECT * FROM gone",
    "SELECT * INTO made FROM patients",
    "SELECT load_extension('x')",
    "SELECT writefile('made.csv', 'x')",
    "SELECT * FROM read_text('data.csv')",
    "SELECT * FROM patients) TO PROGRAM 'touch made' --",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_catalog . \"pg_read_file\" /* x */ ('/etc/passwd')",
    "SELECT * FROM dblink('host=127.0.0.1', 'SELECT 1') AS t (a int)",
    "SELECT lo_export(1, 'made')",
    "SELECT query_to_xml('DELETE FROM patients', true, true, '')",
    "SELECT set_config('transaction_read_only', 'off', false)",
]


@pytest.mark.parametrize("query", ATTACKS)
@pytest.mark.parametrize("scheme", ["sqlite", "duckdb", "postgresql"])
def test_one_select_and_nothing_else(scheme: str, query: str) -> None:
    """Read with the policy, so that the page, hospitals and every command refuse it alike."""
    source = "postgresql://db/x" if scheme == "postgresql" else f"{scheme}:///x.db"
    mapping = {"source": source, "query": query, "attributes": {"age": "quasi"},
               "privacy": [{"k-anonymity": {"k": 2}}]}  # fmt: skip
    with pytest.raises(PolicyError, match="the query"):
        Policy.from_mapping(mapping)
    with pytest.raises(SourceError, match="the query"):  # and whoever else gives the query
        read(source, query=query)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT 1 AS \xa0$$, pg_read_file('x') AS \xa0$$",
        "SELECT $\u0663$ ' $\u0663$, pg_read_file('x'), $\u0663$ ' $\u0663$",
        "SELECT E'a'\n'\\' , ', pg_read_file('x'), ' '' '",
        "SELECT E'\\'', pg_read_file('x')",
        "SELECT U&\"pg\\005fread_file\" ('x')",
        "SELECT /* /* */ ' */ pg_read_file('x') -- '",
        "SELECT 1 -- \r ; DROP TABLE x",
        "SELECT $a$ $A$ ' $a$, pg_read_file('x') --'",
        'SELECT "a"" (", pg_read_file(\'x\')',
    ],
)
def test_no_quote_or_comment_hides_a_word_of_postgresql(query: str) -> None:
    with pytest.raises(SourceError, match="the query"):
        one_select(query, "postgresql", "registry")


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
@pytest.mark.parametrize(
    "command",
    [
        ("init", "{}", "-o", "{folder}/made.yaml"),
        ("risk", "{}", "--quasi", "age"),
        ("evaluate", "{folder}", "--original", "{}"),
        ("verify", "{folder}", "--original", "{}"),
    ],
    ids=lambda words: words[0],
)
def test_no_command_writes_by_a_query(tmp_path: Path, kind: str, command: tuple[str, ...]) -> None:
    path = registry(tmp_path) if kind == "sqlite" else warehouse(tmp_path)
    before = path.read_bytes()
    for query in (
        f"ATTACH '{tmp_path}/made.db' AS made",
        f"SELECT 1; COPY patients TO '{tmp_path}/made'",
    ):
        words = [each.format(f"{kind}:///{path}", folder=tmp_path) for each in command]
        done = CliRunner().invoke(app, [*words, "--query", query])
        assert isinstance(done.exception, SourceError), done.output
        assert "the query" in str(done.exception)
        assert [each.name for each in tmp_path.iterdir()] == [path.name]
        assert path.read_bytes() == before


def test_sqlite_itself_refuses_what_the_reading_of_words_might_miss(tmp_path: Path) -> None:
    path = registry(tmp_path)
    for query in ("ATTACH 'made.db' AS made", "PRAGMA journal_mode = wal",
                  "SELECT load_extension('x')", "CREATE TEMP TABLE made AS SELECT 1"):  # fmt: skip
        with pytest.raises(SourceError, match="more than read"):
            Sqlite(f"sqlite:///{path}").fetch(query)
    assert not list(tmp_path.glob("made*"))


@pytest.mark.parametrize(
    "query",
    [
        "patients",
        "SELECT age, sex, disease FROM patients;",
        "WITH adults AS (SELECT * FROM patients WHERE age > 17) SELECT * FROM adults",
        "SELECT age, replace(sex, 'F', 'W') AS sex, disease FROM patients -- ; DROP TABLE x",
        "SELECT age, sex, disease FROM patients WHERE disease <> 'x; DELETE FROM y' /* ; */",
        "SELECT * FROM (SELECT age, sex, disease FROM patients)",
    ],
)
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_queries_that_read_are_taken(tmp_path: Path, kind: str, query: str) -> None:
    path = registry(tmp_path) if kind == "sqlite" else warehouse(tmp_path)
    assert read(f"{kind}:///{path}", query=query).height == 60
