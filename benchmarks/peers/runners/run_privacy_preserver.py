"""privacy-preserver: Mondrian; rows of a group with the number of each sensitive value."""

from __future__ import annotations

from typing import Any

from runner import Job, perform


def anonymize(table: Any, job: Job) -> Any:
    """k-anonymity, or l-diversity with it; ranges of numbers are rounded outwards to fives."""
    from preserver.mondrian_preserver import Preserver

    categories = {name for name in job["quasi"] if name not in job["numeric"]}
    quasi, sensitive = job["quasi"], job["sensitive"]
    if job["l"] is None:
        return Preserver.k_anonymize(table, job["k"], quasi, sensitive, categories, None)
    return Preserver.l_diversity(table, job["k"], job["l"], quasi, sensitive, categories, None)


if __name__ == "__main__":
    perform(anonymize)
