"""Cells that a spreadsheet would run as a formula: found, and escaped where that is asked for.

A spreadsheet takes a cell of a CSV file that begins with = + - or @, or with a tab or an end of
line, for a formula, and runs it on the machine of whoever opens the file. Numbers such as -5 are no
formulas. Escaped, such a cell begins with an apostrophe, which spreadsheets take as "this is text";
so does a cell that begins with an apostrophe itself.

Invariant: `undone(escaped(text)) == text` for every text, so two cells are equal after escaping
just where they were before, and what was promised of the cells holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from incrowd._runtime.manifests import Manifest

if TYPE_CHECKING:
    import polars as pl

MARK = "'"
_BEGINS = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def runs(text: str) -> bool:
    """Whether a spreadsheet would take a cell for a formula.

    Example
    -------
    >>> [runs(text) for text in ("=1+1", "@SUM(A1)", "-5", "+49 30 1", "a=b")]
    [True, True, False, True, False]
    """
    return _BEGINS.match(text) is not None and _NUMBER.fullmatch(text) is None


def escaped(text: str) -> str:
    """The text as a spreadsheet shows it without running it."""
    return MARK + text if runs(text) or text.startswith(MARK) else text


def undone(text: str) -> str:
    """The text that was escaped."""
    return text.removeprefix(MARK)


def is_escaped(manifest: Manifest) -> bool:
    """Whether a manifest states that the cells of its files are escaped."""
    stated = manifest.get("spreadsheet")
    return isinstance(stated, Mapping) and stated.get("escaped") is True


def undone_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """A table of text that was escaped, as it was."""
    import polars as pl

    columns: Sequence[pl.Series] = [
        # Polars takes some names for patterns.
        cells.alias("cells").str.strip_prefix(MARK).alias(undone(cells.name))
        for cells in frame
    ]
    return pl.DataFrame(columns)
