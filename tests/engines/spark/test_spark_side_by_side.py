"""Jobs of one Spark session do not see each other's tables, and leave none behind."""

from __future__ import annotations

import gc
import os
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from spark_here import requires_spark

import incrowd
from incrowd._runtime.scratch import SCRATCH, remove_left
from incrowd._runtime.spark_session import CONSTRAINTS, session
from incrowd.engines import collapse
from incrowd.engines.spark._texts import TextFiles, _run
from incrowd.verify.counting._spark_records import _read, _TableFiles

pytestmark = requires_spark
PROPERTIES = {
    "spark.master": "local[2]",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
POLICY: dict[str, Any] = {
    "attributes": {"age": "quasi", "ill": "sensitive"},
    "privacy": [{"k-anonymity": {"k": 3}}],
    "method": {"name": "mondrian", "split": "median"},
}


def frame(first: int) -> pl.DataFrame:
    ages = [first + i // 2 for i in range(12)]
    return pl.DataFrame({"age": ages, "ill": [f"{first} {i % 4}" for i in range(12)]})


def test_two_frames_of_a_session_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collapse, "BYTES_A_CODE", 10**12)
    running = session(PROPERTIES)
    theirs = running.createDataFrame(frame(90).to_arrow())
    theirs.createOrReplaceTempView("incrowd_rows")
    theirs.createOrReplaceTempView("lent_0")
    frames = {first: running.createDataFrame(frame(first).to_arrow()) for first in (20, 60)}
    made = {first: incrowd.anonymize(each, POLICY) for first, each in frames.items()}
    for first, release in made.items():
        expected = incrowd.anonymize(frame(first), {**POLICY, "engine": "memory"})
        assert release.data.rows() == expected.data.rows()
    del made, release
    gc.collect()
    assert {each.name for each in running.catalog.listTables()} == {"incrowd_rows", "lent_0"}
    assert running.table("lent_0").count() == running.table("incrowd_rows").count() == 12


def test_the_copy_of_a_distant_file_is_removed_by_the_next_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import pyarrow as pa

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    files = TextFiles(["hdfs://there/visits.csv"], [{}], {}, distant=True)
    given = pa.RecordBatch.from_pydict({"path": [files.paths[0]], "content": [b"age\n1\n"]})
    copies = []

    def read(_files: TextFiles, _number: int, path: Path) -> Iterator[Any]:
        copies.append(path)
        assert path.read_bytes() == b"age\n1\n"
        yield given

    reading = _run(files, read, iter([given]))
    next(reading)
    folder = copies[0].parent
    assert folder.stat().st_mode & 0o077 == 0
    # As if the task had been killed: the lock is gone, and so is the process.
    left = tmp_path / folder.name.replace(f"-{os.getpid()}-", "-999999999-")
    left.mkdir()
    (left / "visits.csv").write_bytes(b"age\n1\n")
    remove_left(tmp_path, SCRATCH)
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]
    assert list(reading) == []
    assert not any(tmp_path.iterdir())


def test_executors_that_see_another_file_are_told_from_those_that_share_it(tmp_path: Path) -> None:
    """The driver judges the digest of a file, executors count its records: it must be one."""
    import pyarrow as pa

    path = tmp_path / "part-00000.csv"
    path.write_text("age\n1\n1\n", encoding="utf-8")
    task = pa.RecordBatch.from_pydict({"id": [0]})
    whole = _TableFiles((path,), (path.stat().st_size,), ("age",), "false", False)
    seen = list(_read(whole, iter([task])))
    assert sum(sum(batch.column("n").to_pylist()) for batch in seen) == 2
    for size in (path.stat().st_size + 1, 0):
        with pytest.raises(RuntimeError, match="incrowd-told"):
            list(_read(replace(whole, sizes=(size,)), iter([task])))


def test_nodes_of_many_sizes_stay_in_the_session_of_a_frame(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Halves of different levels are asked for together, in tables of which some are old."""
    monkeypatch.setattr(collapse, "BYTES_A_CODE", 10**12)
    running = session(PROPERTIES)
    running.conf.set(CONSTRAINTS, "true")
    draw = random.Random(13)
    ages = [draw.choice([None, *range(20, 60)]) for _ in range(30)]
    records = pl.DataFrame({"age": ages})
    policy = {
        "attributes": {"age": {"role": "quasi", "hierarchy": "auto"}},
        "privacy": [{"k-anonymity": {"k": 2}}],
        "suppression": 0.3,
    }
    expected = incrowd.anonymize(records, {**policy, "engine": "memory"})
    release = incrowd.anonymize(running.createDataFrame(records.to_arrow()), policy)
    assert release.data.rows() == expected.data.rows()
    assert running.conf.get(CONSTRAINTS) == "true"
