"""What each level of protection among hospitals costs: the worth of the table, what was opened.

    python benchmarks/hospital_levels.py [--hospitals 3 5 10] [--K 20] [--L 4] [--C 0.2]
                [--level honest --level own --level joint] [--search frugal] [--rows 45222]

Adult's complete records with the agreed hierarchies of adult_hospitals.py, dealt to the hospitals
at random (*even*), from the youngest to the oldest (*by age*), or at random in parts that halve
from each hospital to the next, down to 500 records (*sizes*). Hospitals are threads of one process
whose sums are plain, so that nothing but the method differs; federation_cost.py measures the time
of real ones. CE - BE are the points of error that decision trees lose against raw data, NCP is of
the same table, DR of a run for general analysis. *Opened* are counts beside the release, *small*
those of 1 to K - 1 records.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from adult_hospitals import asked, by_age, evenly, write_ranges
from adult_lkc import complete

import incrowd
from incrowd import datasets
from incrowd.errors import PrivacyError
from incrowd.federation.run._joint_table import Made, make
from incrowd.federation.run._own_records import read_own
from incrowd.sources import as_source
from incrowd.utility import classification, discernibility

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "federation"))
from round_table import Chair, RoundTable

LEVELS: dict[str, dict[str, Any]] = {
    "honest": {"trust": "honest"},
    "honest, m: 1": {"trust": "honest", "m": 1},
    "own": {"protect": "own"},
    "joint": {"protect": "joint"},
}
SMALLEST = 500


def by_size(table: pl.DataFrame, hospitals: int) -> list[pl.DataFrame]:
    """The records at random, half as many at each hospital as at the one before."""
    order = np.random.default_rng(0).permutation(table.height)
    shares = np.array([0.5**place for place in range(hospitals)])
    sizes = np.maximum((table.height * shares / shares.sum()).astype(int), SMALLEST)
    ends = np.cumsum(sizes[1:])
    return [table[np.sort(part)] for part in np.split(order, ends)][::-1]


def together(parts: Sequence[pl.DataFrame], policy: dict[str, Any]) -> Made:
    """What the first hospital comes to."""
    wanted = incrowd.Policy.from_mapping(policy)
    table = RoundTable(len(parts))

    def made(chair: Chair) -> Made:
        return make(read_own(as_source(parts[chair.place]), wanted), chair)  # type: ignore[arg-type]

    return table.meet(made)[0]


def row(parts: Sequence[pl.DataFrame], policy: dict[str, Any], error: float) -> list[str]:
    """The figures of one level, or why there are none."""
    begun = time.perf_counter()
    try:
        learnt = together(parts, {**policy, "goal": "classification"})
    except PrivacyError as refusal:
        return [str(refusal).partition(":")[0], "", "", "", "", "", ""]
    taken = time.perf_counter() - begun
    general = together(parts, {**policy, "goal": "general"})
    return [
        f"{100 * (classification(learnt.release).ce.mean - error):.1f}",
        f"{learnt.release.manifest['utility']['ncp']:.2f}",
        f"{discernibility(general.release).dr:.3f}",
        f"{learnt.steps}",
        f"{learnt.opened.cells:,}",
        f"{learnt.opened.small:,}",
        f"{taken:.1f}",
    ]


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hospitals", type=int, nargs="+", default=[3, 5, 10])
    parser.add_argument("--level", action="append", choices=tuple(LEVELS))
    parser.add_argument("--search", default="frugal")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--L", type=int, default=4)
    parser.add_argument("--K", type=int, default=20)
    parser.add_argument("--C", type=float, default=0.2)
    told = parser.parse_args()
    table = complete() if told.rows is None else complete()[: told.rows]
    print("| hospitals | split | level | CE - BE | NCP | DR | steps | opened | small | seconds |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as created:
        folder = Path(created)
        datasets.export_hierarchies("adult", folder)
        policy = asked(table, folder, write_ranges(table, folder), told.K, told.search)
        policy["privacy"][0]["lkc"] |= {"L": told.L, "C": told.C}
        for name, spec in policy["attributes"].items():
            if isinstance(spec, str):
                values = sorted(table[name].unique().to_list())
                policy["attributes"][name] = {"role": spec, "hierarchy": {"tree": values}}
        pooled = incrowd.anonymize(table, {**policy, "goal": "classification"})
        errors = classification(pooled, table)
        assert errors.be is not None
        error = errors.be.mean
        for hospitals in told.hospitals:
            splits = {
                "even": evenly(table, hospitals, 0),
                "by age": by_age(table, hospitals),
                "sizes": by_size(table, hospitals),
            }
            for split, parts in splits.items():
                for level in told.level or LEVELS:
                    found = row(parts, {**policy, "hospitals": LEVELS[level]}, error)
                    print("| " + " | ".join([str(hospitals), split, level, *found]) + " |")
                    sys.stdout.flush()


if __name__ == "__main__":
    main()
