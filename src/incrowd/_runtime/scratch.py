"""Private folders for what does not fit into memory, which no run leaves behind for long.

A folder is named after the process that made it and is locked while that process lives. A process
that is killed cannot tidy up: the next run that needs a folder removes those of dead processes.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from incrowd.errors import EngineError

NO_ROOM = (
    "no room is left, or the disk failed. Make room where temporary files go (the environment "
    "variable TMPDIR)."
)
_NAME = re.compile(r"incrowd-[a-z]+-([0-9]+)-.+")
_LOCK = "in-use"


@contextmanager
def scratch(purpose: str) -> Iterator[Path]:
    """A folder that only its owner can read, removed when the block ends, however it ends.

    Parameters
    ----------
    purpose
        One word in lower case, part of the folder's name: `incrowd-<purpose>-<process>-…`.

    Raises
    ------
    EngineError
        When no folder can be made.

    Example
    -------
    >>> with scratch("example") as folder:
    ...     folder.is_dir()
    True
    >>> folder.exists()
    False
    """
    remove_left(Path(tempfile.gettempdir()))
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"incrowd-{purpose}-{os.getpid()}-"))
    except OSError as error:
        raise EngineError(f"No temporary folder can be made: {NO_ROOM}") from error
    lock = None
    try:
        lock = _locked(folder / _LOCK, create=True)
        yield folder
    finally:
        try:
            shutil.rmtree(folder, ignore_errors=True)
        finally:  # also when a second Ctrl-C comes
            shutil.rmtree(folder, ignore_errors=True)
            if lock is not None:
                os.close(lock)


def remove_left(place: Path) -> None:
    """Remove the folders of this kind whose process is gone."""
    with suppress(OSError):
        for folder in place.glob("incrowd-*-*-*"):
            match = _NAME.fullmatch(folder.name)
            if match is not None and folder.is_dir() and not _in_use(folder, int(match[1])):
                shutil.rmtree(folder, ignore_errors=True)


def is_running(process: int) -> bool:
    """Whether a process has that number, our own or anybody's."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _in_use(folder: Path, process: int) -> bool:
    """Whether a process has that number, or somebody (in another container, say) has the lock."""
    if is_running(process):
        return True
    if not (folder / _LOCK).exists():
        return False
    lock = _locked(folder / _LOCK, create=False)
    if lock is None:
        return True
    os.close(lock)
    return False


def _locked(path: Path, *, create: bool) -> int | None:
    """The open, locked file; None when somebody else has locked it, or it cannot be opened."""
    try:
        import fcntl

        file = os.open(path, os.O_RDWR | (os.O_CREAT if create else 0), 0o600)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return None
    return file
