"""Adult: 48,842 people of the 1994 census of the United States, from the UCI repository."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from incrowd.datasets.info import ColumnInfo, DatasetInfo
from incrowd.datasets.resources import read_bytes

if TYPE_CHECKING:
    import polars as pl

INFO = DatasetInfo(
    name="adult",
    title="Adult (Census Income)",
    rows=48_842,
    generated=False,
    licence="CC BY 4.0",
    attribution=(
        "Barry Becker and Ronny Kohavi (1996). Adult. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5XW20"
    ),
    columns=(
        ColumnInfo("age", "age in years, 17 to 90"),
        ColumnInfo("workclass", "kind of employer; missing where unknown"),
        ColumnInfo("fnlwgt", "how many people of the census the row stands for"),
        ColumnInfo("education", "highest schooling reached"),
        ColumnInfo("education-num", "the same as a number, 1 (preschool) to 16 (doctorate)"),
        ColumnInfo("marital-status", "married, divorced, widowed, …"),
        ColumnInfo("occupation", "kind of work; missing where unknown"),
        ColumnInfo("relationship", "place in the household"),
        ColumnInfo("race", "one of five groups"),
        ColumnInfo("sex", "Female or Male"),
        ColumnInfo("capital-gain", "gain from capital in the year, in dollars"),
        ColumnInfo("capital-loss", "loss from capital in the year, in dollars"),
        ColumnInfo("hours-per-week", "hours worked in a week"),
        ColumnInfo("native-country", "country of birth; missing where unknown"),
        ColumnInfo("income", "at most or more than 50,000 dollars a year"),
        ColumnInfo("fold", "train or test, as the data set was first published"),
    ),
)


def read(rows: int | None, _seed: int) -> pl.DataFrame:
    """Return the first `rows` people, or all of them."""
    import polars as pl

    return pl.read_parquet(io.BytesIO(read_bytes("data/adult.parquet")), n_rows=rows)
