"""Spark on one machine: time by stage, and the same rows as in memory.

    python benchmarks/spark_local.py [rows …] [--master local[2]] [--driver-memory 2g]
                [--work FOLDER] [--format csv]

9 columns of Adult (8 quasi-identifiers, one sensitive attribute) varied as in out_of_core.py, in
Parquet files of a million rows each; k-anonymity (k = 5, mondrian), from the files to the verified
release. Each run is a fresh process; Java's memory is not in the peak. The rows of both releases
are compared byte by byte.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from out_of_core import policy, write_source


def wanted(source: Path, engine: str, told: argparse.Namespace) -> dict[str, Any]:
    job: dict[str, Any] = policy("k-anonymity", source, engine, "4GB")
    job["attributes"].pop("income")
    job |= {"other": "drop", "format": told.format}
    if engine == "spark":
        job["spark"] = {"spark.master": told.master, "spark.driver.memory": told.driver_memory}
    return job


def one_run(asked: str, output: str) -> None:
    """In a process of its own: a job from its source to the verified release."""
    import incrowd

    begun = time.perf_counter()
    stages: dict[str, float] = {}
    last, since = "reading", begun

    def tell(stage: str, _done: int = 0, _whole: int = 1) -> None:
        nonlocal last, since
        now = time.perf_counter()
        stages[last] = stages.get(last, 0.0) + now - since
        last, since = re.split("[,:]", stage)[0], now

    job = json.loads(asked)
    release = incrowd.anonymize(None, job, spark=job.pop("spark", None), progress=tell)
    verdict = release.save(output, progress=tell)
    assert verdict.holds
    tell("end")
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - begun,
                "stages": stages,
                "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
                "groups": release.manifest["groups"]["count"],
            }
        )
    )


def digest(folder: Path) -> str:
    """The SHA-256 of all rows of a release: a CSV file, or the parts without their headers."""
    table = folder / "data.csv"
    found = hashlib.sha256()
    for path in sorted(table.iterdir()) if table.is_dir() else [table]:
        with path.open("rb") as stream:
            stream.readline()
            while piece := stream.read(1 << 24):
                found.update(piece)
    return found.hexdigest()


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=int, nargs="*", default=[1_000_000, 10_000_000])
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--driver-memory", default="2g")
    parser.add_argument("--format", default="csv", choices=["csv", "parquet"])
    parser.add_argument("--work", type=Path)
    told = parser.parse_args()
    print(f"{told.master}, spark.driver.memory {told.driver_memory}, {told.format}")
    for rows in told.rows:
        with tempfile.TemporaryDirectory(dir=told.work) as created:
            folder = Path(created)
            (folder / "source").mkdir()
            write_source(folder / "source", rows, "parquet")
            for engine in ("memory", "spark"):
                asked = json.dumps(wanted(folder / "source", engine, told))
                command = [sys.executable, __file__, "--one-run", asked, str(folder / engine)]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    print(f"{rows:,} rows, {engine}: failed: {done.stderr[-600:]}", flush=True)
                    continue
                found = json.loads(done.stdout)
                stages = ", ".join(f"{name} {time:.1f}" for name, time in found["stages"].items())
                print(
                    f"{rows:,} rows, {engine}: {found['seconds']:.1f} s ({stages}), "
                    f"{found['peak'] / 1e9:.2f} GB in Python, {found['groups']:,} groups",
                    flush=True,
                )
            if told.format == "csv" and (folder / "spark").is_dir():
                same = digest(folder / "memory") == digest(folder / "spark")
                print(f"{rows:,} rows: the released rows are {'equal' if same else 'DIFFERENT'}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one-run"]:
        one_run(*sys.argv[2:])
    else:
        main()
