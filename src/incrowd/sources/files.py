"""Checks every file goes through before anything is parsed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from incrowd.errors import ParameterError, SourceError, nearest

TEXT_ENDINGS = (".csv", ".tsv", ".txt")
PARQUET_ENDINGS = (".parquet", ".pq")
FILE_ENDINGS = (*TEXT_ENDINGS, *PARQUET_ENDINGS)
SUPPORTED = (
    f"Supported are {', '.join(TEXT_ENDINGS[:-1])} and {TEXT_ENDINGS[-1]} (each also with .gz), "
    f"{' and '.join(PARQUET_ENDINGS)}"
)

# What a file begins with when it is something else than text, and what to do about it.
_SIGNATURES: tuple[tuple[bytes, str, str], ...] = (
    (b"PAR1", "a Parquet file", "Give it the ending .parquet"),
    (b"\x1f\x8b", "a gzip-compressed file", "Add the ending .gz to its name, or decompress it"),
    (b"\x28\xb5\x2f\xfd", "a zstd-compressed file", "Decompress it first"),
    (b"BZh91AY&SY", "a bzip2-compressed file", "Decompress it first"),
    (b"\xfd7zXZ\x00", "an xz-compressed file", "Decompress it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "Unpack it first"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "Open it there and save the sheet as CSV UTF-8"),
    (
        b"SQLite format 3\x00",
        "an SQLite database",
        "Read it with a URL, sqlite:///file, and a query",
    ),
    (b"ARROW1\x00\x00", "an Arrow file", "Save it as Parquet or CSV"),
    (b"%PDF-", "a PDF document", "Export the table as CSV"),
)


class TextOptions(TypedDict, total=False):
    """How text files are written; None, or nothing, where that is found from their content."""

    separator: str | None
    encoding: str | None
    header: bool | None
    missing_values: Sequence[str] | None


def refuse_text_options(text: TextOptions, name: str) -> None:
    """Refuse what is said of text files where the source is none."""
    for option, value in text.items():
        if value is not None:
            told = option.replace("_", "-")
            raise ParameterError(f"{told}: is for text files only, and {name} is none.")


def ending_of(path: Path) -> str:
    """Return the lower-case ending that decides how a file is read, without a final `.gz`."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
        if suffixes[-1:] and suffixes[-1] in TEXT_ENDINGS:
            return suffixes[-1]
        return ".gz"
    return suffixes[-1] if suffixes else ""


def is_compressed(path: Path) -> bool:
    """Return whether a file is named as gzip-compressed."""
    return path.suffix.lower() == ".gz"


def require_file(path: Path) -> None:
    """Return when `path` is a readable, non-empty file; raise SourceError otherwise."""
    try:
        status = "missing" if not path.exists() else "folder" if path.is_dir() else ""
        if not status:
            status = "special" if not path.is_file() else "" if path.stat().st_size else "empty"
        if not status:
            with path.open("rb"):
                pass
    except OSError as error:
        raise SourceError(
            f"{path.name} cannot be read: {error.strerror or 'the system refuses it'}. "
            "Check its permissions and those of its folder."
        ) from None
    if status == "missing":
        raise SourceError(f"No file {path}.{_nearest_in_folder(path)}")
    if status == "folder":
        raise SourceError(f"{path} is a folder. Name a file in it. {SUPPORTED}.")
    if status == "special":
        raise SourceError(f"{path} is not a regular file. Save its content to a file first.")
    if status == "empty":
        raise empty_file(path)


def empty_file(path: Path) -> SourceError:
    """What is said of a file that holds nothing."""
    return SourceError(
        f"{path.name} is empty. It must hold a line of column names and at least one record."
    )


def look_alike(head: bytes) -> tuple[str, str] | None:
    """Return what a file that begins with `head` looks like, and the remedy; None for text."""
    if head.startswith(b"PK\x03\x04"):
        if b"[Content_Types].xml" in head or b"xl/" in head or b"docProps/" in head:
            return "an Excel workbook", "Open it there and save the sheet as CSV UTF-8"
        return "a zip archive", "Unpack it first"
    if head[8:12] == b"DUCK":
        return "a DuckDB database", "Read it with a URL, duckdb:///file, and a query"
    for signature, what, remedy in _SIGNATURES:
        if head.startswith(signature):
            return what, remedy
    return None


def _nearest_in_folder(path: Path) -> str:
    """Return a suggestion of the nearest file name, or what is wrong with the folder."""
    folder = path.parent
    try:
        if not folder.is_dir():
            return f" There is no folder {folder} either: check the path."
        hint = nearest(path.name, sorted(each.name for each in folder.iterdir()))
    except OSError:
        hint = ""
    return hint or " Check the path and the name."
