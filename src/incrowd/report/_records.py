"""The records of a table as a frame, in an order of their own, wherever they live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.manifests import counts_in

if TYPE_CHECKING:
    import polars as pl

    from incrowd.published.opened import ReleaseLike
    from incrowd.table import Table


class Complete:
    """A release as one of the records that were not left out for missing cells.

    Of patients with several rows these are the patients, each with one record.
    """

    def __init__(self, release: ReleaseLike) -> None:
        from incrowd.published.opened import as_release

        self._release = as_release(release)
        manifest = self._release.manifest
        records = counts_in(manifest)
        whole = records["source"] - records["missing_dropped"]
        self.manifest = {
            **{n: each for n, each in manifest.items() if n not in ("patients", "tables")},
            "records": {**records, "source": whole, "missing_dropped": 0},
        }

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
