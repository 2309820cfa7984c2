"""Whether the rows of a file stand in order: by all columns, bytewise, the empty cell first.

Most files hold no quotes. There a row is a line, and with the separator made smaller than any
character of a cell, lines sort as their cells do; comparing neighbouring lines costs a fraction of
what a window in SQL does. Files with quotes, and Parquet, are judged by that window.

The form of a CSV file is judged on the same way through its bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import gt
from pathlib import Path

from incrowd.verify.files.csv_form import Form, FormError, header_row, of_file

_AT_ONCE = 1 << 22
_SEPARATOR_FIRST = bytes.maketrans(b",", b"\0")


@dataclass(frozen=True)
class Lines:
    """The rows below the headers of files: how many each has, how many sort too late.

    `misplaced` is None where lines are not just rows, so that their order is not known.
    `separators` counts those in all rows: DuckDB lets empty cells pass behind the last column.
    """

    misplaced: int | None
    rows: tuple[int, ...]
    separators: int


class _Descents:
    """How many lines sort before the one ahead of them, from file to file."""

    def __init__(self) -> None:
        self.many: int | None = 0
        self._last: list[bytes] = []
        self._rest = b""

    def take(self, piece: bytes) -> None:
        if self.many is None:
            return
        *whole, self._rest = (self._rest + piece).translate(_SEPARATOR_FIRST).split(b"\n")
        lines = [*self._last, *whole]
        self.many += sum(map(gt, lines, lines[1:]))
        self._last = whole[-1:] or self._last

    def give_up(self) -> None:
        self.many = None


def read_lines(paths: Sequence[Path], columns: Sequence[str]) -> Lines:
    """Compare every row of CSV files that follow one another with the one ahead of it.

    Raises a FormError for a file that is not in its one form.
    """
    descents = _Descents()
    rows, separators = [], 0
    for path in paths:
        with of_file(path):
            form = _read_file(path, header_row(columns), descents)
        rows.append(form.rows)
        separators += form.separators
    return Lines(descents.many, tuple(rows), separators)


def _read_file(path: Path, header: bytes, descents: _Descents) -> Form:
    form = Form()
    with path.open("rb") as stream:
        if stream.read(len(header)) != header:
            raise FormError("has a header row in another form")
        while piece := stream.read(_AT_ONCE):
            form.take(piece)
            if b'"' in piece or b"\0" in piece:
                descents.give_up()
            descents.take(piece)
    form.end()
    return form


def misplaced_sql(names: Sequence[str], source: str) -> str:
    """SQL that gives all columns of a source, and whether a row is `late`: before its forerunner.

    Without an ORDER BY the window streams in the order of the file.
    """
    row = f"row({', '.join(names)})"
    return f"SELECT *, {row} < lag({row}) OVER () AS late FROM ({source})"
