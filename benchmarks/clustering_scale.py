"""How the cost of clustering grows, by comparison of all clusters and by the index.

Distinct records of four numbers and two categories, drawn from a mixture, under k-anonymity with
k = 5; then Adult on four attributes. Run with the numbers of records to be tried:

    python benchmarks/clustering_scale.py 2000 4000 8000 16000 --indexed 50000 100000
"""

from __future__ import annotations

import argparse
import time
from typing import Any, cast

import numpy as np
import polars as pl

from incrowd import datasets
from incrowd._runtime.progress import silent
from incrowd.methods.base import Outcome, RecordTask
from incrowd.methods.clustering import ClusteringOptions, clustering
from incrowd.methods.mondrian._mondrian import mondrian
from incrowd.pipeline import Job

ADULT = ["age", "education-num", "capital-gain", "income"]
JOBS = {f"branch {b}": [f"job {b}{i}" for i in range(6)] for b in range(5)}


def people(many: int) -> pl.DataFrame:
    """Distinct records: what is drawn twice is drawn again."""
    draw = np.random.default_rng(1)
    jobs = [job for branch in JOBS.values() for job in branch]
    frame = pl.DataFrame()
    while len(frame) < many:
        kind = draw.integers(0, 4, 2 * many)
        some = pl.DataFrame(
            {
                "age": np.clip(draw.normal(20 + 18 * kind, 9), 0, 100).astype(int),
                "income": draw.lognormal(7 + 0.3 * kind, 0.6).astype(int),
                "hours": np.clip(draw.normal(38, 10, 2 * many), 0, 99).astype(int),
                "gain": np.where(draw.random(2 * many) < 0.9, 0, draw.integers(1, 5000, 2 * many)),
                "job": draw.choice(jobs, 2 * many),
                "sex": draw.choice(["F", "M"], 2 * many),
            }
        )
        frame = (
            pl.concat([frame, some]).unique(maintain_order=True)
            if len(frame)
            else some.unique(maintain_order=True)
        )
    return frame.head(many)


def task_of(frame: pl.DataFrame, attributes: dict[str, Any], k: int = 5) -> RecordTask:
    asked = {
        "attributes": attributes,
        "privacy": [{"k-anonymity": {"k": k}}],
        "method": {"name": "clustering", "distance": "research-value"},
    }
    return cast(RecordTask, Job.begin(frame, asked, silent).task)


def ncp(outcome: Outcome) -> float:
    records = outcome.group_sizes.sum()
    losses = [(c.loss_of_group * outcome.group_sizes).sum() for c in outcome.labels.values()]
    return float(np.mean(losses) / records)


def told(what: str, task: RecordTask, work: Any) -> None:
    began = time.perf_counter()
    outcome = work()
    seconds = time.perf_counter() - began
    print(
        f"{task.counts.records:>9,} records  {what:<34} {seconds:8.2f} s"
        f"  {len(outcome.group_sizes):>7,} groups  NCP {ncp(outcome):.5f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=int, nargs="*", default=[2000, 4000, 8000, 16000])
    parser.add_argument("--indexed", type=int, nargs="*", default=[50_000, 100_000])
    sizes = parser.parse_args()
    attributes: dict[str, Any] = dict.fromkeys(["age", "income", "hours", "gain", "sex"], "quasi")
    attributes["job"] = {"role": "quasi", "hierarchy": {"tree": JOBS}}
    small = task_of(people(300), attributes)
    clustering(small, exact=True)  # compiles, or loads what was compiled
    for many in [*sizes.records, *sizes.indexed]:
        task = task_of(people(many), attributes)
        if many in sizes.records:
            told("all compared", task, lambda task=task: clustering(task, exact=True))
        told("indexed", task, lambda task=task: clustering(task))
        told("mondrian, labels: set", task, lambda task=task: mondrian(task))
    frame = datasets.load("adult").filter(pl.col("fold") == "train").drop_nulls().select(ADULT)
    for k in (5, 10):
        task = task_of(frame, dict.fromkeys(ADULT, "quasi"), k)
        told(f"Adult, k = {k}, all compared", task, lambda: clustering(task, exact=True))  # noqa: B023
        for options in (
            ClusteringOptions(),
            ClusteringOptions(distance="euclidean"),
            ClusteringOptions(distance="research-value"),
            ClusteringOptions(distance="research-value", suppression=True),
            ClusteringOptions(overlap="forbid"),
        ):
            shown = [options.distance, *(["suppression"] if options.suppression else [])]
            what = " ".join([*shown, *(["forbid"] if options.overlap == "forbid" else [])])
            told(f"Adult, k = {k}, {what}", task, lambda o=options, t=task: clustering(t, o))
        told(f"Adult, k = {k}, mondrian", task, lambda t=task: mondrian(t))


if __name__ == "__main__":
    main()
