"""What a joint release costs: seconds, answers and bytes for each hospital, beside one pooled run.

    python benchmarks/federation_cost.py [--rows 45222] [--rows 1000000] [--hospitals 3 5 10]
                [--level own] [--search greedy] [--L 4] [--K 20] [--C 1.0] [--goal classification]

Adult's complete records, or that many variations of them (lkc_scale.py), dealt to the hospitals at
random. Every quasi-identifier has an agreed hierarchy (adult_hospitals.py). Hospitals are processes
on this machine that speak over the loopback interface, so "seconds" has no network time but that of
TLS, HTTP and signatures, and all hospitals share its cores. "pooled" is the run of one process over
all records, with the same policy, from reading the file to the verified release; every run is a
fresh process that finds its loops compiled. With `--level honest` the tables are compared byte for
byte; the other levels make another table than one pooled run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml
from adult_hospitals import asked, write_ranges
from adult_lkc import complete
from hospital_levels import LEVELS
from lkc_scale import blown_up

from incrowd import datasets

POOLED = """
import json, shutil, sys, time
import incrowd
shutil.rmtree(sys.argv[3], ignore_errors=True)
begun = time.perf_counter()
incrowd.anonymize(sys.argv[2], sys.argv[1]).save(sys.argv[3], source=None)
print(json.dumps({"seconds": time.perf_counter() - begun}))
"""


def write_policy(table: pl.DataFrame, folder: Path, told: argparse.Namespace) -> Path:
    """The policy and its hierarchy files, with the values of all attributes listed."""
    datasets.export_hierarchies("adult", folder)
    wanted = asked(table, folder, write_ranges(table, folder), told.K, told.search)
    for name, spec in wanted["attributes"].items():
        if isinstance(spec, str):
            values = sorted(table[name].unique().to_list())
            wanted["attributes"][name] = {"role": spec, "hierarchy": {"tree": values}}
        elif isinstance(spec["hierarchy"], str):
            spec["hierarchy"] = str(Path(spec["hierarchy"]).relative_to(folder))
    bounds = wanted["privacy"][0]["lkc"]
    bounds |= {"L": told.L, "C": told.C}
    wanted |= {"goal": told.goal, "hospitals": LEVELS[told.level]}
    path = folder / "policy.yaml"
    path.write_text(yaml.safe_dump(wanted, sort_keys=False), encoding="utf-8")
    return path


def run(command: list[str]) -> Any:
    """What a command prints as JSON."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def measured(table: pl.DataFrame, folder: Path, told: argparse.Namespace) -> None:
    """Print a row for the pooled run, and one for each number of hospitals."""
    policy = write_policy(table, folder, told)
    whole = folder / "whole.csv"
    table.write_csv(whole)
    pooled_folder = folder / "pooled"
    command = [sys.executable, "-c", POOLED, str(policy), str(whole), str(pooled_folder)]
    run(command)
    pooled = min(run(command)["seconds"] for _ in range(told.repeat))
    print(f"{table.height:,} records, pooled: {pooled:.2f} s", flush=True)
    for hospitals in told.hospitals:
        order = np.random.default_rng(0).permutation(table.height)
        files = []
        for number, part in enumerate(np.array_split(order, hospitals), start=1):
            files.append(folder / f"h{number}.csv")
            table[np.sort(part)].write_csv(files[-1])
        joint = folder / f"joint-{hospitals}"
        rehearse = ["-m", "incrowd", "federation", "rehearse", str(policy), *map(str, files)]
        command = [sys.executable, *rehearse, "-o", str(joint), "--json"]
        found = [run([*command, "--replace"]) for _ in range(told.repeat)]
        best = min(found, key=lambda each: max(part["seconds"] for part in each["hospitals"]))
        same = (joint / "data.csv").read_bytes() == (pooled_folder / "data.csv").read_bytes()
        parts = best["hospitals"]
        seconds = max(part["seconds"] for part in parts)
        leader, others = parts[0], parts[1:]
        print(
            f"  {hospitals:2} hospitals: {seconds:6.2f} s = {seconds / pooled:.2f} x pooled, "
            f"{leader['sums']:,} answers, {best['steps']} steps; each sends "
            f"{max(part['sent'] for part in others) / 1e6:.2f} MB and receives "
            f"{max(part['received'] for part in others) / 1e6:.2f} MB (the leader "
            f"{leader['sent'] / 1e6:.2f} and {leader['received'] / 1e6:.2f}); "
            f"opened {best['opened']['counts']:,} counts, {best['opened']['small']:,} small; "
            f"{'the same table' if same else 'another table'}",
            flush=True,
        )


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, action="append")
    parser.add_argument("--hospitals", type=int, nargs="+", default=[3, 5, 10])
    parser.add_argument("--search", default="greedy")
    parser.add_argument("--goal", default="classification")
    parser.add_argument("--L", type=int, default=4)
    parser.add_argument("--K", type=int, default=20)
    parser.add_argument("--C", type=float, default=1.0)
    parser.add_argument("--level", default="own", choices=tuple(LEVELS))
    parser.add_argument("--repeat", type=int, default=2)
    told = parser.parse_args()
    for rows in told.rows or [45_222, 1_000_000]:
        table = complete() if rows == 45_222 else blown_up(rows)
        with tempfile.TemporaryDirectory() as folder:
            measured(table, Path(folder), told)


if __name__ == "__main__":
    main()
