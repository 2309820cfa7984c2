"""PostgreSQL by URL and query, against a real server."""

from __future__ import annotations

import datetime as dt
import logging
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import polars as pl
import pytest

import incrowd
from incrowd.errors import PolicyError, SourceError
from incrowd.sources import read
from incrowd.sources.postgresql import Postgresql

PATIENTS = (
    "CREATE TABLE patients (id integer, big bigint, small smallint, weight double precision, "
    "share real, cost numeric(10, 2), name text, code char(5), alive boolean, born date, "
    "seen timestamp, sent timestamptz)",
    "INSERT INTO patients VALUES "
    "(1, 5000000000, 3, 70.5, 0.5, 12.30, 'Zoë', '0123', true, '1950-02-03', "
    "'2024-02-29 13:05:00', '2024-02-29 13:05:00+02'), "
    "(2, NULL, NULL, 'NaN', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), "
    "(3, -1, -1, -1, 1, -0.05, '', '', false, '0001-01-01', '1899-12-31', '1970-01-01+00')",
)


@pytest.fixture(scope="module")
def server(postgres: Any) -> Any:
    postgres.run(*PATIENTS)
    yield postgres
    postgres.run("DROP TABLE patients")


def refusal(server: Any, query: str, **options: Any) -> str:
    with pytest.raises(SourceError) as refused:
        read(server.url(), query=query, **options)
    assert refused.value.__context__ is None
    return str(refused.value)


def test_a_query_gives_typed_columns(server: Any) -> None:
    frame = read(server.url(), query="SELECT * FROM patients ORDER BY id")
    utc = dt.UTC
    assert frame.to_dict(as_series=False) == {
        "id": [1, 2, 3],
        "big": [5_000_000_000, None, -1],
        "small": [3, None, -1],
        "weight": [70.5, None, -1.0],
        "share": [0.5, None, 1.0],
        "cost": [12.3, None, -0.05],
        "name": ["Zoë", None, None],
        "code": ["0123", None, None],
        "alive": [True, None, False],
        "born": [dt.date(1950, 2, 3), None, dt.date(1, 1, 1)],
        "seen": [dt.datetime(2024, 2, 29, 13, 5), None, dt.datetime(1899, 12, 31)],
        "sent": [
            dt.datetime(2024, 2, 29, 11, 5, tzinfo=utc),
            None,
            dt.datetime(1970, 1, 1, tzinfo=utc),
        ],
    }
    assert frame.schema["cost"] == pl.Float64
    assert frame.schema["born"] == pl.Date


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_both_schemes_are_understood(server: Any, scheme: str) -> None:
    url = server.url().replace("postgresql", scheme, 1)
    assert read(url, query="SELECT 1 AS a").rows() == [(1,)]


@pytest.mark.parametrize("end", ["", ";", " ; ", " -- all of them", " /* all */ ;\n"])
def test_the_end_of_the_query_may_be_written_in_many_ways(server: Any, end: str) -> None:
    assert read(server.url(), query=f"SELECT id FROM patients{end}").height == 3


@pytest.mark.parametrize(
    ("expression", "value", "dtype"),
    [
        ("12.50::numeric", 12.5, pl.Float64),
        ("7::numeric", 7, pl.Int64),
        ("0.00010::numeric", 0.0001, pl.Float64),
        ("'Infinity'::numeric", float("inf"), pl.Float64),
        ("12345678901234567890.5::numeric", "12345678901234567890.5", pl.String),
        (
            "'0f8fad5b-d9cb-469f-a165-70867728950e'::uuid",
            "0f8fad5b-d9cb-469f-a165-70867728950e",
            pl.String,
        ),
        ("'{\"a\": 1}'::jsonb", '{"a": 1}', pl.String),
        ("'01:02:03'::time", "01:02:03", pl.String),
        ("'x'::varchar(3)", "x", pl.String),
        ("'x'::name", "x", pl.String),
        ("'a b'::char(5)", "a b", pl.String),
    ],
)
def test_other_types_become_plain(server: Any, expression: str, value: Any, dtype: Any) -> None:
    frame = read(server.url(), query=f"SELECT {expression} AS x UNION ALL SELECT NULL")
    assert frame["x"].to_list() == [value, None]
    assert frame["x"].dtype == dtype


def test_numerics_that_are_not_numbers_are_missing(server: Any) -> None:
    frame = read(server.url(), query="SELECT x::numeric FROM (VALUES ('NaN'), ('1.5')) AS v (x)")
    assert frame["x"].to_list() == [None, 1.5]


def test_enumerations_are_text(server: Any) -> None:
    server.run("CREATE TYPE sex AS ENUM ('F', 'M')")
    assert read(server.url(), query="SELECT 'F'::sex AS sex").rows() == [("F",)]
    server.run("DROP TYPE sex")


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("ARRAY[1, 2]", "_int4"),
        ("interval '1 day'", "interval"),
        ("'a'::bytea", "bytea"),
        ("'1.2.3.4'::inet", "inet"),
        ("12::money", "money"),
    ],
)
def test_types_without_plain_cells_are_refused_by_name(
    server: Any, expression: str, kind: str
) -> None:
    message = refusal(server, f"SELECT 1 AS id, {expression} AS odd")
    assert f"'odd' ({kind})" in message
    assert "cast" in message


@pytest.mark.parametrize("expression", ["date 'infinity'", "timestamp '-infinity'"])
def test_dates_without_end_are_refused(server: Any, expression: str) -> None:
    assert "'x' holds a date outside the years" in refusal(server, f"SELECT {expression} AS x")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FROM patient", 'relation "patient" does not exist'),
        ("SELECT ages FROM patients", 'column "ages" does not exist'),
        ("SELECT 1 FRM x", 'syntax error at or near "x"'),
        ("SELEC 1", "must be one SELECT"),
        ("SELECT 1; SELECT 2", "more than one statement"),
        ("SELECT name::integer FROM patients", "SQLSTATE 22P02"),
        ("SELECT 1 / (id - id) FROM patients", "SQLSTATE 22012"),
        ("SELECT * FROM patients WHERE id > 5", "returns no records"),
        ("SELECT id, big AS id FROM patients", "2 columns named 'id' (columns 1, 2)"),
        ("SELECT", ""),
        ("SELECT ROW(1, 2) AS x", ""),
        ("INSERT INTO patients (id) VALUES (9)", "must be one SELECT"),
        ("CREATE TABLE other (a integer)", "must be one SELECT"),
        ("SELECT nextval('numbers')", "reaches beyond the tables"),
    ],
)
def test_bad_queries_get_the_words_of_the_server_but_no_cell(
    server: Any, query: str, message: str
) -> None:
    said = refusal(server, query)
    assert message in said
    assert "Zoë" not in said


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("INSERT INTO patients (id) VALUES (9)", "read-only transaction"),
        ("DELETE FROM patients RETURNING id", "read-only transaction"),
        ("CREATE TABLE other (a integer)", "read-only transaction"),
        ("SELECT nextval('numbers')", "read-only transaction"),
        ("SELECT 1; SELECT 2", "multiple commands"),
        ("SELECT 1) TO PROGRAM 'touch gone' --", "syntax error"),
        ("WITH gone AS (DELETE FROM patients RETURNING id) SELECT * FROM gone", "read-only"),
        ("SELECT set_config('transaction_read_only', 'off', false)", "must be set before any"),
        ("SELECT set_config('transaction_read_only', 'off', true)", "must be set before any"),
    ],
)
def test_the_server_itself_lets_no_query_leave_the_read_only_transaction(
    server: Any, query: str, message: str
) -> None:
    server.run("CREATE SEQUENCE IF NOT EXISTS numbers")
    with pytest.raises(SourceError, match=message):
        Postgresql(server.url()).fetch(query)
    assert read(server.url(), query="SELECT id FROM patients").height == 3


def test_chosen_columns_come_in_their_order(server: Any) -> None:
    query = "SELECT * FROM patients"
    assert read(server.url(), query=query, columns=["name", "id"]).columns == ["name", "id"]
    assert "Did you mean 'name'" in refusal(server, query, columns=["names"])


def test_a_database_in_another_encoding_arrives_as_unicode(postgres: Any) -> None:
    postgres.run(
        "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'"
    )
    frame = read(postgres.url("latin"), query="SELECT chr(252) || 'x' AS name")
    assert frame.rows() == [("üx",)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"password": "wr0ng/secret"}, "refuses the user or the password"),
        ({"password": "wr0ng%"}, "refuses the user or the password"),
        ({"database": "nowhere"}, "no such database"),
        ({"user": "nobody_here"}, "refuses the user or the password"),
    ],
)
def test_a_server_that_refuses(postgres: Any, change: dict[str, str], message: str) -> None:
    with pytest.raises(SourceError) as refused:
        read(postgres.url(**change), query="SELECT 1")
    said = str(refused.value)
    assert message in said
    assert change.get("password", "s3cret") not in said
    assert quote(change.get("password", "s3cret"), safe="") not in said
    assert refused.value.__context__ is None


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("postgresql://ann:s3cret@127.0.0.1:1/registry", "no server answers there"),
        ("postgresql://ann:s3cret@/registry?host=/nowhere", "no server answers there"),
        ("postgresql://ann:s3cret@nowhere.invalid/registry", "the host name is unknown"),
        ("postgresql://ann:s3cret%zz@127.0.0.1/registry", "The URL is not legal"),
        ("postgresql://ann:s3cret@127.0.0.1:port/registry", "The URL is not legal"),
        ("postgresql://ann:s3cret@127.0.0.1/registry?colour=blue", "The URL is not legal"),
    ],
)
def test_a_server_that_cannot_be_reached(url: str, message: str) -> None:
    with pytest.raises(SourceError) as refused:
        read(url, query="SELECT 1")
    assert message in str(refused.value)
    assert "s3cret" not in str(refused.value)
    assert refused.value.__context__ is None


def test_a_policy_without_a_host_asks_the_server_that_the_environment_names(
    postgres: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    user, password = unquote(urlsplit(postgres.url()).netloc).rstrip("@").split(":", 1)
    policy = {
        "source": "postgresql:///postgres",
        "query": "SELECT 20 + n % 5 AS age, n % 2 AS sex FROM generate_series(1, 60) AS t (n)",
        "attributes": {"age": "quasi", "sex": "quasi"},
        "privacy": [{"k-anonymity": {"k": 2}}],
    }
    for name in ("PGHOST", "PGUSER", "PGPORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PGPASSWORD", password)
    with pytest.raises(PolicyError, match="PGHOST and PGUSER"):
        incrowd.anonymize(policy=policy)
    monkeypatch.setenv("PGHOST", str(postgres.folder))
    monkeypatch.setenv("PGUSER", user)
    caplog.set_level("INFO", logger="incrowd.sources")
    logging.getLogger("incrowd.sources").propagate = True
    assert incrowd.anonymize(policy=policy).data.height == 60
    (told,) = {*caplog.messages}  # once for each handler
    assert f"{postgres.folder}:5432 as the user {user}, database postgres" in told
    assert password not in told
