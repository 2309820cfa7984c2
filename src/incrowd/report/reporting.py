"""The report of a release in the making: measured, drawn and written once its files are judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from incrowd.methods.base import silent
from incrowd.publish.behind import Unshared

if TYPE_CHECKING:
    from pathlib import Path

    from incrowd.methods.base import Outcome, Progress
    from incrowd.policy import Policy
    from incrowd.preparation import Prepared
    from incrowd.publish.release import ReleaseLike
    from incrowd.report.evidence import Evidence
    from incrowd.research.rules import Interest
    from incrowd.verify import Verdict


class Reporting(Unshared):
    """What the report of a release is made from.

    Parameters
    ----------
    policy
        What was asked for.
    source, published
        All records, and those that the release shows. Without `source` nothing is known of the
        records before: other hospitals keep them.
    outcome
        What the method decided.
    interests
        What a researcher wants of each attribute, where the policy says.
    """

    def __init__(
        self,
        policy: Policy,
        source: Prepared | None,
        published: Prepared,
        outcome: Outcome,
        interests: Mapping[str, Interest],
    ) -> None:
        self._policy = policy
        self._parts = (source, published, outcome, interests)
        self.evidence: Evidence | None = None
        """What was counted, once the report is written."""

    def write(
        self,
        folder: Path,
        release: ReleaseLike,
        manifest: Mapping[str, Any],
        verdict: Verdict,
        progress: Progress = silent,
    ) -> dict[str, Any]:
        """Write report.html into a folder; gives what the manifest says of it."""
        from incrowd.publish.manifest import describe_file
        from incrowd.report.evidence import Measuring
        from incrowd.report.page import NAME, report_page

        source, published, outcome, interests = self._parts
        measuring = Measuring(self._policy, source, published, outcome, interests)
        evidence = self.evidence = measuring.evidence(release, progress)
        page = report_page(self._policy, published.models, manifest, verdict, evidence)
        (folder / NAME).write_text(page, encoding="utf-8")
        described = describe_file(folder / NAME, 0, [])
        return {NAME: {key: described[key] for key in ("sha256", "bytes")}}
