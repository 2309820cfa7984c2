"""What the manifest of a release says of its attributes and promises, for whoever reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from incrowd._runtime.manifests import Manifest, ManifestEntry

NOT_OF_PATIENTS = (
    "varies between the rows of a patient, and attackers are asked about who know what is the same "
    "in all rows of one. Name other columns; how many patients have such a row, `incrowd query` "
    "tells."
)
"""What is told of an attribute of events where quasi-identifiers are asked for."""


class Described:
    """What has the manifest's entries of published attributes: the names of each role follow."""

    if TYPE_CHECKING:

        @property
        def entries(self) -> Mapping[str, ManifestEntry]:
            """The manifest's entry of every published attribute."""

    def of_role(self, *roles: str) -> list[str]:
        """The published attributes of these roles."""
        return [name for name, entry in self.entries.items() if entry.get("role") in roles]


def published_entries(manifest: Manifest) -> dict[str, ManifestEntry]:
    """The manifest's entry of every published attribute."""
    listed = manifest.get("attributes", ())
    return {str(each["name"]): each for each in listed if each.get("published")}


def largest_promised_k(promises: Iterable[Mapping[str, Any]]) -> int | None:
    """The largest k among the promises of a manifest, None when no promise has one."""
    found = [promise.get("parameters", {}).get("k") for promise in promises]
    return max((k for k in found if isinstance(k, int)), default=None)
