"""Patterns of Adult before and after: tables 13 to 17 of Morton (2012), redone.

    python benchmarks/adult_patterns.py [--methods NAME,NAME] [--picture FILE] [--details]

30,162 complete train records; age, education-num and capital-gain are quasi-identifiers, income is
the control attribute: once the target of analysts, published as it is, once a quasi-identifier like
the others, as in the thesis. Prints for each method and k = 3, 5, 10 what recursive partitioning
finds in the release of the two raw buckets: the records that surely satisfy the released rule, its
purity, and whether the bucket survives (like rule, similar size, purity within 2 points).
The thesis kept at most one of the two at k = 5 and at k = 10.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl

import incrowd
from incrowd import datasets
from incrowd.errors import IncrowdError
from incrowd.methods import METHOD_OPTIONS
from incrowd.report.patterns import draw_patterns
from incrowd.utility import Patterns, patterns
from incrowd.utility.pattern_mining.survival import Survival

CONTROL = "income"
NONE, REGULAR, EXPERT = "", "levels", "expert"
INTERVALS: dict[str, Any] = {
    "age": {"intervals": {"start": 16, "stop": 96, "widths": [4, 20, 40]}},
    "education-num": {"intervals": {"start": 1, "stop": 17, "widths": [2, 4, 8]}},
    "capital-gain": {"intervals": {"start": 0, "stop": 100000, "widths": [1000, 5000, 25000]}},
}
BOUNDS = {"age": [28, 45], "education-num": [9, 13], "capital-gain": [7000]}
"""Where an expert would part each attribute; one level below `*`."""
RULES: dict[str, dict[str, Any]] = {
    "age": {"weight": 70.0, "rules": [{"apart": [27, 28], "importance": 20}]},
    "education-num": {"weight": 10.0},
    "capital-gain": {"weight": 1e6, "rules": [{"apart": [6849, 7298], "importance": 20}]},
}
"""What an expert would ask of them: the bounds of the raw buckets are to be kept. Research value
divides by the values that a group spans, so the weight of capital gain makes up for its 100,000."""


def _clusters(distance: str, **options: Any) -> dict[str, Any]:
    return {"name": "clustering", "distance": distance, **options}


METHODS: tuple[tuple[str, dict[str, Any], str, str | None], ...] = (
    ("mondrian", {"name": "mondrian"}, NONE, None),
    ("mondrian, median", {"name": "mondrian", "split": "median"}, NONE, None),
    (
        "top-down-specialization, for classification",
        {"name": "top-down-specialization"},
        NONE,
        "classification",
    ),
    ("top-down-specialization", {"name": "top-down-specialization"}, NONE, None),
    ("top-down-local", {"name": "top-down-local"}, NONE, None),
    ("top-down-local, levels", {"name": "top-down-local"}, REGULAR, None),
    ("research-value, levels", {"name": "research-value"}, REGULAR, None),
    ("research-value, an expert's levels and rules", {"name": "research-value"}, EXPERT, None),
    ("clustering, research value", _clusters("research-value"), NONE, None),
    (
        "clustering, research value, suppression",
        _clusters("research-value", suppression=True),
        NONE,
        None,
    ),
    (
        "clustering, research value, no overlap",
        _clusters("research-value", overlap="forbid"),
        NONE,
        None,
    ),
    ("clustering, NCP", _clusters("ncp"), NONE, None),
    ("clustering, Euclidean", _clusters("euclidean"), NONE, None),
)


def policy(
    frame: pl.DataFrame, folder: Path, method: dict[str, Any], k: int, role: str, levels: str,
    goal: str | None,
) -> dict[str, Any]:  # fmt: skip
    attributes: dict[str, Any] = {}
    for name, hierarchy in INTERVALS.items():
        attributes[name] = {"role": "quasi", "type": "numeric"}
        if levels == REGULAR:
            attributes[name]["hierarchy"] = hierarchy
        elif levels == EXPERT:
            attributes[name]["hierarchy"] = str(expert_levels(frame[name], folder))
            attributes[name] |= RULES[name]
    attributes[CONTROL] = role
    asked = {"attributes": attributes, "privacy": [{"k-anonymity": {"k": k}}], "method": method}
    return asked | ({} if goal is None else {"goal": goal})


def expert_levels(values: pl.Series, folder: Path) -> Path:
    """A hierarchy file with one level of ranges between the bounds of an attribute."""
    ends = [0, *BOUNDS[values.name], 100_000]
    lines = []
    for value in values.unique().sort().to_list():
        at = next(number for number, end in enumerate(ends[1:]) if value < end)
        lines.append(f"{value},[{ends[at]}-{ends[at + 1]}),*")
    path = folder / f"{values.name}.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def measure(frame: pl.DataFrame, asked: Any, folder: Path) -> tuple[Patterns, float]:
    """The patterns of a release that was verified from its files, and the seconds to make it."""
    begun = time.perf_counter()
    release = incrowd.anonymize(frame, asked)
    seconds = time.perf_counter() - begun
    release.save(folder)
    return patterns(folder, CONTROL, original=frame), seconds


def cell(kept: Survival) -> str:
    if kept.match is None:
        return kept.verdict
    purity = "-" if kept.match.sure_purity is None else f"{100 * kept.match.sure_purity:.1f} %"
    return f"**{kept.verdict}** {kept.match.sure:,} / {kept.match.text} / {purity}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--picture", type=Path, help="draw what top-down-local keeps at k = 5")
    parser.add_argument("--methods", help="names of methods, with commas; all by default")
    parser.add_argument("--details", action="store_true", help="print every bucket as well")
    arguments = parser.parse_args()
    frame = datasets.load("adult").filter(pl.col("fold") == "train").drop_nulls()
    frame = frame.select([*INTERVALS, CONTROL])
    raw = patterns(frame, CONTROL)
    print(raw.as_text())
    head = ["income is", "method", "k", *(each.text for each in raw.buckets), "seconds"]
    print("\n| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    details = []
    wanted = None if arguments.methods is None else arguments.methods.split(",")
    for role in ("target", "quasi"):
        for title, method, levels, goal in METHODS:
            if wanted is not None and method["name"] not in wanted:
                continue
            if method["name"] not in METHOD_OPTIONS:
                print(f"| {role} | {title} | | not in this version |" + " |" * (len(head) - 4))
                continue
            if goal is not None and role != "target":
                continue
            for k in (3, 5, 10):
                with tempfile.TemporaryDirectory() as work:
                    try:
                        asked = policy(frame, Path(work), method, k, role, levels, goal)
                        found, seconds = measure(frame, asked, Path(work) / "release")
                    except IncrowdError as problem:
                        told = str(problem).partition("\n")[0]
                        print(f"| {role} | {title} | {k} | {told} |" + " |" * (len(head) - 4))
                        continue
                cells = [cell(kept) for kept in found.survival]
                row = [role, title, str(k), *cells, f"{seconds:.2f}"]
                print("| " + " | ".join(row) + " |", flush=True)
                details.append(f"{title}, income {role}, k = {k}\n{found.as_text()}\n")
                chosen = (role, title, k) == ("quasi", "top-down-local", 5)
                if chosen and arguments.picture is not None:
                    draw_patterns(found, arguments.picture)
    if arguments.details:
        print("\n" + "\n".join(details))


if __name__ == "__main__":
    main()
