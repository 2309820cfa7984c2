"""The files of a release folder against the list in its manifest.

Invariant: what is in the folder is exactly manifest.json and the listed files, byte for byte, and
every one of them can be judged. A file that nobody listed, or that nobody can judge, may carry
anything, so it breaks the promise.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from incrowd.verify.layout import DATA_FILES, Layout, PublishedFile
from incrowd.verify.manifest import NAME as MANIFEST_NAME
from incrowd.verify.verdict import FILES, Finding, counted, shown

REPORT = "report.html"


def judge_files(
    folder: Path, layout: Layout, *, one_table: bool = True, tables_only: bool = True
) -> Finding:
    """Return the judgement on names, sizes and digests of all files in the folder.

    A file that is no table cannot be judged (`tables_only`), and of several (`one_table`) one.
    """
    problems = _judge_names(folder, layout)
    if one_table:
        problems += _judge_kinds(layout)
    elif tables_only:
        problems += [
            f"{shown(file.name)} is a file that this version cannot judge"
            for file in layout.files
            if file.columns is None and file.name != REPORT
        ]
    for file in layout.files:
        problem = _judge_file(folder, file)
        if problem:
            problems.append(f"{shown(file.name)} {problem}")
    if problems:
        return Finding(FILES, False, "; ".join(problems))
    held = "has its" if len(layout.files) == 1 else "have their"
    return Finding(FILES, True, f"{counted(len(layout.files), 'file')} {held} stated content")


def is_plain(path: Path) -> bool:
    """Whether a path is a file of its own, not a link to one elsewhere."""
    return path.is_file() and not path.is_symlink()


def _judge_names(folder: Path, layout: Layout) -> list[str]:
    listed = {file.name for file in layout.files} | {MANIFEST_NAME}
    try:
        strangers = sorted(each.name for each in folder.iterdir() if each.name not in listed)
    except OSError:
        return ["the folder cannot be listed"]
    return [f"{shown(name)} is in the folder but not in the manifest" for name in strangers]


def _judge_kinds(layout: Layout) -> list[str]:
    problems = [
        f"{shown(file.name)} is a file that this version cannot judge"
        for file in layout.files
        if file.name not in (*DATA_FILES, REPORT)
    ]
    if len(layout.data_files) != 1:
        problems.append(f"the manifest must list one of {' and '.join(DATA_FILES)}")
    return problems


def _judge_file(folder: Path, file: PublishedFile) -> str | None:
    if Path(file.name).name != file.name or file.name in ("..", MANIFEST_NAME):
        return "is not the plain name of a file"
    path = folder / file.name
    try:
        if not path.exists() and not path.is_symlink():
            return "is missing"
        if not is_plain(path):
            return "is not a plain file"
        size = path.stat().st_size
        with path.open("rb") as handle:
            digest = hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError:
        return "cannot be read"
    if size != file.bytes:
        return f"has {counted(size, 'byte')} instead of {file.bytes:,}"
    return None if digest == file.sha256 else "was changed after its release"
