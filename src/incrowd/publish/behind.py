"""The records behind a release, for the judge of what its tables do not show together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from incrowd.publish.anatomy import GROUP

if TYPE_CHECKING:
    import polars as pl

    from incrowd.methods.base import Outcome
    from incrowd.privacy import PrivacyModel
    from incrowd.table import Table


class Behind:
    """The quasi-identifiers and sensitive attributes of the published records, and their groups.

    Never written anywhere: the judge gets them in memory, while the release is saved.
    """

    def __init__(self, table: Table, group: npt.NDArray[np.integer]) -> None:
        self._columns = table.of_role("quasi", "sensitive")
        self._rows = np.arange(table.rows)
        if table.weights is not None:
            self._rows = np.repeat(self._rows, table.weights)
        self._group = group

    def frame(self) -> pl.DataFrame:
        """The records, dates as dates and all other cells as text, null where missing."""
        import polars as pl

        columns = []
        for column in self._columns:
            values = pl.Series(column.name, [*column.values, None], pl.String)
            if column.kind == "date":
                values = values.str.to_date("%Y-%m-%d")
            columns.append(values.gather(column.codes[self._rows]))
        columns.append(pl.Series(GROUP, self._group[self._rows] + 1))
        return pl.DataFrame(columns)


def behind(
    publish: str, models: tuple[PrivacyModel, ...], table: Table, outcome: Outcome
) -> Behind | None:
    """The records that the judge needs beside the published tables, None if it needs none."""
    if publish != "anatomy" or not any(model.counts_jointly for model in models):
        return None
    assert isinstance(outcome.group_of_record, np.ndarray)
    return Behind(table, outcome.group_of_record)
