"""Releases to read: anything with tables and a manifest, or the one in a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeGuard, runtime_checkable

from incrowd._runtime.manifests import counts_rows
from incrowd.errors import InputError, SourceError
from incrowd.published._patients import OfPatients
from incrowd.published.escaping import is_escaped
from incrowd.published.events import EventRows
from incrowd.sources.folders import files_of
from incrowd.table.profiles import PATIENTS

if TYPE_CHECKING:
    import polars as pl


@runtime_checkable
class ReleaseLike(Protocol):
    """Anything with published tables and a manifest."""

    @property
    def manifest(self) -> dict[str, Any]:
        """What the release promises and what was measured."""

    @property
    def data(self) -> pl.DataFrame:
        """The published table of records, as text."""

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Every published table by the name of its file, without the ending; records first."""


class OpenedRelease:
    """A release in a folder, opened for reading; it is not verified by opening it."""

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        self.folder = folder
        self.manifest = manifest

    @cached_property
    def data(self) -> pl.DataFrame:
        """The published table of records, all cells as text, null where missing.

        Of linked tables it is that of the patients.
        """
        if "tables" not in self.manifest:
            return next(iter(self.tables.values()))
        if PATIENTS not in self.tables:
            raise InputError(
                f"The release lacks the table '{PATIENTS}'. It was changed; check it with incrowd "
                "verify."
            )
        return self.tables[PATIENTS]

    @cached_property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Every published table by the name of its file, without the ending."""
        from incrowd.published._saved import read_tables

        return read_tables(self.folder, self.manifest["files"], escaped=is_escaped(self.manifest))

    @classmethod
    def of(cls, folder: Path) -> Self:
        """The release in a folder."""
        try:
            manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            kind = "has no manifest.json" if folder.is_dir() else "does not exist"
            raise InputError(f"'{folder}' is not a release: it {kind}.") from None
        except (OSError, ValueError):
            raise InputError(f"The manifest of '{folder}' cannot be read.") from None
        if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
            raise InputError(f"The manifest of '{folder}' is not that of a release.")
        return cls(folder, manifest)


def is_release(given: object) -> TypeGuard[ReleaseLike | str | Path]:
    """Whether something is to be read as a release, or as the folder of one, and not as a table.

    A folder is one if it has a manifest, and if it holds no tables of one kind either: then what it
    lacks is told as of a release.
    """
    if not isinstance(given, str | Path):
        return isinstance(getattr(given, "manifest", None), Mapping)
    folder = Path(given)
    if not folder.is_dir():
        return False
    if (folder / "manifest.json").exists():
        return True
    try:
        return not files_of(folder)
    except SourceError:
        return True


def as_release(release: ReleaseLike | str | Path) -> ReleaseLike:
    """The release in a folder, or anything with tables and a manifest, as one of its records.

    Of patients with several rows these are the patients.
    """
    opened = OpenedRelease.of(Path(release)) if isinstance(release, (str, Path)) else release
    if isinstance(opened, OfPatients) or not counts_rows(opened.manifest):
        return opened
    return OfPatients(opened)


def event_rows(release: ReleaseLike) -> tuple[EventRows, ...]:
    """The rows of the patients of a release, table by table; none where each has one row."""
    return release.event_rows if isinstance(release, OfPatients) else ()
