"""An anatomy release: a table of quasi-identifiers, and tables of sensitive values by group.

The groups are those of `group_id`. What a model judges, sizes of groups and counts of values in
them, stands in the tables as published; that they tell the same story is judged here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from incrowd.verify.counting.original import GROUP
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

    from incrowd.verify.counting.groups import JointTable, PublishedGroups
    from incrowd.verify.counting.original import Original
    from incrowd.verify.counting.spellings import Spellings
    from incrowd.verify.files.layout import Layout
    from incrowd.verify.files.published import PublishedTable

COUNT = "count"


@dataclass(frozen=True)
class Tables:
    """The tables of a release, counted: the records, and the values of each attribute by group."""

    qit: PublishedRecords
    values: dict[str, PublishedRecords]
    joint: JointTable | None = None
    respelled: frozenset[str] = frozenset()
    """The attributes of which a value may now stand in several rows of a group."""


def open_anatomy(
    connection: DuckDBPyConnection,
    folder: Path,
    layout: Layout,
    spellings: Spellings,
    original: Original | None,
) -> tuple[Tables | None, list[Finding]]:
    """Return the tables of a release, or None, and the findings on what they hold.

    With the original at hand, they show which sensitive values belong together, too.
    """
    try:
        qit_table, value_tables = _tables(layout)
        quasi = layout.quasi if original is not None else ()
        kinds = {**layout.kinds, GROUP: "whole", COUNT: "whole"}
        asked = Asked([*quasi, GROUP], kinds, layout.untouched)
        qit = load(connection, paths_of(folder, qit_table), asked, "qit_counted")
        values = {
            name: load(
                connection,
                paths_of(folder, table),
                Asked([GROUP, name, COUNT], kinds),
                f"st{number}_counted",
            )
            for number, (name, table) in enumerate(value_tables.items())
        }
        if original is not None:
            original.enter(connection)
        shut(connection)
    except UnreadableError as error:
        return None, [Finding(READABLE, False, str(error))]
    tables = Tables(qit, values)
    told = whole_tables(layout.tables)
    columns = _judge_columns(layout, qit_table, tables)
    findings = [
        Finding(READABLE, True, told),
        judge_identifiers(layout, qit),
        columns,
        judge_records(
            layout, qit_table, qit, [(value_tables[name], values[name]) for name in values]
        ),
        *judge_orders([tables.qit, *tables.values.values()]),
        *judge_form([tables.qit, *tables.values.values()]),
        *judge_labels(layout, qit),
        *judge_untouched(layout, qit),
    ]
    if not columns.holds:
        return None, findings
    findings.append(_judge_ties(tables))
    for name, records in values.items():
        spellings.take_for_one(connection, records.table, {name: records.sql_name(name)})
    tables = replace(tables, respelled=spellings.respelled)
    if original is not None:
        original.take_for_one(connection, spellings)
        joint, found = original.matched(qit, "qit_counted", GROUP, _counts(tables))
        findings.append(found)
        tables = replace(tables, joint=joint)
    return tables, findings


def anatomy_groups(tables: Tables) -> PublishedGroups:
    """Return the groups of the tables, with a histogram of every sensitive attribute."""
    return groups_of(tables.qit, "qit_counted", GROUP, _counts(tables), tables.joint)


def _counts(tables: Tables) -> dict[str, str]:
    """Return for each attribute the SQL that selects `id`, `value` and its count as `part`."""
    values = {}
    for number, (name, records) in enumerate(tables.values.items()):
        group, value, count = (records.sql_name(each) for each in (GROUP, name, COUNT))
        part, grouped = f"coalesce(try_cast({count} AS BIGINT), 0)", ""
        if name in tables.respelled:
            part, grouped = f"sum({part})::BIGINT", " GROUP BY ALL"
        values[name] = (
            f"SELECT {group} AS id, {value} AS value, {part} AS part"
            f" FROM st{number}_counted{grouped}"
        )
    return values


def _tables(layout: Layout) -> tuple[PublishedTable, dict[str, PublishedTable]]:
    """Return the table of records, and the table of each sensitive attribute."""
    qit = table_of(layout, "qit")
    others = [table for table in layout.tables if table != qit]
    values: dict[str, PublishedTable] = {}
    for name in layout.sensitive:
        fitting = [table for table in others if table.columns == (GROUP, name, COUNT)]
        if len(fitting) != 1 or not fitting[0].name.startswith("st_"):
            raise UnreadableError(
                f"the manifest does not list one file of the values of {shown(name)}"
            )
        values[name] = fitting[0]
    strangers = [table for table in others if table not in values.values()]
    if strangers or not values:
        raise UnreadableError("the manifest lists tables that no sensitive attribute explains")
    return qit, values


def _judge_columns(layout: Layout, qit: PublishedTable, tables: Tables) -> Finding:
    """Return the judgement on columns: sensitive attributes are in no table but their own."""
    promised = {*layout.published, GROUP} - set(layout.sensitive)
    problems = []
    if set(tables.qit.columns) != promised or tables.qit.columns != qit.columns:
        problems.append(f"the columns of {shown(qit.name)} are not the promised ones")
    problems += [
        f"the table of {shown(name)} has other columns than the promised ones"
        for name, records in tables.values.items()
        if records.columns != (GROUP, name, COUNT)
    ]
    if problems:
        return Finding(COLUMNS, False, "; ".join(problems))
    told = f"{counted(len(promised), 'column')} of records, sensitive attributes in tables apart"
    return Finding(COLUMNS, True, told)


def _judge_ties(tables: Tables) -> Finding:
    """Return the judgement on how tables fit: each group's values add up to its records."""
    connection = tables.qit.connection
    group = tables.qit.sql_name(GROUP)
    problems = []
    for number, (name, records) in enumerate(tables.values.items()):
        g, value, count = (records.sql_name(each) for each in (GROUP, name, COUNT))
        ((odd, twice, apart),) = connection.execute(
            f"WITH st AS (SELECT {g} AS g, {value} AS value, n AS rows,"
            f" CASE WHEN regexp_full_match({count}, '[1-9][0-9]{{0,15}}')"
            f" THEN {count}::BIGINT END AS part FROM st{number}_counted),"
            " sums AS (SELECT g, sum(part) AS part FROM st GROUP BY g),"
            f" sizes AS (SELECT {group} AS g, sum(n) AS n FROM qit_counted GROUP BY ALL)"
            " SELECT (SELECT count_if(part IS NULL) FROM st),"
            " (SELECT count(*) FROM (SELECT g, value FROM st GROUP BY g, value"
            " HAVING sum(rows) > 1)),"
            " (SELECT count(*) FROM sizes FULL JOIN sums USING (g) WHERE n IS DISTINCT FROM part)"
        ).fetchall()
        if odd:
            problems.append(
                f"{counted(odd, 'count')} of {shown(name)} are no whole numbers from 1 up"
            )
        if twice:
            problems.append(f"{counted(twice, 'value')} of {shown(name)} stand twice in a group")
        if apart:
            problems.append(
                f"in {counted(apart, 'group')} the counts of {shown(name)} do not add up to the"
                " records of the group"
            )
    if problems:
        return Finding(TIED, False, "; ".join(problems))
    told = "in every group the counts of each sensitive attribute add up to its records"
    return Finding(TIED, True, told)
