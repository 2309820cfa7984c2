"""What a run relies on from its beginning to the moment its release appears, in one place.

The command line, the page and every hospital begin a run with a guard, before any record is read
or anything is sent, and ask it again when the release is ready.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.publish.destination import destination
from incrowd.sources.naming import file_behind
from incrowd.sources.source_guard import Watch

if TYPE_CHECKING:
    from incrowd.policy import Policy


class Guard:
    """The source and the output of a run, both as they were when it began.

    Parameters
    ----------
    source
        What the records are read from: a file, a folder, a database, a frame.
    output
        The folder for the release.
    policy
        For the words of a refusal: which columns will be published.
    replace
        Whether a release that is there now may be replaced.

    Raises
    ------
    OutputError
        When no release may go there: something is there, or it overlaps with the source.
    """

    def __init__(
        self,
        source: Any,
        output: str | Path,
        policy: Policy | None = None,
        *,
        replace: bool = False,
    ) -> None:
        columns = None if policy is None else _published(policy)
        self.source = file_behind(source)
        """The file or folder that the records are read from; None of servers and frames."""
        self.place = destination(output, self.source, replace=replace, columns=columns)
        self.watch = Watch(source)

    def check(self) -> None:
        """Return when source and output are what they were.

        Raises
        ------
        EngineError
            When the source was changed.
        OutputError
            When something came to the place of the output, or what was to be replaced changed.
        """
        self.watch.check()
        self.place.check()


def _published(policy: Policy) -> Collection[str] | None:
    """The columns that a policy publishes; None where that takes a look at the source."""
    if policy.other == "keep":
        return None
    return [name for name, asked in policy.attributes.items() if asked.role != "identifier"]
