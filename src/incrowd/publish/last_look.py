"""What every release passes in its private folder before it takes its place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import VerificationError
from incrowd.publish.difference import Difference, difference
from incrowd.verify import Verdict, verify

if TYPE_CHECKING:
    from incrowd.publish.destination import Destination


def judged(stage: Path, **judging: Any) -> Verdict:
    """The verdict on the files in a folder, once every promise was judged and is kept.

    Parameters
    ----------
    stage
        The folder.
    judging
        As for `incrowd.verify`.

    Raises
    ------
    VerificationError
        When a promise is broken, or could not be judged.
    """
    verdict = verify(stage, **judging)
    if not verdict.holds or verdict.open:
        broken = (*verdict.broken, *verdict.open)
        told = "; ".join(f"{each.promise}: {each.detail}" for each in broken)
        raise VerificationError(f"The release does not verify and was not written. {told}")
    return verdict


def last_look(place: Destination, stage: Path, memory: int | None = None) -> Difference | None:
    """How a folder differs from the release that it replaces, if it does; refuses late changes.

    Raises
    ------
    EngineError, OutputError
        When the source or the place is no longer what it was, see `Destination.check`.
    """
    replaced = None if place.before is None else difference(place.folder, stage, memory)
    place.check()
    return replaced
