"""What stands in published tables, column by column, wherever the rows are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

import numpy as np

from incrowd.counts.placed import MemoryPlaced
from incrowd.methods.base import Outcome
from incrowd.publish.rows import (
    Recoded,
    ShownRows,
    generalized_column,
    numbers_shown,
    rows_shown,
    shown_as_is,
)
from incrowd.table import Column

ColumnT = TypeVar("ColumnT")


class Showing(ABC, Generic[ColumnT]):
    """The published columns of the records in groups, and the rows of some of them."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome

    @abstractmethod
    def labels(self, column: Column) -> ColumnT:
        """A quasi-identifier, as the groups show it."""

    @abstractmethod
    def as_is(self, column: Column) -> ColumnT:
        """A column that is published untouched."""

    @abstractmethod
    def number(self, name: str) -> ColumnT:
        """The number of the group, from 1, under a name."""

    @abstractmethod
    def rows(self, columns: Sequence[ColumnT]) -> ShownRows:
        """The rows of some columns, sorted by what they show."""


class MemoryShowing(Showing[Recoded]):
    """The published columns of rows in memory."""

    def __init__(self, outcome: Outcome, placed: MemoryPlaced) -> None:
        super().__init__(outcome)
        kept = slice(None) if outcome.suppressed == 0 else np.flatnonzero(placed.group >= 0)
        self._kept, self._group = kept, placed.group[kept]
        self._tally = placed.table.tally.take(kept)

    def labels(self, column: Column) -> Recoded:
        """A quasi-identifier, as the groups show it."""
        return generalized_column(column.name, self.outcome.labels[column.name], self._group)

    def as_is(self, column: Column) -> Recoded:
        """A column that is published untouched."""
        return shown_as_is(column, column.codes[self._kept])

    def number(self, name: str) -> Recoded:
        """The number of the group, from 1, under a name."""
        group = self._group.astype(np.int64) + 1
        return numbers_shown(name, group, len(self.outcome.group_sizes))

    def rows(self, columns: Sequence[Recoded]) -> ShownRows:
        """The rows of some columns, sorted by what they show, each distinct one once."""
        return rows_shown(columns, len(self._group), self._tally)
