"""Top-down specialization from 200,000 to 10 million records, as in section 6.2 of the paper.

    python benchmarks/lkc_scale.py [rows …]

Adult's 45,222 complete records blown up: in every further copy of a record each quasi-identifier is
drawn anew from its column with a chance of 15 %. 13 quasi-identifiers, class: income, L = 4,
K = 20, C = 100 %. Each size is a fresh process that has already compiled its loops. "anonymize" is
counting, searching and labelling; "read" includes coding. The paper: 1 million records in 107 s on
a PC of 2007, of which reading 50, anonymizing 33, writing 24.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
from adult_lkc import complete, policy

ROWS = (200_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000)


def blown_up(rows: int, seed: int = 0) -> pl.DataFrame:
    """Variations of the complete records."""
    adult = complete()
    draw = np.random.default_rng(seed)
    table: pl.DataFrame = adult[np.arange(rows) % adult.height]
    for name in adult.columns:
        if name in ("income", "marital-status"):
            continue
        changed = draw.random(rows) < 0.15
        changed[: adult.height] = False
        drawn = adult[name].gather(draw.integers(0, adult.height, rows))
        table = table.with_columns(
            pl.when(pl.Series(changed)).then(drawn).otherwise(pl.col(name)).alias(name)
        )
    return table


def one_run(source: Path, folder: Path, search: str) -> dict[str, float]:
    """The seconds of each stage of one run from CSV to a verified release."""
    from incrowd.methods.registry import run
    from incrowd.pipeline import Job
    from incrowd.policy import Policy
    from incrowd.verify import verify

    asked = policy(
        pl.read_csv(source, n_rows=100), folder, 4, 20, 1.0, goal="classification",
        method={"name": "top-down-specialization", "search": search},
    )  # fmt: skip
    wanted = Policy.from_mapping(asked)
    seconds: dict[str, float] = {}
    marks = [time.perf_counter()]

    def told(stage: str, _done: int, _whole: int) -> None:
        if stage == "counting":
            marks.append(time.perf_counter())

    job = Job.begin(source, wanted, told)
    release = job.release(run(job.task, wanted.method))
    marks.append(time.perf_counter())
    seconds["read"], seconds["anonymize"] = (after - before for before, after in pairwise(marks))
    shutil.rmtree(folder / "release", ignore_errors=True)
    begun = time.perf_counter()
    release.save(folder / "release", source=source)
    saved = time.perf_counter()
    assert verify(folder / "release").holds
    seconds["verify"] = time.perf_counter() - saved
    seconds["write"] = saved - begun - seconds["verify"]
    seconds["groups"] = release.manifest["groups"]["count"]
    return seconds


def main() -> None:
    from incrowd import datasets

    if sys.argv[1:2] == ["--one"]:
        source, folder, search = Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
        print(json.dumps(one_run(source, folder, search)))
        return
    sizes = [int(rows) for rows in sys.argv[1:]] or list(ROWS)
    stages = ("read", "anonymize", "write", "verify", "groups")
    print(f"| rows | search | {' | '.join(stages)} |\n|---|---|{'---|' * len(stages)}")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        datasets.export_hierarchies("adult", folder)
        for rows in [10_000, *sizes]:  # the first run only compiles
            source = folder / "data.csv"
            blown_up(max(rows, 50_000)).write_csv(source)
            for search in ("best", "greedy"):
                command = [sys.executable, __file__, "--one", str(source), place, search]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                told = json.loads(done.stdout)
                cells = [f"{told[stage]:,.2f}" for stage in stages[:-1]] + [f"{told['groups']:,}"]
                if rows >= sizes[0]:
                    print(f"| {rows:,} | {search} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
