"""Compiled loops are kept on disk, and what is kept is never taken for other types."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def kept_beside_the_script(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code is kept where it is kept by default, whatever this process was told."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)


LOOP = """
import json, sys
import numpy as np
from incrowd._runtime.compiling import compiled

@compiled
def total(codes):
    found = 0
    for code in codes:
        found += code
    return found

kind = np.dtype(sys.argv[1])
answer = int(total(np.arange(10, dtype=kind)))
print(json.dumps([answer, sum(total.stats.cache_hits.values())]))
"""


PATIENCE = """
from incrowd._runtime import compiling
compiling._TURNS._patience = {}
"""

FORK = """
import os
import incrowd._runtime.compiling
from numba.core.bytecode import FunctionIdentity

reading, writing = os.pipe()
if os.fork() == 0:
    os.write(writing, str(next(FunctionIdentity._unique_ids)).encode())
    os._exit(0)
print(os.read(reading, 99).decode(), next(FunctionIdentity._unique_ids))
"""


def run(script: Path, kind: str) -> list[int]:
    done = subprocess.run(
        [sys.executable, str(script), kind], capture_output=True, text=True, check=True
    )
    answer: list[int] = json.loads(done.stdout)
    return answer


def test_the_second_run_takes_the_kept_code(tmp_path: Path) -> None:
    script = tmp_path / "loop.py"
    script.write_text(LOOP, encoding="utf-8")
    assert run(script, "uint8") == [45, 0]
    assert run(script, "uint8") == [45, 1]


def test_kept_code_for_other_types_is_not_taken(tmp_path: Path) -> None:
    script = tmp_path / "loop.py"
    script.write_text(LOOP, encoding="utf-8")
    run(script, "uint8")
    run(script, "uint16")
    first, second = sorted(tmp_path.rglob("*.nbc"))
    # What is left when two processes save at the same moment: the code of one under both names.
    second.write_bytes(first.read_bytes())
    assert run(script, "uint8")[0] == 45
    assert run(script, "uint16")[0] == 45


def test_processes_do_not_compile_what_another_one_compiles(tmp_path: Path) -> None:
    script = tmp_path / "loop.py"
    script.write_text(LOOP.replace("kind =", PATIENCE.format(600) + "kind ="))
    started = [
        subprocess.Popen([sys.executable, str(script), "uint8"], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    told = sorted(json.loads(each.communicate()[0]) for each in started)
    assert told == [[45, 0], [45, 1], [45, 1]]


def test_who_compiles_for_ever_is_not_waited_for(tmp_path: Path) -> None:
    script = tmp_path / "loop.py"
    script.write_text(LOOP.replace("kind =", PATIENCE.format(0.05) + "kind ="))
    fcntl = pytest.importorskip("fcntl")
    with script.open() as source:
        fcntl.flock(source, fcntl.LOCK_EX)
        assert run(script, "uint8") == [45, 0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_no_two_processes_number_their_functions_alike() -> None:
    """Else inner functions of a sort and of an argsort, kept by two processes, share a name."""
    numbers: list[int] = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", FORK], capture_output=True, text=True, check=True
        )
        numbers += map(int, done.stdout.split())
    assert len(numbers) == 4
    assert min(abs(a - b) for i, a in enumerate(numbers) for b in numbers[:i]) > 1_000_000


OUTSIDE = """
import numpy as np
from incrowd._runtime.compiling import compiled

@compiled
def beyond(cells, at):
    return cells[at]

print(beyond(np.zeros(4), 3))
try:
    beyond(np.zeros(4), 1_000)
except IndexError:
    print("IndexError")
else:
    print("silent")
"""


@pytest.mark.parametrize("first", [False, True])
def test_a_loop_that_leaves_its_array_raises_where_bounds_are_checked(
    tmp_path: Path, first: bool
) -> None:
    """Whatever was kept before: code without checks is not taken for code with them."""
    script = tmp_path / "loop.py"
    script.write_text(OUTSIDE, encoding="utf-8")
    for checked in (first, not first):
        plain = {name: cell for name, cell in os.environ.items() if name != "NUMBA_BOUNDSCHECK"}
        done = subprocess.run(
            [sys.executable, str(script)],
            env={**plain, **({"NUMBA_BOUNDSCHECK": "1"} if checked else {})},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert done.stdout.split() == ["0.0", "IndexError" if checked else "silent"]


INNER = """
from incrowd._runtime.compiling import compiled
STEP = {step}

@compiled
def inner(number):
    return number + STEP * {factor}
"""
OUTER = """
from incrowd._runtime.compiling import compiled
from inner_loop import inner

@compiled
def outer(number):
    return inner(number)

print(outer(1))
"""


def test_kept_code_is_not_taken_once_a_loop_of_another_file_that_it_calls_has_changed(
    tmp_path: Path,
) -> None:
    script = tmp_path / "outer_loop.py"
    script.write_text(OUTER, encoding="utf-8")
    for step, factor in ((1, 1), (1, 5), (7, 5)):
        inner = INNER.format(step=step, factor=factor)
        (tmp_path / "inner_loop.py").write_text(inner, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-B", str(script)], capture_output=True, text=True, check=True
        )
        assert int(done.stdout) == 1 + step * factor


PAIR = """
from typing import NamedTuple

class Pair(NamedTuple):
    {first}: int
    {second}: int
"""
READER = """
from incrowd._runtime.compiling import compiled
from pair import Pair

@compiled
def low(given):
    return given.low

@compiled
def made(first, second):
    return Pair(first, second).low

print(low(Pair(low=1, high=2)), made(1, 2))
"""


def test_kept_code_is_not_taken_once_the_fields_of_a_named_tuple_have_moved(tmp_path: Path) -> None:
    script = tmp_path / "reader_loop.py"
    script.write_text(READER, encoding="utf-8")
    for fields, told in ((("low", "high"), "1 1"), (("high", "low"), "1 2")):
        pair = PAIR.format(first=fields[0], second=fields[1])
        (tmp_path / "pair.py").write_text(pair, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-B", str(script)], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == told


def test_kept_code_that_names_types_that_are_gone_is_made_anew(tmp_path: Path) -> None:
    script = tmp_path / "reader_loop.py"
    for name in ("Pair", "Couple"):
        for file, text in (("pair.py", PAIR), ("reader_loop.py", READER)):
            named = text.replace("{first}", "low").replace("{second}", "high")
            (tmp_path / file).write_text(named.replace("Pair", name), encoding="utf-8")
        done = subprocess.run([sys.executable, "-B", str(script)], capture_output=True, text=True)
        assert (done.stdout.strip(), done.stderr) == ("1 1", "")
