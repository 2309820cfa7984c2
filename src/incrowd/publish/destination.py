"""Where a release goes: what may be there already, and that it stays so until the release appears.

Invariant: nothing is ever replaced but what this package wrote and nobody changed, and that only
where the caller said so of what was there when the run began. What comes to the place later is
never replaced: of two runs with one output, the second to end is refused.
"""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from incrowd._runtime.manifests import counts_in
from incrowd.errors import OutputError
from incrowd.policy.units import one_counted
from incrowd.publish.folder import can_exchange
from incrowd.publish.ownership import entries_of, has_manifest, problem_of, stated
from incrowd.sources.plain_paths import SCHEME
from incrowd.sources.source_guard import Watch

OTHERWISE = (
    "Choose another folder (`output:` or -o), or put the new one in its place: --replace "
    "(in Python replace=True)."
)
_MEANWHILE = (
    "{} '{}' {} while this ran, so nothing was written there. Run it again, into another folder."
)
FolderState = tuple[tuple[int, int], tuple[tuple[str, int, int, int], ...]]
"""What tells one state of a folder from another: which folder it is, and what is in it."""


@dataclass(frozen=True)
class FolderKind:
    """What a run writes, and so the only thing that it may replace."""

    name: str
    problem: Callable[[Path], str | None]
    """Why a folder is not one of these and nothing else."""
    is_one: Callable[[Path], bool]
    """Whether a folder looks like one; it may hold more."""
    told: Callable[[Path, Collection[str] | None], str]
    """What a folder holds, and what follows for whoever has it and gets the new one."""


@dataclass(frozen=True)
class Destination:
    """The folder that a run writes to, and what was there when it began."""

    folder: Path
    """Where links lead: what is written and replaced."""
    kind: FolderKind
    before: FolderState | None = None
    """What may be replaced; None where there was nothing."""
    watch: Watch | None = None
    """The source that the run reads, as it was then; None where nobody knows it."""

    def check(self) -> None:
        """Return when the place, and the source, are still as they were when the run began.

        Raises
        ------
        EngineError
            When the source was changed.
        OutputError
            When something came there, or what was to be replaced was changed.
        """
        if self.watch is not None:
            self.watch.check()
        taken = self.folder.is_symlink() or (
            self.folder.exists() and not _is_empty_folder(self.folder)
        )
        if taken and (self.before is None or seen(self.folder) != self.before):
            raise self.taken()

    def taken(self) -> OutputError:
        """The error for a place that is no longer as it was."""
        what = "was made" if self.before is None else "was changed"
        return OutputError(_MEANWHILE.format("The folder", self.folder, what))


def destination(
    output: str | Path,
    source: Path | Watch | None = None,
    *,
    replace: bool = False,
    columns: Collection[str] | None = None,
    kind: FolderKind | None = None,
) -> Destination:
    """The folder for a release, once it is sure that one may go there.

    Parameters
    ----------
    output
        The folder: a new one, an empty one, or, with `replace`, a release. Where it is a symbolic
        link, or lies behind one, the folder that it leads to is meant.
    source
        The file or folder that the records are read from; or the watch on it, which is looked at
        again before the release appears.
    replace
        Whether a release that is there now may be replaced.
    columns
        What will be published, where that is known: for the words of the refusal.
    kind
        What is written there, if it is not a release.

    Raises
    ------
    OutputError
        With what to do about it.
    """
    refuse_url(output)
    kind = kind or RELEASE
    folder = _resolved(Path(output))
    watch = source if isinstance(source, Watch) else None
    found = source.source if isinstance(source, Watch) else None
    paths = found.paths if found is not None else [source] if isinstance(source, Path) else []
    for path in paths:
        _refuse_source(folder, path.resolve(), found.tables if found is not None else ())
    inside = next((parent for parent in folder.parents if has_manifest(parent)), None)
    if inside is not None:
        raise OutputError(
            f"The output '{folder.name}' lies inside the release '{inside}', which would then no "
            "longer verify. Choose another `output:`."
        )
    if not folder.parent.is_dir():
        raise OutputError(f"The folder '{folder.parent}' for the output does not exist.")
    if not os.access(folder.parent, os.W_OK):
        raise OutputError(f"No permission to write into the folder '{folder.parent}'.")
    if not folder.exists():
        return Destination(folder, kind, watch=watch)
    if not folder.is_dir():
        raise OutputError(f"The output '{folder}' is a file. Name a folder.")
    if folder.is_mount():
        raise OutputError(
            f"The output '{folder}' is a mount point, whose place no folder can take. Name a new "
            "folder in it."
        )
    if _is_empty_folder(folder):
        return Destination(folder, kind, watch=watch)
    _refuse_standing(folder, kind, replace, columns)
    return Destination(folder, kind, seen(folder), watch)


def refuse_url(output: str | Path) -> None:
    """Refuse an output in a place that is no folder of this machine."""
    if SCHEME.match(str(output)):
        raise OutputError(
            "The output is a folder on a file system that this machine has, and on a cluster all "
            "machines share; a URL is none. Choose another `output:`, and copy the release from "
            "there."
        )


def seen(folder: Path) -> FolderState:
    """The state of a folder, the same wherever it is moved."""
    found, files = folder.stat(), []
    for name, path in sorted(entries_of(folder).items()):
        each = path.lstat()
        files.append((name, each.st_size, each.st_mtime_ns, each.st_ino))
    return (found.st_dev, found.st_ino), tuple(files)


def _resolved(output: Path) -> Path:
    try:
        folder = output.resolve()
    except (OSError, RuntimeError):
        folder = output
    if folder.is_symlink():
        raise OutputError(f"The output '{output}' is a link that leads to itself. Remove it.")
    return folder


def _refuse_source(folder: Path, source: Path, tables: Collection[str]) -> None:
    """Refuse a place on, in or around the source, of which `tables` are released by their names."""
    if source == folder:
        raise OutputError(
            f"The output '{folder.name}' is the source itself. Choose another `output:`."
        )
    if source.is_dir() and source in folder.parents:
        raise OutputError(
            f"The output '{folder.name}' lies inside the folder of the source, whose files are "
            "all read as records. Choose another `output:`."
        )
    if glob.has_magic(str(source)) and not source.exists() and _may_match(folder, source, tables):
        raise OutputError(
            f"The source is a pattern that files in the output '{folder.name}' match as well, so "
            "the next run would read them as records. Choose another `output:`."
        )
    if folder in source.parents:
        raise OutputError(
            f"The source lies inside the output folder '{folder.name}', which would be "
            "replaced. Choose another `output:`."
        )


def _may_match(folder: Path, pattern: Path, tables: Collection[str]) -> bool:
    """Whether a table of a release in a folder, or a part of one, matches a pattern."""
    files = [
        folder / f"{name}.{ending}"
        for name in ("data", "qit", "st_x", "nss", "ss", *tables)
        for ending in ("csv", "parquet")
    ]
    parts = [table / f"part-00000{table.suffix}" for table in files]
    return any(_matches(each.parts, pattern.parts) for each in (*files, *parts))


def _matches(parts: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether the parts of a path match those of a pattern; `**` stands for any number of them."""
    if not wanted:
        return not parts
    if wanted[0] == "**":
        return any(_matches(parts[at:], wanted[1:]) for at in range(len(parts) + 1))
    return bool(parts) and fnmatch.fnmatch(parts[0], wanted[0]) and _matches(parts[1:], wanted[1:])


def _refuse_standing(
    folder: Path, kind: FolderKind, replace: bool, columns: Collection[str] | None
) -> None:
    """Refuse to replace what stands in a folder, unless it is ours and the caller said so."""
    problem = None if kind.is_one(folder) else f"is not a {kind.name}"
    if problem is None and not replace:
        raise OutputError(f"'{folder}' {kind.told(folder, columns)} {OTHERWISE}")
    problem = problem or kind.problem(folder)
    if problem is not None:
        raise OutputError(
            f"The folder '{folder}' exists and {problem}, so it is not replaced. Choose another "
            "`output:`, or move it away."
        )
    if not can_exchange(folder):
        raise OutputError(
            f"This file system cannot replace the folder '{folder}' in one step. Move it away, or "
            "choose another `output:`."
        )


def _is_empty_folder(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


def _standing_release(folder: Path, columns: Collection[str] | None) -> str:
    """What is known of a standing release before the new one is made."""
    from incrowd.publish.difference import both_tell, columns_of, held_together

    manifest = stated(folder) or {}
    records = counts_in(manifest)
    many = records.get("published") if isinstance(records, dict) else None
    told = "holds a release already"
    if isinstance(many, int):
        told += f", of {many:,} {one_counted(manifest)}s"
    old = columns_of(manifest)
    if columns is None or not old:
        return f"{told}. {held_together()}"
    if set(old) == set(columns):
        return f"{told} with the same columns. {held_together()}"
    return f"{told}. {both_tell(old, list(columns))}"


RELEASE = FolderKind("release", problem_of, has_manifest, _standing_release)
