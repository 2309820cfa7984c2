"""A table whose rows stay in an SQL engine: what is done to rows in memory elsewhere, done there.

Each of its columns has one row for every code that occurs, with the number of its records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from incrowd.counts.sql.home import SqlCounts
from incrowd.errors import EngineError, SourceError
from incrowd.methods.registry import METHOD_OPTIONS
from incrowd.privacy.joint import JointColumn, joint_name
from incrowd.table import Tally, narrow
from incrowd.table.elsewhere import RowsElsewhere

if TYPE_CHECKING:
    from incrowd.counts.sql.groups import SqlGroups
    from incrowd.policy import Policy
    from incrowd.privacy import PrivacyModel
    from incrowd.table.sql_rows import CodeCounts


def refuse_records(policy: Policy) -> None:
    """Refuse what needs the records themselves, with what can run."""
    jointly = [model.name for model in policy.privacy if model.counts_jointly]
    if jointly and policy.publish == "anatomy":
        raise EngineError(
            f"Whether a release as anatomy keeps {jointly[0]} is judged beside the records, and "
            "these have more distinct rows than `memory:` allows. Allow more, publish fewer "
            "columns, or say `publish: generalized`."
        )
    if not policy.method.runs_on(SqlCounts):
        able = next(name for name, each in METHOD_OPTIONS.items() if each.runs_on(SqlCounts))
        raise EngineError(
            f"{policy.method.name} deals single records, and these have more distinct rows than "
            f"`memory:` allows. Allow more, publish fewer columns, or take {able} with the same "
            "`publish:`."
        )


def recoded_rows(table: RowsElsewhere) -> RowsElsewhere:
    """The table with its rows in the codes of its columns."""
    home = table.home.recoded({column.name: table.lookup(column.name) for column in table.columns})
    columns, new = [], {}
    for column in table.columns:
        codes = new[column.name] = np.arange(column.cardinality)
        columns.append(
            replace(
                column,
                codes=narrow(codes, column.cardinality),
                tally=Tally(column.counts(), np.zeros(len(codes), dtype=np.int64)),
            )
        )
    return replace(table, columns=tuple(columns), home=home, codes=new, _by_name={})


def with_joint(
    table: RowsElsewhere, models: Iterable[PrivacyModel]
) -> tuple[RowsElsewhere, dict[str, JointColumn]]:
    """The table whose rows also have the combinations that models count, and their columns."""
    joint: dict[str, JointColumn] = {}
    for model in models:
        names = model.sensitive_attributes
        if model.counts_jointly and joint_name(names) not in joint:
            home, parts, counts = table.home.with_combinations(joint_name(names), names)
            table = replace(table, home=home, _by_name={})
            codes = np.arange(len(parts))
            joint[joint_name(names)] = JointColumn(
                joint_name(names),
                "sensitive",
                "category",
                narrow(codes, len(parts)),
                tuple(map(str, codes.tolist())),
                tally=Tally(counts, np.zeros(len(parts), dtype=np.int64)),
                parts=parts,
            )
    return table, joint


def complete_rows(table: RowsElsewhere, name: str) -> RowsElsewhere:
    """The records in which no quasi-identifier is missing."""
    lacking = []
    for column in table.of_role("quasi"):
        if column.missing:
            codes = table.codes[column.name][column.codes == column.missing_code]
            listed = ", ".join(map(str, codes.tolist()))
            lacking.append(f"{table.home.sql_name(column.name)} NOT IN ({listed})")
    if not lacking:
        return table
    engine, complete = table.home.engine, table.home.engine.fresh("complete")
    engine.keep(complete, f"SELECT * FROM {table.home.table} WHERE {' AND '.join(lacking)}")
    engine.drop(table.home.table)
    home = replace(table.home, table=complete)
    records = home.records()
    if records == 0:
        raise SourceError(
            f"{name}: every record lacks a quasi-identifier, and `missing: drop` drops them all."
        )
    dropped = table.records - records
    return replace(occurring(table, home.counts()), home=home, missing_dropped=dropped, _by_name={})


def published_outside(table: RowsElsewhere, groups: SqlGroups) -> RowsElsewhere:
    """The table of the records that are not suppressed."""
    with groups.published() as source:
        return occurring(table, groups.rows.counts(within=source))


def occurring(table: RowsElsewhere, found: Mapping[str, CodeCounts]) -> RowsElsewhere:
    """The table of the codes that still occur in the engine, with the records of each."""
    columns, codes = [], {}
    for column in table.columns:
        still = found[column.name]
        rows = np.isin(table.codes[column.name], still.codes)
        codes[column.name] = there = table.codes[column.name][rows]
        weights = still.records[np.searchsorted(still.codes, there)]
        kept = column.take(rows)
        assert kept.tally is not None
        missing = int(weights[kept.codes == len(kept.values)].sum()) if column.missing else 0
        columns.append(replace(kept, tally=Tally(weights, kept.tally.first), missing=missing))
    records = int(columns[0].counts().sum())
    return replace(table, columns=tuple(columns), records=records, codes=codes, _by_name={})
