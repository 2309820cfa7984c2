"""What is known of the labels of a published attribute: how they were written, what they mean.

Ranges, sets, masks and parts of the calendar say themselves what they stand for. `*` stands for
the whole domain of the attribute: what the release shows of it, or the values that are given.
Other labels of a hierarchy mean what is given for them, and nothing without.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Meaning = Mapping[str, Collection[Any]]
"""For each label of a hierarchy the values under it."""


@dataclass(frozen=True)
class LabelColumn:
    """The different labels of a published attribute, and what is known of how it was written.

    `meaning` gives the values under labels; they are then all values of the attribute.
    """

    name: str
    labels: Sequence[str]
    shows_missing: bool
    entry: Mapping[str, Any]
    meaning: Meaning | None = None

    @property
    def exact(self) -> bool:
        """Whether cells are the values themselves, not labels."""
        return self.entry.get("role") != "quasi" or self.entry.get("labels") == "exact"

    @property
    def general(self) -> Mapping[str, int]:
        """How many values each label that is not a value stands for."""
        return self.entry.get("weights") or {}

    @property
    def domain(self) -> int | None:
        """How many values the attribute has, missing included; None if nothing shows it."""
        stated = self.entry.get("domain")
        return None if stated is None else int(stated)

    def given(self, label: str) -> Collection[Any] | None:
        """The values given for a label, None if there are none, or it is a value itself."""
        values = None if self.meaning is None else self.meaning.get(label)
        if values is None or (label not in self.general and label in map(str, values)):
            return None
        return values


def has_missing(column: LabelColumn) -> bool:
    """Whether the release shows or states, or it is given, that cells are missing."""
    given = (column.meaning or {}).values()
    shown = column.shows_missing or column.entry.get("missing") is True
    return shown or any("" in as_texts(values) for values in given)


def as_texts(values: Collection[Any]) -> list[str]:
    """The values as text, the empty text for missing."""
    return ["" if value is None else str(value) for value in values]
