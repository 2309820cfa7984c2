"""The search for histories: loss, seconds of one processor and memory, by size, power and way.

    python benchmarks/histories.py [patients …] [--L 2 3] [--flat] [--seconds N]

Generated patients with 9.3 diagnoses on average, of 300 codes under 150 categories, 60 blocks and
15 chapters (`--flat`: a root and codes alone); some codes are frequent, some go together. K = 5,
C = 1. NCP is over distinct (patient, code) pairs, of which one that is hidden loses 100 %; then
come the shares of pairs that are hidden, and that show each level from the root to the code. Each
row is a process of its own that has already compiled its loops; seconds are of the search alone.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from itertools import product

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.methods.histories._problem import Facts, HowToSearch, Power, Problem, TreeAxis
from incrowd.methods.histories._rows import paths_of
from incrowd.methods.histories._search import search

_CODES = 300
_WIDTHS = (15, 60, 150, _CODES)
_MEAN = 9.3
_GROUPS = 20
_COLUMNS = ("patients", "L", "tree", "recoding", "keep", "NCP %", "hidden %", "shown by level %",
            "CPU s", "peak GB")  # fmt: skip


def axis(*, flat: bool) -> TreeAxis:
    """The tree of the codes."""
    parent, above = [-1], [0]
    for wide in (_CODES,) if flat else _WIDTHS:
        first = len(parent)
        parent += [above[node * len(above) // wide] for node in range(wide)]
        above = list(range(first, len(parent)))
    covers = np.zeros(len(parent), dtype=np.int64)
    for leaf in above:
        node = leaf
        while node >= 0:
            covers[node] += 1
            node = parent[node]
    nothing = np.zeros(len(parent), dtype=np.int64)
    loss = (covers - 1) / (_CODES - 1)
    return TreeAxis(np.array(parent), np.array(above), loss, nothing, nothing)


def diagnoses(patients: int, seed: int = 0) -> tuple[IntArray, IntArray]:
    """Rows of patient and code: some from all codes, some from two groups that go together."""
    draw = np.random.default_rng(seed)
    often = 1 / np.arange(1, _CODES + 1)
    draw.shuffle(often)
    together = draw.gamma(0.3, 1, (_GROUPS, _CODES)) * often
    groups = draw.integers(0, _GROUPS, (patients, 2))
    many = draw.negative_binomial(2.5, 2.5 / (1.5 + _MEAN), patients) + 1
    patient = np.repeat(np.arange(patients), many)
    kind, height = draw.random((2, len(patient)))
    which = np.where(kind < 0.7, groups[patient, 0], groups[patient, 1])
    which[kind < 0.4] = _GROUPS
    code = np.zeros(len(patient), dtype=np.int64)
    for group, weights in enumerate((*together, often)):
        here = which == group
        code[here] = np.searchsorted(np.cumsum(weights) / weights.sum(), height[here])
    return patient, np.minimum(code, _CODES - 1)


def one_run(asked: dict[str, object]) -> dict[str, object]:
    """What one search finds and takes, in this process."""
    patients, flat = int(str(asked["patients"])), bool(asked["flat"])
    tree = axis(flat=flat)
    patient, code = diagnoses(patients)
    facts = Facts(patient, (code,), (tree,), events=True)
    way = HowToSearch(asked["recoding"], asked["keep"], asked["seconds"])  # type: ignore[arg-type]
    power = Power(L=int(str(asked["L"])), K=5, attributes=0)
    few = Facts(patient[:50] % 9, (code[:50],), (tree,), events=True)
    search(Problem(9, (few,), (power,)), way if asked["seconds"] is None else HowToSearch())
    begun = time.process_time()
    (nodes,) = search(Problem(patients, (facts,), (power,)), way)
    seconds = time.process_time() - begun
    _, first = np.unique(patient * _CODES + code, return_index=True)
    shown = nodes[first, 0]
    depth = np.where(shown < 0, -1, paths_of(tree).depth[shown])
    loss = np.where(shown < 0, 1.0, tree.loss[shown])
    levels = np.bincount(depth + 1, minlength=3) / len(depth)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "NCP %": f"{100 * loss.mean():.3f}",
        "hidden %": f"{100 * levels[0]:.2f}",
        "shown by level %": " ".join(f"{100 * level:.1f}" for level in levels[1:]),
        "CPU s": f"{seconds:.1f}",
        "peak GB": f"{peak * (1 if sys.platform == 'darwin' else 1024) / 1e9:.2f}",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("patients", nargs="*", type=int, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--L", nargs="*", type=int, default=[2, 3])
    parser.add_argument("--flat", action="store_true")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        print(json.dumps(one_run(json.loads(given.run))))
        return
    print("| " + " | ".join(_COLUMNS) + " |")
    print("|" + "---|" * len(_COLUMNS))
    ways = product(given.patients, given.L, ("local", "global"), ("precise", "exact"))
    for patients, length, recoding, keep in ways:
        asked = {"patients": patients, "L": length, "flat": given.flat, "recoding": recoding,
                 "keep": keep, "seconds": given.seconds}  # fmt: skip
        done = subprocess.run(
            [sys.executable, __file__, "--run", json.dumps(asked)],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        found = {**asked, "tree": "flat" if given.flat else "5 levels", **json.loads(done.stdout)}
        print("| " + " | ".join(str(found[column]) for column in _COLUMNS) + " |", flush=True)


if __name__ == "__main__":
    main()
