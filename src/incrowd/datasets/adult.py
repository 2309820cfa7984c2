"""Adult: 48,842 people of the 1994 census of the United States, from the UCI repository."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from incrowd.datasets.info import Column, DatasetInfo
from incrowd.datasets.resources import read_bytes
from incrowd.errors import InputError

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
        Column("age", "age in years, 17 to 90"),
        Column("workclass", "kind of employer; missing where unknown"),
        Column("fnlwgt", "how many people of the census the row stands for"),
        Column("education", "highest schooling reached"),
        Column("education-num", "the same as a number, 1 (preschool) to 16 (doctorate)"),
        Column("marital-status", "married, divorced, widowed, …"),
        Column("occupation", "kind of work; missing where unknown"),
        Column("relationship", "place in the household"),
        Column("race", "one of five groups"),
        Column("sex", "Female or Male"),
        Column("capital-gain", "gain from capital in the year, in dollars"),
        Column("capital-loss", "loss from capital in the year, in dollars"),
        Column("hours-per-week", "hours worked in a week"),
        Column("native-country", "country of birth; missing where unknown"),
        Column("income", "at most or more than 50,000 dollars a year"),
        Column("fold", "train or test, as the data set was first published"),
    ),
)


def read(rows: int | None, _seed: int) -> pl.DataFrame:
    """Return the first `rows` people, or all of them."""
    import polars as pl

    if rows is not None and rows > INFO.rows:
        raise InputError(
            f"The data set 'adult' has {INFO.rows:,} rows, {rows:,} were asked for. "
            f"Ask for at most {INFO.rows:,}, or take a generated data set: blood-transfusions or "
            "cancer-registry."
        )
    return pl.read_parquet(io.BytesIO(read_bytes("data/adult.parquet")), n_rows=rows)
