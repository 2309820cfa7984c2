"""A release taken apart for reading: the records with their groups, and the values of each group.

However a release is published, its records fall into groups, and each group has sensitive values.
In a generalized release the values stand beside the records; in the others they stand in tables
apart, tied to the records by the group alone. What counts, queries or attacks reads it from here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.manifests import Manifest, ManifestEntry
from incrowd.errors import InputError
from incrowd.published.entries import Described, published_entries
from incrowd.published.events import EventRows
from incrowd.published.layouts import CLASS, COUNT, GROUP, file_name
from incrowd.published.opened import ReleaseLike, as_release, event_rows

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from incrowd.table import Column
    from incrowd.table.packing import RowNumbers

_CHANGED = "It was changed; check it with incrowd verify."


@dataclass(frozen=True)
class Apart:
    """Sensitive values apart from the records: what `counts` records of each row's group hold.

    `columns` has the values of one attribute (anatomy) or of all together (lossy join), as codes
    of the rows; a row belongs to the group with that number in `group`.
    """

    columns: Mapping[str, Column]
    group: IntArray
    counts: IntArray


@dataclass(frozen=True)
class Parts(Described):
    """A release as coded tables; see the module.

    `columns` are those of the table of records, with every different cell as a value; the
    sensitive ones are among them only when the release is generalized, and `apart` is empty then.
    Of patients with several rows these are the patients, and `events` has their rows.
    """

    kind: str
    manifest: Manifest
    columns: Mapping[str, Column]
    group: IntArray
    group_sizes: IntArray
    apart: tuple[Apart, ...]
    events: tuple[EventRows, ...] = ()

    @property
    def records(self) -> int:
        """The number of published records."""
        return len(self.group)

    def distinct_rows(self, columns: Sequence[Column]) -> tuple[RowNumbers, IntArray]:
        """For each record the number of its group and its codes together, and a record of each."""
        from incrowd.table.packing import distinct_rows

        codes = [self.group, *(column.codes for column in columns)]
        cardinalities = [len(self.group_sizes), *(column.cardinality for column in columns)]
        return distinct_rows(codes, cardinalities, self.records)

    @property
    def entries(self) -> dict[str, ManifestEntry]:
        """The manifest's entry of every published attribute."""
        return published_entries(self.manifest)


def open_parts(release: ReleaseLike | str | Path) -> Parts:
    """The parts of a release, or of the one in a folder; InputError where its tables do not fit."""
    from incrowd.table.packing import distinct_rows_of

    opened = as_release(release)
    kind = str(opened.manifest.get("publish", "generalized"))
    listed = opened.manifest.get("attributes")
    if not isinstance(listed, list) or not all(isinstance(each, Mapping) for each in listed):
        raise InputError(f"The manifest of the release lists no attributes. {_CHANGED}")
    entries = [each for each in listed if each.get("published")]
    sensitive = [str(each["name"]) for each in entries if each.get("role") == "sensitive"]
    names = [str(each["name"]) for each in entries]
    if kind == "generalized":
        columns = _coded(opened.data, names, sensitive)
        quasi = [columns[str(each["name"])] for each in entries if each.get("role") == "quasi"]
        if not quasi:
            raise InputError("The release has no quasi-identifier, so its records have no groups.")
        group = distinct_rows_of(quasi, opened.data.height)[0].astype(np.int64)
        sizes = np.bincount(group).astype(np.int64)
        return Parts(kind, opened.manifest, columns, group, sizes, (), event_rows(opened))
    apart_from = [name for name in names if name not in sensitive]
    if kind == "anatomy":
        tables = _tables(opened, ["qit", *(f"st_{file_name(name)}" for name in sensitive)])
        columns, group, groups = _grouped(tables["qit"], apart_from, GROUP)
        apart = tuple(
            _apart(tables[f"st_{file_name(name)}"], [name], GROUP, groups, COUNT)
            for name in sensitive
        )
    elif kind == "lossy-join":
        tables = _tables(opened, ["nss", "ss"])
        columns, group, groups = _grouped(tables["nss"], apart_from, CLASS)
        apart = (_apart(tables["ss"], sensitive, CLASS, groups, None),)
    else:
        raise InputError(f"The release is published as {kind}, which this version cannot read.")
    sizes = np.bincount(group, minlength=len(groups)).astype(np.int64)
    for each in apart:
        held = np.bincount(each.group, weights=each.counts, minlength=len(groups))
        if not np.array_equal(held, sizes):
            raise InputError(f"The tables of the release do not fit together. {_CHANGED}")
    return Parts(kind, opened.manifest, columns, group, sizes, apart)


def _tables(release: ReleaseLike, wanted: list[str]) -> Mapping[str, pl.DataFrame]:
    tables: Mapping[str, pl.DataFrame] = release.tables
    lacking = [name for name in wanted if name not in tables]
    if lacking:
        raise InputError(f"The release lacks the table '{lacking[0]}'. {_CHANGED}")
    return tables


def _coded(
    frame: pl.DataFrame, names: list[str], sensitive: Collection[str] = ()
) -> dict[str, Column]:
    """Columns with every different cell as a value; spellings of a sensitive value are one."""
    from incrowd.sources.columns import chosen
    from incrowd.table.coding import code_column

    if not frame.height:
        raise InputError("The release has no published records.")
    chosen(frame.columns, names, "the release")
    return {
        name: code_column(frame[name], role="keep", kind="category", protected=name in sensitive)
        for name in names
    }


def _grouped(
    frame: pl.DataFrame, names: list[str], key: str
) -> tuple[dict[str, Column], IntArray, pl.Series]:
    """The columns of the table of records, the group of each, and the keys of the groups."""
    columns = _coded(frame, names)
    if key not in frame.columns:
        raise InputError(f"The release lacks the column '{key}'. {_CHANGED}")
    groups = frame[key].unique(maintain_order=True)
    return columns, _numbers(frame[key], groups), groups


def _apart(
    frame: pl.DataFrame, names: list[str], key: str, groups: pl.Series, count: str | None
) -> Apart:
    import polars as pl

    columns = _coded(frame, names, names)
    if key not in frame.columns or (count is not None and count not in frame.columns):
        raise InputError(f"A table of the release lacks a column. {_CHANGED}")
    held = (
        np.ones(frame.height, dtype=np.int64)
        if count is None
        else frame[count].cast(pl.Int64, strict=False).fill_null(0).to_numpy()
    )
    return Apart(columns, _numbers(frame[key], groups), held)


def _numbers(cells: pl.Series, groups: pl.Series) -> IntArray:
    """The number of the group of each cell."""
    import polars as pl

    order = pl.DataFrame({"key": groups, "number": np.arange(len(groups))})
    found = pl.DataFrame({"key": cells}).join(
        order, on="key", how="left", maintain_order="left", nulls_equal=True
    )["number"]
    if found.null_count():
        raise InputError(f"A table of the release names a group without records. {_CHANGED}")
    return found.to_numpy().astype(np.int64)
