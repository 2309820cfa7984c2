"""Short names of sources for messages, which never show a password."""

from __future__ import annotations

import re
from pathlib import Path

FILE_SCHEMES = ("sqlite", "duckdb")
"""Databases in a file: `scheme:///file`, or `scheme:////folder/file` with its full path."""
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]+)://")


def is_database_url(text: object) -> bool:
    """Return whether `text` is written like a URL (`scheme://…`), of a known scheme or not."""
    return isinstance(text, str) and _URL.match(text) is not None


def url_scheme(url: str) -> str:
    """Return the lower-case scheme of a URL, or an empty string when it has none."""
    match = _URL.match(url)
    return match.group(1).lower() if match else ""


def file_behind(source: object) -> Path | None:
    """Return the file or folder that a source is read from; None for servers and frames.

    Example
    -------
    >>> file_behind("duckdb:///visits.duckdb").name
    'visits.duckdb'
    """
    if isinstance(source, Path):
        return source.expanduser()
    if not isinstance(source, str):
        return None
    if not is_database_url(source):
        return Path(source).expanduser()
    rest = source.partition("://")[2].partition("?")[0]
    if url_scheme(source) not in FILE_SCHEMES or not rest.startswith("/") or len(rest) == 1:
        return None
    return Path(rest[1:]).expanduser()


def describe(source: object) -> str:
    """Return a short name of a source for messages: a file name, or `a pandas frame`.

    Of a database URL only the scheme, the host and the database remain: user, password and
    parameters (which may carry a password too) are left out.
    """
    if isinstance(source, str) and is_database_url(source):
        return _describe_url(source)
    if isinstance(source, str | Path):
        return Path(source).name or str(source)
    library = type(source).__module__.partition(".")[0]
    kind = {"Table": "table", "Series": "series"}.get(type(source).__name__, "frame")
    return f"a {library} {kind}" if library != "builtins" else f"a {type(source).__name__}"


def _describe_url(url: str) -> str:
    scheme = url_scheme(url)
    rest = url[len(scheme) + len("://") :]
    if scheme in FILE_SCHEMES:
        return Path(rest.partition("?")[0]).name or f"a {scheme} database"
    # A password may itself hold "/", "?" or "@" that nobody escaped, so everything up to the
    # last "@" goes; when that "@" stands among the parameters nothing is safe to show.
    secrets, at, place = rest.rpartition("@")
    if at and "?" in secrets:
        return f"a {scheme} database"
    place = place.partition("?")[0].rstrip("/")
    return f"{scheme}://{place}" if place else f"a {scheme} database"
