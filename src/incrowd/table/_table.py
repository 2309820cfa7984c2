"""Table: the records as integer codes with dictionaries, one column per attribute, with roles.

Codes follow the order of the values: numbers and dates ascending, ordered categories as the
policy lists them, other text in code point order. A missing cell has the code after the last
value, so that "missing" is a value of its own which sorts last.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.errors import SourceError
from incrowd.table.spellings import by_key, folded

if TYPE_CHECKING:
    from incrowd.table.alike import Alike, MemoryAlike

Role = Literal["identifier", "quasi", "sensitive", "target", "keep"]
Kind = Literal["numeric", "category", "date", "ordered"]
Codes = npt.NDArray[np.unsignedinteger]


class Tally(ABC):
    """How many records each row stands for, and the first of them (from 0)."""

    @abstractmethod
    def take(self, rows: BoolArray | IntArray | slice) -> Tally:
        """The tally of the chosen rows."""

    @abstractmethod
    def records(self, rows: BoolArray) -> tuple[int, int]:
        """How many records the chosen rows stand for, and the first of these (from 0)."""

    @abstractmethod
    def count(self, numbers: npt.NDArray[np.integer], many: int = 0) -> IntArray:
        """How many records have each number, or each of so `many`, given the number of each row."""

    @abstractmethod
    def repeated(self, rows: IntArray) -> IntArray:
        """Each of the rows as often as it stands for a record."""


@dataclass(frozen=True)
class OneEach(Tally):
    """Of rows that are each one record."""

    def take(self, rows: BoolArray | IntArray | slice) -> Tally:  # noqa: ARG002
        """The same: each of the chosen rows is one record."""
        return self

    def records(self, rows: BoolArray) -> tuple[int, int]:
        """How many rows are chosen, and the first of them (from 0)."""
        return int(np.count_nonzero(rows)), int(np.argmax(rows)) if len(rows) else 0

    def count(self, numbers: npt.NDArray[np.integer], many: int = 0) -> IntArray:
        """How many rows have each number."""
        return np.bincount(numbers, minlength=many).astype(np.int64, copy=False)

    def repeated(self, rows: IntArray) -> IntArray:
        """The rows."""
        return rows


ONE_EACH = OneEach()


@dataclass(frozen=True)
class Weighted(Tally):
    """Of rows that stand for several equal records: how many, and the first of them (from 0).

    The first is negative where records have no order.
    """

    weights: IntArray
    first: IntArray

    @classmethod
    def unordered(cls, weights: IntArray) -> Weighted:
        """The tally of rows whose records have no order."""
        return cls(weights, np.full(len(weights), -1, dtype=np.int64))

    def take(self, rows: BoolArray | IntArray | slice) -> Weighted:
        """The tally of the chosen rows."""
        return Weighted(self.weights[rows], self.first[rows])

    def records(self, rows: BoolArray) -> tuple[int, int]:
        """How many records the chosen rows stand for, and the first of these (from 0)."""
        chosen = self.take(rows)
        return int(chosen.weights.sum()), int(chosen.first.min()) if len(chosen.first) else 0

    def count(self, numbers: npt.NDArray[np.integer], many: int = 0) -> IntArray:
        """How many records have each number, given the number of each row."""
        return np.bincount(numbers, self.weights, minlength=many).astype(np.int64)

    def repeated(self, rows: IntArray) -> IntArray:
        """Each of the rows as often as it stands for a record."""
        return np.repeat(rows, self.weights[rows])


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
    tally: Tally = field(default=ONE_EACH, repr=False)
    """How many records each row stands for."""
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
        tally = self.tally.take(rows)
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
            missing=tally.records(codes == len(self.values))[0] if self.missing else 0,
            tally=tally,
        )

    def counts(self) -> IntArray:
        """How many records have each code."""
        return self.tally.count(self.codes, self.cardinality)


@dataclass(frozen=True)
class JointColumn(Column):
    """A column whose codes are combinations: `parts[code]` holds the codes of its attributes."""

    parts: IntArray = field(kw_only=True, repr=False)

    @classmethod
    def of(cls, name: str, codes: Codes, parts: IntArray, tally: Tally) -> JointColumn:
        """The column of these combinations, of which every row has one."""
        values = tuple(map(str, range(len(parts))))
        return cls(name, "sensitive", "category", codes, values, tally=tally, parts=parts)


@dataclass(frozen=True)
class NamedColumns:
    """Columns, each by its name."""

    columns: tuple[Column, ...]

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    def __getitem__(self, name: str) -> Column:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name


@dataclass(frozen=True)
class Table(NamedColumns, ABC):
    """The published records of one source, coded, with the role of every attribute.

    A `MemoryTable` has their rows; those of an `SqlTable` stay in an engine.
    """

    records: int
    name: str = "the table"
    missing_dropped: int = 0

    def of_role(self, *roles: Role) -> tuple[Column, ...]:
        """The columns of these roles, in the order of the table."""
        return tuple(column for column in self.columns if column.role in roles)

    def with_columns(self, columns: Sequence[Column]) -> Self:
        """The table with these columns in place of those of the same names."""
        changed = {column.name: column for column in columns}
        return replace(self, columns=tuple(changed.get(each.name, each) for each in self.columns))

    @abstractmethod
    def alike(self, names: Sequence[str]) -> Alike:
        """The records that agree on all of some attributes."""

    @abstractmethod
    def complete(self) -> Self:
        """The records in which no quasi-identifier is missing."""

    @abstractmethod
    def recoded(self) -> Self:
        """The table with its rows in the codes of its columns, wherever they are."""

    @abstractmethod
    def with_combinations(self, name: str, names: Sequence[str]) -> tuple[Self, JointColumn]:
        """The table whose rows can be counted by the combinations of some columns, and these."""

    @abstractmethod
    def in_memory(self) -> MemoryTable:
        """The table with its rows here; refused where they do not fit."""

    def _kept(self, kept: Self) -> Self:
        """The table of the records that are kept, with how many were dropped for missing cells."""
        if kept.records == 0:
            raise SourceError(
                f"{self.name}: every record lacks a quasi-identifier, and `missing: drop` drops "
                "them all."
            )
        return replace(kept, missing_dropped=self.records - kept.records)


@dataclass(frozen=True)
class MemoryTable(Table):
    """A table with its rows in memory, each one record or several equal ones."""

    @property
    def tally(self) -> Tally:
        """How many records each row stands for."""
        return self.columns[0].tally if self.columns else ONE_EACH

    @property
    def rows(self) -> int:
        """How many rows there are, each one record or several equal ones."""
        return len(self.columns[0].codes) if self.columns else self.records

    def order(self) -> IntArray:
        """For each record its row, records sorted by all columns, whatever order they had."""
        from incrowd.table.packing import distinct_rows_of

        number, _ = distinct_rows_of(self.columns, self.rows)
        return self.tally.repeated(np.argsort(number, kind="stable"))

    def in_order(self, row: IntArray | None = None) -> MemoryTable:
        """The table with a row for each record, in the order of `order`, or in the one given."""
        row = self.order() if row is None else row
        columns = (replace(c, codes=c.codes[row], tally=ONE_EACH) for c in self.columns)
        return replace(self, columns=tuple(columns))

    def take(self, rows: BoolArray) -> MemoryTable:
        """The table of the chosen rows."""
        columns = tuple(column.take(rows) for column in self.columns)
        return replace(self, columns=columns, records=self.tally.records(rows)[0])

    def alike(self, names: Sequence[str]) -> MemoryAlike:
        """The rows that agree on all of some attributes, found by one pass."""
        from incrowd.table.alike import MemoryAlike

        return MemoryAlike(self, names)

    def complete(self) -> MemoryTable:
        """The records in which no quasi-identifier is missing."""
        return self._kept(self.take(self.has_all()))

    def has_all(self) -> BoolArray:
        """For each row, whether no quasi-identifier is missing."""
        complete = np.ones(self.rows, dtype=np.bool_)
        for column in self.of_role("quasi"):
            if column.missing:
                complete &= column.codes != column.missing_code
        return complete

    def recoded(self) -> MemoryTable:
        """The table: its rows have the codes of its columns."""
        return self

    def with_combinations(self, name: str, names: Sequence[str]) -> tuple[MemoryTable, JointColumn]:
        """The table, and the combinations of some columns that occur, numbered in their order."""
        from incrowd.table.packing import distinct_rows_of

        columns = [self[each] for each in names]
        number, first = distinct_rows_of(columns, self.rows)
        parts = np.column_stack([column.codes[first].astype(np.int64) for column in columns])
        return self, JointColumn.of(name, narrow(number, len(first)), parts, self.tally)

    def in_memory(self) -> MemoryTable:
        """The table."""
        return self


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
