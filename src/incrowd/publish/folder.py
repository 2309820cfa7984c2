"""The output folder: either the old release or the complete, verified new one, at any moment."""

from __future__ import annotations

import ctypes
import ctypes.util
import errno
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from incrowd.errors import EngineError, IncrowdError, OutputError
from incrowd.publish.manifest import FORMAT

_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
"""What a disk without room says, or one that fails."""
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_RENAME_SWAP = 2


_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:/")


def refuse_url(output: str | Path) -> None:
    """Refuse an output in a place that is no folder of this machine."""
    if _URL.match(str(output)):
        raise OutputError(
            "The output is a folder on a file system that this machine has, and on a cluster all "
            "machines share; a URL is none. Choose another `output:`, and copy the release from "
            "there."
        )


def refuse_unsafe_output(output: Path, source: Path | None) -> None:
    """Refuse an output that is a file, a folder of something else, or holds the source."""
    refuse_url(output)
    output = output.resolve()
    if source is not None:
        source = source.resolve()
        if source == output:
            raise OutputError(
                f"The output '{output.name}' is the source itself. Choose another `output:`."
            )
        if source.is_dir() and source in output.parents:
            raise OutputError(
                f"The output '{output.name}' lies inside the folder of the source, whose files are "
                "all read as records. Choose another `output:`."
            )
        if output in source.parents and (output / "manifest.json").exists():
            raise OutputError(
                f"The source lies inside the output folder '{output.name}', which would be "
                "replaced. Choose another `output:`."
            )
    inside = next((parent for parent in output.parents if is_release(parent)), None)
    if inside is not None:
        raise OutputError(
            f"The output '{output.name}' lies inside the release '{inside}', which would then no "
            "longer verify. Choose another `output:`."
        )
    if not output.exists():
        parent = output.parent
        if not parent.is_dir():
            raise OutputError(f"The folder '{parent}' for the output does not exist.")
        if not os.access(parent, os.W_OK):
            raise OutputError(f"No permission to write into the folder '{parent}'.")
        return
    if not output.is_dir():
        raise OutputError(f"The output '{output}' is a file. Name a folder.")
    if any(output.iterdir()) and not is_release(output):
        raise OutputError(
            f"The folder '{output}' exists and is not a release, so it is not replaced. Choose "
            "another `output:`, or remove it."
        )


def is_release(folder: Path) -> bool:
    """Whether a folder holds a release (of any version)."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    stated = manifest.get("format") if isinstance(manifest, dict) else None
    return isinstance(stated, str) and stated.startswith(FORMAT.partition("/")[0])


@contextmanager
def staged(output: Path) -> Iterator[Path]:
    """A private folder beside the output that takes its place when the block ends without error.

    Whatever goes wrong, the private folder is removed; one that a killed process left behind is
    removed by the next run.
    """
    output = output.resolve()
    remove_stale(output)
    prefix = f".{output.name}.{os.getpid()}."
    with _told(output):
        stage = Path(tempfile.mkdtemp(prefix=prefix, suffix=".partial", dir=output.parent))
    try:
        with _told(output):
            yield stage
            stage.chmod(0o755 & ~_umask())
            _sync(stage)
            _take_place(stage, output)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


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


def _take_place(stage: Path, output: Path) -> None:
    """Put the stage in the place of the output in one step; the old content ends in the stage."""
    if not output.exists() or not any(output.iterdir()):
        stage.replace(output)
        return
    if not _exchange(stage, output):
        raise OutputError(
            f"This file system cannot replace the folder '{output}' in one step. Remove it, or "
            "choose another `output:`."
        )


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


def remove_stale(output: Path) -> None:
    """Remove stages of this output, a folder or a file, whose process is gone."""
    for stage in output.parent.glob(f".{output.name}.*.partial"):
        process = stage.name.removeprefix(f".{output.name}.").split(".")[0]
        if process.isdigit() and not _alive(int(process)):
            if stage.is_dir():
                shutil.rmtree(stage, ignore_errors=True)
            else:
                stage.unlink(missing_ok=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
