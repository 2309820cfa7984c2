"""The output folder: either the old release or the complete, verified new one, at any moment."""

from __future__ import annotations

import ctypes
import ctypes.util
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from incrowd._runtime.scratch import staging
from incrowd.errors import EngineError, IncrowdError, OutputError

if TYPE_CHECKING:
    from incrowd.publish.destination import Destination

_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
"""What a disk without room says, or one that fails."""
_TAKEN = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR)
"""What a system says that is to put a folder where something is."""
appeared: list[Path] = []
"""The folders that took their place in this process, for who tells how it was interrupted."""
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_RENAME_SWAP = 2


@contextmanager
def staged(place: Destination) -> Iterator[Path]:
    """A private folder beside the output that takes its place when the block ends without error.

    Whatever goes wrong, the private folder is removed; one that a killed process left behind is
    removed by the next run.
    """
    output = place.folder
    with _told(output), staging(output) as stage:
        yield stage
        stage.chmod(_mode(place))
        _sync(stage)
        _take_place(stage, place)
        appeared.append(output)


@contextmanager
def _told(output: Path) -> Iterator[None]:
    """A disk that is full or fails, told as such; polars has errors of its own for it."""
    try:
        yield
    except IncrowdError:
        raise
    except Exception as error:
        number = error.errno if isinstance(error, OSError) else None
        words = str(error).lower()
        if number in _DISK or any(os.strerror(each).lower() in words for each in _DISK):
            raise EngineError(
                f"The release could not be written beside '{output}': "
                f"{os.strerror(number) if number in _DISK else 'the disk is full or fails'}. "
                "Make room there, or choose another `output:`. Nothing was written."
            ) from None
        raise


def _take_place(stage: Path, place: Destination) -> None:
    """Put the stage in the place of the output in one step; what was there ends in the stage.

    Invariant: a folder goes by `rename` only where there is nothing or an empty folder, which the
    system itself sees to. Two folders are exchanged only for the one that the run was allowed to
    replace: what came out is looked at, and put back if it is another.
    """
    from incrowd.publish.destination import seen

    output = place.folder
    if place.before is None or not output.exists():
        try:
            stage.rename(output)
        except OSError as error:
            if error.errno in _TAKEN:
                raise place.taken() from None
            raise
        return
    place.check()
    if not _exchange(stage, output):
        raise OutputError(
            f"This file system cannot replace the folder '{output}' in one step. Move it away, or "
            "choose another `output:`."
        )
    if seen(stage) != place.before:
        _exchange(stage, output)
        raise place.taken()


def can_exchange(output: Path) -> bool:
    """Whether the file system of a folder can put another in its place in one step."""
    try:
        with staging(output) as first, staging(output) as second:
            return _exchange(first, second)
    except OSError:
        return False


def _exchange(first: Path, second: Path) -> bool:
    """Swap two folders atomically; False where the system cannot."""
    try:
        library = ctypes.CDLL(ctypes.util.find_library("c"), use_errno=True)
        if sys.platform == "darwin":
            result = library.renamex_np(os.fsencode(first), os.fsencode(second), _RENAME_SWAP)
        else:
            result = library.renameat2(
                _AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE
            )
    except (OSError, AttributeError, TypeError):
        return False
    return bool(result == 0)


def _sync(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as stream:
                os.fsync(stream.fileno())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _mode(place: Destination) -> int:
    """Who may read the folder: whoever may read the one that it replaces, else as is usual."""
    standing = place.before is not None and place.folder.exists()
    return place.folder.stat().st_mode & 0o777 if standing else 0o755 & ~_umask()
