"""Anatomy: quasi-identifiers as they are, sensitive values apart from them, tied by groups only.

One table of quasi-identifiers (QIT) with the group of every record, and for each sensitive
attribute one table (ST) that counts its values in each group. Who knows a person's
quasi-identifiers finds the group, and in it no more than how often each value occurs.
"""

from __future__ import annotations

import numpy as np

from incrowd.counts import NodeHistograms
from incrowd.counts.placed import Placed
from incrowd.errors import PolicyError
from incrowd.publish._showing import ColumnT, Showing
from incrowd.publish.rows import ShownRows, numbers_shown, rows_shown, shown_as_is
from incrowd.published.layouts import COUNT, GROUP, file_name
from incrowd.table import Column, Table


def anatomy_tables(table: Table, placed: Placed, showing: Showing[ColumnT]) -> dict[str, ShownRows]:
    """The published tables by name: `qit`, and `st_<attribute>` for each sensitive attribute.

    References
    ----------
    Xiao and Tao (2006), Anatomy; Gal, Chen, Gangopadhyay (2008), Definition 3, for several
    sensitive attributes.
    """
    refuse_taken_names(table)
    apart = [showing.as_is(column) for column in table.columns if column.role != "sensitive"]
    tables = {"qit": showing.rows([*apart, showing.number(GROUP)])}
    for column in table.of_role("sensitive"):
        found = placed.histograms(column.name)
        tables[f"st_{file_name(column.name)}"] = _sensitive_table(column, found)
    return tables


def _sensitive_table(column: Column, found: NodeHistograms) -> ShownRows:
    """The values of a sensitive attribute that occur in each group, with their counts."""
    groups = len(found.offsets) - 1
    group = np.repeat(np.arange(groups), np.diff(found.offsets))
    return rows_shown(
        [
            numbers_shown(GROUP, group + 1, groups),
            shown_as_is(column, found.codes),
            numbers_shown(COUNT, found.counts, int(found.counts.max())),
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
