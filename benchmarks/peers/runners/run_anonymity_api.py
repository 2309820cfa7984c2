"""anonymity-api: Mondrian that splits numbers only; k-anonymity or l-diversity, never both."""

from __future__ import annotations

from typing import Any

from runner import Job, perform


def anonymize(table: Any, job: Job) -> Any:
    """k-anonymity; categories are joined group by group, without taxonomies."""
    from anonymity_api import anonymity

    return anonymity.k_anonymity(table, job["quasi"], job["k"])


if __name__ == "__main__":
    perform(anonymize)
