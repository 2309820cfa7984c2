"""The plain version of the CSV scanner: one byte after the other, as RFC 4180 says."""

from __future__ import annotations

import csv
import io
import re

from incrowd.sources._structure import Flaw


def first_flaw(text: bytes, separator: int, width: int) -> Flaw | None:
    """Return the first flaw of a text that does not end with a line end."""
    state = "begin"  # of a cell; or "bare", "quoted", "closed"
    line = row_line = cell_line = 1
    cells = 1
    row_start = 0
    whole = text + b"\n"
    for at, byte in enumerate(whole):
        here = chr(byte)
        if state == "quoted":
            state = "closed" if here == '"' else "quoted"
            line += here == "\n"
            continue
        if state == "closed" and here == '"':  # a doubled quote
            state = "quoted"
            continue
        if state == "closed" and byte not in (separator, 10, 13):
            return Flaw(cell_line, "tail")
        if here == '"':
            if state != "begin":
                return Flaw(line, "stray")
            state, cell_line = "quoted", line
        elif byte == separator:
            state, cells = "begin", cells + 1
        elif here == "\r" and text[at + 1 : at + 2] != b"\n":
            return Flaw(line, "return")
        elif here == "\n":
            if cells != width:
                empty = text[row_start:at].strip(b"\r") == b""
                return Flaw(row_line, "empty") if empty else Flaw(row_line, "cells", cells)
            line += 1
            state, cells, row_line, row_start = "begin", 1, line, at + 1
        elif here != "\r":
            state = "bare"
    return Flaw(cell_line, "open") if state == "quoted" else None


def trimmed(text: str) -> str:
    """Return a text without the line ends after its last record."""
    return re.sub(r"(\r?\n)*\r?\Z", "", text, count=1)


def records(text: str, separator: str) -> list[list[str]] | None:
    """Return the records that Python's own reader finds, or None when it refuses the text.

    Empty lines after the last record are dropped; elsewhere they have one empty cell.
    """
    whole = io.StringIO(trimmed(text), newline="")
    try:
        return [record or [""] for record in csv.reader(whole, delimiter=separator, strict=True)]
    except csv.Error:
        return None
