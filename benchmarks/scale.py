"""Time and memory from 100,000 to 10 million rows: nine quasi-identifiers, k=5, one process each.

    python benchmarks/scale.py [rows …]

Each row is a fresh process that has already compiled its loops. "polars" is what Polars alone takes
to read and write the same CSV, in a process of its own just before; "beyond" is the whole run less
that: coding, anonymizing, labelling, verifying, the report. Memory is the peak of the process above
what it held before the run (mapped files aside), and as a multiple of the coded table.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from itertools import pairwise
from pathlib import Path

_ROWS = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
_PAGE = 4096


def resident() -> int:
    """Bytes of memory that belong to this process alone (not mapped files)."""
    fields = Path("/proc/self/statm").read_text().split()
    return (int(fields[1]) - int(fields[2])) * _PAGE


_STAGES = {"coding": "reading"}
"""Stages that are told apart by a run, and are one here."""


class Peak:
    """The highest resident memory since the last reset."""

    def __init__(self) -> None:
        self.highest = 0
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            self.highest = max(self.highest, resident())
            time.sleep(0.002)


def polars_alone(folder: Path) -> dict[str, float]:
    """Seconds that Polars takes to read and write the table, the second time it does."""
    import polars as pl

    seconds = 0.0
    for _ in range(2):
        started = time.perf_counter()
        pl.read_csv(folder / "table.csv", infer_schema=False).write_csv(folder / "copy.csv")
        seconds = time.perf_counter() - started
    (folder / "copy.csv").unlink()
    return {"polars": seconds}


def one_run(rows: int, folder: Path) -> dict[str, float]:
    """Seconds of every stage and the peak of memory, of one whole run."""
    from blown_up import blown_up, policy

    from incrowd.pipeline import anonymize
    from incrowd.policy import as_policy

    wanted = as_policy(policy())
    anonymize(blown_up(1_000), wanted).save(folder / "warm")
    stages: list[tuple[str, float]] = []

    def mark(stage: str, *_: int) -> None:
        stage = re.split("[,:]", _STAGES.get(stage, stage))[0]
        if not stages or stages[-1][0] != stage:
            stages.append((stage, time.perf_counter()))

    peak, before = Peak(), resident()
    release = anonymize(folder / "table.csv", wanted, progress=mark)
    release.save(folder / "release", progress=mark)
    stages.append(("end", time.perf_counter()))
    seconds: dict[str, float] = {}
    for (name, begin), (_, after) in pairwise(stages):
        seconds[name] = seconds.get(name, 0.0) + after - begin
    total = stages[-1][1] - stages[0][1]
    return {
        "rows": rows,
        **seconds,
        "total": total,
        "peak_mb": (peak.highest - before) / 1e6,
        "coded_mb": rows * len(policy()["attributes"]) / 1e6,
        "ncp": release.manifest["utility"]["ncp"],
    }


def in_a_process(*arguments: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, *arguments], check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    if sys.argv[1:2] == ["--polars"]:
        print(json.dumps(polars_alone(Path(sys.argv[2]))))
        return
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one_run(int(sys.argv[2]), Path(sys.argv[3]))))
        return
    from blown_up import blown_up

    wanted = [int(argument) for argument in sys.argv[1:]] or list(_ROWS)
    columns = [
        "rows", "polars", "reading", "counting", "partitioning", "labelling", "writing",
        "verifying", "reporting", "total", "beyond", "ratio", "peak_mb", "coded_mb", "memory_ratio",
        "ncp",
    ]  # fmt: skip
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    for rows in wanted:
        with tempfile.TemporaryDirectory() as folder:
            blown_up(rows).write_csv(Path(folder) / "table.csv")
            found = {
                **in_a_process("--polars", folder),
                **in_a_process("--one", str(rows), folder),
            }
            found["beyond"] = found["total"] - found["polars"]
            found["ratio"] = found["beyond"] / found["polars"]
            found["memory_ratio"] = found["peak_mb"] / found["coded_mb"]
            shown = [f"{found[c]:,}" if c == "rows" else f"{found[c]:.3g}" for c in columns]
            print("| " + " | ".join(shown) + " |", flush=True)


if __name__ == "__main__":
    main()
