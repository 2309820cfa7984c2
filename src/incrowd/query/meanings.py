"""The labels of a published attribute, with what is known of how they were written.

`*` stands for the whole domain: what the release shows of it, or the values that are given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from incrowd._runtime.manifests import ManifestEntry
from incrowd.labels import LabelWriting, Meaning, as_texts


@dataclass(frozen=True)
class LabelColumn:
    """The different labels of a published attribute, its entry, and the values under labels."""

    name: str
    labels: Sequence[str]
    shows_missing: bool
    entry: ManifestEntry
    meaning: Meaning | None = None

    @cached_property
    def writing(self) -> LabelWriting:
        """How its labels were written."""
        return LabelWriting.of(self.entry, self.meaning)

    @property
    def domain(self) -> int | None:
        """How many values the attribute has, missing included; None if nothing shows it."""
        stated = self.entry.get("domain")
        return None if stated is None else int(stated)


def has_missing(column: LabelColumn) -> bool:
    """Whether the release shows or states, or it is given, that cells are missing."""
    given = (column.meaning or {}).values()
    shown = column.shows_missing or column.entry.get("missing") is True
    return shown or any("" in as_texts(values) for values in given)
