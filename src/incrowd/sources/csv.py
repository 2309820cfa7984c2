"""CSV and its relatives: every cell as text, and every record with all its cells.

All columns are read as text, so that `01234` stays `01234`; what a column means is decided
later, from a policy. An empty cell, quoted or not, is missing; no other text is. Blanks around
column names are stripped, cells are left alone. Empty lines after the last record are ignored;
elsewhere an empty line is an error, or, in a file of one column, a missing cell.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import mmap
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from incrowd.errors import ParameterError, SourceError
from incrowd.sources import structure
from incrowd.sources.columns import check_names, chosen
from incrowd.sources.files import is_compressed, look_alike, require_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a vertical bar"}

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 1 << 16
_PIECE = 1 << 23
_QUOTED = re.compile(rb'"(?:[^"]|"")*"')


@dataclass(frozen=True)
class _Text:
    """A file's content as UTF-8 bytes, of which `start` to `end` are header and records."""

    name: str
    content: bytes | mmap.mmap
    start: int
    end: int
    quoted: bool
    path: Path | None  # where polars can read the very same bytes, if anywhere


def read_csv(
    path: Path,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    columns: list[str] | None = None,
) -> pl.DataFrame:
    """Return the records of a text file as a frame of text columns.

    Parameters
    ----------
    path
        A `.csv`, `.tsv` or `.txt` file, or one of these compressed with gzip.
    separator
        One character; found from the first lines when None.
    encoding
        Any text encoding that Python knows; UTF-8, or what a byte-order mark says, when None.
    columns
        The columns to return, in this order; all when None.
    """
    pieces = list(read_csv_pieces(path, separator=separator, encoding=encoding))
    frame = pieces[0] if len(pieces) == 1 else pl.concat(pieces, rechunk=False)
    wanted = chosen(frame.columns, columns, path.name)
    return pl.DataFrame([frame.get_column(name) for name in wanted])


def read_csv_pieces(
    path: Path, *, separator: str | None = None, encoding: str | None = None
) -> Iterator[pl.DataFrame]:
    """Yield the records of a text file in order, as frames of text columns.

    The structure of the whole file is checked before the first frame. A large file comes in
    many frames, so that its text never lies in memory whole.
    """
    text, header_end, separator, names = _opened(path, separator, encoding)
    data = np.frombuffer(text.content, dtype=np.uint8)[text.start : text.end]
    if header_end >= text.end and structure.first_flaw(data, ord(separator), len(names)) is None:
        raise SourceError(
            f"{text.name} has a header but no records. Check that the export was complete."
        )
    tally = structure.tally(data, ord(separator), quoted=text.quoted)
    if not tally.sound or tally.separators != tally.records * (len(names) - 1):
        raise _explanation(text, data, separator, len(names))
    expected = tally.records - 1  # the header is a record too
    for begin, end in _stretches(text, header_end, whole=len(names) == 1):
        frame = _parse(text, begin, end, separator, len(names))
        if frame is None:
            raise _explanation(text, data, separator, len(names))
        # Polars makes records of the empty lines at the end.
        frame = frame.head(expected)
        expected -= frame.height
        frame.columns = names
        yield frame
    if expected:
        raise _explanation(text, data, separator, len(names))


def read_csv_header(
    path: Path, *, separator: str | None = None, encoding: str | None = None
) -> list[str]:
    """Return the names of the columns of a text file; its records are not looked at."""
    return _opened(path, separator, encoding)[3]


def _opened(
    path: Path, separator: str | None, encoding: str | None
) -> tuple[_Text, int, str, list[str]]:
    """Return a file's text, where its header ends, its separator, and its names of columns."""
    _check_separator(separator)
    require_file(path)
    text = _load(path, encoding)
    end = _header_end(text)
    if separator is None:
        separator = _detect_separator(text, prefer_tab=".tsv" in path.name.lower())
    return text, end, separator, _header(text, end, separator)


def _stretches(text: _Text, header_end: int, *, whole: bool) -> Iterator[tuple[int, int]]:
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


def _load(path: Path, encoding: str | None) -> _Text:
    """Return the text of a file as UTF-8, refusing what is not text."""
    content = _decompress(path) if is_compressed(path) else _map(path)
    same_bytes = None if is_compressed(path) else path
    head = content[:4096]
    if found := look_alike(head):
        raise SourceError(f"{path.name} is not text: it looks like {found[0]}. {found[1]}.")
    codec = _codec(encoding, head)
    if codec != "utf-8":
        content, same_bytes = _transcode(path.name, content, codec), None
    if content.find(b"\0") >= 0:
        raise SourceError(
            f"{path.name} is not text: it holds NUL bytes. Export the table as CSV in UTF-8; "
            "if it is UTF-16 without a byte-order mark, say encoding: utf-16-le."
        )
    start = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) and codec == "utf-8" else 0
    end = _text_end(content, start)
    if end == start:
        raise SourceError(
            f"{path.name} is empty. It must hold a line of column names and at least one record."
        )
    return _Text(path.name, content, start, end, content.find(b'"') >= 0, same_bytes)


def _text_end(content: bytes | mmap.mmap, start: int) -> int:
    """Return where the last record ends, the line end and the empty lines after it left out."""
    end = len(content) - (content[-1:] == b"\r")
    while end > start and content[end - 1 : end] == b"\n":
        end -= 1
        end -= end > start and content[end - 1 : end] == b"\r"
    return end


def _map(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _decompress(path: Path) -> bytes:
    try:
        with gzip.open(path, "rb") as file:
            content = file.read()
    except (OSError, EOFError, zlib.error):
        content = None
    if content is None:
        raise SourceError(
            f"{path.name} is not a complete gzip file. Compress it again, or drop the ending .gz."
        )
    if not content:
        raise SourceError(
            f"{path.name} is empty. It must hold a line of column names and at least one record."
        )
    return content


def _codec(encoding: str | None, head: bytes) -> str:
    """Return the normalized name of the encoding to decode with."""
    if encoding is not None:
        try:
            codec = codecs.lookup(encoding).name
            "a".encode(codec)
        except (LookupError, ValueError):
            raise ParameterError(
                f"encoding: {encoding!r} is not a text encoding that Python knows. "
                "Common ones are utf-8, cp1252, latin-1 and utf-16."
            ) from None
        if codec not in ("utf-8", "utf-8-sig"):
            return codec
    return next((codec for mark, codec in _BYTE_ORDER_MARKS if head.startswith(mark)), "utf-8")


def _transcode(name: str, content: bytes | mmap.mmap, codec: str) -> bytes:
    raw = content[:]
    problem = None
    try:
        text = raw.decode(codec)
    except UnicodeDecodeError as error:
        problem = (error.start, error.reason)
    if problem is not None:
        line = raw[: problem[0]].decode(codec, errors="ignore").count("\n") + 1
        raise SourceError(
            f"{name}, line {line}: not {codec}. Save the file as UTF-8, or name the encoding "
            "it really has."
        )
    return text.removeprefix("\ufeff").encode("utf-8", errors="surrogatepass")


def _header_end(text: _Text) -> int:
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


def _detect_separator(text: _Text, *, prefer_tab: bool) -> str:
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


def _header(text: _Text, end: int, separator: str) -> list[str]:
    """Return the names of the columns, checked."""
    raw = text.content[text.start : end]
    try:
        decoded = raw.decode("utf-8").rstrip("\r")
    except UnicodeDecodeError:
        decoded = None
    if decoded is None:
        raise _wrong_encoding(text.name, 1)
    if not decoded.strip():
        raise SourceError(f"{text.name}: its first line is empty. It must hold the column names.")
    try:
        names = next(csv.reader(io.StringIO(decoded, newline=""), delimiter=separator, strict=True))
    except csv.Error:
        names = None
    if names is None:
        data = np.frombuffer(text.content, dtype=np.uint8)[text.start : text.end]
        raise _explanation(text, data, separator, 1 + raw.count(separator.encode()))
    names = [name.strip() for name in names]
    check_names(names, text.name, "The first line must hold one name for each column.")
    return names


def _parse(text: _Text, begin: int, end: int, separator: str, width: int) -> pl.DataFrame | None:
    """Return what polars reads of a stretch, or None when it refuses; its messages show cells.

    All columns are read, chosen or not: with a choice polars no longer refuses long rows.
    """
    labels = [f"column_{number}" for number in range(1, width + 1)]
    all_records = end == len(text.content) and text.content.find(b"\n", text.start) + 1 == begin
    try:
        frame = pl.read_csv(
            text.path if all_records and text.path is not None else text.content[begin:end],
            has_header=False,
            skip_rows=1 if all_records and text.path is not None else 0,
            schema=dict.fromkeys(labels, pl.String),
            separator=separator,
            glob=False,
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return None
    # Polars keeps a quoted empty cell apart from a missing one.
    return frame.with_columns(pl.when(pl.all() != "").then(pl.all())) if text.quoted else frame


def _explanation(text: _Text, data: structure.Bytes, separator: str, width: int) -> SourceError:
    """Return the error that names the first line at fault, and the remedy."""
    flaw = structure.first_flaw(data, ord(separator), width)
    divider = SEPARATORS.get(separator, f"'{separator}'")
    if flaw is None:
        try:
            bytes(data).decode("utf-8")
        except UnicodeDecodeError as error:
            return _wrong_encoding(text.name, bytes(data[: error.start]).count(b"\n") + 1)
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


_FLAWS: dict[structure.Kind, str] = {
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


def _wrong_encoding(name: str, line: int) -> SourceError:
    return SourceError(
        f"{name}, line {line}: not UTF-8. Save the file as UTF-8, or name its encoding, for "
        "example encoding: cp1252 (Windows, Western Europe)."
    )
