"""Tables whose rows stay in an SQL engine: of each column the codes there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.table._table import Table
from incrowd.table.sql_rows import SqlRows


@dataclass(frozen=True)
class RowsElsewhere(Table):
    """A table with its rows in an engine: each column has a row for each code of it there."""

    home: SqlRows = field(kw_only=True)
    codes: Mapping[str, IntArray] = field(kw_only=True, repr=False)
    """For each column the code that each of its rows has in the engine."""

    def lookup(self, name: str) -> IntArray:
        """The code of each code that records have in the engine; -1 for those that do not occur."""
        there = self.codes[name]
        codes = np.full(int(there.max(initial=-1)) + 1, -1, dtype=np.int64)
        codes[there] = self[name].codes
        return codes
