"""The table that a release was made from, its protected values written as the release has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from incrowd._runtime.manifests import ManifestEntry
from incrowd.published.originals import OriginalRecords, original_records
from incrowd.published.parts import Parts
from incrowd.published.protected import protected
from incrowd.sources import SourceLike
from incrowd.table.spellings import spelled_as
from incrowd.utility.published import Published


def read_original(
    original: SourceLike, columns: Sequence[str], release: Published | Parts
) -> pl.DataFrame:
    """These columns of the original, a row for each record; of patients with several, for each.

    A release has one spelling of each protected value (`incrowd.table.spellings`), and so has the
    original here: a value that is only written in another way did not change.
    """
    return original_of(original, columns, release).frame


def original_of(
    original: SourceLike,
    columns: Sequence[str],
    release: Published | Parts,
    events: Sequence[str] = (),
) -> OriginalRecords:
    """The same, with the rows of patients as to some attributes of events."""
    found = original_records(original, columns, release.manifest, events)
    own = _respelled(found.frame, release, release.entries)
    tables = {
        each.table: replace(rows, frame=_respelled(rows.frame, release, each.entries))
        for each in release.events
        if (rows := found.tables.get(each.table)) is not None
    }
    return replace(found, frame=own, tables=tables)


def _respelled(
    frame: pl.DataFrame, release: Published | Parts, entries: Mapping[str, ManifestEntry]
) -> pl.DataFrame:
    respelled = [
        name
        for name in protected(entries, _promises(release))
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
    for each in release.events:
        if name in each.entries:
            return each.column(name).values
    if not isinstance(release, Parts):
        return [text for text in release.cells(name) if text is not None]
    tables = [release.columns, *(apart.columns for apart in release.apart)]
    return [text for columns in tables if name in columns for text in columns[name].values]
