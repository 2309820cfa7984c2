"""Records beyond memory: time for a million rows, and peak memory, from 1 to 50 million rows.

    python benchmarks/out_of_core.py [rows …] [--memory 2GB] [--engine duckdb] [--format csv]
                [--work FOLDER] [--job k-anonymity] [--job lkc] [--distinct]

10 columns of Adult (8 quasi-identifiers, one sensitive attribute, the class), its complete records
varied: in every further copy of a record each quasi-identifier is drawn anew with a chance of 15 %.
The source is a folder of files with a million rows each. Jobs: k-anonymity (k = 5, mondrian) and
LKC-privacy (L = 3, K = 20, C = 80 %, top-down-specialization, greedy), from the files to a verified
release. With `--distinct` the table is another one: eight quasi-identifiers and a ward drawn at
random, so that hardly any two records are equal; within a small `--memory` its rows stay on disk
and are counted request by request. Each run is a fresh process that finds its loops compiled;
memory is the most that it had at any time (ru_maxrss), the judge included.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from adult_lkc import TREES, complete

QUASI = ["age", "workclass", "education", "occupation", "race", "sex", "hours-per-week",
         "native-country"]  # fmt: skip
AT_ONCE = 1_000_000
JOBS: dict[str, dict[str, Any]] = {
    "k-anonymity": {"privacy": [{"k-anonymity": {"k": 5}}], "method": "mondrian"},
    "lkc": {
        "privacy": [{"lkc": {"L": 3, "K": 20, "C": 0.8, "sensitive": "marital-status"}}],
        "method": {"name": "top-down-specialization", "search": "greedy"},
        "goal": "classification",
    },
}


def varied(begin: int, many: int, draw: np.random.Generator) -> pl.DataFrame:
    """Records of Adult with some cells drawn anew."""
    adult = complete().select(*QUASI, "marital-status", "income")
    table: pl.DataFrame = adult[(begin + np.arange(many)) % adult.height]
    for name in QUASI:
        drawn = adult[name].gather(draw.integers(0, adult.height, many))
        changed = pl.Series(draw.random(many) < 0.15)
        table = table.with_columns(pl.when(changed).then(drawn).otherwise(pl.col(name)).alias(name))
    return table


def distinct(_begin: int, many: int, draw: np.random.Generator) -> pl.DataFrame:
    """Records of which hardly any two are equal."""
    return pl.DataFrame(
        {
            "age": draw.integers(0, 90, many),
            "sex": draw.choice(["F", "M"], many),
            "zip": draw.integers(0, 5_000, many),
            "education": [f"e{each}" for each in draw.integers(0, 16, many)],
            "occupation": [f"o{each}" for each in draw.integers(0, 14, many)],
            "weight": draw.normal(75, 15, many).round(1),
            "height": draw.integers(140, 200, many),
            "year": draw.integers(1990, 2024, many),
            "ward": [f"w{each}" for each in draw.integers(0, 30, many)],
            "disease": [f"d{each}" for each in draw.integers(0, 20, many)],
        }
    )


def write_source(folder: Path, rows: int, kind: str, table_of: Any = varied) -> None:
    """Files of a million records each."""
    for number, begin in enumerate(range(0, rows, AT_ONCE)):
        path = folder / f"part-{number:04}.{kind}"
        many = min(AT_ONCE, rows - begin)
        table = table_of(begin, many, np.random.default_rng(number))
        if kind == "csv":
            table.write_csv(path)
        else:
            table.write_parquet(path)


def policy(
    job: str, source: Path, engine: str, memory: str, table_of: Any = varied
) -> dict[str, Any]:
    attributes: dict[str, Any]
    if table_of is distinct:
        roles = {"ward": "keep", "disease": "sensitive"}
        columns = distinct(0, 1, np.random.default_rng(0)).columns
        attributes = {name: roles.get(name, "quasi") for name in columns}
    else:
        attributes = {name: {"role": "quasi"} for name in QUASI}
        for name in QUASI:
            if name in TREES:
                attributes[name]["hierarchy"] = {"tree": TREES[name]}
        attributes |= {"marital-status": "sensitive", "income": "target"}
    told = {"source": str(source), "attributes": attributes, "engine": engine, **JOBS[job]}
    return {**told, "memory": memory} if engine != "memory" else told


def one_run(wanted: str, output: str) -> None:
    """In a process of its own: a job from its source to the verified release."""
    import incrowd

    begun = time.perf_counter()
    release = incrowd.anonymize(None, json.loads(wanted), accept_unprotected=True)
    made = time.perf_counter()
    verdict = release.save(output)
    assert verdict.holds
    print(
        json.dumps(
            {
                "anonymize": made - begun,
                "save": time.perf_counter() - made,
                "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
                "groups": release.manifest["groups"]["count"],
                "ncp": release.manifest["utility"]["ncp"],
            }
        )
    )


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=int, nargs="*", default=[1_000_000, 10_000_000, 50_000_000])
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--engine", default="duckdb")
    parser.add_argument("--format", default="csv", choices=["csv", "parquet"])
    parser.add_argument("--job", action="append", choices=list(JOBS))
    parser.add_argument("--work", type=Path)
    parser.add_argument("--distinct", action="store_true")
    told = parser.parse_args()
    table_of = distinct if told.distinct else varied
    jobs = ["k-anonymity"] if told.distinct else told.job or list(JOBS)
    print(f"engine: {told.engine}, memory: {told.memory}, {told.format}")
    print("| rows | job | seconds | s / million rows | anonymize | save | peak | groups | NCP |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=told.work) as created:
        folder = Path(created)
        for rows in told.rows:
            source = folder / f"rows-{rows}"
            source.mkdir()
            write_source(source, rows, told.format, table_of)
            for job in jobs:
                wanted = json.dumps(policy(job, source, told.engine, told.memory, table_of))
                command = [sys.executable, __file__, "--one-run", wanted, str(folder / "release")]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                shutil.rmtree(folder / "release", ignore_errors=True)
                if done.returncode:
                    print(f"| {rows:,} | {job} | failed: {done.stderr[-300:]} |", flush=True)
                    continue
                found = json.loads(done.stdout)
                seconds = found["anonymize"] + found["save"]
                print(
                    f"| {rows:,} | {job} | {seconds:.1f} | {seconds / rows * 1e6:.2f} | "
                    f"{found['anonymize']:.1f} | {found['save']:.1f} | "
                    f"{found['peak'] / 1e9:.2f} GB | {found['groups']:,} | {found['ncp']:.4f} |",
                    flush=True,
                )
            for path in source.iterdir():
                path.unlink()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one-run"]:
        one_run(*sys.argv[2:])
    else:
        main()
