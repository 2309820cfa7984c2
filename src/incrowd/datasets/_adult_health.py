"""Adult with an illness for everyone: the 45,222 complete rows and a drawn health condition.

Seven columns that an intruder may know, and a sensitive one that was never measured: each person
gets one of eight conditions by chance, all equally likely, whatever the other columns say. So
nothing about a condition can be learned from the rest, and what a release gives away of it, it
gives away by the sizes and the make-up of its groups alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd.datasets import _adult
from incrowd.datasets.draws import Draws
from incrowd.datasets.info import ColumnInfo, DatasetInfo

if TYPE_CHECKING:
    import polars as pl

QUASI = (
    "age",
    "workclass",
    "education",
    "native-country",
    "marital-status",
    "race",
    "sex",
)
"""The quasi-identifiers, in the order of Table 9 of Sun, Li, Wang (2010)."""

CONDITION = "health_condition"
CATEGORIES = {
    "Top secret": ("HIV", "Cancer"),
    "Secret": ("Phthisis", "Hepatitis"),
    "Less secret": ("Obesity", "Asthma"),
    "Non secret": ("Flu", "Indigestion"),
}
"""The conditions by how sensitive they are, the most sensitive first: Table 4 of the paper."""

INFO = DatasetInfo(
    name="adult-health",
    title="Adult (Census Income) with a drawn health condition",
    rows=45_222,
    generated=False,
    licence="CC BY 4.0",
    attribution=(
        "Barry Becker and Ronny Kohavi (1996). Adult. UCI Machine Learning Repository. "
        "https://doi.org/10.24432/C5XW20. Changed: complete rows and seven columns only; the "
        "health condition is drawn at random and says nothing about anyone."
    ),
    columns=(
        *(
            ColumnInfo(each.name, each.meaning.partition(";")[0])
            for name in QUASI
            for each in _adult.INFO.columns
            if each.name == name
        ),
        ColumnInfo(CONDITION, "one of eight conditions, drawn at random"),
    ),
)


def read(rows: int | None, seed: int) -> pl.DataFrame:
    """Return the first `rows` complete people of Adult with a condition each, or all of them.

    Notes
    -----
    The paper assigns the conditions at random and does not say how. Here each of the eight has the
    same chance for every person. Person i of a seed has the same condition however many are asked
    for.

    References
    ----------
    Sun, Li, Wang (2010), A family of enhanced (l, alpha)-diversity models for privacy preserving
    data publishing, section 5: experiment setup, Table 4 and Table 9.
    """
    import polars as pl

    complete = _adult.read(None, 0).drop_nulls().select(QUASI).head(rows or INFO.rows)
    conditions = [each for listed in CATEGORIES.values() for each in listed]
    drawn = Draws(complete.height, seed).choose(CONDITION, np.ones(len(conditions)))
    return complete.with_columns(pl.Series(CONDITION, conditions)[drawn].alias(CONDITION))
