"""Several files in one request: multipart/form-data, as browsers and curl send it.

Each part goes to a file of its own while it arrives. Nothing else of a form is taken.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from incrowd.errors import ParameterError

if TYPE_CHECKING:
    from fastapi import Request

    from incrowd.serve.workspace.uploads import SeveralUploads

_FORM = "multipart/form-data"
_NO_FORM = (
    "Several files are sent as multipart/form-data, a part with a file name for each: with curl, "
    "`-F file=@patients.csv -F file=@conditions.csv`."
)


async def take_files(request: Request, pieces: AsyncIterator[bytes], into: SeveralUploads) -> None:
    """Write the files of a request into a folder.

    Raises
    ------
    ParameterError
        The request is no form, is cut short, or has a part that is no file.
    SourceError, TooLargeError
        As for `SeveralUploads`.
    """
    from python_multipart.exceptions import FormParserError
    from python_multipart.multipart import MultipartParser, parse_options_header

    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != _FORM.encode() or not options.get(b"boundary"):
        raise ParameterError(_NO_FORM)
    parts = _FormParts(into)
    try:
        parser = MultipartParser(
            options[b"boundary"],
            {
                "on_part_begin": parts.begin,
                "on_header_field": parts.header_name,
                "on_header_value": parts.header_value,
                "on_header_end": parts.header,
                "on_headers_finished": parts.content,
                "on_part_data": parts.data,
                "on_part_end": into.end,
                "on_end": parts.end,
            },
        )
        async for piece in pieces:
            await asyncio.to_thread(parser.write, piece)
    except FormParserError:  # its words may hold bytes of a file
        raise ParameterError(f"The form cannot be read. {_NO_FORM}") from None
    if not parts.whole:
        raise ParameterError(f"The form ends in the middle. {_NO_FORM}")


class _FormParts:
    """The parts of a form as a parser comes to them."""

    def __init__(self, into: SeveralUploads) -> None:
        self._into = into
        self._name, self._value = bytearray(), bytearray()
        self._headers: dict[bytes, bytes] = {}
        self.whole = False

    def begin(self) -> None:
        """A part begins."""
        self._headers = {}

    def header_name(self, data: bytes, start: int, end: int) -> None:
        """A piece of the name of a header."""
        self._name += data[start:end]

    def header_value(self, data: bytes, start: int, end: int) -> None:
        """A piece of what a header says."""
        self._value += data[start:end]

    def header(self) -> None:
        """A header ends."""
        self._headers[bytes(self._name).lower()] = bytes(self._value)
        self._name.clear()
        self._value.clear()

    def content(self) -> None:
        """The headers of a part end, and its content begins."""
        from python_multipart.multipart import parse_options_header

        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        name = options.get(b"filename")
        if not name:
            raise ParameterError(f"A part of the form is no file. {_NO_FORM}")
        self._into.begin(name.decode("utf-8", "replace"))

    def data(self, data: bytes, start: int, end: int) -> None:
        """A piece of the content."""
        self._into.write(data[start:end])

    def end(self) -> None:
        """The form ends."""
        self.whole = True
