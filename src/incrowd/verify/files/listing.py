"""The files of a release folder against the list in its manifest.

Invariant: what is in the folder is exactly manifest.json and the listed files, byte for byte, and
every one of them can be judged. A file that nobody listed, or that nobody can judge, may carry
anything, so it breaks the promise.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from incrowd.verify.files.layout import DATA_FILES, Layout, PublishedFile
from incrowd.verify.files.linked import PATIENTS
from incrowd.verify.files.manifest import NAME as MANIFEST_NAME
from incrowd.verify.files.published import is_legal, part_number, path_in, table_name
from incrowd.verify.verdict import FILES, Finding, counted, listed, shown

REPORT = "report.html"


def judge_files(
    folder: Path, layout: Layout, *, one_table: bool = True, tables_only: bool = True
) -> Finding:
    """Return the judgement on names, sizes and digests of all files in the folder.

    A file that is no table cannot be judged (`tables_only`), and of several (`one_table`) one.
    """
    problems = _judge_names(folder, layout)
    if layout.linked is not None:
        problems += _judge_linked(layout)
    elif one_table:
        problems += _judge_kinds(layout)
    elif tables_only:
        problems += [
            f"{shown(file.name)} is a file that this version cannot judge"
            for file in layout.files
            if file.columns is None and file.name != REPORT
        ]
    for table in layout.tables:
        problems += table.problems()
    for file in layout.files:
        problem = _judge_file(folder, file)
        if problem:
            problems.append(f"{shown(file.name)} {problem}")
    if problems:
        return Finding(FILES, False, listed(problems))
    held = "has its" if len(layout.files) == 1 else "have their"
    return Finding(FILES, True, f"{counted(len(layout.files), 'file')} {held} stated content")


def _judge_names(folder: Path, layout: Layout) -> list[str]:
    named = {file.name for file in layout.files} | {MANIFEST_NAME}
    folders = {table_name(name) for name in named if part_number(name) is not None}
    strangers, problems = [], []
    try:
        for each in folder.iterdir():
            if each.name in folders and each.is_symlink():
                problems.append(f"{shown(each.name)} is a link, not a folder of parts")
            elif each.name in folders and each.is_dir():
                parts = (f"{each.name}/{part.name}" for part in each.iterdir())
                strangers += [part for part in parts if part not in named]
            elif each.name not in named:
                strangers.append(each.name)
    except OSError:
        return ["the folder cannot be listed"]
    told = [f"{shown(name)} is in the folder but not in the manifest" for name in sorted(strangers)]
    return problems + told


def _judge_kinds(layout: Layout) -> list[str]:
    problems = [
        f"{shown(file.name)} is a file that this version cannot judge"
        for file in layout.files
        if table_name(file.name) not in DATA_FILES and file.name != REPORT
    ]
    if len(layout.data_tables) != 1:
        problems.append(f"the manifest must list one of {' and '.join(DATA_FILES)}")
    return problems


def _judge_linked(layout: Layout) -> list[str]:
    """Return what is wrong with the files of linked tables: each table is one, of one ending."""
    wanted = [PATIENTS, *(each.name for each in layout.linked or ())]
    named = [Path(table.name) for table in layout.tables]
    problems = [
        f"{shown(file.name)} is a file that this version cannot judge"
        for file in layout.files
        if file.name != REPORT
        and (file.columns is None or Path(table_name(file.name)).stem not in wanted)
    ]
    problems += [
        f"the manifest must list one file of the table {shown(table)}"
        for table in wanted
        if [path.stem for path in named].count(table) != 1
    ]
    if len({path.suffix for path in named}) > 1:
        problems.append("the tables are files of several kinds")
    return problems


def _judge_file(folder: Path, file: PublishedFile) -> str | None:
    if not is_legal(file.name):
        return "is not the plain name of a file, nor of a part of a table"
    path = folder / file.name
    try:
        if not path.exists() and not path.is_symlink():
            return "is missing"
        if path_in(folder, file.name) is None:
            return "is not a plain file"
        size = path.stat().st_size
        with path.open("rb") as handle:
            digest = hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError:
        return "cannot be read"
    if size != file.bytes:
        return f"has {counted(size, 'byte')} instead of {file.bytes:,}"
    return None if digest == file.sha256 else "was changed after its release"
