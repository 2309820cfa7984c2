"""What is known about a bundled data set before it is loaded."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class ColumnInfo:
    """One column of a data set and what it means, in one line."""

    name: str
    meaning: str


@dataclass(frozen=True)
class DatasetInfo:
    """A data set's title, size, licence, attribution and columns.

    `rows` is the number of rows that `load` returns unless told otherwise; when `generated`, any
    other number can be asked for. A data set of several tables has their columns in `tables`, and
    `rows` is the number of its patients.
    """

    name: str
    title: str
    rows: int
    generated: bool
    licence: str
    attribution: str
    columns: tuple[ColumnInfo, ...]
    tables: dict[str, tuple[ColumnInfo, ...]] = field(default_factory=dict)
