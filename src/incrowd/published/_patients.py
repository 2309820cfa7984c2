"""A release of patients with several rows, as one of its patients: one record for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from incrowd._runtime.manifests import ManifestEntry, counts_in
from incrowd.errors import InputError
from incrowd.published.events import EventRows
from incrowd.table.profiles import PATIENT

if TYPE_CHECKING:
    import polars as pl

    from incrowd._runtime.arrays import IntArray
    from incrowd.published.opened import ReleaseLike

DATA = "data"
_CHANGED = "It was changed; check it with incrowd verify."


class OfPatients:
    """What a release says of its patients, so that whoever counts records counts these.

    Attributes of events are not among its attributes: they are named by `events` in its manifest,
    and stand in the rows that `event_rows` gives.
    """

    def __init__(self, release: ReleaseLike) -> None:
        self._release = release
        whole = release.manifest
        listed = [each for each in whole.get("attributes", ()) if isinstance(each, Mapping)]
        events = [each.get("name") for each in listed if each.get("level") == "event"]
        self.event_entries: dict[str, ManifestEntry] = {
            str(each["name"]): each
            for each in listed
            if each.get("level") == "event" and each.get("published")
        }
        self.manifest: dict[str, Any] = {
            **whole,
            "records": counts_in(whole),
            "attributes": [each for each in listed if each.get("level") != "event"],
            "promises": [
                each for each in whole.get("promises", ()) if not _names(each) & {*events}
            ],
            "events": events,
        }

    @cached_property
    def data(self) -> pl.DataFrame:
        """What is said of each patient, a row for each."""
        return self._people.drop(PATIENT)

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """The one table."""
        return {DATA: self.data}

    @cached_property
    def event_rows(self) -> tuple[EventRows, ...]:
        """The rows of patients, table by table, of those with attributes of events."""
        by_table: dict[str, dict[str, str]] = {}
        for name, entry in self.event_entries.items():
            table = str(entry.get("table", DATA))
            by_table.setdefault(table, {})[name] = name.removeprefix(f"{table}.")
        found = []
        for table, columns in by_table.items():
            if table not in self._release.tables:
                raise InputError(f"The release lacks the table '{table}'. {_CHANGED}")
            frame = self._release.tables[table]
            for column in (PATIENT, *columns.values()):
                if column not in frame.columns:
                    raise _lacks(column)
            places = self._places_of(frame[PATIENT])
            entries = {name: self.event_entries[name] for name in columns}
            named = frame.select(columns.values()).rename(
                {column: name for name, column in columns.items()}
            )
            found.append(EventRows(table, named, places, entries))
        return tuple(found)

    @cached_property
    def _people(self) -> pl.DataFrame:
        """The pseudonyms, and what is said of the patient of each."""
        rows = self._release.data
        names = [str(each["name"]) for each in self.manifest["attributes"] if each.get("published")]
        for name in (PATIENT, *names):
            if name not in rows.columns:
                raise _lacks(name)
        return rows.select(PATIENT, *names).unique(maintain_order=True)

    def _places_of(self, pseudonyms: pl.Series) -> IntArray:
        """The places of the patients with these pseudonyms."""
        import polars as pl

        people = self._people.select(
            pl.col(PATIENT).alias("who"), pl.int_range(pl.len(), dtype=pl.Int64).alias("place")
        ).unique("who", keep="first", maintain_order=True)
        found = pl.DataFrame({"who": pseudonyms}).join(
            people, on="who", how="left", maintain_order="left", nulls_equal=True
        )["place"]
        if found.null_count():
            raise InputError(
                f"A table of the release names a patient that it does not have. {_CHANGED}"
            )
        return found.to_numpy()


def _lacks(name: str) -> InputError:
    return InputError(f"The release lacks the column '{name}'. {_CHANGED}")


def _names(promise: Mapping[str, Any]) -> set[str]:
    """The attributes that a promise is about."""
    named = promise.get("parameters", {}).get("sensitive")
    return {named} if isinstance(named, str) else {*(named or ())}
