"""The table that a release was made from, its protected values written as the release has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from incrowd.published.parts import Parts
from incrowd.published.protected import protected
from incrowd.sources import SourceLike
from incrowd.table.spellings import spelled_as
from incrowd.utility.published import Published


def read_original(
    original: SourceLike, columns: Sequence[str], release: Published | Parts
) -> pl.DataFrame:
    """These columns of the original.

    A release has one spelling of each protected value (`incrowd.table.spellings`), and so has the
    original here: a value that is only written in another way did not change.
    """
    from incrowd.sources import read

    frame = read(original, columns=columns)
    respelled = [
        name
        for name in protected(release.entries, _promises(release))
        if name in frame.columns and frame[name].dtype == pl.String
    ]
    return frame.with_columns(
        spelled_as(frame[name], _published_texts(release, name)) for name in respelled
    )


def _promises(release: Published | Parts) -> Sequence[Mapping[str, Any]]:
    if isinstance(release, Parts):
        return tuple(release.manifest.get("promises", ()))
    return release.promises


def _published_texts(release: Published | Parts, name: str) -> Iterable[str]:
    if not isinstance(release, Parts):
        return [text for text in release.cells(name) if text is not None]
    tables = [release.columns, *(apart.columns for apart in release.apart)]
    return [text for columns in tables if name in columns for text in columns[name].values]
