"""crowds: OLA, the best node of the lattice of full-domain generalizations; k-anonymity only."""

from __future__ import annotations

from typing import Any

from runner import Job, levels_of, pandas_records, pandas_table, perform


def load(job: Job) -> tuple[Any, dict[str, dict[int, dict[Any, str]]]]:
    """The table, and per attribute what each level between value and `*` makes of a value."""
    levels: dict[str, dict[int, dict[Any, str]]] = {}
    for name in job["quasi"]:
        lines = levels_of(job, name)
        kind = int if name in job["numeric"] else str
        levels[name] = {
            at: {kind(line[0]): line[at] for line in lines} for at in range(1, len(lines[0]) - 1)
        }
    return pandas_table(job), levels


def anonymize(loaded: tuple[Any, dict[str, dict[int, dict[Any, str]]]], job: Job) -> Any:
    """The best k-anonymous generalization by its own default loss; nothing suppressed."""
    from crowds.kanonymity.generalizations import GenRule
    from crowds.kanonymity.ola import anonymize as ola

    table, levels = loaded
    rules = {name: GenRule([made.get for made in levels[name].values()]) for name in job["quasi"]}
    found = ola(table, rules, k=job["k"], max_sup=0)
    if found is None:
        raise ValueError("no generalization found")
    return found[0]


def write(published: Any, job: Job) -> None:
    """Its topmost level is a missing cell."""
    quasi = job["quasi"]
    published[quasi] = published[quasi].astype(object).where(published[quasi].notna(), "*")
    pandas_records(published, job)


if __name__ == "__main__":
    perform(anonymize, load, write)
