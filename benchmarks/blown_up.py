"""Adult blown up with jitter: the table of every speed figure, from any number of rows.

Each record of the 30,162 complete train records is repeated; age and hours shift by a few units
at random and, in one of ten copies, one categorical value is drawn anew from its own column.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from incrowd import datasets

QUASI = [
    "age",
    "education",
    "marital-status",
    "native-country",
    "occupation",
    "race",
    "income",
    "sex",
    "workclass",
]


def blown_up(rows: int, seed: int = 0) -> pl.DataFrame:
    """A table of `rows` records like Adult's, with `fnlwgt` as a column that is kept."""
    adult = datasets.load("adult").filter(pl.col("fold") == "train").drop_nulls()
    draw = np.random.default_rng(seed)
    source = np.arange(rows) % adult.height
    table = adult.select([*QUASI, "hours-per-week"])[source]
    shifted = table["age"].to_numpy() + draw.integers(-3, 4, rows)
    hours = table["hours-per-week"].to_numpy() + draw.integers(-5, 6, rows)
    table = table.with_columns(
        pl.Series("age", np.clip(shifted, 17, 90)),
        pl.Series("hours-per-week", np.clip(hours, 1, 99)),
    )
    categories = [name for name in QUASI if table.schema[name] == pl.String]
    for name in categories:
        chosen = draw.random(rows) < 0.1 / len(categories)
        drawn = table[name][draw.integers(0, rows, rows)]
        table = table.with_columns(
            pl.when(pl.Series(chosen)).then(drawn).otherwise(pl.col(name)).alias(name)
        )
    return table


def policy(k: int = 5) -> dict[str, Any]:
    """Nine quasi-identifiers, k-anonymity, set labels."""
    return {
        "attributes": {**dict.fromkeys(QUASI, "quasi"), "hours-per-week": "sensitive"},
        "privacy": [{"k-anonymity": {"k": k}}],
        "method": {"name": "mondrian", "split": "loss", "labels": "set"},
    }
