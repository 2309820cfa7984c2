"""What releases of several tables share: their files, the order of their rows, their groups."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from incrowd.verify.counting.groups import HistogramTables, PublishedGroups, UnjudgeableError
from incrowd.verify.counting.records import PublishedRecords, judge_order
from incrowd.verify.files.published import path_in
from incrowd.verify.files.readers import UnreadableError
from incrowd.verify.verdict import shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from incrowd.verify.counting.groups import JointTable
    from incrowd.verify.files.layout import Layout
    from incrowd.verify.files.published import PublishedTable
    from incrowd.verify.verdict import Finding


def table_of(layout: Layout, table: str) -> PublishedTable:
    """Return the one published table of a name, or raise an UnreadableError."""
    found = [each for each in layout.tables if each.stem == table]
    if len(found) != 1:
        raise UnreadableError(f"the manifest does not list one file of the table '{table}'")
    return found[0]


def data_table(layout: Layout) -> PublishedTable:
    """Return the one table that holds records, or raise an UnreadableError."""
    if len(layout.data_tables) != 1:
        raise UnreadableError("the manifest does not list one file of records")
    return layout.data_tables[0]


def paths_of(folder: Path, table: PublishedTable) -> list[Path]:
    """Return the paths of a table's files in the folder itself, or raise an UnreadableError."""
    paths = []
    for file in table.files:
        path = path_in(folder.resolve(), file.name)
        if path is None:
            raise UnreadableError(f"{shown(file.name)} is missing")
        paths.append(path)
    return paths


def judge_orders(tables: list[PublishedRecords]) -> list[Finding]:
    """Return the judgement on the order of rows in all tables, one finding if all are right."""
    found = [judge_order(each) for each in tables]
    wrong = [each for each in found if not each.holds]
    return wrong or found[:1]


def groups_of(
    records: PublishedRecords,
    table: str,
    group: str,
    values: Mapping[str, str],
    joint: JointTable | None = None,
) -> PublishedGroups:
    """Return the groups of the records by a column, with a histogram of every attribute.

    `table` holds the counted records; `values` has for each attribute the SQL that selects `id`,
    `value` and `part`, how many records of the group of that id hold the value. `joint` has the
    rows of values that belong together, by such an `id`, where they are known.
    """
    if not records.rows:
        raise UnjudgeableError("no record is published, so there are no groups")
    connection = records.connection
    column = records.sql_name(group)
    connection.execute(
        "CREATE TABLE groups AS SELECT row_number() OVER () AS g, id, n FROM"
        f" (SELECT {column} AS id, sum(n)::BIGINT AS n FROM {table} GROUP BY ALL)"
    )
    histograms = {}
    for number, (name, selected) in enumerate(values.items()):
        made = HistogramTables(f"histogram_{number}", f"totals_{number}")
        connection.execute(
            f"CREATE TABLE {made.groups} AS SELECT g, groups.n AS size, value, part AS n"
            f" FROM ({selected}) JOIN groups USING (id)"
        )
        connection.execute(
            f"CREATE TABLE {made.totals} AS SELECT value, value AS text, sum(n)::BIGINT AS n"
            f" FROM {made.groups} GROUP BY value"
        )
        histograms[name] = made
    ((many, smallest, largest),) = connection.execute(
        "SELECT count(*), min(n), max(n) FROM groups"
    ).fetchall()
    if joint is not None:
        connection.execute(
            f"CREATE TABLE together AS SELECT g, {', '.join(joint.columns.values())}"
            f" FROM {joint.table} JOIN groups USING (id)"
        )
        joint = replace(joint, table="together")
    listed = frozenset(histograms)
    return PublishedGroups(records, (), many, smallest, largest, listed, histograms, joint)
