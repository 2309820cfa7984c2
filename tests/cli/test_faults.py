"""Whatever goes wrong in a run: an exit code, a clear message, and nothing left behind."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest
from faulty_run import PROCESSES, Act

from command_line import Ended

POLICY = """
source: {source}
attributes: {{age: quasi, ill: sensitive, ward: keep}}
privacy: [{{k-anonymity: {{k: 3}}}}]
engine: {engine}
memory: 300MB
output: release
"""
MOMENTS = ("reading", "collapsing", "method", "writing", "verifying")


@dataclass(frozen=True)
class Job:
    """A folder with a policy, a source, and a folder for temporary files."""

    folder: Path

    @property
    def source(self) -> Path:
        return self.folder / "patients.csv"

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    def run(
        self,
        moment: str,
        deed: str,
        *more: str,
        temporary: Path | None = None,
        largest_file: int | None = None,
    ) -> Ended:
        words = ("anonymize", "policy.yaml", "--accept-unprotected", *more)
        act = Act(moment, deed, words, self.folder, temporary or self.temporary, largest_file)
        with NamedTemporaryFile("r") as out, NamedTemporaryFile("r") as err:
            process = PROCESSES.Process(target=act.play, args=(Path(out.name), Path(err.name)))
            process.start()
            process.join()
            assert process.exitcode is not None
            return Ended(process.exitcode, out.read(), err.read())

    def nothing_is_left(self) -> bool:
        """No release, no stage of one, no temporary folder."""
        known = {"patients.csv", "policy.yaml", "tmp", "many", "small"}
        return not ({each.name for each in self.folder.iterdir()} - known) and not list(
            self.temporary.iterdir()
        )


def table(rows: int, wards: int = 3) -> str:
    draw = random.Random(1)
    lines = (
        f"{draw.randrange(20, 80)},{draw.choice(['flu', 'gout'])},w{draw.randrange(wards)}\n"
        for _ in range(rows)
    )
    return "age,ill,ward\n" + "".join(lines)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return prepared(tmp_path, table(200))


def prepared(folder: Path, text: str, engine: str = "duckdb", source: str = "patients.csv") -> Job:
    (folder / "patients.csv").write_text(text, encoding="utf-8")
    (folder / "policy.yaml").write_text(POLICY.format(source=source, engine=engine))
    (folder / "tmp").mkdir(exist_ok=True)
    return Job(folder)


def test_without_a_fault_there_is_a_release(job: Job) -> None:
    done = job.run("method", "nothing:", "--json")
    assert done.returncode == 0, done.stderr
    assert (job.folder / "release" / "manifest.json").exists()
    assert list(job.temporary.iterdir()) == []
    # A slow machine tells the stages too, each on a line that ends in dots.
    told = [line for line in done.stderr.splitlines() if not line.endswith("…")]
    assert told == ["engine: duckdb, as the policy says, within 0.3 GB."]


@pytest.mark.parametrize(
    ("moment", "number"),
    list(zip(MOMENTS, itertools.cycle([signal.SIGINT, signal.SIGTERM]), strict=False)),
)
def test_a_signal_leaves_nothing(job: Job, moment: str, number: signal.Signals) -> None:
    done = job.run(moment, f"signal_now:{int(number)}")
    assert done.returncode == 128 + number
    assert done.stderr.endswith("interrupted: nothing was written\n")
    assert "Traceback" not in done.stderr
    assert job.nothing_is_left()


def test_a_signal_in_the_middle_of_counting(tmp_path: Path) -> None:
    job = prepared(tmp_path, table(150_000, wards=150_000))
    done = job.run("collapsing", f"signal_soon:{int(signal.SIGTERM)}")
    assert done.returncode == 128 + signal.SIGTERM
    assert "interrupted" in done.stderr
    assert job.nothing_is_left()


def test_what_a_killed_process_left_is_removed_by_the_next(job: Job) -> None:
    done = job.run("collapsing", f"signal_now:{int(signal.SIGKILL)}")
    assert done.returncode == -signal.SIGKILL
    (left,) = job.temporary.iterdir()
    assert left.name.startswith("incrowd-rows-")
    assert left.stat().st_mode & 0o077 == 0
    mine = job.temporary / f"incrowd-rows-{os.getpid()}-alive"
    other = job.temporary / "incrowd-notes-of-mine"
    mine.mkdir()
    other.mkdir()
    assert job.run("method", "nothing:").returncode == 0
    assert sorted(job.temporary.iterdir()) == [other, mine]


@pytest.mark.parametrize(
    ("moment", "deed", "said"),
    [
        ("reading", "touch", "patients.csv was changed"),
        ("collapsing", "replace", "patients.csv was changed"),
        ("method", "grow", "patients.csv was changed"),
        ("writing", "remove", "patients.csv disappeared"),
    ],
)
def test_a_source_that_changes_makes_no_release(
    job: Job, moment: str, deed: str, said: str
) -> None:
    done = job.run(moment, f"{deed}:{job.source}")
    assert done.returncode == 3
    assert f"error: {said} while the source was worked on" in done.stderr
    if deed == "remove":
        assert not job.source.exists()
    assert job.nothing_is_left()


@pytest.mark.parametrize(
    ("deed", "said"),
    [("add:many/c.csv", "c.csv of many was added"), ("remove:many/b.csv", "b.csv of many dis")],
)
def test_a_folder_that_changes_makes_no_release(tmp_path: Path, deed: str, said: str) -> None:
    job = prepared(tmp_path, table(10), source="many")
    (tmp_path / "many").mkdir()
    for name in "ab":
        (tmp_path / "many" / f"{name}.csv").write_text(table(100))
    done = job.run("reading", deed)
    assert done.returncode == 3
    assert said in done.stderr
    assert job.nothing_is_left()


def test_a_large_file_that_is_cut_short_ends_with_a_message(tmp_path: Path) -> None:
    """What is mapped and no longer there would end a process without a word."""
    text = table(20_000).partition("\n")[2]
    job = prepared(tmp_path, "age,ill,ward\n" + text * 150)
    done = job.run("reading", f"shrink:{job.source}")
    assert done.returncode == 3
    assert "cut short" in done.stderr or "was changed" in done.stderr
    assert not (tmp_path / "release").exists()


def test_no_room_for_temporary_files(tmp_path: Path) -> None:
    job = prepared(tmp_path, table(60_000, wards=60_000))
    done = job.run("method", "nothing:", largest_file=300_000)
    assert done.returncode == 3
    assert "could not be counted on disk: no room is left" in done.stderr
    assert job.nothing_is_left()


@pytest.mark.parametrize("written", ["csv", "parquet"])
def test_no_room_for_the_release(tmp_path: Path, written: str) -> None:
    job = prepared(tmp_path, table(60_000, wards=60_000), engine="memory")
    with (tmp_path / "policy.yaml").open("a") as policy:
        policy.write(f"format: {written}\n")
    done = job.run("method", "nothing:", largest_file=100_000)
    assert done.returncode == 3, done.stderr
    assert "The release could not be written" in done.stderr
    assert job.nothing_is_left()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk with little room, where one can be had."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", str(place)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("only root can make a small disk")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("written", ["csv", "parquet"])
def test_a_full_disk_for_the_release(tmp_path: Path, small_disk: Path, written: str) -> None:
    job = prepared(tmp_path, table(60_000, wards=60_000), engine="memory")
    with (tmp_path / "policy.yaml").open("a") as policy:
        policy.write(f"format: {written}\n")
    done = job.run("method", "nothing:", "-o", "small/release")
    assert done.returncode == 3, done.stderr
    assert "The release could not be written" in done.stderr
    assert list(small_disk.iterdir()) == []
    assert job.nothing_is_left()


def test_a_full_disk_for_temporary_files(tmp_path: Path, small_disk: Path) -> None:
    job = prepared(tmp_path, table(60_000, wards=60_000))
    done = job.run("method", "nothing:", temporary=small_disk)
    assert done.returncode == 3
    assert "could not be counted on disk: no room is left" in done.stderr
    assert list(small_disk.iterdir()) == []
    assert job.nothing_is_left()
