"""The one form that a published CSV file has, judged byte by byte.

A table could be written in many ways that readers take for the same: cells in quotes that need
none, other ends of lines, a mark at the beginning, empty lines. Each choice could mark a record
that the cells hide, so only one form is let through:

    text in UTF-8, no byte order mark; a header row; every row, the last too, ends with one line
    feed; cells apart by one comma; a cell stands in quotes if and only if it holds a comma, a
    quote, a line feed or a carriage return, and a quote in it is doubled; a missing cell is empty.

Invariant: two files in this form with the same cells have the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

LONGEST_ROW = 1 << 26
"""The bytes that are held to find the end of a row; no reader takes longer ones."""

_QUOTED = re.compile(rb'("[^",\r\n]*+"(?!"))|"(?:[^"]++|"")*+"')
"""A cell in quotes; as group 1 where it needs none."""
_BESIDE = re.compile(rb'[^,\n]"|"[^,\n]')
_SPECIAL = frozenset(',"\r\n')


class FormError(Exception):
    """A file, that at `path`, is not in its one form; the message holds no cell of it."""

    path: Path | None = None


@contextmanager
def of_file(path: Path) -> Iterator[None]:
    """Say of which file a FormError is."""
    try:
        yield
    except FormError as error:
        error.path = path
        raise


def header_row(columns: Sequence[str]) -> bytes:
    r"""Return the first row of a file with these columns.

    Example
    -------
    >>> header_row(["age", "a,b", ""])
    b'age,"a,b",""\n'
    """
    return (",".join(map(_name, columns)) + "\n").encode()


def _name(column: str) -> str:
    if column and not _SPECIAL & set(column):
        return column
    return '"' + column.replace('"', '""') + '"'


class Form:
    """The rows and separators of a file given piece by piece, as far as it is in its one form."""

    def __init__(self) -> None:
        self.rows = 0
        self.separators = 0
        self._rest = b""

    def take(self, piece: bytes) -> None:
        """Take the next piece of the file, behind its header row."""
        data = self._rest + piece
        end = _last_row_end(data)
        rows, self._rest = data[:end], data[end:]
        if len(self._rest) > LONGEST_ROW:
            raise FormError("has a row that is too long, or a quote that stays open")
        if b'"' in rows:
            if any(_QUOTED.findall(rows)):
                raise FormError("has a cell in quotes that needs none")
            rows = b"\n" + _QUOTED.sub(b'"', rows)
            if _BESIDE.search(rows):
                raise FormError("has a quote inside a cell that is not in quotes")
            rows = rows[1:]
        if b"\r" in rows:
            raise FormError("has a carriage return outside of quotes")
        self.rows += rows.count(b"\n")
        self.separators += rows.count(b",")

    def end(self) -> None:
        """Close the file, whose last byte must end a row."""
        if self._rest:
            raise FormError("does not end with a line feed")


def _last_row_end(data: bytes) -> int:
    """Return how many bytes the whole rows at the beginning have.

    A line feed ends a row where the quotes ahead of it are even in number.
    """
    end = data.rfind(b"\n")
    quotes = data.count(b'"', 0, max(end, 0))
    while end >= 0 and quotes % 2:
        before = data.rfind(b"\n", 0, end)
        quotes -= data.count(b'"', max(before, 0), end)
        end = before
    return end + 1
