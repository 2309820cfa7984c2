"""Which columns vary between the rows of a patient, and what a starting policy says of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from incrowd.table import Role
from incrowd.table.dictionary import as_text

_FEW = 0.02
"""Columns that vary for no larger share of the patients are taken for the patient's own."""
_KEY = "\x1fpatient"


@dataclass(frozen=True)
class Varying:
    """For how many of the patients with several rows a column differs between these."""

    patients: int
    differing: int

    @property
    def level(self) -> str:
        """`event` where it differs for more than a few, as a diagnosis or a day of a visit does."""
        return "event" if self.differing > _FEW * self.patients else "patient"

    @property
    def take(self) -> str | None:
        """Which value should stand for a patient where rows differ by mistake."""
        return "most-frequent" if self.differing and self.level == "patient" else None

    @property
    def told(self) -> str:
        """What was seen, in a sentence."""
        return (
            f"It differs between the rows of {self.differing:,} of {self.patients:,} patients with "
            "several rows."
        )


def varying(frame: pl.DataFrame, unit: str, columns: Sequence[str]) -> dict[str, Varying]:
    """How often columns differ between the rows of a patient, by all patients with several rows.

    Empty where no patient has several.
    """
    key = as_text(frame.get_column(unit).alias("cells")).str.strip_chars().str.to_lowercase()
    rows = frame.select(columns).with_columns(key.alias(_KEY)).filter(pl.col(_KEY) != "")
    counted = [pl.col(f"^{_escaped(name)}$").n_unique().alias(name) for name in columns]
    several = rows.group_by(_KEY).agg(pl.len().alias("\x1frows"), *counted)
    several = several.filter(pl.col("\x1frows") > 1)
    if not several.height:
        return {}
    return {
        name: Varying(several.height, int((several.get_column(name) > 1).sum())) for name in columns
    }


def role_of_events(role: Role) -> Role:
    """The role of a column of events: what others may know of events is not published yet."""
    if role == "quasi":
        return "identifier"
    return "sensitive" if role == "target" else role


def _escaped(name: str) -> str:
    """A name as a pattern for itself alone: polars takes some names for patterns."""
    return "".join(f"\\x{{{ord(c):x}}}" for c in name)
