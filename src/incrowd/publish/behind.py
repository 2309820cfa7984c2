"""The records behind a release, for the judge of what its tables do not show together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from incrowd.privacy import PrivacyModel
    from incrowd.table import Table


class Behind:
    """The quasi-identifiers and sensitive attributes of the published records, as they are.

    Never written anywhere: the judge gets them in memory, while the release is saved.
    """

    def __init__(self, table: Table) -> None:
        self._columns = table.in_order().of_role("quasi", "sensitive")

    def frame(self) -> pl.DataFrame:
        """The records, dates as dates and all other cells as text, null where missing."""
        import polars as pl

        columns = []
        for column in self._columns:
            values = pl.Series(column.name, [*column.values, None], pl.String)
            if column.kind == "date":
                values = values.str.to_date("%Y-%m-%d")
            columns.append(values.gather(column.codes))
        return pl.DataFrame(columns)


def behind(publish: str, models: tuple[PrivacyModel, ...], table: Table) -> Behind | None:
    """The records that the judge needs beside the published tables, None if it needs none."""
    jointly = any(model.counts_jointly for model in models)
    return Behind(table) if publish == "anatomy" and jointly else None
