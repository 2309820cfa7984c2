"""The text of a file as UTF-8 bytes, whatever encoding or compression it has."""

from __future__ import annotations

import codecs
import gzip
import mmap
import zlib
from dataclasses import dataclass
from pathlib import Path

from incrowd.errors import ParameterError, SourceError
from incrowd.sources.files import empty_file, is_compressed, look_alike

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Text:
    """A file's content as UTF-8 bytes, of which `start` to `end` are header and records."""

    name: str
    content: bytes | mmap.mmap
    start: int
    end: int
    quoted: bool
    path: Path | None  # where polars can read the very same bytes, if anywhere


def load_text(path: Path, encoding: str | None) -> Text:
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
        raise empty_file(path)
    return Text(path.name, content, start, end, content.find(b'"') >= 0, same_bytes)


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
        raise empty_file(path)
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


def wrong_encoding(name: str, line: int) -> SourceError:
    """The error of a file that is not UTF-8, with the line."""
    return SourceError(
        f"{name}, line {line}: not UTF-8. Save the file as UTF-8, or name its encoding, for "
        "example encoding: cp1252 (Windows, Western Europe)."
    )
