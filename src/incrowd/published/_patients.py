"""A release of patients with several rows, as one of its patients: one record for each of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from incrowd._runtime.manifests import counts_in
from incrowd.errors import InputError
from incrowd.table.profiles import PATIENT

if TYPE_CHECKING:
    import polars as pl

    from incrowd.published.opened import ReleaseLike

DATA = "data"


class OfPatients:
    """What a release says of its patients, so that whoever counts records counts these.

    Attributes of events are not among its attributes: they are named by `events` in its manifest.
    """

    def __init__(self, release: ReleaseLike) -> None:
        self._release = release
        whole = release.manifest
        listed = [each for each in whole.get("attributes", ()) if isinstance(each, Mapping)]
        events = [each.get("name") for each in listed if each.get("level") == "event"]
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
        rows = self._release.data
        names = [str(each["name"]) for each in self.manifest["attributes"] if each.get("published")]
        lacking = [name for name in (PATIENT, *names) if name not in rows.columns]
        if lacking:
            raise InputError(
                f"The release lacks the column '{lacking[0]}'. It was changed; check it with "
                "incrowd verify."
            )
        return rows.select(PATIENT, *names).unique(maintain_order=True).drop(PATIENT)

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """The one table."""
        return {DATA: self.data}


def _names(promise: Mapping[str, Any]) -> set[str]:
    """The attributes that a promise is about."""
    named = promise.get("parameters", {}).get("sensitive")
    return {named} if isinstance(named, str) else {*(named or ())}
