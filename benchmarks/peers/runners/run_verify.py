"""incrowd verify: the release's folder, every promise counted anew from the published files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from runner import Job, perform


def load(job: Job) -> Path:
    """The folder of the release: verifying reads it by itself."""
    return Path(job["table"])


def check(folder: Path, _: Job) -> dict[str, Any]:
    """The k and the l that hold."""
    import incrowd

    verdict = incrowd.verify(folder)
    if not verdict.holds:
        raise ValueError("the release breaks a promise")
    found: dict[str, Any] = {}
    for finding in verdict.findings:
        found.update({name: finding.measured[name] for name in "kl" if name in finding.measured})
    return found


def write(found: dict[str, Any], job: Job) -> None:
    """What was found, as JSON."""
    Path(job["published"]).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    perform(check, load, write)
