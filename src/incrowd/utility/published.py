"""A release as the metrics see it: its distinct cells, its groups, and what its manifest says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.manifests import Manifest, ManifestEntry
from incrowd.errors import InputError, nearest
from incrowd.policy.units import one_counted
from incrowd.published.entries import Described, largest_promised_k, published_entries
from incrowd.published.events import EventRows
from incrowd.published.opened import ReleaseLike, as_release, event_rows
from incrowd.published.parts import Parts, open_parts
from incrowd.table import Column

_COUNTS = ("source", "published", "suppressed", "missing_dropped")


@dataclass(frozen=True)
class Published(Described):
    """The table of records, its counts of records and the manifest's entries of its attributes.

    `parts` are there when sensitive attributes stand apart from the records. Of patients with
    several rows it is the table of patients, and `events` has their rows.
    """

    frame: pl.DataFrame
    records: Mapping[str, int]
    entries: Mapping[str, ManifestEntry]
    promises: tuple[Mapping[str, Any], ...]
    parts: Parts | None = None
    manifest: Manifest = field(default_factory=dict, repr=False)
    events: tuple[EventRows, ...] = ()
    _coded: dict[str, Column] = field(default_factory=dict, repr=False, compare=False)

    @property
    def quasi(self) -> list[str]:
        """The published quasi-identifiers."""
        return self.of_role("quasi")

    @property
    def one(self) -> str:
        """What one of those that are counted is called."""
        return one_counted(self.manifest)

    def column(self, name: str) -> Column:
        """A published column with every different cell as a value; coded once."""
        if name not in self._coded:
            self._coded[name] = coded_cells(self.frame[name])
        return self._coded[name]

    def cells(self, name: str) -> dict[str | None, int]:
        """The different cells of a column with how often each occurs, None where missing."""
        for apart in self.parts.apart if self.parts is not None else ():
            if name in apart.columns:
                return cell_counts(apart.columns[name], apart.counts)
        return cell_counts(self.column(name))

    def group_sizes(self) -> IntArray:
        """How many records share each combination of published quasi-identifiers.

        Where sensitive attributes stand apart, how many share each group.
        """
        if self.parts is not None:
            return self.parts.group_sizes
        from incrowd.table.packing import distinct_rows_of

        columns = [self.column(name) for name in self.quasi]
        number, _ = distinct_rows_of(columns, self.frame.height)
        return np.bincount(number).astype(np.int64)

    @property
    def promised_k(self) -> int | None:
        """The largest k promised, None without one."""
        return largest_promised_k(self.promises)


def open_published(release: ReleaseLike | str | Path | Published) -> Published:
    """The release, or the one in a folder, once its manifest and its table are sure to fit."""
    if isinstance(release, Published):
        return release
    opened = as_release(release)
    manifest, frame = opened.manifest, opened.data
    parts = None
    if manifest.get("publish", "generalized") != "generalized":
        parts = open_parts(opened)
    records = manifest.get("records")
    if not isinstance(records, Mapping) or not isinstance(manifest.get("attributes"), list):
        raise InputError("The manifest of the release lacks 'records' or 'attributes'.")
    lacking = [key for key in _COUNTS if not isinstance(records.get(key), int)]
    if lacking:
        raise InputError(f"The manifest of the release states no count of {', '.join(lacking)}.")
    entries, promises = published_entries(manifest), tuple(manifest.get("promises", ()))
    published = Published(frame, records, entries, promises, parts, manifest, event_rows(opened))
    _refuse_unfit(published)
    return published


def coded_cells(series: pl.Series) -> Column:
    """A column with every different cell as a value, empty text as missing."""
    from incrowd.table.coding import code_column

    return code_column(series, role="keep", kind="category")


def cell_counts(column: Column, weights: IntArray | None = None) -> dict[str | None, int]:
    """The different texts of a column with how often each occurs, None where missing."""
    counts = np.bincount(column.codes, weights, minlength=len(column.values) + 1)
    texts: list[str | None] = [*column.values, None]
    return {text: int(count) for text, count in zip(texts, counts, strict=True) if count}


def _refuse_unfit(published: Published) -> None:
    if not published.quasi:
        raise InputError("The release has no quasi-identifier, so there is nothing to measure.")
    columns = published.frame.columns
    tables = () if published.parts is None else published.parts.apart
    apart = {name for table in tables for name in table.columns}
    for name in published.entries:
        if name not in columns and name not in apart:
            raise InputError(
                f"The release lacks the column '{name}' that its manifest "
                f"describes.{nearest(name, columns)}"
            )
    rows, stated = published.frame.height, published.records["published"]
    if rows != stated:
        raise InputError(
            f"The release has {rows:,} {published.one}s, but its manifest states {stated:,}. It "
            "was changed; check it with incrowd verify."
        )
    if not rows:
        raise InputError("The release has no published records.")
