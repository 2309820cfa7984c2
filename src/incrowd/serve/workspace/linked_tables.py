"""Tables that hang together, as they were found among the files of one source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from incrowd.profiling import ColumnProfile, Profile, UnitGuess
from incrowd.table.profiles import PATIENTS, of_table


@dataclass(frozen=True)
class LinkedTable:
    """One of several tables: its file, its rows, and by which column they name patients.

    Parameters
    ----------
    name
        What a policy calls it; `patients` for the table of patients.
    file
        Its file.
    rows
        How many rows it has.
    unit
        The column that names the patient of a row; of the table of patients, the key.
    unmatched
        Rows whose patient is not in the table of patients.
    columns
        The names of its columns.
    """

    name: str
    file: str
    rows: int
    unit: str
    unmatched: int
    columns: tuple[str, ...]

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self:
        """The table that a worker told of."""
        given = {each.name: told[each.name] for each in fields(cls)}
        return cls(**{**given, "columns": tuple(told["columns"])})

    @property
    def is_of_patients(self) -> bool:
        """Whether it is the table of patients."""
        return self.name == PATIENTS

    @property
    def found(self) -> float:
        """The share of its rows whose patient is found."""
        return 1 - self.unmatched / self.rows if self.rows else 1.0

    @property
    def attributes(self) -> list[str]:
        """Its columns as a policy calls them elsewhere."""
        own = self.is_of_patients
        return [each if own else of_table(self.name, each) for each in self.columns]


def label_of(tables: Sequence[LinkedTable]) -> str:
    """What tables are called together: the file of patients, and how many there are beside it."""
    first, *others = tables
    return f"{first.file} and {len(others)} more table{'s' * (len(others) != 1)}"


def profile_of(described: Mapping[str, Any]) -> Profile:
    """A profile from the plain values that a worker told."""
    columns = tuple(
        ColumnProfile(**{**each, "warnings": tuple(each["warnings"])})
        for each in described["columns"]
    )
    return Profile(
        **{
            **described,
            "columns": columns,
            "unit": UnitGuess(**described["unit"]),
            "warnings": tuple(described["warnings"]),
        }
    )
