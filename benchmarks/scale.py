"""Time and memory from 100,000 to 10 million rows: nine quasi-identifiers, k=5, one process each.

    python benchmarks/scale.py [rows …]

Each row of the table is a fresh process that has already compiled its loops. "polars" is
what Polars alone takes to read and write the same CSV, in the same process, before the run;
"beyond" is the whole run less that: coding, anonymizing, labelling, verifying. Memory is the peak of the process above what it held before the run, as a multiple of the coded
table (one to four bytes per cell).
"""

from __future__ import annotations

import json
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


class Peak:
    """The highest resident memory since the last reset."""

    def __init__(self) -> None:
        self.highest = 0
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            self.highest = max(self.highest, resident())
            time.sleep(0.002)


def one_run(rows: int, folder: Path) -> dict[str, float]:
    import polars as pl
    from blown_up import blown_up, policy

    from incrowd.anonymization import anonymize, as_policy

    wanted = as_policy(policy())
    anonymize(blown_up(1_000), wanted).save(folder / "warm")
    source = folder / "table.csv"
    started = time.perf_counter()
    frame = pl.read_csv(source, infer_schema=False)
    frame.write_csv(folder / "copy.csv")
    plain = time.perf_counter() - started
    del frame
    (folder / "copy.csv").unlink()
    stages: list[tuple[str, float]] = []

    def mark(stage: str, *_: int) -> None:
        if not stages or stages[-1][0] != stage:
            stages.append((stage, time.perf_counter()))

    peak, before = Peak(), resident()
    release = anonymize(source, wanted, progress=mark)
    release.save(folder / "release", progress=mark)
    stages.append(("end", time.perf_counter()))
    seconds = {name: after - begin for (name, begin), (_, after) in pairwise(stages)}
    total = stages[-1][1] - stages[0][1]
    cells = rows * len(release.data.columns)
    return {
        "rows": rows,
        "polars": plain,
        **seconds,
        "total": total,
        "beyond": total - plain,
        "ratio": (total - plain) / plain,
        "peak_mb": (peak.highest - before) / 1e6,
        "coded_mb": cells / 1e6,
        "ncp": release.manifest["utility"]["ncp"],
    }


def main() -> None:
    if len(sys.argv) == 4 and sys.argv[1] == "--one":
        print(json.dumps(one_run(int(sys.argv[2]), Path(sys.argv[3]))))
        return
    from blown_up import blown_up

    wanted = [int(argument) for argument in sys.argv[1:]] or list(_ROWS)
    columns = [
        "rows", "polars", "reading", "counting", "partitioning", "labelling", "writing",
        "verifying", "total", "beyond", "ratio", "peak_mb", "coded_mb", "ncp",
    ]  # fmt: skip
    print("| " + " | ".join(columns) + " | memory ratio |")
    print("|" + "---|" * (len(columns) + 1))
    for rows in wanted:
        with tempfile.TemporaryDirectory() as folder:
            blown_up(rows).write_csv(Path(folder) / "table.csv")
            done = subprocess.run(
                [sys.executable, __file__, "--one", str(rows), folder],
                check=True, capture_output=True, text=True,
            )  # fmt: skip
            found = json.loads(done.stdout)
            shown = [f"{found[c]:,}" if c == "rows" else f"{found[c]:.4g}" for c in columns]
            ratio = found["peak_mb"] / found["coded_mb"]
            print("| " + " | ".join(shown) + f" | {ratio:.1f} |", flush=True)


if __name__ == "__main__":
    main()
