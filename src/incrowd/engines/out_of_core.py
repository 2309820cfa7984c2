"""A table whose rows stay in an SQL engine: what is done to rows in memory elsewhere, done there.

Each of its columns has one row for every code that occurs, with the number of its records.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from incrowd.counts.sql.home import SqlCounts
from incrowd.errors import EngineError, SourceError
from incrowd.privacy.joint import JointColumn, joint_name
from incrowd.table import Column, Table, Tally, narrow

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
        raise EngineError(
            f"{policy.method.name} deals single records, and these have more distinct rows than "
            "`memory:` allows. Allow more, publish fewer columns, or take mondrian with the same "
            "`publish:`."
        )


def recoded_rows(table: Table) -> Table:
    """The table with its rows in the codes of its columns."""
    assert table.home is not None
    home = table.home.recoded({column.name: column.lookup() for column in table.columns})
    columns = []
    for column in table.columns:
        codes = np.arange(column.cardinality)
        columns.append(
            replace(
                column,
                codes=narrow(codes, column.cardinality),
                tally=Tally(column.counts(), np.zeros(len(codes), dtype=np.int64)),
                elsewhere=codes,
            )
        )
    return replace(table, columns=tuple(columns), home=home, _by_name={})


def with_joint(
    table: Table, models: Iterable[PrivacyModel]
) -> tuple[Table, dict[str, JointColumn]]:
    """The table whose rows also have the combinations that models count, and their columns."""
    joint: dict[str, JointColumn] = {}
    for model in models:
        names = model.sensitive_attributes
        if model.counts_jointly and joint_name(names) not in joint:
            assert table.home is not None
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
                elsewhere=codes,
                parts=parts,
            )
    return table, joint


def complete_rows(table: Table, name: str) -> Table:
    """The records in which no quasi-identifier is missing."""
    assert table.home is not None
    lacking = []
    for column in table.of_role("quasi"):
        assert column.elsewhere is not None
        if column.missing:
            codes = column.elsewhere[column.codes == column.missing_code]
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
    counts = home.counts()
    columns = tuple(occurring(column, counts[column.name]) for column in table.columns)
    dropped = table.records - records
    return replace(
        table, columns=columns, records=records, home=home, missing_dropped=dropped, _by_name={}
    )


def published_outside(table: Table, groups: SqlGroups) -> Table:
    """The table of the records that are not suppressed."""
    with groups.published() as source:
        counts = groups.rows.counts(within=source)
    columns = [occurring(column, counts[column.name]) for column in table.columns]
    records = int(columns[0].counts().sum())
    return replace(table, columns=tuple(columns), records=records, _by_name={})


def occurring(column: Column, found: CodeCounts) -> Column:
    """The column of the codes elsewhere that still occur, with the records of each."""
    assert column.elsewhere is not None
    assert column.tally is not None
    rows = np.isin(column.elsewhere, found.codes)
    kept = column.take(rows)
    assert kept.elsewhere is not None
    weights = found.records[np.searchsorted(found.codes, kept.elsewhere)]
    missing = kept.codes == len(kept.values)
    assert kept.tally is not None
    return replace(
        kept,
        tally=Tally(weights, kept.tally.first),
        missing=int(weights[missing].sum()) if column.missing else 0,
    )
