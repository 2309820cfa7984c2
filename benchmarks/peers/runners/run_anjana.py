"""anjana: full-domain generalization along hierarchies, the attribute with most values first."""

from __future__ import annotations

from typing import Any

from runner import Job, levels_of, pandas_table, perform


def load(job: Job) -> tuple[Any, dict[str, dict[int, Any]]]:
    """The table, and per attribute the column of every level, value by value."""
    import numpy as np

    hierarchies = {}
    for name in job["quasi"]:
        levels = zip(*levels_of(job, name), strict=True)
        hierarchies[name] = {at: np.array(labels, dtype=object) for at, labels in enumerate(levels)}
        if name in job["numeric"]:
            hierarchies[name][0] = hierarchies[name][0].astype(np.int64)
    return pandas_table(job), hierarchies


def anonymize(loaded: tuple[Any, dict[str, dict[int, Any]]], job: Job) -> Any:
    """k-anonymity, or l-diversity with it; no record may be suppressed."""
    from anjana.anonymity import k_anonymity, l_diversity

    table, hierarchies = loaded
    if job["l"] is None:
        return k_anonymity(table, [], job["quasi"], job["k"], 0, hierarchies)
    return l_diversity(
        table, [], job["quasi"], job["sensitive"], job["k"], job["l"], 0, hierarchies
    )


if __name__ == "__main__":
    perform(anonymize, load)
