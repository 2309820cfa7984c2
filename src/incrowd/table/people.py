"""Rows of a frame, and whose they are: one row for each patient, and which values patients hold.

For whoever looks at a source beside a release, or without one. What makes a release gathers its
rows in `profiles.py`.

Invariant: rows are of one patient where `repeats.py` takes their identifiers for equal, as in a run
with `unit:`. Each pair of a patient and a value is counted once, however often it stands in rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.arrays import IntArray, Ints
from incrowd.errors import InputError, SourceError
from incrowd.table._table import Column
from incrowd.table._taken_values import most_frequent
from incrowd.table.coding import code_column
from incrowd.table.packing import distinct_rows
from incrowd.table.repeats import Counting

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class HeldByPatients:
    """Which values of an attribute patients hold: each patient with each value of theirs, once."""

    column: Column
    """The attribute; its codes are those of rows."""
    patient: IntArray
    code: IntArray

    @classmethod
    def of(cls, column: Column, patient: IntArray) -> HeldByPatients:
        """What patients hold, given the patient of each row; a missing cell is a value too."""
        many = int(patient.max()) + 1 if len(patient) else 0
        _, first = distinct_rows(
            [patient, column.codes], [many, column.cardinality], len(column.codes)
        )
        return cls(column, patient[first], column.codes[first].astype(np.int64))

    def in_groups(self, group: Ints, groups: int) -> tuple[IntArray, IntArray, IntArray]:
        """How many patients of each group hold each value, given the group of each patient.

        Groups, codes and counts of the pairs that occur, ascending.
        """
        of_pair = group[self.patient]
        number, first = distinct_rows(
            [of_pair, self.code], [groups, self.column.cardinality], len(of_pair)
        )
        counts = np.bincount(number).astype(np.int64)
        return of_pair[first].astype(np.int64), self.code[first], counts


@dataclass(frozen=True)
class ByPatient:
    """The rows of a frame gathered by patient, these in the order of their first row."""

    frame: pl.DataFrame
    """A row for each patient."""
    patient: IntArray
    """For each row of the source the place of its patient."""
    differing: Mapping[str, int]
    """Columns that differ between rows of one patient, and of how many patients."""

    @property
    def rows(self) -> int:
        """How many rows there were."""
        return len(self.patient)

    @property
    def any(self) -> bool:
        """Whether a patient has several."""
        return len(self.patient) > self.frame.height


def patients_of(cells: pl.Series, name: str) -> IntArray:
    """For each row the place of its patient, told apart by these cells.

    Raises
    ------
    InputError
        A row has no cell, so that nobody knows whose it is. `name` is what the source is called.
    """
    counting = Counting([cells.name])
    counting.add(cells.to_frame())
    (found,) = counting.repeats()
    missing = found.told_missing("unit", name)
    if missing:
        raise InputError(missing)
    return counting.numbers(cells.name)


def by_patient(frame: pl.DataFrame, patient: IntArray, columns: Sequence[str]) -> ByPatient:
    """A row for each patient, with the named columns.

    Of a column that differs between rows of one patient the most frequent value is taken, the
    lowest of equally frequent ones, and a missing cell only where there is no other: as
    `take: most-frequent` does.
    """
    import polars as pl

    made: list[pl.Series] = []
    differing: dict[str, int] = {}
    for name in columns:
        rows, differ = standing_rows(_coded(frame[name]), patient)
        if differ:
            differing[name] = differ
        made.append(frame[name].gather(rows))
    return ByPatient(pl.DataFrame(made), patient, differing)


def standing_rows(column: Column, patient: IntArray) -> tuple[IntArray, int]:
    """For each patient a row with the value that stands for them all, and for how many they differ.

    That is the first row, or where a column differs between rows of a patient, one with the value
    that most of them have.
    """
    order = np.argsort(patient, kind="stable")
    starts = np.flatnonzero(np.diff(patient[order], prepend=-1))
    codes = column.codes[order]
    differs = np.minimum.reduceat(codes, starts) != np.maximum.reduceat(codes, starts)
    if not differs.any():
        return order[starts], 0
    return most_frequent(column, patient), int(differs.sum())


def _coded(cells: pl.Series) -> Column:
    """The column as its type is seen; text where its numbers cannot be ordered."""
    try:
        return code_column(cells, role="quasi")
    except SourceError:
        return code_column(cells, role="quasi", kind="category")
