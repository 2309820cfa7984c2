"""Time and memory to generate patients with histories: a million, or as many as are named.

    python benchmarks/patient_histories.py [patients …]

Each row is a process of its own; seconds and the peak of memory are of the whole process, from its
start to the files in their place. "flat" is the one file with a row a condition.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_CODE = """
import sys
from incrowd import datasets
made = datasets.write_histories(sys.argv[1], int(sys.argv[2]), flat=sys.argv[3] == "flat")
print(sum(made.rows.values()))
"""
_COLUMNS = ("patients", "form", "rows", "GB of CSV", "seconds", "peak GB")


def one_run(patients: int, form: str) -> tuple[str, ...]:
    """What it takes to write the histories of so many patients."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "histories"
        started = time.perf_counter()
        command = [sys.executable, "-c", _CODE, str(place), str(patients), form]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        rows = int(process.stdout.read())
        _, status, used = os.wait4(process.pid, 0)
        assert status == 0
        seconds = time.perf_counter() - started
        size = sum(path.stat().st_size for path in place.iterdir())
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return (
        f"{patients:,}", form, f"{rows:,}", f"{size / 1e9:.2f}", f"{seconds:.1f}",
        f"{peak / 1e9:.2f}",
    )  # fmt: skip


def main() -> None:
    wanted = [int(argument) for argument in sys.argv[1:]] or [1_000_000]
    print("| " + " | ".join(_COLUMNS) + " |")
    print("|" + "---|" * len(_COLUMNS))
    for patients in wanted:
        for form in ("tables", "flat"):
            print("| " + " | ".join(one_run(patients, form)) + " |", flush=True)


if __name__ == "__main__":
    main()
