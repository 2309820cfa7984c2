"""What manifests hold, by name: JSON of which nothing is sure before it was looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Manifest = Mapping[str, Any]
"""The whole of a release's manifest."""
ManifestEntry = Mapping[str, Any]
"""What a manifest says of one attribute."""


def counts_in(manifest: Manifest) -> Any:
    """How many records there were and are, as a manifest states it; of patients with several rows,
    how many patients. Not looked at yet; None where it states nothing.
    """
    return manifest.get("patients", manifest.get("records"))


def linked_tables(manifest: Manifest) -> Mapping[str, Any]:
    """What a manifest says of the tables of events that hang on one of patients, by name.

    Empty where patients and events stand in one table, and of what is no such mapping.
    """
    found = manifest.get("tables")
    return found if isinstance(found, Mapping) else {}


def counts_rows(manifest: Manifest) -> bool:
    """Whether a release has the rows of patients who may have several."""
    return "patients" in manifest


def known_events(manifest: Manifest) -> tuple[str, ...]:
    """The published attributes of events that attackers may know, as far as was promised."""
    return tuple(
        str(each["name"])
        for each in manifest["attributes"]
        if each["published"] and each["role"] == "quasi" and each.get("level") == "event"
    )
