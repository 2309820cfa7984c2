"""What every runner shares: the job it reads, its limit of memory, its clock, what it writes.

    python run_SOMETHING.py JOB.json

A job names a table (CSV), its quasi-identifiers, the numeric ones among them, the sensitive column,
k, l or null, the files of the hierarchies (one line per value: value, level 1, ..., *), the limit
of memory in bytes, and where to write the published records and the result. The result says how
long the tool worked, from a table in memory to a published table in memory; the reading and writing
around it is in the seconds of the whole process, which the caller measures.

Runs in the environment of the peer: nothing but the standard library at the top, and no incrowd.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import resource
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

Job = dict[str, Any]


def perform(
    anonymize: Callable[[Any, Job], Any],
    load: Callable[[Job], Any] | None = None,
    write: Callable[[Any, Job], None] | None = None,
) -> None:
    """Read the job named on the command line, do it, write the records and the result."""
    job: Job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    if job["memory"]:
        resource.setrlimit(resource.RLIMIT_AS, (job["memory"], job["memory"]))
    result: dict[str, Any] = {"version": version(job["package"])}
    try:
        table = (load or pandas_table)(job)
        spoken = io.StringIO()
        with contextlib.redirect_stdout(spoken):
            started = time.perf_counter()
            published = anonymize(table, job)
            result["seconds"] = time.perf_counter() - started
        (write or pandas_records)(published, job)
        result["ended"] = "well"
    except MemoryError:
        result["ended"] = "memory"
    except Exception as error:
        result["ended"] = "error"
        result["error"] = f"{type(error).__name__}: {str(error)[:200]}"
    result["peak"] = high_water_mark()
    Path(job["result"]).write_text(json.dumps(result), encoding="utf-8")


def high_water_mark() -> int:
    """The most memory this process ever held, in bytes, as the kernel counts it."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def pandas_table(job: Job) -> Any:
    """The table as a pandas frame: numbers where the job says so and text elsewhere."""
    import pandas as pd

    numeric = [*job["numeric"], job["sensitive"]]
    names = [*job["quasi"], job["sensitive"]]
    types = {name: "int64" if name in numeric else "object" for name in names}
    return pd.read_csv(job["table"], usecols=names, dtype=types, keep_default_na=False)[names]


def pandas_records(published: Any, job: Job) -> None:
    """Write published rows, each as often as its `count` says if it has one."""
    if not len(published):
        raise ValueError("the tool published no record")
    if "count" in published.columns:
        published = published.loc[published.index.repeat(published["count"].astype("int64"))]
    published[[*job["quasi"], job["sensitive"]]].to_csv(job["published"], index=False)


def levels_of(job: Job, name: str) -> list[list[str]]:
    """The lines of a hierarchy: each a value and its labels, up to `*`."""
    with Path(job["hierarchies"][name]).open(encoding="utf-8", newline="") as file:
        return [line for line in csv.reader(file) if line]
