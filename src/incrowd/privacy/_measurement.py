"""What a model found in a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Measurement:
    """What a model found: whether it holds, its numbers, and how many groups fail.

    `causes` names, for a number that some combination of cells is to blame for, that combination:
    the label (None where missing) of each of its attributes.
    """

    holds: bool
    numbers: Mapping[str, float]
    failing: int
    causes: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        """The measurement for JSON."""
        told: dict[str, object] = {
            "holds": self.holds,
            **self.numbers,
            "groups_failing": self.failing,
        }
        if self.causes:
            told["causes"] = {name: dict(cause) for name, cause in self.causes.items()}
        return told
