"""The tables of a release, by the way that it is published."""

from __future__ import annotations

from incrowd.counts.placed import MemoryPlaced, Placed, placed
from incrowd.engines.preparation import Prepared
from incrowd.methods.base import Outcome
from incrowd.policy import Publish
from incrowd.publish._anatomy import anatomy_tables
from incrowd.publish._engine_histories import published_from_engine
from incrowd.publish._histories import published_histories
from incrowd.publish._lossy_join import lossy_join_tables
from incrowd.publish._out_of_core import SqlShowing
from incrowd.publish._showing import ColumnT, MemoryShowing, Showing
from incrowd.publish.rows import ShownRows
from incrowd.table import Table
from incrowd.table.sql_histories import SqlHistories


def published_tables(
    publish: Publish, prepared: Prepared, outcome: Outcome
) -> dict[str, ShownRows]:
    """The published tables by the name of their file; the first holds a row for each record.

    Of patients with several rows it holds all of these.
    """
    if isinstance(prepared.histories, SqlHistories):
        return published_from_engine(prepared, prepared.histories, outcome)
    if prepared.histories is not None:
        return published_histories(prepared, prepared.histories, outcome)
    table = prepared.table
    beside = placed(table, outcome.group_of_record, len(outcome.group_sizes))
    if isinstance(beside, MemoryPlaced):
        return _tables(publish, table, beside, MemoryShowing(outcome, beside))
    return _tables(publish, table, beside, SqlShowing(outcome, beside))


def _tables(
    publish: Publish, table: Table, beside: Placed, showing: Showing[ColumnT]
) -> dict[str, ShownRows]:
    if publish == "anatomy":
        return anatomy_tables(table, beside, showing)
    if publish == "lossy-join":
        return lossy_join_tables(table, showing)
    shown = [
        showing.labels(column) if column.role == "quasi" else showing.as_is(column)
        for column in table.columns
    ]
    return {"data": showing.rows(shown)}
