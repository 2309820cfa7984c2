"""The records of a table as a frame, in an order of their own, wherever they live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl

    from incrowd.published.opened import ReleaseLike
    from incrowd.table import Table


class Complete:
    """A release as one of the records that were not left out for missing cells.

    Given `as_release`, so that of patients with several rows the records are these.
    """

    def __init__(self, release: ReleaseLike) -> None:
        records = release.manifest["records"]
        whole = records["source"] - records["missing_dropped"]
        one_each = {name: each for name, each in release.manifest.items() if name != "patients"}
        self.manifest = {
            **one_each,
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

    found = table.alike(names).distinct()
    made = []
    for position, name in enumerate(names):
        values = pl.Series(name, [*table[name].values, None], pl.String)
        if table[name].kind == "date":
            values = values.str.to_date("%Y-%m-%d")
        made.append(values.gather(np.repeat(found.codes[:, position], found.records)))
    return pl.DataFrame(made)
