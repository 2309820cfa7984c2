"""CSV and its relatives: every cell as text, and every record with all its cells.

All columns are read as text, so that `01234` stays `01234`; what a column means is decided
later, from a policy. An empty cell, quoted or not, is missing; no other text is. Blanks around
column names are stripped, cells are left alone. A first line that looks like a record is no header
(_headers.py). Empty lines after the last record are ignored;
elsewhere an empty line is an error, or, in a file of one column, a missing cell.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from incrowd.errors import ParameterError, SourceError
from incrowd.sources import _headers as headers
from incrowd.sources import _structure as structure
from incrowd.sources._texts import Text, load_text, wrong_encoding
from incrowd.sources.columns import check_names, chosen
from incrowd.sources.files import TextOptions, require_file

SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a vertical bar"}

_SAMPLE = 1 << 16
_PIECE = 1 << 23
_QUOTED = re.compile(rb'"(?:[^"]|"")*"')


def read_csv(path: Path, options: TextOptions, columns: list[str] | None = None) -> pl.DataFrame:
    """Return the records of a text file as a frame of text columns.

    Parameters
    ----------
    path
        A `.csv`, `.tsv` or `.txt` file, or one of these compressed with gzip.
    options
        Its `separator`, one character; found from the first lines when None. Its `encoding`, any
        that Python knows; UTF-8, or what a byte-order mark says, when None. Whether its first line
        has the names of the columns (`header`): when None it must, and one that looks like a record
        is refused; when False columns are called column_1, column_2 and so on. The cells that mean
        that a value is missing, beside empty ones (`missing_values`).
    columns
        The columns to return, in this order; all when None.
    """
    pieces = list(read_csv_pieces(path, options))
    frame = pieces[0] if len(pieces) == 1 else pl.concat(pieces, rechunk=False)
    wanted = chosen(frame.columns, columns, path.name)
    return pl.DataFrame([frame.get_column(name) for name in wanted])


def read_csv_pieces(path: Path, options: TextOptions) -> Iterator[pl.DataFrame]:
    """Yield the records of a text file in order, as frames of text columns.

    The structure of the whole file is checked before the first frame. A large file comes in
    many frames, so that its text never lies in memory whole.
    """
    text, header_end, separator, names = _opened(path, options)
    data = np.frombuffer(text.content, dtype=np.uint8)[text.start : text.end]
    if header_end >= text.end and structure.first_flaw(data, ord(separator), len(names)) is None:
        raise SourceError(
            f"{text.name} has a header but no records. Check that the export was complete."
        )
    tally = structure.tally(data, ord(separator), quoted=text.quoted)
    if not tally.sound or tally.separators != tally.records * (len(names) - 1):
        raise _explanation(text, data, separator, len(names))
    expected = tally.records - (options.get("header") is not False)  # the header is a record too
    for begin, end in _stretches(text, header_end, whole=len(names) == 1):
        frame = _parse(text, begin, end, separator, len(names))
        if frame is None:
            raise _explanation(text, data, separator, len(names))
        # Polars makes records of the empty lines at the end.
        frame = frame.head(expected)
        expected -= frame.height
        frame.columns = names
        yield _without(frame, options.get("missing_values") or ())
    if expected:
        raise _explanation(text, data, separator, len(names))


def _without(frame: pl.DataFrame, marks: Sequence[str]) -> pl.DataFrame:
    """Return the frame with the cells empty that mean that a value is missing."""
    if not marks:
        return frame
    wanted = [mark.strip() for mark in marks]
    cells = pl.all()
    return frame.with_columns(pl.when(~cells.str.strip_chars().is_in(wanted)).then(cells))


def read_csv_header(path: Path, options: TextOptions) -> list[str]:
    """Return the names of the columns of a text file; few of its records are looked at."""
    return _opened(path, options)[3]


def _opened(path: Path, options: TextOptions) -> tuple[Text, int, str, list[str]]:
    """Return a file's text, where its header ends, its separator, and its names of columns."""
    separator, header = options.get("separator"), options.get("header")
    _check_separator(separator)
    require_file(path)
    text = load_text(path, options.get("encoding"))
    end = _header_end(text)
    if separator is None:
        separator = _detect_separator(text, prefer_tab=".tsv" in path.name.lower())
    cells = _first_cells(text, end, separator)
    if header is False:
        names = headers.numbered(len(cells))
        check_names(names, text.name, "")
        return text, text.start - 1, separator, names
    if header is None and end < text.end:
        headers.refuse_data(cells, _sample(text, end, separator, len(cells)), text.name)
    check_names(cells, text.name, _NAMES_WANTED, shown=False)
    return text, end, separator, cells


_NAMES_WANTED = (
    "The first line must hold one name for each column, each another; if the file has no header, "
    "say `header: false`, or --no-header."
)


def _sample(text: Text, header_end: int, separator: str, width: int) -> list[list[str]]:
    """The first records, cut where the sample ends; quotes at fault are told by others."""
    stop = min(text.end, header_end + 1 + headers.SAMPLE)
    sample = text.content[header_end + 1 : stop].decode("utf-8", errors="replace")
    if stop < text.end:
        sample = sample.rpartition("\n")[0]
    return headers.first_records(sample, separator, width)


def _stretches(text: Text, header_end: int, *, whole: bool) -> Iterator[tuple[int, int]]:
    """Yield where to cut the records: at line ends outside quotes, every few megabytes.

    A file of one column is left whole: an empty line in it is a missing cell, and polars drops
    such a line at the end of what it reads.
    """
    begin = header_end + 1
    while not whole and text.end - begin > 2 * _PIECE:
        end, counted, quotes = begin + _PIECE, begin, 0
        while True:
            end = text.content.find(b"\n", end, text.end)
            if end < 0 or not text.quoted:
                break
            quotes += text.content[counted:end].count(b'"')
            if quotes % 2 == 0:
                break
            counted, end = end, end + 1
        if end < 0:
            break
        yield begin, end
        begin = end + 1
    yield begin, len(text.content)


def _check_separator(separator: str | None) -> None:
    if separator is not None and (
        len(separator) != 1 or not separator.isascii() or separator in '"\r\n\0'
    ):
        raise ParameterError(
            "separator: must be one ASCII character other than a quote or a line end, "
            f"such as one of , ; | or a tab; got {len(separator)} character(s)."
        )


def _header_end(text: Text) -> int:
    """Return where the line end of the header is, quotes considered; `text.end` if none."""
    position = text.start
    quotes = 0
    while True:
        newline = text.content.find(b"\n", position, text.end)
        if newline < 0:
            return text.end
        quotes += text.content[position:newline].count(b'"')
        if quotes % 2 == 0:
            return newline
        position = newline + 1


def _detect_separator(text: Text, *, prefer_tab: bool) -> str:
    """Return the separator that divides the header, and the first records alike, best."""
    sample = text.content[text.start : min(text.end, text.start + _SAMPLE)]
    lines = _QUOTED.sub(b"", sample).splitlines()
    if text.start + len(sample) < text.end and len(lines) > 1:
        lines.pop()  # cut off in the middle
    best = ","
    best_score = (False, False, 0)
    for candidate in SEPARATORS:
        counts = [line.count(candidate.encode()) for line in lines[:100]]
        if not counts or not counts[0]:
            continue
        score = (
            prefer_tab and candidate == "\t",
            all(count == counts[0] for count in counts),
            counts[0],
        )
        if score > best_score:
            best, best_score = candidate, score
    return best


def _first_cells(text: Text, end: int, separator: str) -> list[str]:
    """Return the cells of the first line, without blanks around."""
    raw = text.content[text.start : end]
    try:
        decoded = raw.decode("utf-8").rstrip("\r")
    except UnicodeDecodeError:
        decoded = None
    if decoded is None:
        raise wrong_encoding(text.name, 1)
    if not decoded.strip():
        raise SourceError(f"{text.name}: its first line is empty. It must hold the column names.")
    try:
        names = next(csv.reader(io.StringIO(decoded, newline=""), delimiter=separator, strict=True))
    except csv.Error:
        names = None
    if names is None:
        data = np.frombuffer(text.content, dtype=np.uint8)[text.start : text.end]
        raise _explanation(text, data, separator, 1 + raw.count(separator.encode()))
    return [name.strip() for name in names]


def _parse(text: Text, begin: int, end: int, separator: str, width: int) -> pl.DataFrame | None:
    """Return what polars reads of a stretch, or None when it refuses; its messages show cells.

    All columns are read, chosen or not: with a choice polars no longer refuses long rows.
    """
    labels = headers.numbered(width)
    after_header = text.content.find(b"\n", text.start) + 1
    in_place = text.path is not None and end == len(text.content) and begin in (0, after_header)
    try:
        frame = pl.read_csv(
            text.path if in_place and text.path is not None else text.content[begin:end],
            has_header=False,
            skip_rows=1 if in_place and begin else 0,
            schema=dict.fromkeys(labels, pl.String),
            separator=separator,
            glob=False,
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return None
    # Polars keeps a quoted empty cell apart from a missing one.
    return frame.with_columns(pl.when(pl.all() != "").then(pl.all())) if text.quoted else frame


def _explanation(text: Text, data: structure.Bytes, separator: str, width: int) -> SourceError:
    """Return the error that names the first line at fault, and the remedy."""
    flaw = structure.first_flaw(data, ord(separator), width)
    divider = SEPARATORS.get(separator, f"'{separator}'")
    if flaw is None:
        try:
            bytes(data).decode("utf-8")
        except UnicodeDecodeError as error:
            return wrong_encoding(text.name, bytes(data[: error.start]).count(b"\n") + 1)
        return SourceError(
            f"{text.name} cannot be read as a table whose cells are divided by {divider}. "
            "Save it again as CSV in UTF-8."
        )
    return SourceError(
        f"{text.name}, line {flaw.line}: "
        + _FLAWS[flaw.kind].format(
            found=flaw.found,
            cells="cell" if flaw.found == 1 else "cells",
            width=width,
            columns="column" if width == 1 else "columns",
            divider=divider,
        )
    )


_FLAWS: dict[structure.FlawKind, str] = {
    "cells": (
        "{found} {cells}, but the header has {width} {columns}, divided by {divider}. Correct "
        "the line; a cell that holds {divider} must stand in quotes."
    ),
    "empty": "the line is empty. Remove it.",
    "stray": (
        "a quote inside a cell that does not begin with one. Put the whole cell in quotes and "
        "double each quote inside it."
    ),
    "tail": (
        "a quoted cell goes on after its closing quote. Double each quote inside a quoted cell, "
        "and check that the cell is closed."
    ),
    "open": "a quoted cell begins and never ends. Close its quote, or double it.",
    "return": (
        "a carriage return ends no line. Save the file with line ends \\n or \\r\\n, and put "
        "cells of several lines in quotes."
    ),
}
