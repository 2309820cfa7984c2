"""A lossy-join release: records in classes, and the sensitive values of each class.

The groups are those of `class_id`. Every class has as many rows of values as it has records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from incrowd.verify.counting.groups import JointTable
from incrowd.verify.counting.records import Asked, PublishedRecords, load, shut
from incrowd.verify.files.published import whole_tables
from incrowd.verify.files.readers import UnreadableError
from incrowd.verify.layouts.contents import (
    judge_form,
    judge_identifiers,
    judge_labels,
    judge_records,
    judge_untouched,
)
from incrowd.verify.layouts.tables import groups_of, judge_orders, paths_of, table_of
from incrowd.verify.verdict import COLUMNS, READABLE, TIED, Finding, counted, shown

if TYPE_CHECKING:
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from incrowd.verify.counting.groups import PublishedGroups
    from incrowd.verify.counting.spellings import Spellings
    from incrowd.verify.files.layout import Layout

CLASS = "class_id"


@dataclass(frozen=True)
class LossyJoinTables:
    """The two tables of a release, counted: the records, and the values."""

    nss: PublishedRecords
    ss: PublishedRecords
    sensitive: tuple[str, ...]


def open_lossy_join(
    connection: DuckDBPyConnection, folder: Path, layout: Layout, spellings: Spellings
) -> tuple[LossyJoinTables | None, list[Finding]]:
    """Return the tables of a release, or None, and the findings on what they hold."""
    try:
        nss_table, ss_table = table_of(layout, "nss"), table_of(layout, "ss")
        if len(layout.tables) != 2:
            raise UnreadableError("the manifest lists more tables than 'nss' and 'ss'")
        kinds = {**layout.kinds, CLASS: "whole"}
        records = Asked([CLASS], kinds, layout.untouched)
        nss = load(connection, paths_of(folder, nss_table), records, "nss_counted")
        values = Asked([CLASS, *layout.sensitive], kinds)
        ss = load(connection, paths_of(folder, ss_table), values, "ss_counted")
        shut(connection)
    except UnreadableError as error:
        return None, [Finding(READABLE, False, str(error))]
    promised = {*layout.published, CLASS} - set(layout.sensitive)
    wrong = [
        shown(table.name)
        for table, records, columns in (
            (nss_table, nss, promised),
            (ss_table, ss, {CLASS, *layout.sensitive}),
        )
        if set(records.columns) != columns or records.columns != table.columns
    ]
    if wrong:
        told = f"the columns of {' and '.join(wrong)} are not the promised ones"
        columns = Finding(COLUMNS, False, told)
    else:
        told = f"{counted(len(promised), 'column')} of records, sensitive attributes apart"
        columns = Finding(COLUMNS, True, told)
    findings = [
        Finding(READABLE, True, whole_tables(layout.tables)),
        judge_identifiers(layout, nss),
        columns,
        judge_records(layout, nss_table, nss, [(ss_table, ss)]),
        *judge_orders([nss, ss]),
        *judge_form([nss, ss]),
        *judge_labels(layout, nss),
        *judge_untouched(layout, nss),
    ]
    parts = LossyJoinTables(nss, ss, layout.sensitive)
    if columns.holds:
        findings.append(_judge_ties(parts))
        named = {name: ss.sql_name(name) for name in layout.sensitive}
        spellings.take_for_one(connection, ss.table, named)
    return (parts if columns.holds else None), findings


def lossy_join_groups(parts: LossyJoinTables) -> PublishedGroups:
    """Return the classes of the tables, with a histogram of every sensitive attribute."""
    group = parts.ss.sql_name(CLASS)
    columns = {name: parts.ss.sql_name(name) for name in parts.sensitive}
    values = {
        name: f"SELECT {group} AS id, {column} AS value, sum(n)::BIGINT AS part"
        " FROM ss_counted GROUP BY ALL"
        for name, column in columns.items()
    }
    # A row of values is that of one record: it shows which values belong together.
    rows = JointTable(
        f"(SELECT {group} AS id, {', '.join(columns.values())} FROM ss_counted)", columns
    )
    return groups_of(parts.nss, "nss_counted", CLASS, values, rows)


def _judge_ties(parts: LossyJoinTables) -> Finding:
    """Return the judgement on how tables fit: each class has as many values as records."""
    here, there = parts.nss.sql_name(CLASS), parts.ss.sql_name(CLASS)
    ((apart,),) = parts.nss.connection.execute(
        f"WITH records AS (SELECT {here} AS g, n FROM nss_counted),"
        f" held AS (SELECT {there} AS g, sum(n) AS part FROM ss_counted GROUP BY ALL)"
        " SELECT count(*) FROM records FULL JOIN held USING (g) WHERE n IS DISTINCT FROM part"
    ).fetchall()
    if apart:
        told = f"in {counted(apart, 'group')} the records are not as many as the rows of values"
        return Finding(TIED, False, told)
    return Finding(TIED, True, "every class has as many rows of values as it has records")
