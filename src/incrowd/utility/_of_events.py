"""What is left of the rows of patients: how many there are, and how many patients hold each value.

Stated beside what is left of patients, and never as a mean of both: a patient with forty rows is
one patient. What varies within a patient is published as it was; it is lost with its row alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.plain_fields import PlainFields
from incrowd.errors import SourceError
from incrowd.published.events import EventRows
from incrowd.published.originals import OriginalRecords, OriginalRows
from incrowd.table import Kind
from incrowd.table.coding import code_column
from incrowd.table.people import HeldByPatients
from incrowd.utility.published import Published


@dataclass(frozen=True)
class Holders(PlainFields):
    """How many patients hold a published value; `before` where the original is known."""

    value: str | None
    before: int | None
    after: int


@dataclass(frozen=True)
class ValuesOfPatients(PlainFields):
    """What patients hold of an attribute that varies between their rows.

    Before is the original, where it is known; None also of dates that the release changed, or that
    the original writes in a way that the release does not tell.
    """

    name: str
    values_before: int | None
    values: int
    """How many different values there are."""
    held_before: int | None
    held: int
    """Pairs of a patient and a value that the patient has, each once."""
    patients: tuple[Holders, ...]
    """How many patients have each published value, the most frequent first."""


@dataclass(frozen=True)
class LeftOfEvents(PlainFields):
    """The rows of a table of events that are left, and what patients hold of its attributes."""

    table: str
    rows_before: int | None
    rows: int
    attributes: tuple[ValuesOfPatients, ...]


def left_of_events(
    published: Published, original: OriginalRecords | None
) -> tuple[LeftOfEvents, ...]:
    """What is left of the rows of patients, table by table."""
    given = {} if original is None else original.tables
    return tuple(
        LeftOfEvents(
            rows.table,
            None if (before := given.get(rows.table)) is None else len(before.patient),
            rows.rows,
            tuple(_values(rows, name, before) for name in rows.entries),
        )
        for rows in published.events
    )


def _values(rows: EventRows, name: str, original: OriginalRows | None) -> ValuesOfPatients:
    after = _counted(rows.held(name))
    before = None
    if original is not None and "time" not in rows.entries[name]:
        before = _before(rows, name, original.frame[name], original.patient)
    order = sorted(after, key=lambda value: (-after[value], value is None, value or ""))
    return ValuesOfPatients(
        name,
        None if before is None else len(before),
        len(after),
        None if before is None else sum(before.values()),
        sum(after.values()),
        tuple(
            Holders(value, None if before is None else before.get(value, 0), after[value])
            for value in order
        ),
    )


def _before(
    rows: EventRows, name: str, cells: pl.Series, patient: IntArray
) -> dict[str | None, int] | None:
    """The same of the original, its values written as a release writes them."""
    entry = rows.entries[name]
    kind: Kind = entry.get("type", "category")
    try:
        column = code_column(
            cells,
            role="keep",
            kind="category" if kind == "ordered" else kind,
            date_format=entry.get("format"),
            protected=entry.get("role") == "sensitive",
        )
    except SourceError:
        return None
    return _counted(HeldByPatients.of(column, patient))


def _counted(held: HeldByPatients) -> dict[str | None, int]:
    """How many patients hold each value that somebody has; None for missing cells."""
    counts = np.bincount(held.code, minlength=held.column.cardinality)
    texts: list[str | None] = [*held.column.values, None]
    return {texts[code]: int(counts[code]) for code in np.flatnonzero(counts).tolist()}
