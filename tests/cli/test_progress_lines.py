"""Progress for logs and pipes: lines on stderr, also while work tells nothing by itself."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import polars as pl
import pytest

import incrowd
from incrowd._runtime.console import Output, _PlainLines
from incrowd.engines.choice import choose
from incrowd.sources import as_source
from incrowd.sources.source_guard import Watch, _told


class Log(Output):
    """What was told, and when there was something."""

    def __init__(self, lines: int) -> None:
        super().__init__()
        object.__setattr__(self, "told", [])
        object.__setattr__(self, "enough", threading.Event())
        object.__setattr__(self, "wanted", lines)

    told: list[str]
    enough: threading.Event
    wanted: int

    def message(self, text: str) -> None:
        self.told.append(text)
        if len(self.told) >= self.wanted:
            self.enough.set()


def test_a_long_stage_is_told_though_it_says_nothing() -> None:
    log = Log(3)
    with _PlainLines(log, every=0.01) as lines:
        lines.tell("counting", 0, 1)
        assert log.enough.wait(600)
    assert all(re.fullmatch(r"counting \(\d+ s\) …", line) for line in log.told)


def test_nothing_is_told_of_short_work() -> None:
    log = Log(1)
    with _PlainLines(log, every=60) as lines:
        for done in range(100):
            lines.tell("counting", done, 100)
    assert log.told == []


def test_a_share_is_told_where_there_is_one() -> None:
    log = Log(1)
    with _PlainLines(log, every=0.0) as lines:
        lines.tell("partitioning", 35, 100)
    assert log.told[0].startswith("partitioning 35 % (")


def test_records_and_speed_are_told_while_reading() -> None:
    assert _told(1_500_000, 0.5) == "reading: 1,500,000 records"
    assert _told(1_500_000, 2.0) == "reading: 1,500,000 records, 750,000 a second"


def test_every_stage_of_a_job_is_told(tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    pl.DataFrame({"age": [1, 2, 3, 4], "ill": ["a", "b", "a", "b"]}).write_csv(path)
    policy = {
        "attributes": {"age": "quasi", "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 2}}],
        "engine": "duckdb",
    }
    stages: list[str] = []
    incrowd.anonymize(path, policy, progress=lambda stage, *_: stages.append(stage))
    expected = ["reading", "reading: 4 records", "counting distinct records", "coding", "labelling"]
    assert [stage for stage in stages if stage in expected] == expected


def test_auto_says_what_it_took_and_why(tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    path.write_text("age\n" + "1\n" * 1000)
    policy = {"attributes": {"age": "quasi"}, "privacy": [{"k-anonymity": {"k": 2}}]}
    small = choose(incrowd.Policy.from_mapping({**policy, "memory": "1MB"}), as_source(path))
    assert (small.name, small.why) == ("memory", "the source is small beside the memory")
    large = choose(incrowd.Policy.from_mapping({**policy, "memory": "1KB"}), as_source(path))
    assert large.name == "duckdb"
    assert "more than a quarter" in large.why


def test_a_watch_over_nothing_on_disk_sees_nothing(tmp_path: Path) -> None:
    for source in (pl.DataFrame({"a": [1]}), "postgresql://host/database", tmp_path / "none.csv"):
        Watch(as_source(source)).check()
    path = tmp_path / "patients.csv"
    path.write_text("a\n1\n")
    watch = Watch(as_source(path))
    path.unlink()
    with pytest.raises(incrowd.errors.EngineError, match="disappeared"):
        watch.check()
