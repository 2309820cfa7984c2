"""pycanon: k and l of a published table, as it measures them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from runner import Job, perform


def load(job: Job) -> Any:
    """The published table, all cells text."""
    import pandas as pd

    return pd.read_csv(job["table"], dtype=str, keep_default_na=False)


def check(table: Any, job: Job) -> dict[str, int]:
    """The k and the l that hold."""
    from pycanon import anonymity

    return {
        "k": int(anonymity.k_anonymity(table, job["quasi"])),
        "l": int(anonymity.l_diversity(table, job["quasi"], [job["sensitive"]])),
    }


def write(found: dict[str, int], job: Job) -> None:
    """What was found, as JSON."""
    Path(job["published"]).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    perform(check, load, write)
