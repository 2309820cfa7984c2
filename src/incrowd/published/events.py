"""The rows of patients in a release: what varies within a patient, and whose each row is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.manifests import ManifestEntry
from incrowd.table.people import HeldByPatients

if TYPE_CHECKING:
    import polars as pl

    from incrowd.table import Column


@dataclass(frozen=True)
class EventRows:
    """The rows of events in one table of a release.

    Parameters
    ----------
    table
        The name of the table.
    frame
        The attributes of events, as text.
    patient
        For each row the place of its patient among those of the release.
    entries
        What the manifest says of each attribute.
    """

    table: str
    frame: pl.DataFrame
    patient: IntArray
    entries: Mapping[str, ManifestEntry]
    _coded: dict[str, Column] = field(default_factory=dict, repr=False, compare=False)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.patient)

    def column(self, name: str) -> Column:
        """An attribute with every different cell as a value; spellings of a sensitive one are one.

        Coded once.
        """
        from incrowd.table.coding import code_column

        if name not in self._coded:
            protected = self.entries[name].get("role") == "sensitive"
            self._coded[name] = code_column(
                self.frame[name], role="keep", kind="category", protected=protected
            )
        return self._coded[name]

    def held(self, name: str) -> HeldByPatients:
        """Which values of an attribute patients hold."""
        return HeldByPatients.of(self.column(name), self.patient)
