"""anonypy: Mondrian; rows of a group with the number of each sensitive value."""

from __future__ import annotations

from typing import Any

from runner import Job, pandas_table, perform


def load(job: Job) -> Any:
    """The table with categories as such."""
    table = pandas_table(job)
    for name in job["quasi"]:
        if name not in job["numeric"]:
            table[name] = table[name].astype("category")
    return table


def anonymize(table: Any, job: Job) -> Any:
    """k-anonymity, or l-diversity with it."""
    import pandas as pd
    from anonypy import Preserver

    preserver = Preserver(table, job["quasi"], job["sensitive"])
    if job["l"] is None:
        rows = preserver.anonymize_k_anonymity(k=job["k"])
    else:
        rows = preserver.anonymize_l_diversity(k=job["k"], l=job["l"])
    for row in rows:
        for name in job["quasi"]:
            row[name] = row[name][0]
    return pd.DataFrame(rows)


if __name__ == "__main__":
    perform(anonymize, load)
