"""polarfrost: Mondrian on Polars; one row per group, its size and the set of sensitive values."""

from __future__ import annotations

from typing import Any

from runner import Job, perform


def load(job: Job) -> Any:
    """The table as a Polars frame."""
    import polars as pl

    numeric = [*job["numeric"], job["sensitive"]]
    names = [*job["quasi"], job["sensitive"]]
    types = {name: pl.Int64 if name in numeric else pl.String for name in names}
    return pl.read_csv(job["table"], columns=names, schema_overrides=types).select(names)


def anonymize(table: Any, job: Job) -> Any:
    """k-anonymity by its version for Polars; it has no l-diversity."""
    from polarfrost.mondrian import mondrian_k_anonymity_polars

    categories = [name for name in job["quasi"] if name not in job["numeric"]]
    return mondrian_k_anonymity_polars(
        table, job["quasi"], job["sensitive"], job["k"], categorical=categories
    )


def write(published: Any, job: Job) -> None:
    """A row per record, as often as its count says."""
    import polars as pl

    names = [*job["quasi"], job["sensitive"]]
    records = published.select(pl.col(names).repeat_by("count")).explode(names)
    records.write_csv(job["published"])


if __name__ == "__main__":
    perform(anonymize, load, write)
