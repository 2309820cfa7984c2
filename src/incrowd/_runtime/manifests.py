"""What manifests hold, by name: JSON of which nothing is sure before it was looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Manifest = Mapping[str, Any]
"""The whole of a release's manifest."""
ManifestEntry = Mapping[str, Any]
"""What a manifest says of one attribute."""
