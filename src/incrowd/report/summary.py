"""The result of a run, for machines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._runtime.manifests import counts_in, counts_rows
from incrowd.utility.granularity import seen

if TYPE_CHECKING:
    from incrowd.publish import Release
    from incrowd.verify import Verdict


def release_summary(release: Release, verdict: Verdict, place: Path) -> dict[str, Any]:
    """The result of a run for JSON."""
    manifest = release.manifest
    return {
        "release": str(place),
        "verified": verdict.holds,
        "unit": manifest["unit"],
        "patients" if counts_rows(manifest) else "records": counts_in(manifest),
        "groups": manifest["groups"],
        "measured": [
            {"model": promise["model"], **measured}
            for promise, measured in zip(manifest["promises"], manifest["measured"], strict=True)
        ],
        "seen": {each.name: each.as_dict() for each in seen(release)},
        "utility": manifest["utility"],
        "attributes": {
            entry["name"]: entry["ncp"] for entry in manifest["attributes"] if "ncp" in entry
        },
        "method": manifest["method"],
        "warnings": [finding.detail for finding in verdict.warnings],
        "not_judged": list(verdict.not_judged),
        **({} if release.replaced is None else {"replaced": release.replaced.as_dict()}),
        "unchanged": [each.as_dict() for each in verdict.unchanged],
    }
