"""The tables of a release as its manifest lists them: each one file, or a folder of parts.

A table in parts is a folder named like the file it stands for, `data.parquet`, that holds
`part-00000.parquet`, `part-00001.parquet` and so on; a manifest lists every part by its path,
`data.parquet/part-00000.parquet`. Rows go on from part to part in the order of the names.

Invariant: a name that is listed leads to a file in the release folder or in one folder inside it,
never elsewhere, and of a table in parts no number is left out: what is missing would be seen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from incrowd.verify.verdict import counted, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from incrowd.verify.files.layout import PublishedFile

_PART = re.compile(r"([^/\\\x00]+(\.csv|\.parquet))/part-([0-9]{5})\2")
_NO_FILES = frozenset({"", ".", "..", "manifest.json"})


@dataclass(frozen=True)
class PublishedTable:
    """A table of the release: its name is that of its file, or of the folder of its parts."""

    name: str
    files: tuple[PublishedFile, ...]
    """In the order of the rows."""

    @property
    def stem(self) -> str:
        """The name of the table, without the ending."""
        return Path(self.name).stem

    @property
    def rows(self) -> int:
        """The rows that the manifest lists, in all parts."""
        return sum(file.rows or 0 for file in self.files)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the manifest lists for the first part."""
        return self.files[0].columns or ()

    @property
    def in_parts(self) -> bool:
        """Whether the table is a folder of parts."""
        return self.files[0].name != self.name

    def problems(self) -> list[str]:
        """What is wrong with the parts as they are listed; of a single file, nothing."""
        if not self.in_parts and len(self.files) == 1:
            return []
        numbers = [part_number(file.name) for file in self.files]
        if None in numbers:
            return [f"{shown(self.name)} is listed with files that are no parts of it"]
        problems = []
        lacking = sorted(set(range(len(numbers))) - {each for each in numbers if each is not None})
        if lacking:
            problems.append(
                f"{shown(self.name)} has {counted(len(numbers), 'part')}, but none with number"
                f" {lacking[0]}"
            )
        if any(file.columns != self.columns for file in self.files):
            problems.append(f"the parts of {shown(self.name)} are listed with different columns")
        return problems

    def described(self) -> str:
        """Return the table in words: its name, and in how many parts it is."""
        if not self.in_parts:
            return f"{shown(self.name)} is a whole table"
        return f"{shown(self.name)} is a whole table in {counted(len(self.files), 'part')}"


def whole_tables(tables: Iterable[PublishedTable]) -> str:
    """Return several tables in words: how many there are, and in how many files."""
    listed = list(tables)
    files = sum(len(table.files) for table in listed)
    if files == len(listed):
        return f"{counted(files, 'file')} are whole tables"
    return f"{counted(len(listed), 'table')} are whole, in {counted(files, 'file')}"


def tables_of(files: Iterable[PublishedFile]) -> tuple[PublishedTable, ...]:
    """Return the tables that listed files make up, in the order of the list."""
    found: dict[str, list[PublishedFile]] = {}
    for file in files:
        if file.columns is not None:
            found.setdefault(table_name(file.name), []).append(file)
    return tuple(
        PublishedTable(name, tuple(sorted(parts, key=lambda each: each.name)))
        for name, parts in found.items()
    )


def table_name(name: str) -> str:
    """Return the file or folder of the table that a listed file belongs to."""
    return name.partition("/")[0]


def part_number(name: str) -> int | None:
    """Return the number of a part, or None when the name is not that of a part of a table.

    Example
    -------
    >>> part_number("data.csv/part-00012.csv")
    12
    >>> part_number("data.csv/part-00012.parquet") is None
    True
    """
    match = _PART.fullmatch(name)
    return None if match is None else int(match[3])


def is_legal(name: str) -> bool:
    """Return whether a listed name is the plain name of a file, or that of a part of a table."""
    if part_number(name) is not None:
        return True
    return Path(name).name == name and name not in _NO_FILES


def path_in(folder: Path, name: str) -> Path | None:
    """Return the path of a listed file, or None unless it is a file of its own in this folder."""
    if not is_legal(name):
        return None
    path = folder / name
    try:
        if part_number(name) is not None and path.parent.is_symlink():
            return None
        return path if path.is_file() and not path.is_symlink() else None
    except (OSError, ValueError):
        return None
