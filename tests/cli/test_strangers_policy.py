"""A policy from a stranger: what it tries to reach, and that it reaches nothing of it.

A policy is data. It runs no code, writes nowhere but its output folder, connects to nothing and
sends no credential that the person at the keyboard did not name.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from strangers_server import FakeServer

import incrowd
from command_line import run
from incrowd._runtime.spark_session import session
from incrowd.errors import HierarchyError, IncrowdError, PolicyError, SourceError
from incrowd.policy import Policy

ROWS = "age,sex,disease\n" + "".join(
    f"{20 + n % 30},{'MF'[n % 2]},{('Flu', 'HIV')[n % 2]}\n" for n in range(60)
)
REST = """
attributes: {age: quasi, sex: quasi, disease: sensitive}
privacy: [{k-anonymity: {k: 2}}]
"""
SECRET = "geheimnis-der-klinik"


@pytest.fixture(autouse=True)
def no_servers_by_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("PG"):
            monkeypatch.delenv(name)


@pytest.fixture
def job(tmp_path: Path) -> Path:
    (tmp_path / "data.csv").write_text(ROWS, encoding="utf-8")
    return tmp_path


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as listening:
        yield listening


@pytest.fixture
def sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process is started and no connection made, or the test fails."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("something was started, or connected to")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(os, "posix_spawn", refuse)
    monkeypatch.setattr(os, "system", refuse)
    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(sqlite3, "connect", refuse)
    monkeypatch.setattr("incrowd.sources._drivers.driver", refuse)
    monkeypatch.setattr("incrowd._runtime.spark_session.session", refuse)


def put(job: Path, *lines: str) -> Path:
    path = job / "policy.yaml"
    path.write_text("\n".join(lines) + REST, encoding="utf-8")
    return path


def refused(
    job: Path, *lines: str, commands: tuple[str, ...] = ("policy check", "anonymize")
) -> str:
    """What every command and Python say of a policy; nothing is left behind."""
    path = put(job, *lines)
    before = sorted(job.rglob("*"))
    said = []
    for command in commands:
        done = run(*command.split(), path, cwd=job)
        assert done.returncode == 2, done.stderr
        said.append(done.stderr)
    with pytest.raises(IncrowdError) as error:
        incrowd.anonymize(policy=path)
    said.append(f"error: {error.value}\n")
    assert len(set(said)) == 1, said
    assert sorted(job.rglob("*")) == before
    return said[0]


# -- Spark ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "entry",
    [
        "spark.pyspark.python: ./run.sh",
        "spark.pyspark.driver.python: ./run.sh",
        "spark.driver.extraJavaOptions: -XX:OnOutOfMemoryError=./run.sh",
        "spark.executor.extraJavaOptions: -javaagent:x.jar",
        "spark.driver.defaultJavaOptions: -javaagent:x.jar",
        "spark.driver.extraClassPath: /tmp/x.jar",
        "spark.driver.extraLibraryPath: /tmp",
        "spark.jars: http://host/x.jar",
        "spark.jars.packages: a:b:1",
        "spark.submit.pyFiles: x.py",
        "spark.plugins: a.B",
        "spark.extraListeners: a.B",
        "spark.sql.extensions: a.B",
        "spark.archives: x.tar.gz",
        "spark.local.dir: /tmp/elsewhere",
        "spark.eventLog.dir: http://host/",
        "spark.ui.enabled: true",
        "spark.hadoop.fs.s3a.endpoint: host",
        "spark.executorEnv.LD_PRELOAD: x.so",
        "spark.master: spark://host:7077",
        "spark.master: yarn",
        "spark.master: local[*, 4]; x",
        "spark.master: local-cluster[1,1,1024]",
        "spark.driver.memory: 1g -javaagent:x.jar",
        "spark.driver.memory: 1g\n",
        "spark.executor.cores: 1 --conf spark.plugins=a.B",
        "spark.default.parallelism: 99999999999",
        "spark.DRIVER.memory: 1g",
    ],
)
def test_no_property_of_spark_that_runs_code_or_connects(entry: str) -> None:
    name, _, value = entry.partition(": ")
    mapping = {"attributes": {"age": "quasi"}, "privacy": [{"k-anonymity": {"k": 2}}],
               "engine": "spark", "spark": {name: value}}  # fmt: skip
    with pytest.raises(PolicyError) as error:
        Policy.from_mapping(mapping)
    assert "spark" in str(error.value)
    assert "--spark" in str(error.value) or "is a" in str(error.value)


def test_the_command_line_refuses_them_before_anything_starts(job: Path, sealed: None) -> None:
    said = refused(job, "source: data.csv", "engine: spark",
                   "spark: {spark.pyspark.python: ./run.sh}")  # fmt: skip
    assert "may not set 'spark.pyspark.python'" in said
    assert "`--spark spark.pyspark.python=…`" in said


def test_sizes_and_numbers_are_taken_and_the_person_may_give_the_rest(
    job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[dict[str, str]] = []

    def started(properties: dict[str, str], _memory: int | None) -> Any:
        given.append(properties)
        raise IncrowdError("no further")

    monkeypatch.setattr("incrowd._runtime.spark_session._started", started)
    monkeypatch.setattr("incrowd._runtime.spark_session._running", lambda: None)
    path = put(job, "source: data.csv", "engine: spark",
               "spark: {spark.master: 'local[2]', spark.driver.memory: 1g}")  # fmt: skip
    pytest.importorskip("pyspark")
    for call in (
        lambda: incrowd.anonymize(policy=path, spark={"spark.master": "yarn"}),
        lambda: run("anonymize", path, "--spark", "spark.master=yarn", cwd=job),
    ):
        with suppress(IncrowdError):
            call()
        assert given.pop() == {"spark.master": "yarn", "spark.driver.memory": "1g"}
    with pytest.raises(IncrowdError):  # what was given for one run is not kept for the next
        session({"spark.master": "local"})
    assert given.pop() == {"spark.master": "local"}
    assert run("anonymize", path, "--spark", "master=x", cwd=job).returncode == 2
    assert run("anonymize", path, "--spark", "spark.master", cwd=job).returncode == 2


# -- servers -------------------------------------------------------------------------------------


def test_no_password_and_no_connection_to_a_server_that_only_the_policy_names(
    job: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", SECRET)
    named = f"source: postgresql://ann@127.0.0.1:{server.port}/registry"
    said = refused(job, named, "query: patients", commands=("anonymize", "compare"))
    assert f"127.0.0.1:{server.port} as the user ann" in said
    assert f"PGHOST=127.0.0.1 PGUSER=ann PGPORT={server.port}" in said
    assert "--source" in said
    monkeypatch.setenv("PGHOST", "db.hospital.example")
    monkeypatch.setenv("PGUSER", "ann")
    refused(job, named, "query: patients", commands=("anonymize",))
    monkeypatch.setenv("PGHOST", "127.0.0.1")  # the same host, and another program on it
    refused(job, named, "query: patients", commands=("anonymize",))
    monkeypatch.setenv("PGPORT", str(server.port))
    monkeypatch.setenv("PGUSER", "bob")
    refused(job, named, "query: patients", commands=("anonymize",))
    assert server.connections == 0


@pytest.mark.parametrize("way", ["environment", "command line", "Python"])
def test_a_server_that_the_person_names_is_named_before_it_is_asked(
    job: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    pytest.importorskip("adbc_driver_postgresql")
    monkeypatch.setenv("PGPASSWORD", SECRET)
    monkeypatch.setenv("PGSSLMODE", "disable")
    monkeypatch.setenv("PGGSSENCMODE", "disable")
    heard_before: list[int] = []

    def told(text: str, shown: object) -> None:
        heard_before.append(server.connections)
        print(text % shown)

    monkeypatch.setattr("incrowd.sources._servers._log.info", told)
    url = f"postgresql://ann@127.0.0.1:{server.port}/registry"
    path = put(job, f"source: {url}", "query: patients")
    if way == "Python":
        with pytest.raises(SourceError):
            incrowd.anonymize(url, path)
    elif way == "environment":
        for name, value in (("HOST", "127.0.0.1"), ("PORT", server.port), ("USER", "ann")):
            monkeypatch.setenv(f"PG{name}", str(value))
        done = run("anonymize", path, cwd=job)
    else:
        done = run("anonymize", path, "--source", url, cwd=job)
    assert SECRET.encode() in server.heard  # the attack would have worked
    assert heard_before == [0]
    if way != "Python":
        assert f"127.0.0.1:{server.port} as the user ann, database registry" in done.stdout
        assert SECRET not in done.stdout + done.stderr


def test_the_command_line_says_which_server_it_asks_on_stderr(job: Path) -> None:
    pytest.importorskip("adbc_driver_postgresql")
    path = put(job, "source: data.csv", "query: patients")
    path.write_text(path.read_text().replace("source: data.csv\n", ""))
    url = f"postgresql://ann:{SECRET}@127.0.0.1:1/registry"
    done = run("anonymize", path, "-q", "--source", url, cwd=job)
    assert "Connecting to the server 127.0.0.1:1 as the user ann, database registry" in done.stderr
    assert SECRET not in done.stderr + done.stdout


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:secret@HOST/db",
        "postgresql://ann@HOST/db?password=secret",
        "postgresql://ann@HOST/db?host=other",
        "postgresql://ann@HOST/db?hostaddr=127.0.0.1",
        "postgresql://ann@/db?host=HOST",
        "postgresql://HOST,db.hospital.example/db",
        "postgresql://db.hospital.example%2CHOST/db",
        "postgresql:///db?service=x",
        "postgresql:///db?passfile=/home/me/.pgpass",
        "postgresql:///db?sslkey=/home/me/key.pem",
        "postgresql:///db?options=-c%20role%3Dadmin",
        "postgresql://%2Fvar%2Frun/db",
        "postgresql://ann@db.hospital.example/host%3DHOST",
        "postgresql://ann@db.hospital.example@HOST/db",
        "postgresql://ann@HOST#@db.hospital.example/db",
        "postgresql://ann@db.hospital.example/db?sslmode=disable",
        "POSTGRES://ann:secret@HOST/db",
    ],
)
def test_tricks_of_addresses_are_refused_even_beside_a_named_server(
    job: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("PGHOST", "db.hospital.example")
    monkeypatch.setenv("PGUSER", "ann")
    monkeypatch.setenv("PGPASSWORD", SECRET)
    named = url.replace("HOST", f"127.0.0.1:{server.port}")
    said = refused(job, f"source: {named}", "query: patients")
    assert server.connections == 0
    assert "secret" not in said


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (("source: https://host.example/data.csv",), "'https' is not a database"),
        (("source: s3://bucket/data.csv",), "'s3' is not a database"),
        (("source: hf://datasets/x/data.parquet",), "'hf' is not a database"),
        (("source: https://host.example/data.csv", "engine: spark"), "give the address yourself"),
        (("source: s3a://bucket/data/", "engine: spark"), "give the address yourself"),
        (("source: hdfs://host.example/data/", "engine: spark"), "give the address yourself"),
        (("source: s3a://key:secret@bucket/", "engine: spark"), "no user and no password"),
        (("source: '\\\\host.example\\share\\data.csv'",), "no address on a network"),
        (("source: //host.example/share/data.csv",), "no address on a network"),
        (("source: sqlite://///host.example/share/x.db", "query: x"), "no address on a network"),
        (("source: data.csv", "output: '\\\\host.example\\share\\r'"), "no address on a network"),
        (("source: data.csv", "output: s3://bucket/release"), "no address on a network"),
        (("source: '/**/**/*.csv'",), "`**` once"),
        (("source: /dev/zero",), "not a regular file"),
        (('source: "a\\0b.csv"',), "must be the path"),
    ],
)
def test_no_address_on_a_network(
    job: Path, sealed: None, lines: tuple[str, ...], told: str
) -> None:
    assert told in refused(job, *lines, commands=("anonymize",))


@pytest.mark.parametrize(
    "file", ["https://host.example/h.csv", "//host.example/h.csv", "/dev/zero"]
)
def test_no_hierarchy_on_a_network_or_without_end(job: Path, file: str) -> None:
    sources = {"attributes": {"age": {"role": "quasi", "hierarchy": file}, "disease": "sensitive"},
               "privacy": [{"k-anonymity": {"k": 2}}], "other": "drop"}  # fmt: skip
    with pytest.raises((PolicyError, HierarchyError), match=r"network|no plain file"):
        incrowd.anonymize(job / "data.csv", sources)


def test_what_a_hierarchy_file_holds_is_not_shown(job: Path) -> None:
    (job / "notes.txt").write_text(f"{SECRET}\nand more,{SECRET}\n", encoding="utf-8")
    path = put(job, "source: data.csv")
    path.write_text(
        path.read_text().replace("age: quasi", "age: {role: quasi, hierarchy: notes.txt}")
    )
    for command in (("policy", "check"), ("anonymize",)):
        done = run(*command, path, cwd=job)
        assert done.returncode == 2
        assert SECRET not in done.stdout + done.stderr


# -- policy check --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "left"),
    [
        (("source: data.csv", "engine: spark"), "whether Spark starts"),
        (("source: sqlite:///registry.db", "query: patients"), "opens no database"),
        (("source: duckdb:///visits.duckdb", "query: SELECT 1 AS age"), "opens no database"),
        (("source: postgresql://ann@host.example/db", "query: x"), "PGHOST and PGUSER"),
        (("source: s3a://bucket/x/", "engine: spark"), "with --source"),
    ],
)
def test_a_check_connects_to_nothing_and_starts_nothing(
    job: Path, request: pytest.FixtureRequest, lines: tuple[str, ...], left: str
) -> None:
    (job / "registry.db").write_bytes(b"not looked at")
    (job / "visits.duckdb").write_bytes(b"not looked at")
    request.getfixturevalue("sealed")
    done = run("policy", "check", put(job, *lines), cwd=job)
    assert done.returncode == 0, done.stderr
    assert "Not checked: " in done.stdout
    assert left in done.stdout


def test_a_check_of_a_plain_file_leaves_nothing_out(job: Path, sealed: None) -> None:
    done = run("policy", "check", put(job, "source: data.csv"), cwd=job)
    assert done.stdout.endswith(
        "is legal and fits data.csv: 60 records, 2 quasi-identifiers, 1 sensitive attributes.\n"
    )


# -- the rest of a policy ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lines",
    [
        ("source: !!python/object/apply:os.system ['touch made']",),
        ("source: data.csv", 'output: "a\\0b"'),
        ("source: data.csv", f"output: {'x' * 300}"),
        ("source: data.csv", "encoding: zlib"),
        ("source: data.csv", "separator: (a+)+$"),
        ("source: data.csv", "memory: 99999999TB"),
        ("source: &a [*a]",),
    ],
)
def test_what_else_a_policy_may_say_writes_and_runs_nothing(
    job: Path, lines: tuple[str, ...]
) -> None:
    refused(job, *lines, commands=("anonymize",))


@pytest.mark.parametrize(
    "attribute",
    [
        {"hierarchy": {"mask": {"length": 10**9}}},
        {"hierarchy": {"intervals": {"start": 0, "stop": 1e300, "widths": [5e-324]}}},
        {"hierarchy": {"intervals": {"start": 0, "stop": 100, "widths": [1] * 100_000}}},
        {"type": "date", "format": "%Y" + " " * 100_000},
    ],
)
def test_numbers_and_texts_without_end_are_refused(job: Path, attribute: dict[str, Any]) -> None:
    mapping = {"attributes": {"age": {"role": "quasi", **attribute}}, "other": "drop",
               "privacy": [{"k-anonymity": {"k": 2}}]}  # fmt: skip
    with pytest.raises(IncrowdError):
        incrowd.anonymize(job / "data.csv", mapping)


@pytest.mark.parametrize(
    "model",
    [
        {"k-anonymity": {"k": 10**30}},
        {"l-diversity": {"l": 10**30, "kind": "recursive", "c": 2}},
        {"l-diversity": {"l": 2, "kind": "recursive", "c": 1e308}},
        {"l-diversity": {"l": 2, "kind": "recursive", "c": 1e-300}},
        {"lkc": {"L": 10**30, "K": 2}},
    ],
)
def test_parameters_larger_than_any_table_are_refused(model: dict[str, Any]) -> None:
    attributes = {"age": "quasi", "disease": "sensitive"}
    with pytest.raises(PolicyError):
        Policy.from_mapping({"attributes": attributes, "privacy": [model]})


@pytest.mark.parametrize("output", [".", "data.csv", "..", "other"])
def test_no_folder_but_a_release_is_replaced(job: Path, output: str) -> None:
    (job / "other").mkdir()
    (job / "other" / "notes.txt").write_text("mine")
    path = put(job, "source: data.csv", f"output: {output}")
    before = sorted(job.rglob("*"))
    assert run("anonymize", path, cwd=job).returncode == 2
    assert sorted(job.rglob("*")) == before


def test_an_output_outside_the_folder_of_the_policy_is_said(job: Path) -> None:
    (job / "inner").mkdir()
    (job / "inner" / "data.csv").write_text(ROWS, encoding="utf-8")
    path = put(job / "inner", "source: data.csv", "output: ../release")
    done = run("anonymize", path, cwd=job)
    assert done.returncode == 0, done.stderr
    assert f"outside its own folder: {job.resolve() / 'release'}\n" in done.stderr


STEERING = "\x1b[2J\x1b[Hverified\x1b]0;mine\x07\x9b2J\u202e"


@pytest.mark.parametrize("where", ["attributes", "output"])
def test_nothing_that_a_policy_says_steers_the_terminal(job: Path, where: str) -> None:
    policy: dict[str, Any] = {**yaml.safe_load(REST), "source": "data.csv"}
    if where == "attributes":
        policy["attributes"][f"x{STEERING}"] = "quasi"
    else:
        policy["output"] = f"out{STEERING}"
    (job / "odd.yaml").write_text(yaml.safe_dump(policy), encoding="utf-8")
    done = run("anonymize", "odd.yaml", cwd=job)
    assert done.returncode == (2 if where == "attributes" else 0), done.stderr
    assert not set(done.stdout + done.stderr) & set("\x1b\x07\x9b\u202e")
