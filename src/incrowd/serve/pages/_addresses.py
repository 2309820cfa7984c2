"""Where the page finds the HTTP interface below it: uploads and downloads go there directly."""

from __future__ import annotations

from typing import Literal
from urllib.parse import quote

ROOT = "/api/v1"


def new_source(header: bool | None) -> str:
    """Where a file goes, with what is known of its first line.

    It is read after the reply, so that the page can show how far that is.
    """
    return f"{ROOT}/sources?wait=0{_first_line(header)}"


def linked_source(header: bool | None) -> str:
    """Where several files go that are tables of the same patients."""
    return f"{ROOT}/sources/linked?wait=0{_first_line(header)}"


def hierarchy(source_id: str, attribute: str) -> str:
    """Where a hierarchy file of a source goes."""
    return f"{ROOT}/sources/{source_id}/hierarchies/{quote(attribute, safe='')}?"


def of_run(run_id: str, what: Literal["archive", "report", "private-report", "policy"]) -> str:
    """A file of a run: the zip file of its release, a report, or the policy."""
    return f"{ROOT}/runs/{run_id}/{what}"


def _first_line(header: bool | None) -> str:
    return "" if header is None else f"&header={str(header).lower()}"
