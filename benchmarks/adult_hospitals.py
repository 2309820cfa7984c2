"""Adult at three hospitals: joint release against generalize-then-integrate, as figure 8.

    python benchmarks/adult_hospitals.py [--search greedy] [--search frugal] [--splits 3]
                [--hospitals 3] [--picture docs/pictures/adult-hospitals.svg]

45,222 complete records in equal parts, the attributes, sensitive values and C = 20 % of
adult_lkc.py, L = 4, K = 20 to 100, as in section 6.1.2 of Mohammed, Fung, Hung, Lee (2010).
*Pooled* is one run over all records; hospitals that run it together get the same bytes. *Apart*,
every hospital anonymizes its own part, and the tables are put together as they are, each with its
own cut. With *common labels*, an analyst then gives every value the coarsest label that any
hospital shows for it, so that records of different hospitals can be compared and counted. DR of
the table as it is does not compare with DR of one cut: records that two hospitals label
differently count as told apart. *Traceable* is the share of records in that table whose labels
only one hospital shows.

Both ways use the same agreed hierarchies, numbers included (RANGES below): hospitals that may not
show their records cannot grow ranges from them. So pooled figures differ from adult_lkc.py.

Two ways of splitting: *even*, at random, means over several splits; *by age*, from the youngest at
the first hospital to the oldest at the last. CE, BE and UE are means of five splits into 2/3 to
train on and 1/3 to test on; DR is that of runs for general analysis.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from adult_lkc import KS, complete, policy
from pages import Panel
from pages import draw as draw_panels

import incrowd
from incrowd import datasets
from incrowd.errors import PrivacyError
from incrowd.utility import classification, discernibility

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "federation"))
from generalize_then_integrate import generalize_then_integrate, with_common_labels

L, C = 4, 0.2
PAPER_BE, PAPER_APART = 14.7, (3.8, 8.2)
"""In the paper: BE, and the range of CE - BE when hospitals anonymize apart, over all K."""
RANGES: dict[str, tuple[tuple[int, ...], ...]] = {
    "age": ((17, 38, 91), (28, 50), (23, 33, 44, 60)),
    "fnlwgt": ((0, 180_000, 1_500_000), (115_000, 240_000), (65_000, 150_000, 200_000, 330_000)),
    "education-num": ((1, 13, 17), (9, 14), (5, 10, 15), (11,)),
    "capital-gain": ((0, 7_000, 100_000), (1, 15_000), (3_000,)),
    "capital-loss": ((0, 1_800, 5_000), (1, 2_000)),
    "hours-per-week": ((1, 42, 100), (35, 50), (25, 40, 45, 60)),
}
"""Bounds of nested ranges: those of the coarsest level with its ends, then those that each finer
level adds: round numbers."""

STROKES = {"frugal": ("solid", "none"), "greedy": ("dashed", "5 3"), "gain": ("dotted", "1 3")}


def write_ranges(table: pl.DataFrame, folder: Path) -> dict[str, Path]:
    """A hierarchy file for every number; a file must list all values, hence the table."""
    files = {}
    for name, levels in RANGES.items():
        values = table[name].unique().sort().to_numpy()
        bounds: list[int] = []
        columns = []
        for added in levels:
            bounds = sorted([*bounds, *added])
            place = np.searchsorted(bounds, values, side="right") - 1
            columns.append([f"[{bounds[at]}-{bounds[at + 1]})" for at in place])
        lines = zip(values.tolist(), *reversed(columns), strict=True)
        files[name] = folder / f"{name}.csv"
        text = "\n".join(";".join(map(str, (*line, "*"))) for line in lines)
        files[name].write_text(text + "\n", encoding="utf-8")
    return files


def asked(table: pl.DataFrame, folder: Path, files: dict[str, Path], K: int, search: str) -> Any:
    """The policy of adult_lkc.py, with a hierarchy for every quasi-identifier."""
    method = {"name": "top-down-specialization", "search": search}
    found = policy(table, folder, L, K, C, method=method)
    for name, path in files.items():
        found["attributes"][name] = {"role": "quasi", "type": "numeric", "hierarchy": str(path)}
    return found


def evenly(table: pl.DataFrame, hospitals: int, seed: int) -> list[pl.DataFrame]:
    """The records dealt to the hospitals at random."""
    order = np.random.default_rng(seed).permutation(table.height)
    return [table[np.sort(part)] for part in np.array_split(order, hospitals)]


def by_age(table: pl.DataFrame, hospitals: int) -> list[pl.DataFrame]:
    """The youngest to the first hospital, the oldest to the last."""
    order = table["age"].arg_sort().to_numpy()
    return [table[np.sort(part)] for part in np.array_split(order, hospitals)]


def joint_tables(frames: Sequence[pl.DataFrame], policy: Any) -> dict[str, Any]:
    """The table of the pooled records, or those of hospitals apart: as they are, and comparable."""
    if len(frames) == 1:
        return {"pooled": incrowd.anonymize(frames[0], policy)}
    apart = generalize_then_integrate(frames, policy)
    return {"apart": apart, "apart, common labels": with_common_labels(apart, frames, policy)}


def figures(frames: Sequence[pl.DataFrame], policy: Any) -> list[dict[str, Any]]:
    """CE in percent, DR and the share of traceable records, of every joint table."""
    learnt = joint_tables(frames, {**policy, "goal": "classification"})
    general = joint_tables(frames, {**policy, "goal": "general"})
    return [
        {
            "way": way,
            "CE": 100 * classification(learnt[way]).ce.mean,
            "DR": discernibility(table).dr,
            "traceable": 100 * getattr(table, "traceable", 0.0),
        }
        for way, table in general.items()
    ]


def measured(
    table: pl.DataFrame, folder: Path, files: dict[str, Path], search: str, told: argparse.Namespace
) -> list[dict[str, Any]]:
    """A row for each way, split and K: means, and of several splits the deviation of CE."""
    ways = {
        "pooled": [[table]],
        "even": [evenly(table, told.hospitals, seed) for seed in range(told.splits)],
        "by age": [by_age(table, told.hospitals)],
    }
    rows = []
    for split, partitions in ways.items():
        for K in KS:
            under = asked(table, folder, files, K, search)
            try:
                every = [each for frames in partitions for each in figures(frames, under)]
            except PrivacyError as refusal:
                print(f"{search}, {split}, K = {K}: nothing can be published apart. {refusal}")
                continue
            rows += [
                {"search": search, "split": split, "K": K, **row}
                for row in pl.DataFrame(every)
                .group_by("way", maintain_order=True)
                .agg(pl.all().mean(), pl.col("CE").std().alias("deviation"))
                .to_dicts()
            ]
    return rows


def show(rows: Sequence[dict[str, Any]], baseline: float) -> None:
    """A table of all rows, and the range of what each way costs beside the paper's."""
    print("| search | split | way | K | CE in % | CE - BE | DR | traceable in % |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        error = f"{row['CE']:.1f}"
        if row["deviation"] is not None:
            error += f" ± {row['deviation']:.1f}"
        cells = [row["search"], row["split"], row["way"], row["K"], error]
        cells += [f"{row['CE'] - baseline:.1f}", f"{row['DR']:.3f}", f"{row['traceable']:.0f}"]
        print("| " + " | ".join(map(str, cells)) + " |")
    found = pl.DataFrame(rows).group_by("search", "split", "way", maintain_order=True)
    costs = pl.col("CE") - baseline
    for row in found.agg(costs.min().alias("low"), costs.max().alias("high")).to_dicts():
        print(f"{row['search']}, {row['split']}, {row['way']}: ", end="")
        print(f"CE - BE {row['low']:.1f} to {row['high']:.1f}")
    print(f"paper, apart: CE - BE {PAPER_APART[0]} to {PAPER_APART[1]}")


def draw(
    rows: Sequence[dict[str, Any]], lines: dict[str, float], hospitals: int, path: Path
) -> None:
    """CE and DR by K for the even split, as figure 8, and below them for the split by age."""
    searches = sorted({row["search"] for row in rows})
    key = "; ".join(f"{STROKES[name][0]}: {name}" for name in searches)
    low, high = (PAPER_BE + cost for cost in PAPER_APART)
    most = 1.1 * max(row["DR"] for row in rows)
    series = {(row["search"], row["way"]): f"{row['search']} {row['way']}" for row in rows}
    drawn = []
    for split, told in (("even", "an even split"), ("by age", "a split by age")):
        here = [row for row in rows if row["split"] in ("pooled", split)]
        for figure, label in (("CE", "error in %"), ("DR", "DR")):
            error = figure == "CE"
            drawn.append(
                Panel(
                    f"{figure}, {told}",
                    [(series[row["search"], row["way"]], row["K"], row[figure]) for row in here],
                    x="K",
                    y=label,
                    bounds=(14, 26) if error else (0, most),
                    held=lines if error else {},
                    band=(low, high) if error and split == "even" else None,
                    dashes={name: STROKES[search][1] for (search, _), name in series.items()},
                )
            )
    draw_panels(
        drawn,
        path,
        columns=2,
        title=f"Adult at {hospitals} hospitals, L = 4, C = 20 % ({key}; "
        "grey: CE of three hospitals apart in the paper)",
        names={name: way for (_, way), name in series.items()},
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--search", action="append", choices=tuple(STROKES))
    parser.add_argument("--splits", type=int, default=3, help="how many even splits")
    parser.add_argument("--hospitals", type=int, default=3)
    parser.add_argument("--picture", type=Path)
    told = parser.parse_args()
    table = complete()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        datasets.export_hierarchies("adult", folder)
        files = write_ranges(table, folder)
        whole = incrowd.anonymize(table, asked(table, folder, files, KS[0], "greedy"))
        errors = classification(whole, table)
        assert errors.be is not None
        lines = {"BE": 100 * errors.be.mean, "UE": 100 * errors.ue.mean}
        print(f"BE {lines['BE']:.1f} %, UE {lines['UE']:.1f} % (paper: 14.7, 24.5)", flush=True)
        rows = [
            row
            for search in told.search or ["greedy", "frugal"]
            for row in measured(table, folder, files, search, told)
        ]
    show(rows, lines["BE"])
    if told.picture is not None:
        draw(rows, lines, told.hospitals, told.picture)


if __name__ == "__main__":
    main()
