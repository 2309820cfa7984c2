"""Patients with several rows beside the same file taken as rows: seconds and memory by stage.

    python benchmarks/patients.py [patients …] [--engine memory] [--engine duckdb] [--engine spark]
                [--unit row] [--unit patient] [--unit linked] [--memory 2GB] [--work FOLDER]
                [--runs 1]

The generated patient histories in one file, a row for each condition, about ten a patient.
Quasi-identifiers are the date of birth, sex, zip code and race; the code of the condition is
sensitive, department and kind of visit are published as they are. Promised are k = 10 and, of
three codes, a share of at most 20 %. With `unit: patient` rows are gathered and these three are of
events; with `unit: row` each row is another patient. `linked` is the same of linked tables of that
many patients: patients, their encounters (kind and department, as they are) and their conditions.
Mondrian with labels of hierarchies (sets of zip codes would make longer files of larger groups),
from the CSV file to a verified release with its report. Each run is a fresh process that finds its
loops compiled; seconds are of the clock and, in brackets, of all processor cores; memory is the
most until the end of a stage (ru_maxrss; of Spark it is that of Python alone). The fastest of
`--runs` runs is shown.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_GENERATE = """
import sys
from incrowd import datasets
datasets.write_histories(sys.argv[1], int(sys.argv[2]), flat=sys.argv[3] == "flat")
"""
EVENTS = {"code": "sensitive", "class": "keep", "department": "keep"}
QUASI: dict[str, Any] = {
    "birth_date": {"role": "quasi", "hierarchy": "dates"},
    "sex": "quasi",
    "zip": {"role": "quasi", "type": "category", "hierarchy": {"mask": {"length": 5}}},
    "race": "quasi",
}
PRIVACY = [
    {"k-anonymity": {"k": 10}},
    {"confidence-bounding": {"C": 0.2, "sensitive": "code", "values": ["F20.9", "B20", "I10"]}},
]


def policy(folder: Path, unit: str, engine: str, memory: str) -> dict[str, Any]:
    """The job, of patients, of rows, or of linked tables."""
    if unit == "linked":
        return _policy_of_tables(folder / "linked", engine, memory)
    (source,) = (folder / "flat").glob("*.csv")
    events: dict[str, Any] = {
        name: role if unit == "row" else {"role": role, "level": "event"}
        for name, role in EVENTS.items()
    }
    told = {
        "source": str(source),
        "unit": unit,
        "attributes": {"patient": "identifier", **QUASI, **events},
        "other": "drop",
        "privacy": PRIVACY,
        **_asked(engine, memory),
    }
    return told


def _policy_of_tables(folder: Path, engine: str, memory: str) -> dict[str, Any]:
    tables: dict[str, dict[str, Any]] = {
        "encounters": {"class": "keep", "department": "keep"},
        "conditions": {"code": "sensitive"},
    }
    sizes, shares = PRIVACY
    values = {**shares["confidence-bounding"], "sensitive": "conditions.code"}
    return {
        "patients": {
            "source": str(folder / "patients.csv"),
            "key": "patient",
            "attributes": QUASI,
            "other": "drop",
        },
        "tables": {
            name: {
                "source": str(folder / f"{name}.csv"),
                "unit": "patient",
                "attributes": attributes,
                "other": "drop",
            }
            for name, attributes in tables.items()
        },
        "privacy": [sizes, {"confidence-bounding": values}],
        **_asked(engine, memory),
    }


def _asked(engine: str, memory: str) -> dict[str, Any]:
    """What all jobs ask for alike."""
    told: dict[str, Any] = {
        "method": {"name": "mondrian", "labels": "hierarchy"},
        "suppression": 0.02,
        "engine": engine,
    }
    return {**told, "memory": memory} if engine != "memory" else told


def one_run(asked: str, output: str) -> None:
    """In a process of its own: a job from its source to the verified release."""
    import incrowd

    stages: dict[str, list[float]] = {}
    last: list[Any] = ["reading", time.perf_counter(), time.process_time()]

    def tell(stage: str, _done: int = 0, _whole: int = 1) -> None:
        name, begun, used = last
        now, cores = time.perf_counter(), time.process_time()
        seconds, processor, _ = stages.get(name, [0.0, 0.0, 0.0])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        stages[name] = [seconds + now - begun, processor + cores - used, peak]
        last[:] = [re.split("[,:]", stage)[0], now, cores]

    job = json.loads(asked)
    if job["engine"] == "spark":
        job["spark"] = {"spark.master": "local[2]", "spark.driver.memory": "2g"}
    release = incrowd.anonymize(
        None, job, accept_unprotected=True, spark=job.pop("spark", None), progress=tell
    )
    assert release.save(output, progress=tell).holds
    tell("end")
    counted = release.manifest.get("patients") or release.manifest["records"]
    print(json.dumps({"stages": stages, "published": counted["published"]}))


def measured(asked: dict[str, Any], folder: Path, runs: int) -> dict[str, Any] | str:
    """The fastest of some runs, or why one failed."""
    best: dict[str, Any] | None = None
    for number in range(runs):
        output = folder / f"release-{number}"
        command = [sys.executable, __file__, "--one-run", json.dumps(asked), str(output)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stderr[-600:]
        found: dict[str, Any] = json.loads(done.stdout)
        found["seconds"], found["cores"] = (
            sum(each[at] for each in found["stages"].values()) for at in (0, 1)
        )
        if best is None or found["seconds"] < best["seconds"]:
            best = found
        shutil.rmtree(output)
    assert best is not None
    return best


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("patients", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--engine", action="append", choices=["memory", "duckdb", "spark"])
    parser.add_argument("--unit", action="append", choices=["row", "patient", "linked"])
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--work", type=Path)
    told = parser.parse_args()
    for patients in told.patients:
        with tempfile.TemporaryDirectory(dir=told.work) as created:
            folder = Path(created)
            # In a process of its own: the memory that a process had counts for those it starts.
            units = told.unit or ["row", "patient"]
            forms = {"linked" if unit == "linked" else "flat" for unit in units}
            for form in sorted(forms):
                where = str(folder / form)
                command = [sys.executable, "-c", _GENERATE, where, str(patients), form]
                subprocess.run(command, check=True)
            print(f"{patients:,} patients", flush=True)
            for engine in told.engine or ["memory", "duckdb"]:
                for unit in units:
                    asked = policy(folder, unit, engine, told.memory)
                    found = measured(asked, folder, told.runs)
                    if isinstance(found, str):
                        print(f"  {engine}, unit: {unit}: failed: {found}", flush=True)
                        continue
                    stages = ", ".join(
                        f"{name} {seconds:.1f} ({cores:.1f}; {peak / 1e9:.2f} GB)"
                        for name, (seconds, cores, peak) in found["stages"].items()
                    )
                    print(
                        f"  {engine}, unit: {unit}: {found['seconds']:.1f} s "
                        f"({found['cores']:.1f}): {stages}; {found['published']:,} published",
                        flush=True,
                    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one-run"]:
        one_run(*sys.argv[2:])
    else:
        main()
