"""Files that travel inside the package."""

from __future__ import annotations

import csv
import io
from importlib.resources import files


def read_bytes(path: str) -> bytes:
    """Return the content of a bundled file, named relative to this package with `/`."""
    return files("incrowd.datasets").joinpath(*path.split("/")).read_bytes()


def read_text(path: str) -> str:
    """Return the text of a bundled UTF-8 file, lines ending as on Unix."""
    return read_bytes(path).decode("utf-8").replace("\r\n", "\n")


def read_rows(path: str) -> list[dict[str, str]]:
    """Return the rows of a bundled CSV file with a header line, as dictionaries of text."""
    return list(csv.DictReader(io.StringIO(read_text(path))))


def list_names(path: str) -> list[str]:
    """Return the sorted names of the files in a bundled folder."""
    folder = files("incrowd.datasets").joinpath(*path.split("/"))
    return sorted(each.name for each in folder.iterdir() if each.is_file())
