"""Cells that are escaped for spreadsheets: undone while they are counted, and only if all are.

Invariant: undoing joins no two cells that differ in the file. A cell is as it should be when it has
the mark just where it needs one; then each text has one way to be written, and undoing is one to
one. A file with any other cell is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

_MARK = "'"
_FORMULA = r"^[=+@\t\r\n＝＋－＠-]"
_NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"

_stated: ContextVar[bool] = ContextVar("escaped", default=False)


@contextmanager
def undoing(wanted: bool) -> Iterator[None]:
    """Read the cells of CSV files as escaped, where the manifest says that they are."""
    before = _stated.set(wanted)
    try:
        yield
    finally:
        _stated.reset(before)


def is_stated() -> bool:
    """Return whether cells are to be undone."""
    return _stated.get()


def undone_sql(name: str) -> str:
    """Return SQL for the cell of a column without its mark."""
    return f"CASE WHEN starts_with({name}, '{_MARK * 2}') THEN substr({name}, 2) ELSE {name} END"


def undone_source(names: Sequence[str], source: str) -> str:
    """Return SQL that selects what `source` does, the cells of its columns without their marks."""
    cells = ", ".join(f"{undone_sql(name)} AS {name}" for name in names)
    return f"SELECT {cells}, odd FROM ({source})"


def wrong_sql(names: Sequence[str], source: str) -> str:
    """Return SQL that counts the rows with a cell that is not escaped as it should be."""
    wrong = " OR ".join(
        f"starts_with({name}, '{_MARK * 2}') <> ({_needs(undone_sql(name))})" for name in names
    )
    return f"SELECT count(*) FROM ({source}) WHERE {wrong}"


def undone_names(columns: Sequence[str]) -> list[str] | None:
    """Return the names of columns without their marks, None if one is not as it should be."""
    found = []
    for column in columns:
        bare = column.removeprefix(_MARK)
        formula = re.match(_FORMULA, bare) and not re.fullmatch(_NUMBER, bare, re.ASCII)
        if column.startswith(_MARK) != bool(formula or bare.startswith(_MARK)):
            return None
        found.append(bare)
    return found


def _needs(cell: str) -> str:
    """Return SQL that tells whether a text needs the mark."""
    return (
        f"starts_with({cell}, '{_MARK * 2}') OR (regexp_matches({cell}, '{_FORMULA}')"
        f" AND NOT regexp_full_match({cell}, '{_NUMBER}'))"
    )
