"""Names of files that somebody sent, as the workspace calls them."""

from __future__ import annotations

import re
from pathlib import Path

_UNSAFE = re.compile(r"[^\w.\- ]+")
_LONGEST_NAME = 200
"""Bytes of a file name: systems allow 255, and a few are added."""


def safe_name(name: str, otherwise: str) -> str:
    """A name for a file without folders, control characters or a leading dot."""
    bare = _UNSAFE.sub("-", name.replace("\\", "/").rsplit("/", 1)[-1]).strip(" .-")
    bare = bare[-120:]
    while len(bare.encode("utf-8", "replace")) > _LONGEST_NAME:
        bare = bare[1:]
    return bare or otherwise


def free_path(folder: Path, name: str) -> Path:
    """A path that no file has: what a draft or a run names is never written over."""
    path, number = folder / name, 1
    while path.exists():
        number += 1
        path = folder / f"{Path(name).stem}-{number}{Path(name).suffix}"
    return path
