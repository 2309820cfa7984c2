"""incrowd: the job by a method, on a home of the records; the release is saved, thus proven."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from runner import Job, perform


def policy(job: Job) -> dict[str, Any]:
    """The job as a policy."""
    privacy: list[dict[str, Any]] = [{"k-anonymity": {"k": job["k"]}}]
    if job["l"] is not None:
        privacy.append({"l-diversity": {"l": job["l"], "sensitive": job["sensitive"]}})
    quasi = {
        name: {"role": "quasi", "hierarchy": job["hierarchies"][name]} for name in job["quasi"]
    }
    return {
        "attributes": {**quasi, job["sensitive"]: "sensitive"},
        "privacy": privacy,
        "method": job["method"],
        **job["home"],
    }


def load(job: Job) -> Any:
    """The table as a Polars frame; a home other than memory reads the file by itself."""
    import polars as pl

    return pl.read_csv(job["table"]) if in_memory(job) else Path(job["table"])


def in_memory(job: Job) -> bool:
    """Whether the records live in memory."""
    return bool(job["home"].get("engine", "memory") == "memory")


def anonymize(table: Any, job: Job) -> Any:
    """A release; where the home reads the file by itself, that is in the seconds."""
    import incrowd

    return incrowd.anonymize(table, policy(job))


def write(published: Any, job: Job) -> None:
    """The folder of the release, which `incrowd verify` has judged before it appears."""
    published.save(job["published"])


if __name__ == "__main__":
    perform(anonymize, load, write)
