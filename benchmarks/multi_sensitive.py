"""Several sensitive attributes at once: group sizes and time, on a generated cancer registry.

    python benchmarks/multi_sensitive.py [rows [attributes]]

Four quasi-identifiers, the first 1, 3 and 7 sensitive attributes of Gal, Chen, Gangopadhyay (2008),
K = 50, L = 10, the greedy and the exact check, Mondrian by the median (as published) and by loss.
"seen" is the size of a record's group, averaged over records. Time is that of the partitioning.
"""

from __future__ import annotations

import sys
import time

from incrowd import datasets
from incrowd.anonymization import Job
from incrowd.methods.base import silent
from incrowd.methods.running import run

QUASI = ("birth_date", "gender", "race", "zip")
SENSITIVE = [
    "tumor_topography", "histology", "survival_years", "diagnosis_date", "age_at_diagnosis",
    "tumor_size", "tumor_site",
]  # fmt: skip


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 72_194
    sizes = [int(sys.argv[2])] if len(sys.argv) > 2 else [1, 3, 7]
    registry = datasets.load("cancer-registry", rows=rows)
    print("| split | check | attributes | groups | seen | seconds |\n|---|---|---|---|---|---|")
    for split in ("median", "loss"):
        for check in ("greedy", "exact"):
            for many in sizes:
                chosen = SENSITIVE[:many]
                attributes = {
                    **dict.fromkeys(QUASI, "quasi"),
                    **dict.fromkeys(chosen, "sensitive"),
                }
                model = {"k": 50, "l": 10, "sensitive": chosen, "check": check}
                policy = {
                    "attributes": attributes,
                    "other": "drop",
                    "privacy": [{"multi-sensitive": model}],
                    "method": {"name": "mondrian", "split": split},
                }
                job = Job.begin(registry, policy, silent)
                begun = time.perf_counter()
                found = run(job.task, job.policy.method).group_sizes
                seconds = time.perf_counter() - begun
                seen = float((found**2).sum() / found.sum())
                print(
                    f"| {split} | {check} | {many} | {len(found):,} | {seen:.1f} | {seconds:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
