"""The reports of a release in the making: the one that goes with it, and the one that stays.

report.html is part of the release and a function of what the release publishes. The private report
holds the source against it: for who holds the source, outside the folder of any release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._runtime.manifests import Manifest
from incrowd._runtime.progress import Progress, silent
from incrowd._runtime.scratch import staging
from incrowd.errors import InputError, OutputError
from incrowd.publish.destination import refuse_url
from incrowd.publish.manifest import describe_file
from incrowd.publish.original_records import Unshared
from incrowd.publish.ownership import has_manifest

if TYPE_CHECKING:
    from incrowd.engines.preparation import Prepared
    from incrowd.methods.base import Outcome
    from incrowd.policy import Policy
    from incrowd.published.granularity import Seen
    from incrowd.published.opened import ReleaseLike
    from incrowd.report.evidence import Evidence
    from incrowd.research.rules import Interest
    from incrowd.verify import Verdict


class Reporting(Unshared):
    """What the reports of a release are made from.

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
        """What was counted in the release, once its report is written."""
        self._seen: Sequence[Seen] | None = None

    def seen(self, manifest: Manifest) -> Sequence[Seen]:
        """What an analyst sees of each quasi-identifier, counted when it is first asked for."""
        from incrowd.utility.granularity import seen_by_groups

        if self._seen is None:
            self._seen = seen_by_groups(manifest, self._parts[2])
        return self._seen

    def write(self, folder: Path, manifest: Manifest, verdict: Verdict) -> dict[str, Any]:
        """Write report.html into a folder; gives what the manifest says of it."""
        from incrowd.report.page import NAME, report_page

        _, published, _, _ = self._parts
        evidence = self._measured(manifest)
        page = report_page(self._policy, published.models, manifest, verdict, evidence)
        (folder / NAME).write_text(page, encoding="utf-8")
        described = describe_file(folder / NAME, 0, [])
        return {NAME: {key: described[key] for key in ("sha256", "bytes")}}

    def _measured(self, manifest: Manifest) -> Evidence:
        from incrowd.report.evidence import Measuring

        if self.evidence is None:
            _, published, outcome, _ = self._parts
            measuring = Measuring(self._policy, published, outcome)
            self.evidence = measuring.evidence(manifest, self.seen(manifest))
        return self.evidence

    def refuse_private(self, path: Path, folder: Path, *, replace: bool) -> None:
        """Refuse a private report that cannot be made, or in a place where it may not be."""
        if self._parts[0] is None:
            raise InputError(
                "There is no private report of a joint release: each hospital keeps its records."
            )
        refuse_private_place(path, folder, replace=replace)

    def write_private(
        self, path: Path, release: ReleaseLike, verdict: Verdict, progress: Progress = silent
    ) -> None:
        """Write the private report: a file that only its owner may read."""
        from incrowd.report._source_evidence import SourceMeasuring
        from incrowd.report.page import report_page

        source, published, outcome, interests = self._parts
        assert source is not None, "refuse_private comes first"
        measuring = SourceMeasuring(self._policy, source, published, outcome, interests)
        measured = measuring.evidence(release, progress)
        evidence = replace(self._measured(release.manifest), source=measured)
        models = published.models
        page = report_page(self._policy, models, release.manifest, verdict, evidence)
        _write_own(path, page)


def refuse_private_place(path: Path, folder: Path, *, replace: bool = False) -> None:
    """Refuse a place inside a release, or one that is taken; a private report may be replaced."""
    from incrowd.report.page import PRIVATE_MARK

    refuse_url(path)
    place = path.resolve()
    parents = place.parents
    if folder.resolve() in parents or any(has_manifest(parent) for parent in parents):
        raise OutputError(
            f"The private report '{path}' would lie inside a release. It tells of single records "
            "of the source and is not for publication: choose a place outside."
        )
    if not place.parent.is_dir():
        raise OutputError(f"The folder '{place.parent}' for the private report does not exist.")
    if place.is_dir() or (place.exists() and PRIVATE_MARK.encode() not in _beginning(place)):
        raise OutputError(
            f"'{path}' exists and is not a private report, so it is not replaced. Choose another "
            "name for the private report."
        )
    if place.exists() and not replace:
        raise OutputError(
            f"'{path}' is a private report already. Choose another name, or replace it: --replace "
            "(in Python replace=True)."
        )


def _beginning(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(4096)


def _write_own(path: Path, text: str) -> None:
    """Put a file in its place in one step, readable by its owner alone."""
    path = path.resolve()
    try:
        with staging(path) as folder:
            stage = folder / path.name
            stage.touch(mode=0o600)
            stage.write_text(text, encoding="utf-8")
            stage.replace(path)
    except OSError as error:
        raise OutputError(
            f"The release is written, but its private report '{path.name}' could not be: "
            f"{error.strerror}. Choose another place for it, and run again."
        ) from None
