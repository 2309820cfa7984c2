"""The tables of a release, by the way that it is published."""

from __future__ import annotations

from typing import Literal

from incrowd.methods.base import Outcome
from incrowd.publish._out_of_core import outside_tables
from incrowd.publish.anatomy import anatomy_tables
from incrowd.publish.lossy_join import lossy_join_tables
from incrowd.publish.rows import ShownRows, generalized_rows
from incrowd.table import Table
from incrowd.table.elsewhere import RowsElsewhere

Publish = Literal["generalized", "anatomy", "lossy-join"]


def published_tables(publish: Publish, table: Table, outcome: Outcome) -> dict[str, ShownRows]:
    """The published tables by the name of their file; the first holds a row for each record."""
    if isinstance(table, RowsElsewhere):
        return outside_tables(publish, table, outcome)
    if publish == "anatomy":
        return anatomy_tables(table, outcome)
    if publish == "lossy-join":
        return lossy_join_tables(table, outcome)
    return {"data": generalized_rows(table, outcome)}
