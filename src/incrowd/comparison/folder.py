"""The folder of a comparison: releases, a policy file beside each, and the page over them.

It appears when all is done, in one step; until then, and whatever is interrupted, what was in its
place stays as it was.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from incrowd._runtime.scratch import scratch
from incrowd._runtime.sentences import listed
from incrowd.policy.linked import tables_of
from incrowd.policy.writing import moved, policy_text
from incrowd.publish.destination import Destination, FolderKind, destination, refuse_url
from incrowd.publish.folder import staged
from incrowd.publish.ownership import problem_of
from incrowd.sources import Source, as_source
from incrowd.sources.source_guard import Watch
from incrowd.table.profiles import PATIENTS

if TYPE_CHECKING:
    from incrowd.comparison._candidates import Candidate
    from incrowd.comparison._parameter_ranges import Variant
    from incrowd.publish import Release
    from incrowd.verify import Verdict

PAGE = "index.html"
MARK = '<meta name="generator" content="incrowd compare">'
"""What tells the page of a comparison from other pages."""
_OWN_POLICY = "# A policy that `incrowd compare` "
_LONGEST = 60


class Keeping:
    """Where the releases of a comparison go: nowhere, they are written to be judged and removed."""

    def refuse(self) -> None:
        """Refuse, before any work, a place that cannot be written to."""

    @contextmanager
    def begun(self) -> Iterator[Self]:
        """The place to write to; what was written appears when the block ends without error."""
        yield self

    def keep(self, number: int, variant: Variant, release: Release) -> tuple[str | None, Verdict]:  # noqa: ARG002 - for those that stay
        """Write and judge a release; gives the name of its folder, if it stays."""
        with scratch("comparison") as folder:
            return None, release.save(folder / "release")

    def keep_policy(self, number: int, variant: Variant) -> None:
        """Write the policy file of a variant."""

    def finish(self, candidates: Sequence[Candidate], records: int) -> None:
        """Write the page over all."""


class Kept(Keeping):
    """A folder with the releases, their policies and the page.

    Parameters
    ----------
    output
        The folder. It must not exist, be empty, or, with `replace`, hold an earlier comparison and
        nothing else.
    source
        The one source of all policies.
    given
        The tables whose source was given apart, and not by the policies.
    replace
        Whether an earlier comparison may be replaced.
    """

    def __init__(
        self, output: Path, source: Source, given: Collection[str], *, replace: bool = False
    ) -> None:
        refuse_url(output)
        self._output = output
        self._source = source
        self._given = given
        self._stage = output
        self._replace = replace
        self._place: Destination | None = None

    def refuse(self) -> None:
        """Refuse a place that is something else, or that cannot be written to."""
        self._place = destination(
            self._output, Watch(self._source), replace=self._replace, kind=COMPARISON
        )

    @contextmanager
    def begun(self) -> Iterator[Self]:
        """A private folder that takes the place of the output when the block ends."""
        assert self._place is not None, "refuse comes first"
        with staged(self._place) as stage:
            self._stage = stage
            yield self
            self._place.check()

    def keep(self, number: int, variant: Variant, release: Release) -> tuple[str, Verdict]:
        """Write and judge a release, and write the policy that makes it again."""
        folder = folder_name(number, variant.name)
        verdict = release.save(self._stage / folder)
        self.keep_policy(number, variant)
        return folder, verdict

    def keep_policy(self, number: int, variant: Variant) -> None:
        """Write the policy file of a variant."""
        folder = folder_name(number, variant.name)
        sources = self._sources_of(variant)
        named = {name: each for name, each in sources.items() if each is not None}
        unnamed = [name for name in sources if name not in named]
        remarks = [
            f"{_OWN_POLICY[2:]}set beside others: {variant.name}.",
            f"`incrowd anonymize {folder}.yaml --replace` makes its release again, in the folder "
            f"'{folder}'.",
            "Paths are relative to this file, which is not part of the release: it names the "
            "source,",
            "and may list values of it.",
        ]
        if unnamed and len(sources) == 1:
            remarks.append("The source is not named here: add `source:`.")
        elif unnamed:
            remarks.append(f"Not all sources are named here: add `source:` to {listed(unnamed)}.")
        text = policy_text(
            variant.policy,
            self._output.resolve(),
            source=named if self._source.tables else named.get(PATIENTS),
            output=folder,
            remarks=tuple(remarks),
        )
        (self._stage / f"{folder}.yaml").write_text(text, encoding="utf-8")

    def finish(self, candidates: Sequence[Candidate], records: int) -> None:
        """Write the page over all releases."""
        from incrowd.comparison._page import comparison_page

        page = comparison_page(candidates, self._source.label, records)
        (self._stage / PAGE).write_text(page, encoding="utf-8")

    def _sources_of(self, variant: Variant) -> dict[str, str | None]:
        """The source of each table as the policy file names it; of one file that of `patients`.

        A server is named only where a policy did so; no policy has a password in its source.
        """
        policy, found = variant.policy, self._source.tables or {PATIENTS: self._source}
        named = tables_of(policy) if self._source.tables else {PATIENTS: policy}
        return {
            name: self._named(each, Path())
            if name in self._given
            else self._named(as_source(named[name].source), policy.base, by_policy=True)
            for name, each in found.items()
        }

    def _named(self, source: Source, base: Path, *, by_policy: bool = False) -> str | None:
        if source.path is None and not by_policy:
            return None
        return source.named(lambda path: moved(path, base, self._output.resolve()))


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
    """Whether a folder has the page of a comparison of this package; it may hold more."""
    try:
        return MARK in (folder / PAGE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def _problem_of(folder: Path) -> str | None:
    """Why a folder is not a comparison and nothing else; None where it is."""
    strangers = sorted(path.name for path in folder.iterdir() if not _is_part(path))
    return f"holds other things than a comparison ('{strangers[0]}')" if strangers else None


def _is_part(path: Path) -> bool:
    """Whether a file or folder is ours: a release that nobody changed, its policy, or the page."""
    if path.is_symlink():
        return False
    if path.is_dir():
        return problem_of(path) is None
    if path.name == PAGE:
        return True
    try:
        text = path.read_text(encoding="utf-8") if path.suffix == ".yaml" else ""
    except (OSError, UnicodeDecodeError):
        return False
    return text.startswith(_OWN_POLICY)


def _standing(folder: Path, _columns: object) -> str:
    many = sum(path.is_dir() for path in folder.iterdir())
    return f"holds a comparison already, with {many:,} release{'s' * (many != 1)}."


COMPARISON = FolderKind("comparison", _problem_of, _is_comparison, _standing)
