"""Anatomy: quasi-identifiers as they are, sensitive values apart from them, tied by groups only.

One table of quasi-identifiers (QIT) with the group of every record, and for each sensitive
attribute one table (ST) that counts its values in each group. Who knows a person's
quasi-identifiers finds the group, and in it no more than how often each value occurs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import IntArray
from incrowd.errors import PolicyError
from incrowd.methods.base import Outcome
from incrowd.publish.rows import ShownRows, kept_weights, numbers_shown, rows_shown, shown_as_is
from incrowd.published.layouts import COUNT, GROUP, file_name
from incrowd.table import Column, Table
from incrowd.table.packing import distinct_rows


def anatomy_tables(table: Table, outcome: Outcome) -> dict[str, ShownRows]:
    """The published tables by name: `qit`, and `st_<attribute>` for each sensitive attribute.

    References
    ----------
    Xiao and Tao (2006), Anatomy; Gal, Chen, Gangopadhyay (2008), Definition 3, for several
    sensitive attributes.
    """
    refuse_taken_names(table)
    placed = outcome.group_of_record
    assert isinstance(placed, np.ndarray)
    kept = np.flatnonzero(placed >= 0)
    group = placed[kept].astype(np.int64)
    shown = [
        shown_as_is(column, column.codes[kept])
        for column in table.columns
        if column.role != "sensitive"
    ]
    groups = len(outcome.group_sizes)
    weights = kept_weights(table, kept)
    numbers = numbers_shown(GROUP, group + 1, groups)
    tables = {"qit": rows_shown([*shown, numbers], len(kept), weights)}
    for column in table.of_role("sensitive"):
        codes = column.codes[kept]
        number, first = distinct_rows([group, codes], [groups, column.cardinality], len(kept))
        counts = np.bincount(number, weights).astype(np.int64)
        tables[f"st_{file_name(column.name)}"] = sensitive_table(
            column, group[first], codes[first], counts, groups
        )
    return tables


def sensitive_table(
    column: Column,
    group: IntArray,
    codes: npt.NDArray[np.integer],
    counts: IntArray,
    groups: int,
) -> ShownRows:
    """The values of a sensitive attribute that occur in each group, with their counts."""
    return rows_shown(
        [
            numbers_shown(GROUP, group + 1, groups),
            shown_as_is(column, codes),
            numbers_shown(COUNT, counts, int(counts.max())),
        ],
        len(group),
    )


def refuse_taken_names(table: Table) -> None:
    """Refuse a column of the source that would stand twice in a published table."""
    for column in table.columns:
        taken = (GROUP, COUNT) if column.role == "sensitive" else (GROUP,)
        if column.name in taken:
            raise PolicyError(
                f"publish: anatomy writes a column '{column.name}' beside this attribute, and the "
                "source has one of that name. Rename it, or give it the role identifier."
            )
