"""One process after another: its seconds, the most memory it held, and how it ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_STEP = 0.02


@dataclass(frozen=True)
class Ran:
    """What became of a process; `ended` is well, time, memory or error."""

    ended: str
    whole: float
    peak: int
    seconds: float | None = None
    version: str | None = None
    error: str = ""
    load: float = 0.0
    """The load of the machine when the process started."""


def run_job(python: str, script: Path, job: Mapping[str, Any], folder: Path, limit: float) -> Ran:
    """A runner on a job: killed after `limit` seconds, its memory watched all the time.

    The peak is the kernel's high-water mark of the process (VmHWM), read while it runs and told by
    the runner at its end; what the parent holds is not in it, as it would be in `ru_maxrss`.
    """
    result = folder / "result.json"
    result.unlink(missing_ok=True)
    described = {**job, "result": str(result)}
    (folder / "job.json").write_text(json.dumps(described), encoding="utf-8")
    load = os.getloadavg()[0]
    with (folder / "said.txt").open("w", encoding="utf-8") as said:
        started = time.perf_counter()
        process = subprocess.Popen(
            [python, str(script), str(folder / "job.json")],
            stdout=said,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env=_surroundings(python),
        )
        peak, late = _watch(process, started + limit)
        whole = time.perf_counter() - started
    if late:
        return Ran("time", whole, peak, load=load)
    return _told(result, process.returncode, folder / "said.txt", whole, peak, load)


def _surroundings(python: str) -> dict[str, str]:
    """The variables of the process: an environment of its own sees no modules but its own."""
    hidden = () if python == sys.executable else ("PYTHONPATH",)
    return {name: value for name, value in os.environ.items() if name not in hidden}


def _watch(process: subprocess.Popen[bytes], until: float) -> tuple[int, bool]:
    """The highest memory seen until the process ended, or was killed because it was late."""
    peak, late = 0, False
    while process.poll() is None:
        peak = max(peak, high_water_mark(process.pid))
        if time.perf_counter() > until:
            process.kill()
            process.wait()
            late = True
            break
        time.sleep(_STEP)
    return peak, late


def _told(result: Path, code: int, said: Path, whole: float, peak: int, load: float) -> Ran:
    """What the runner itself says; without a word it was ended from outside or ran into a wall."""
    if not result.exists():
        last = said.read_text(encoding="utf-8", errors="replace").strip()[-200:]
        lacking = "memory" in last.lower() or "alloc" in last.lower()
        ended = "memory" if lacking else "error"
        return Ran(ended, whole, peak, error=last or f"exit code {code}", load=load)
    told = json.loads(result.read_text(encoding="utf-8"))
    return Ran(
        told["ended"],
        whole,
        max(peak, told["peak"]),
        told.get("seconds"),
        told["version"],
        told.get("error", ""),
        load,
    )


def high_water_mark(pid: int) -> int:
    """The most memory a process ever held, in bytes; 0 where it is gone or not told."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except (OSError, UnicodeDecodeError):
        return 0
    found = [int(line.split()[1]) for line in lines if line.startswith("VmHWM:")]
    return found[0] * 1024 if found else 0


def environment(name: str, requirements: Sequence[str], cache: Path) -> str:
    """The interpreter that has these packages: this one, or that of an environment in the cache.

    An environment is made once; a file in it says what it has, so that other requirements make it
    anew.
    """
    if not requirements:
        return sys.executable
    folder = cache / name
    python, stamp = folder / "bin" / "python", folder / "requirements.txt"
    wanted = "\n".join(requirements)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return str(python)
    venv.create(folder, with_pip=True, clear=True)
    made = subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", *requirements],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        raise RuntimeError(f"{name} cannot be installed: {made.stderr.strip()[-300:]}")
    stamp.write_text(wanted, encoding="utf-8")
    return str(python)
