"""The records of a table as a frame, in an order of their own, wherever they live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from incrowd.table.elsewhere import RowsElsewhere
from incrowd.table.packing import distinct_rows_of

if TYPE_CHECKING:
    import polars as pl

    from incrowd.published.opened import ReleaseLike
    from incrowd.table import Table


class Complete:
    """A release as one of the records that were not left out for missing cells."""

    def __init__(self, release: ReleaseLike) -> None:
        records = release.manifest["records"]
        whole = records["source"] - records["missing_dropped"]
        self.manifest = {
            **release.manifest,
            "records": {**records, "source": whole, "missing_dropped": 0},
        }
        self._release = release

    @property
    def data(self) -> pl.DataFrame:
        """The published table of records."""
        return self._release.data

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Every published table."""
        return self._release.tables


def records_of(table: Table, names: Sequence[str]) -> pl.DataFrame:
    """The named columns of all records, sorted by them: dates as dates, other cells as text.

    Never written anywhere: figures are measured on it. O(records) in memory.
    """
    import polars as pl

    columns = [table[name] for name in names]
    if isinstance(table, RowsElsewhere):
        sql = [table.home.sql_name(name) for name in names]
        listed = ", ".join(sql)
        found = table.home.engine.ask(
            f"SELECT {listed}, CAST(sum(n) AS BIGINT) AS n FROM {table.home.table} "
            f"GROUP BY {listed} ORDER BY {listed}"
        )
        codes = [found[name].astype(np.uint32) for name in sql]
        times = found["n"].astype(np.int64)
    else:
        number, first = distinct_rows_of(columns, table.rows)
        codes = [column.codes[first].astype(np.uint32) for column in columns]
        times = np.bincount(number, table.weights).astype(np.int64)
    made = []
    for column, rows in zip(columns, codes, strict=True):
        values = pl.Series(column.name, [*column.values, None], pl.String)
        if column.kind == "date":
            values = values.str.to_date("%Y-%m-%d")
        made.append(values.gather(np.repeat(rows, times)))
    return pl.DataFrame(made)
