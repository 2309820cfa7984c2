"""Private folders for what does not fit into memory or is not done, which no run leaves for long.

A folder is named after the process that made it and is locked while that process lives. A process
that is killed cannot tidy up: the next run that needs a folder removes those of dead processes.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
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
SCRATCH = re.compile(r"incrowd-[a-z]+-([0-9]+)-.+")
"""The names of temporary folders, with the number of the process that made one."""
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
    remove_left(Path(tempfile.gettempdir()), SCRATCH)
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"incrowd-{purpose}-{os.getpid()}-"))
    except OSError as error:
        raise EngineError(f"No temporary folder can be made: {NO_ROOM}") from error
    with _held(folder, folder / _LOCK):
        yield folder


@contextmanager
def staging(place: Path) -> Iterator[Path]:
    """A folder beside a place, for what is put there when it is done; only its owner can read it.

    It is removed when the block ends, however it ends, unless it took the place itself.

    Example
    -------
    >>> with scratch("example") as folder:
    ...     with staging(folder / "kits") as stage:
    ...         _ = stage.rename(folder / "kits")
    ...     sorted(path.name for path in folder.iterdir())
    ['in-use', 'kits']
    """
    prefix = stage_prefix(place)
    remove_left(place.parent, re.compile(re.escape(prefix) + r"([0-9]+)\..+\.partial"))
    name = f"{prefix}{os.getpid()}."
    stage = Path(tempfile.mkdtemp(prefix=name, suffix=".partial", dir=place.parent))
    with _held(stage, stage):  # a lock in it would be published
        yield stage


def stage_prefix(place: Path) -> str:
    """How the names of stages of a place begin that were made on this machine."""
    machine = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
    return f".{place.name}.{machine}."


def remove_left(place: Path, pattern: re.Pattern[str]) -> None:
    """Remove the folders in a place whose process is gone, the first group of their names."""
    with suppress(OSError):
        for folder in place.iterdir():
            match = pattern.fullmatch(folder.name)
            if match is not None and folder.is_dir() and not _in_use(folder, int(match[1])):
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _held(folder: Path, lock: Path) -> Iterator[None]:
    """Hold a lock as long as the block lasts, then remove the folder."""
    file = None
    try:
        with suppress(OSError):
            file = _locked(lock, create=lock != folder)
        yield
    finally:
        try:
            shutil.rmtree(folder, ignore_errors=True)
        finally:  # also when a second Ctrl-C comes
            shutil.rmtree(folder, ignore_errors=True)
            if file is not None:
                os.close(file)


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
    inside = folder / _LOCK
    try:
        file = _locked(inside if inside.exists() else folder)
    except OSError:
        return True
    if file is not None:
        os.close(file)
    return False


def _locked(path: Path, *, create: bool = False) -> int | None:
    """The open file or folder, locked; None where there are no locks on it.

    An OSError says that somebody else has locked it, or that it cannot be opened.
    """
    try:
        import fcntl
    except ImportError:
        return None
    writing = os.O_RDWR | os.O_CREAT if create or not path.is_dir() else os.O_RDONLY
    file = os.open(path, writing, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(file)
        if error.errno == errno.EBADF:  # a folder on a network, where only files have locks
            return None
        raise
    return file
