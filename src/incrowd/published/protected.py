"""Which published attributes have one spelling of each value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from incrowd._runtime.manifests import ManifestEntry


def protected(entries: Mapping[str, ManifestEntry], promises: Iterable[Any] | None) -> list[str]:
    """The attributes whose spellings were taken for one: sensitive ones, and those of a promise."""
    asked = [name for promise in promises or () for name in _named(promise)]
    return [
        name
        for name, entry in entries.items()
        if entry.get("type") != "date"
        and (entry.get("role") == "sensitive" or (name in asked and entry.get("role") == "target"))
    ]


def _named(promise: Any) -> list[Any]:
    """The attributes that a promise of a manifest, which anybody may have written, is about."""
    parameters = promise.get("parameters") if isinstance(promise, Mapping) else None
    named = parameters.get("sensitive") if isinstance(parameters, Mapping) else None
    return named if isinstance(named, list) else [named]
