"""Whether the rows of a file stand in order: by all columns, bytewise, the empty cell first.

Most files hold no quotes. There a row is a line, and with the separator made smaller than any
character of a cell, lines sort as their cells do; comparing neighbouring lines costs a fraction of
what a window in SQL does. Files with quotes, and Parquet, are judged by that window.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import gt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_AT_ONCE = 1 << 22
_SEPARATOR_FIRST = bytes.maketrans(b",", b"\0")


@dataclass(frozen=True)
class Lines:
    """The lines below the headers of files: how many each has, how many sort too late.

    `separators` counts those in all lines: DuckDB lets empty cells pass behind the last column.
    """

    misplaced: int
    rows: tuple[int, ...]
    separators: int


def read_lines(paths: Sequence[Path]) -> Lines | None:
    """Compare every line of files that follow one another with the one ahead of it.

    None where lines are not just rows.
    """
    misplaced = separators = 0
    rows = []
    last: list[bytes] = []
    for path in paths:
        lines = 0
        with path.open("rb") as stream:
            if b'"' in stream.readline():
                return None
            rest = b""
            while piece := stream.read(_AT_ONCE):
                if b'"' in piece or b"\0" in piece:
                    return None
                separators += piece.count(b",")
                *whole, rest = (rest + piece).translate(_SEPARATOR_FIRST).split(b"\n")
                misplaced += _descents([*last, *whole])
                last = whole[-1:] or last
                lines += len(whole)
        if rest:
            misplaced += _descents([*last, rest])
            last = [rest]
            lines += 1
        rows.append(lines)
    return Lines(misplaced, tuple(rows), separators)


def misplaced_sql(names: Sequence[str], source: str) -> str:
    """SQL that gives all columns of a source, and whether a row is `late`: before its forerunner.

    Without an ORDER BY the window streams in the order of the file.
    """
    row = f"row({', '.join(names)})"
    return f"SELECT *, {row} < lag({row}) OVER () AS late FROM ({source})"


def _descents(lines: list[bytes]) -> int:
    return sum(map(gt, lines, lines[1:]))
