"""Which deliberate faults the tests find: each is put into a copy of the tree, and its tests run.

    python benchmarks/deliberate_faults/run.py [--only ID …] [--jobs 2] [--out FILE]

A fault of faults.yaml is one small wrong change, as an engineer might make it: `was` stands once in
`file` (below src/incrowd) and becomes `now`; `tests` (below tests) are those that should notice,
likeliest first, each in a process of its own until one fails. A fault that none notices is a gap in
the tests. Before tests are dropped and after, all must be found. What was found is kept in `--out`,
where one is named, and a fault that it tells of is not tried again.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import yaml

REPOSITORY = Path(__file__).parents[2]
FAULTS = Path(__file__).with_name("faults.yaml")
SECONDS = 900
"""After which a fault counts as noticed: it hangs what it is in."""


def copied(folder: Path) -> Path:
    """A copy of what git keeps, in which faults are made."""
    listed = subprocess.run(
        ("git", "ls-files", "-z"),  # noqa: S607
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(REPOSITORY / name, folder / name)
    return folder


def told(tree: Path, test: str, *, kept: bool) -> str | None:
    """The first test that fails, or None; compiled loops are `kept` but where they are at fault."""
    environment = {n: v for n, v in os.environ.items() if not n.startswith(("INCROWD", "NUMBA"))}
    environment |= {"PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    if kept:
        environment["NUMBA_CACHE_DIR"] = str(tree / ".loops")
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider"]
    command += ["--tb=line", "-rfE", "--hypothesis-profile=ci", f"tests/{test}"]
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"{test}: no end"
    if done.returncode == 0:
        return None
    if done.returncode in (4, 5):  # there is no such test
        raise SystemExit(f"{test}: {done.stdout[-500:]}{done.stderr[-500:]}")
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return failed[1] if failed else test


def tried(tree: Path, fault: dict[str, Any]) -> str | None:
    """Who notices a fault, or None."""
    path = tree / "src" / "incrowd" / fault["file"]
    text, times = path.read_text(encoding="utf-8"), path.stat()
    assert text.count(fault["was"]) == 1, f"{fault['id']} does not fit {path}"
    path.write_text(text.replace(fault["was"], fault["now"]), encoding="utf-8")
    try:
        kept = path.name != "compiling.py"
        return next(filter(None, (told(tree, each, kept=kept) for each in fault["tests"])), None)
    finally:
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def main() -> int:
    """Try the faults; 1 where one is found by nobody."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="ID")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    found = {}
    if asked.out and asked.out.exists():
        found = {line["id"]: line["by"] for line in map(json.loads, asked.out.open())}
    work: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    for fault in yaml.safe_load(FAULTS.read_text(encoding="utf-8")):
        if fault["id"] not in found and (not asked.only or fault["id"] in asked.only):
            work.put(fault)

    def worker() -> None:
        with tempfile.TemporaryDirectory() as folder:
            tree = copied(Path(folder))
            while not work.empty():
                fault = work.get()
                found[fault["id"]] = by = tried(tree, fault)
                print(fault["id"], by or "NOT FOUND", flush=True)
                if asked.out:
                    with asked.out.open("a", encoding="utf-8") as out:
                        out.write(json.dumps({"id": fault["id"], "by": by}) + "\n")

    threads = [threading.Thread(target=worker) for _ in range(asked.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    missed = [name for name, by in found.items() if by is None]
    print(f"{len(found) - len(missed)} of {len(found)} found.", *missed)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
