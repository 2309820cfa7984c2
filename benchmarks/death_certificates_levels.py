"""The highest research value of death certificates: 216,000 records, up to 36 attributes.

    python benchmarks/death_certificates_levels.py [--rows N] [--only r12,m24]

The subsets and k of the published runs, all weights equal. Seconds are those of the search once
its loops are compiled; the published ones are of another machine, another table of that shape, and
lists of strings. "gap" is how much more an ended search could not rule out.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from incrowd import datasets
from incrowd._runtime.progress import silent
from incrowd.datasets.death_certificates import attributes
from incrowd.methods.research_value._best_first import BestFirst
from incrowd.methods.research_value._distributed import distributed_search
from incrowd.methods.research_value._halving import local_search
from incrowd.methods.research_value._listing import MOST_STRINGS, global_search, hybrid_search
from incrowd.methods.research_value._pruning import lowest_levels
from incrowd.methods.research_value._strings import Strings
from incrowd.pipeline import Job
from incrowd.policy import Policy

CASES: list[tuple[str, int, float, str]] = [
    ("r03", 5, 0.0, "13"),
    ("r08", 5, 0.0, "282"),
    ("r12", 3, 0.0, "2,459"),
    ("r12", 5, 0.0, "2,498"),
    ("r12", 5, 0.02, ""),
    ("m24", 3, 0.0, "25,764"),
    ("m24", 3, 0.02, ""),
    ("r24", 5, 0.0, "14,961, none found"),
    ("all", 5, 0.0, ""),
    ("all", 5, 0.02, ""),
]
"""Subset, k, share that may be suppressed, and the seconds that the thesis states."""
SEARCHES = {
    "global": global_search,
    "hybrid": hybrid_search,
    "local": local_search,
    "distributed": distributed_search,
}


def strings_of(frame: pl.DataFrame, subset: str, k: int, limit: float, base: Path) -> Strings:
    asked: dict[str, Any] = {
        "attributes": attributes(subset),
        "privacy": [{"k-anonymity": {"k": k}}],
        "method": "research-value",
        "suppression": limit,
    }
    policy = Policy.from_mapping(asked, base=base)
    return Strings(Job.begin(frame.select(policy.quasi), policy, silent).task)


def row(strings: Strings, search: str, stated: str) -> str:
    started = time.perf_counter()
    if search == "best-first":
        answer = BestFirst(strings).best()
        best, gap = answer.found[0], "" if answer.proven else f"{answer.most:.4f}"
    else:
        best, gap = SEARCHES[search](strings), ""
    seconds = time.perf_counter() - started
    levels = zip(strings.top, lowest_levels(strings), strict=True)
    many = float(np.prod([top - low + 1.0 for top, low in levels]))
    return (
        f"| {many:.3g} | {search} | {strings.value(best.levels):.4f} | {gap} "
        f"| {len(strings.roots(best.levels))} of {len(strings.top)} | {best.suppressed:,} "
        f"| {strings.check.looked_at:,} | {seconds:.1f} | {stated} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=216_000)
    parser.add_argument("--only", help="some subsets, as in r12,m24")
    given = parser.parse_args()
    chosen = None if given.only is None else given.only.split(",")
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        datasets.export_hierarchies("death-certificates", base)
        frame = datasets.load("death-certificates", rows=given.rows)
        BestFirst(strings_of(frame.head(2_000), "r08", 5, 0.02, base)).best()
        print(
            "| subset, k, limit | strings | search | value | at most | at the root | suppressed ",
            end="",
        )
        print("| looked at | seconds | thesis |")
        print("|---|---|---|---|---|---|---|---|---|---|")
        for subset, k, limit, stated in CASES:
            if chosen is not None and subset not in chosen:
                continue
            title = f"| {subset}, {k}, {limit:.0%} "
            strings = strings_of(frame, subset, k, limit, base)
            print(title + row(strings, "best-first", stated), flush=True)
            if limit or subset == "all":
                continue
            lowest = lowest_levels(strings)
            shape = [top - low + 1.0 for top, low in zip(strings.top, lowest, strict=True)]
            for search in SEARCHES:
                if search in ("global", "hybrid") and np.prod(shape) > MOST_STRINGS:
                    continue
                fresh = strings_of(frame, subset, k, limit, base)
                print(title + row(fresh, search, ""), flush=True)


if __name__ == "__main__":
    main()
