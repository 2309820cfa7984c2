"""Table: the records as integer codes with dictionaries, one column per attribute, with roles.

Codes follow the order of the values: numbers and dates ascending, ordered categories as the
policy lists them, other text in code point order. A missing cell has the code after the last
value, so that "missing" is a value of its own which sorts last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.table.spellings import by_key, folded

Role = Literal["identifier", "quasi", "sensitive", "target", "keep"]
Kind = Literal["numeric", "category", "date", "ordered"]
Codes = npt.NDArray[np.unsignedinteger]


@dataclass(frozen=True)
class Tally:
    """Of rows that stand for several equal records: how many, and the first of them (from 0).

    The first is negative where records have no order.
    """

    weights: IntArray
    first: IntArray

    def take(self, rows: BoolArray) -> Tally:
        """The tally of the chosen rows."""
        return Tally(self.weights[rows], self.first[rows])


def records_of(tally: Tally | None, rows: BoolArray) -> tuple[int, int]:
    """How many records the chosen rows stand for, and the first of these (from 0)."""
    if tally is None:
        return int(np.count_nonzero(rows)), int(np.argmax(rows)) if len(rows) else 0
    chosen = tally.take(rows)
    return int(chosen.weights.sum()), int(chosen.first.min()) if len(chosen.first) else 0


def first_told(first: int, before: str) -> str:
    """Words that name the first of some records (from 0); none where records have no order."""
    return f"{before} the first is record {first + 1:,}" if first >= 0 else ""


@dataclass(frozen=True)
class Column:
    """One attribute of all records, dictionary-coded.

    `values` holds the text of each code as it would be published. `numbers` holds, for numbers
    and dates, the position of each value on its axis as a whole number of `unit` steps (days for
    dates); it ascends strictly. Printed, a column shows no cell.
    """

    name: str
    role: Role
    kind: Kind
    codes: Codes = field(repr=False)
    values: tuple[str, ...] = field(repr=False)
    numbers: IntArray | None = field(default=None, repr=False)
    decimals: int = 0
    missing: int = 0
    tally: Tally | None = field(default=None, repr=False)
    """Where a row stands for several equal records."""
    folded: bool = False
    """Whether texts that are spellings of one value have one code; see `spellings`."""
    remarks: tuple[str, ...] = ()
    """What a person should know of the column's cells; no remark shows one."""

    @property
    def cardinality(self) -> int:
        """How many codes there are, the one for missing included when it occurs."""
        return len(self.values) + (1 if self.missing else 0)

    @property
    def missing_code(self) -> int | None:
        """The code of missing cells, or None when there are none."""
        return len(self.values) if self.missing else None

    def named(self, texts: Iterable[str]) -> list[str | None]:
        """The value that each text names, as the column writes it; None where there is none."""
        if not self.folded:
            own = set(self.values)
            return [text if text in own else None for text in texts]
        known = by_key(self.values)
        return [known.get(folded(text)) for text in texts]

    def reordered(self, order: Sequence[str]) -> Column:
        """The same column with its dictionary in the given order of all its values."""
        rank = {value: position for position, value in enumerate(order)}
        lookup = np.empty(len(self.values) + 1, dtype=self.codes.dtype)
        lookup[:-1] = [rank[value] for value in self.values]
        lookup[-1] = len(self.values) if self.missing else 0
        numbers = None
        if self.numbers is not None:
            numbers = np.empty_like(self.numbers)
            numbers[lookup[:-1]] = self.numbers
        return replace(self, codes=lookup[self.codes], values=tuple(order), numbers=numbers)

    def take(self, rows: BoolArray) -> Column:
        """The column of the chosen rows, with a dictionary of the values that remain."""
        codes = self.codes[rows]
        tally = None if self.tally is None else self.tally.take(rows)
        used = np.zeros(len(self.values) + 1, dtype=np.bool_)
        used[np.unique(codes)] = True
        lookup = (np.cumsum(used) - 1).astype(np.int64)
        keep = used[:-1]
        numbers, decimals = self.numbers, self.decimals
        if numbers is not None:
            numbers = numbers[keep]
            while decimals and not (numbers % 10).any():
                numbers, decimals = numbers // 10, decimals - 1
        return replace(
            self,
            codes=narrow(lookup[codes], int(used.sum())),
            values=tuple(v for v, kept in zip(self.values, keep, strict=True) if kept),
            numbers=numbers,
            decimals=decimals,
            missing=records_of(tally, codes == len(self.values))[0] if self.missing else 0,
            tally=tally,
        )

    def counts(self) -> IntArray:
        """How many records have each code."""
        weights = None if self.tally is None else self.tally.weights
        return np.bincount(self.codes, weights, minlength=self.cardinality).astype(np.int64)


@dataclass(frozen=True)
class Table:
    """The published records of one source, coded, with the role of every attribute."""

    columns: tuple[Column, ...]
    records: int
    name: str = "the table"
    missing_dropped: int = 0
    tally: Tally | None = None
    """Where a row stands for several equal records; else each record is a row."""
    _by_name: dict[str, Column] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._by_name.update({column.name: column for column in self.columns})

    def __getitem__(self, name: str) -> Column:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def of_role(self, *roles: Role) -> tuple[Column, ...]:
        """The columns of these roles, in the order of the table."""
        return tuple(column for column in self.columns if column.role in roles)

    @property
    def rows(self) -> int:
        """How many rows there are, each one record or several equal ones."""
        return self.records if self.tally is None else len(self.tally.weights)

    @property
    def weights(self) -> IntArray | None:
        """How many records each row stands for; None where it is one."""
        return None if self.tally is None else self.tally.weights

    def in_order(self) -> Table:
        """The table with a row for each record, sorted by all columns, whatever order they had."""
        from incrowd.table.packing import distinct_rows_of

        number, _ = distinct_rows_of(self.columns, self.rows)
        row = np.argsort(number, kind="stable")
        if self.tally is not None:
            row = np.repeat(row, self.tally.weights[row])
        return replace(
            self,
            columns=tuple(replace(c, codes=c.codes[row], tally=None) for c in self.columns),
            tally=None,
            _by_name={},
        )

    @property
    def nbytes(self) -> int:
        """The size of the coded records in memory."""
        return sum(column.codes.nbytes for column in self.columns)

    def with_columns(self, columns: Sequence[Column]) -> Table:
        """The table with these columns in place of those of the same names."""
        changed = {column.name: column for column in columns}
        return replace(
            self,
            columns=tuple(changed.get(column.name, column) for column in self.columns),
            _by_name={},
        )

    def take(self, rows: BoolArray) -> Table:
        """The table of the chosen rows."""
        return replace(
            self,
            columns=tuple(column.take(rows) for column in self.columns),
            records=records_of(self.tally, rows)[0],
            tally=None if self.tally is None else self.tally.take(rows),
            _by_name={},
        )


def code_dtype(cardinality: int) -> type[np.unsignedinteger]:
    """The smallest unsigned type that holds codes below `cardinality`."""
    if cardinality <= 1 << 8:
        return np.uint8
    if cardinality <= 1 << 16:
        return np.uint16
    return np.uint32


def narrow(codes: npt.NDArray[np.integer], cardinality: int) -> Codes:
    """The codes in the smallest unsigned type that holds them."""
    return codes.astype(code_dtype(cardinality), copy=False)
