"""A source while it is worked on: how far reading is, and whether its files stay what they were.

A release of half an old file and half a new one would be of records that nobody has. So the files
of a source are remembered when reading begins and looked at again when it has ended, and before a
release takes its place.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from incrowd.errors import EngineError, SourceError
from incrowd.sources.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from incrowd._runtime.progress import Progress

_AGAIN = "Nothing was written. Run it again when nobody changes the source."


@dataclass(frozen=True)
class _FileState:
    """What tells one state of a file from another: size, time of change, and which file it is."""

    size: int
    changed: int
    file: tuple[int, int]


class Watch:
    """The files of a source as they were when the watch began; nothing of frames and servers."""

    def __init__(self, source: Source) -> None:
        self.source = source
        try:
            self._before = _state(source)
        except (OSError, SourceError):
            self._before = {}  # reading it says what is wrong

    def check(self) -> None:
        """Return when the files are what they were.

        Raises
        ------
        EngineError
            When one was changed, replaced or removed, or came to its folder; names it.
        """
        if not self._before:
            return
        try:
            now = _state(self.source)
        except (OSError, SourceError):
            now = {}
        if now == self._before:
            return
        gone = [path for path in self._before if path not in now]
        come = [path for path in now if path not in self._before]
        other = [path for path, seen in self._before.items() if now.get(path, seen) != seen]
        path, what = (
            (gone[0], "disappeared")
            if gone
            else (come[0], "was added")
            if come
            else (other[0], "was changed")
        )
        label = self.source.label
        named = path.name if path.name == label else f"{path.name} of {label}"
        raise EngineError(f"{named} {what} while the source was worked on. {_AGAIN}")

    def read(self, pieces: Iterator[pl.DataFrame], progress: Progress) -> Iterator[pl.DataFrame]:
        """Yield the pieces of the source, tell how far reading is, and check it at the end."""
        records, began = 0, time.monotonic()
        failure: Exception | None = None
        progress("reading", 0, 1)
        try:
            for piece in pieces:
                records += piece.height
                yield piece
                progress(_told(records, time.monotonic() - began), 0, 1)
        except (SourceError, OSError) as error:
            failure = error
        self.check()
        if failure is not None:
            raise failure


def watched(source: Source | Watch) -> Watch:
    """The watch on a source that was begun before, or else one from now on."""
    return source if isinstance(source, Watch) else Watch(source)


def _told(records: int, seconds: float) -> str:
    speed = f", {records / seconds:,.0f} a second" if seconds > 1 else ""
    return f"reading: {records:,} records{speed}"


def _state(source: Source) -> dict[Path, _FileState]:
    return {file: _seen(file) for file in source.files()}


def _seen(file: Path) -> _FileState:
    found = file.stat()
    return _FileState(found.st_size, found.st_mtime_ns, (found.st_dev, found.st_ino))
