"""What counts as a release of ours: its manifest, the files that it lists, and nothing else.

Invariant: whatever `problem_of` passes was written by this package and is unchanged, so nothing is
lost with it but that release. A folder with one file more, with a link in it, or with a file that
somebody edited is somebody's work.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from incrowd._runtime.sentences import listed
from incrowd.publish.manifest import FORMAT, canonical

MANIFEST = "manifest.json"


def has_manifest(folder: Path) -> bool:
    """Whether a folder has the manifest of a release (of any version); it may hold more."""
    return stated(folder) is not None


def stated(folder: Path) -> dict[str, Any] | None:
    """The manifest of a release, None where there is none."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    form = manifest.get("format") if isinstance(manifest, dict) else None
    return manifest if isinstance(form, str) and form.startswith(_KIND) else None


def problem_of(folder: Path) -> str | None:
    """Why a folder is not a release of ours and nothing else; None where it is.

    Notes
    -----
    Every file is read once, for its digest.
    """
    manifest = stated(folder)
    if manifest is None:
        return "is not a release"
    if manifest.get("digest") != hashlib.sha256(canonical(manifest)).hexdigest():
        return "has a manifest that was changed"
    files = manifest.get("files")
    if not isinstance(files, Mapping) or (folder / MANIFEST).is_symlink():
        return "has a manifest that was changed"
    found = entries_of(folder)
    homes = {name.rpartition("/")[0] for name in files}  # of tables in parts
    strangers = sorted(
        name
        for name, path in found.items()
        if name not in files
        and name != MANIFEST
        and not (name in homes and path.is_dir() and not path.is_symlink())
    )
    if strangers:
        return f"holds {listed(strangers, 1)} beside a release"
    lacking = sorted(set(files) - set(found))
    if lacking:
        return f"lacks {listed(lacking, 1)} of its release"
    changed = sorted(name for name in files if _digest(found[name]) != _stated(files[name]))
    return f"holds {listed(changed, 1)}, changed since the release was made" if changed else None


def entries_of(folder: Path) -> dict[str, Path]:
    """Everything in a folder and the folders in it, by its name there; links are not followed."""
    return {
        (Path(place) / name).relative_to(folder).as_posix(): Path(place) / name
        for place, folders, files in os.walk(folder)
        for name in (*folders, *files)
    }


def _digest(path: Path) -> str | None:
    if path.is_symlink() or not path.is_file():
        return None
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None


def _stated(entry: object) -> object:
    """The digest that a manifest states; never None, which is that of what is no file."""
    return (entry.get("sha256") if isinstance(entry, Mapping) else None) or ""


_KIND = FORMAT.partition("/")[0]
