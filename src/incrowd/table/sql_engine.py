"""What an SQL engine must do to be a home of records: keep tables, lend small ones, answer.

Queries are written in what DuckDB and Spark have in common. Cells are whole numbers (codes, nodes,
groups and counts), never text, and none is null.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import IntArray
from incrowd.errors import EngineError

Columns = Mapping[str, npt.NDArray[np.integer]]
BITS = 62
"""How many codes fit into one whole number, as bits."""
BYTES_A_ROW = 400
"""What a row of counts takes in memory while a method works on it, at most."""


class SqlEngine(ABC):
    """Tables by name, and queries over them; nothing is left behind once it is closed."""

    name: ClassVar[str]
    ordered: ClassVar[bool]
    """Whether records have the order of their source."""
    types: ClassVar[Mapping[int, str]]
    """The type of whole numbers from 0 of so many bytes, or the least that holds them."""

    def __init__(self, memory: int) -> None:
        self.most_rows = max(memory // BYTES_A_ROW, 1)
        """How many rows of counts may come into memory at once."""
        self._numbers = count()

    def fresh(self, kind: str) -> str:
        """A name that no table has."""
        return f"{kind}_{next(self._numbers)}"

    @abstractmethod
    def keep(self, table: str, query: str) -> None:
        """Make a table of what a query gives."""

    @abstractmethod
    def numbered(self, table: str, query: str, name: str) -> None:
        """Make a table of what a query gives, its rows numbered from 0 in a column of that name."""

    @abstractmethod
    def drop(self, table: str) -> None:
        """Forget a table."""

    @abstractmethod
    def put(self, table: str, columns: Columns) -> None:
        """Make a table of columns in memory, whose names are given by the caller."""

    @abstractmethod
    def ask(self, query: str) -> dict[str, IntArray]:
        """The columns of what a query gives, which must fit into memory."""

    @abstractmethod
    def in_pieces(self, query: str) -> Iterator[dict[str, IntArray]]:
        """The same some rows at a time, in the order of the query."""

    @abstractmethod
    def bit(self, code: str, first: int) -> str:
        """SQL: the number whose only bit is that of a code, counted from `first`; else 0.

        A number has `BITS` of them.
        """

    @abstractmethod
    def close(self) -> None:
        """Remove all tables."""

    @contextmanager
    def lent(self, columns: Columns) -> Iterator[str]:
        """A table of columns in memory, for the queries of one block; gives its name."""
        table = self.fresh("lent")
        self.put(table, columns)
        try:
            yield table
        except BaseException:
            with suppress(EngineError):  # what failed first is what matters
                self.drop(table)
            raise
        self.drop(table)
