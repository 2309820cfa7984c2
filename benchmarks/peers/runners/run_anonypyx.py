"""anonypyx, a fork of anonypy: Mondrian; rows of a group with their counts."""

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
    """k-anonymity, or distinct l-diversity with it, with labels that people read."""
    from anonypyx import Anonymiser

    return Anonymiser(
        table,
        k=job["k"],
        l=job["l"],
        algorithm="Mondrian",
        feature_columns=job["quasi"],
        sensitive_column=job["sensitive"],
        generalisation_strategy="human-readable",
    ).anonymise()


if __name__ == "__main__":
    perform(anonymize, load)
