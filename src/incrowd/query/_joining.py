"""The tables of a release joined on their groups, as an analyst would join them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from incrowd.errors import InputError, ParameterError, nearest
from incrowd.published.layouts import CLASS, COUNT, GROUP, file_name

if TYPE_CHECKING:
    import polars as pl

    from incrowd.published.opened import ReleaseLike
    from incrowd.published.parts import Parts

PROBABILITY = "probability"
MOST_ROWS = 50_000_000


def join(
    release: ReleaseLike | str | Path, *, attributes: Sequence[str] | None = None
) -> pl.DataFrame:
    """The records of a release with the sensitive values that each may have.

    A generalized release is its one table; of patients with several rows, a row for each patient
    with what is the same in all of theirs. Otherwise every record is repeated for each combination
    of sensitive values that its group allows, and `probability` (or `probability_2` where the data
    has a column of that name) is the chance of that combination for that record; the chances of a
    record add up to 1. All other cells are text.

    Parameters
    ----------
    release
        A release of any kind, or the folder of one.
    attributes
        The sensitive attributes to join, by default all of them.

    Notes
    -----
    From anatomy the chance is the product of count / n over the tables, n the size of the group:
    values of different attributes are taken as independent. From a lossy join every row of
    sensitive values of the class is met once, so equal ones are repeated, each with chance 1 / n.
    The rows are counted first; more than 50 million are refused.

    References
    ----------
    Hussein, Darwish, Hefny, survey of multi-table publishing, Table X (lossy join).
    """
    from incrowd.published.opened import as_release
    from incrowd.published.parts import open_parts

    opened = as_release(release)
    parts = open_parts(opened)
    sensitive = parts.of_role("sensitive")
    chosen = sensitive if attributes is None else _chosen(attributes, sensitive)
    shown = [name for name in parts.entries if name not in sensitive or name in chosen]
    if parts.kind == "generalized":
        return opened.data[shown]
    key = GROUP if parts.kind == "anatomy" else CLASS
    chance = _free_name(PROBABILITY, [*parts.entries, key])
    made = _anatomy if parts.kind == "anatomy" else _lossy
    return made(parts, opened, chosen, chance)[[*shown, key, chance]]


def _free_name(name: str, taken: Sequence[str]) -> str:
    """The name, with a number where it is taken."""
    names = (name if number == 1 else f"{name}_{number}" for number in count(1))
    return next(each for each in names if each not in taken)


def _chosen(attributes: Sequence[str], sensitive: Sequence[str]) -> list[str]:
    if isinstance(attributes, str) or len(set(attributes)) < len(attributes):
        raise ParameterError("attributes: must be a list of sensitive attributes, each only once.")
    for name in attributes:
        if name not in sensitive:
            raise ParameterError(
                f"attributes: '{name}' is no sensitive attribute of the release."
                f"{nearest(name, sensitive)}"
            )
    return list(attributes)


def _anatomy(
    parts: Parts, release: ReleaseLike, chosen: Sequence[str], chance: str
) -> pl.DataFrame:
    import polars as pl

    groups = len(parts.group_sizes)
    rows = parts.group_sizes.astype(np.float64)
    for apart in parts.apart:
        if next(iter(apart.columns)) in chosen:
            rows *= np.bincount(apart.group, minlength=groups)
    _refuse_large(rows)
    joined = release.tables["qit"]
    held = _free_name("held", [*parts.entries, GROUP, COUNT, chance])
    sizes = joined.group_by(GROUP).len(held)
    joined = joined.with_columns(pl.lit(1.0).alias(chance))
    for name in chosen:
        values = release.tables[f"st_{file_name(name)}"].join(sizes, on=GROUP, nulls_equal=True)
        share = pl.col(COUNT).cast(pl.Int64) / pl.col(held)
        values = values.with_columns(share.alias(held))[[GROUP, name, held]]
        joined = _met(joined, values, GROUP)
        joined = joined.with_columns((pl.col(chance) * pl.col(held)).alias(chance)).drop(held)
    return joined


def _lossy(parts: Parts, release: ReleaseLike, chosen: Sequence[str], chance: str) -> pl.DataFrame:
    import polars as pl

    if not chosen:
        return release.tables["nss"].with_columns(pl.lit(1.0).alias(chance))
    _refuse_large(parts.group_sizes.astype(np.float64) ** 2)
    values = release.tables["ss"][[CLASS, *chosen]]
    values = values.with_columns((1 / pl.len().over(CLASS)).alias(chance))
    return _met(release.tables["nss"], values, CLASS)


def _met(records: pl.DataFrame, values: pl.DataFrame, key: str) -> pl.DataFrame:
    """Every record with every row of values of its group, in the order of both."""
    return records.join(values, on=key, maintain_order="left_right", nulls_equal=True)


def _refuse_large(rows: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
    total = float(rows.sum())
    if total > MOST_ROWS:
        raise InputError(
            f"The join would have {total:,.0f} rows, more than {MOST_ROWS:,}. Join only some of "
            "the sensitive attributes (attributes=[…]), or ask for counts with query."
        )
