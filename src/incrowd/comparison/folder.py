"""The folder of a comparison: releases, a policy file beside each, and the page over them.

It appears when all is done, in one step; until then, and whatever is interrupted, what was in its
place stays as it was.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from incrowd.errors import OutputError
from incrowd.publish.folder import is_release, refuse_unsafe_output, refuse_url, staged

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from incrowd.comparison.comparing import Candidate
    from incrowd.comparison.varying import Variant
    from incrowd.publish import Release
    from incrowd.verify import Verdict

PAGE = "index.html"
MARK = '<meta name="generator" content="incrowd compare">'
"""What tells the page of a comparison from other pages."""
_OWN_POLICY = "# A policy that `incrowd compare` "
_LONGEST = 60


class Keeping(Protocol):
    """Where the releases of a comparison go."""

    def refuse(self) -> None:
        """Refuse, before any work, a place that cannot be written to."""

    def begun(self) -> AbstractContextManager[Keeping]:
        """The place to write to; what was written appears when the block ends without error."""

    def keep(self, number: int, variant: Variant, release: Release) -> tuple[str | None, Verdict]:
        """Write and judge a release; gives the name of its folder."""

    def keep_policy(self, number: int, variant: Variant) -> None:
        """Write the policy file of a variant."""

    def finish(self, candidates: Sequence[Candidate], records: int) -> None:
        """Write the page over all."""


class Dropped:
    """Releases are written to be judged, and removed."""

    def refuse(self) -> None:
        """Nothing stays, so nothing is in the way."""

    @contextmanager
    def begun(self) -> Iterator[Keeping]:
        """Itself: every release has a folder of its own, for as long as it is judged."""
        yield self

    def keep(self, number: int, variant: Variant, release: Release) -> tuple[None, Verdict]:  # noqa: ARG002
        """Write and judge a release, and remove it."""
        with tempfile.TemporaryDirectory(prefix="incrowd-") as folder:
            return None, release.save(Path(folder) / "release")

    def keep_policy(self, number: int, variant: Variant) -> None:
        """No file of it stays."""

    def finish(self, candidates: Sequence[Candidate], records: int) -> None:
        """There is no page without releases to open."""


class Kept:
    """A folder with the releases, their policies and the page.

    Parameters
    ----------
    output
        The folder. It must not exist, be empty, or hold an earlier comparison and nothing else.
    source
        The one source of all policies: a path, a URL or a frame.
    given
        Whether the source was given apart, and not by the policies.
    """

    def __init__(self, output: Path, source: Any, given: bool) -> None:
        refuse_url(output)
        self._output = output
        self._source = source
        self._given = given
        self._stage = output

    def refuse(self) -> None:
        """Refuse a place that is something else, or that cannot be written to."""
        from incrowd.sources.naming import file_behind

        output = self._output
        if _is_comparison(output):
            return
        if output.is_dir() and any(output.iterdir()):
            raise OutputError(
                f"The folder '{output}' holds other things than a comparison, so it is not "
                "replaced. Choose another folder, or remove it."
            )
        refuse_unsafe_output(output, file_behind(self._source))

    @contextmanager
    def begun(self) -> Iterator[Keeping]:
        """A private folder that takes the place of the output when the block ends."""
        with staged(self._output) as stage:
            self._stage = stage
            yield self

    def keep(self, number: int, variant: Variant, release: Release) -> tuple[str, Verdict]:
        """Write and judge a release, and write the policy that makes it again."""
        folder = folder_name(number, variant.name)
        verdict = release.save(self._stage / folder)
        self.keep_policy(number, variant)
        return folder, verdict

    def keep_policy(self, number: int, variant: Variant) -> None:
        """Write the policy file of a variant."""
        from incrowd.policy_writing import policy_text

        folder = folder_name(number, variant.name)
        source = self._source_of(variant)
        remarks = [
            f"{_OWN_POLICY[2:]}set beside others: {variant.name}.",
            f"`incrowd anonymize {folder}.yaml` writes its release to the folder '{folder}'.",
            "Paths are relative to this file, which is not part of the release: it names the "
            "source,",
            "and may list values of it.",
        ]
        if source is None:
            remarks.append("The source is not named here: add `source:`.")
        text = policy_text(
            variant.policy,
            self._output.resolve(),
            source=source,
            output=folder,
            remarks=tuple(remarks),
        )
        (self._stage / f"{folder}.yaml").write_text(text, encoding="utf-8")

    def finish(self, candidates: Sequence[Candidate], records: int) -> None:
        """Write the page over all releases."""
        from incrowd.report.compare_page import comparison_page
        from incrowd.sources import describe

        page = comparison_page(candidates, describe(self._source), records)
        (self._stage / PAGE).write_text(page, encoding="utf-8")

    def _source_of(self, variant: Variant) -> str | None:
        """The source as the policy file names it.

        A server is named only where a policy did so; no policy has a password in its source.
        """
        from incrowd.policy_writing import source_from
        from incrowd.sources.naming import file_behind

        place = self._output.resolve()
        if not self._given:
            return source_from(variant.policy.source, variant.policy.base, place)
        if file_behind(self._source) is None:
            return None
        return source_from(self._source, Path(), place)


def folder_name(number: int, name: str) -> str:
    """A name for the folder of a release, safe in paths and addresses.

    Example
    -------
    >>> folder_name(3, "policy, k=5")
    '03-policy-k=5'
    """
    safe = re.sub(r"[^\w.=+-]+", "-", name).strip("-.")[:_LONGEST].rstrip("-.")
    return f"{number:02}-{safe}" if safe else f"{number:02}"


def _is_comparison(folder: Path) -> bool:
    """Whether a folder holds a comparison of this package, and nothing that is not part of it."""
    try:
        if MARK not in (folder / PAGE).read_text(encoding="utf-8"):
            return False
        return all(each.name == PAGE or _is_part(each) for each in folder.iterdir())
    except (OSError, UnicodeDecodeError):
        return False


def _is_part(path: Path) -> bool:
    if path.is_dir():
        return is_release(path)
    return path.suffix == ".yaml" and path.read_text(encoding="utf-8").startswith(_OWN_POLICY)
