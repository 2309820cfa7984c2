"""What a release says once records were suppressed: as if they had never been there.

Domains and hierarchies that are made from the data know the values of suppressed records. Their
numbers and labels would give such values away, so groups are labelled anew from the records that
are published: at the level they had where all records show one level of a hierarchy, else as
tightly as can be. Groups stay as they are, or are joined where labels become equal, and the models
are monotone: privacy is kept.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from incrowd.counts import NodeHistograms
from incrowd.counts.histograms import counted
from incrowd.counts.placement import GroupOfRecord
from incrowd.counts.sql.groups import SqlGroups
from incrowd.engines.out_of_core import published_outside
from incrowd.engines.preparation import Prepared, with_hierarchies
from incrowd.hierarchies import Hierarchy
from incrowd.methods.base import Outcome, joined_groups
from incrowd.methods.geometry import geometry_of
from incrowd.methods.lattice.labels import level_cells
from incrowd.policy import Policy
from incrowd.table import Column, Table
from incrowd.table.coding import seen_again
from incrowd.table.elsewhere import RowsElsewhere


def without_suppressed(
    prepared: Prepared, policy: Policy, outcome: Outcome
) -> tuple[Prepared, Outcome]:
    """The published records alone, with hierarchies and labels made from them."""
    labels = policy.method.label_mode
    published, group = _published(prepared.table, outcome.group_of_record)
    table, hierarchies = with_hierarchies(_seen_again(published, policy), policy)
    sizes = outcome.group_sizes
    relabelled = {}
    for column in table.of_role("quasi"):
        name, hierarchy = column.name, hierarchies[column.name]
        found = _histograms(table, column, group, len(sizes))
        level = outcome.levels.get(name)
        if level is not None and _same_levels(hierarchy, prepared.hierarchies[name]):
            nodes = hierarchy.node_of[level][found.codes[found.offsets[:-1]]]
            relabelled[name] = level_cells(column, hierarchy, level, nodes)
        else:
            relabelled[name] = geometry_of(column, hierarchy, labels).labels(found)
    return (
        replace(prepared, table=table, hierarchies=hierarchies),
        replace(
            joined_groups(group, relabelled, sizes, int(sizes.sum())),
            suppressed=outcome.suppressed,
            how=outcome.how,
            levels=outcome.levels,
        ),
    )


def _seen_again(table: Table, policy: Policy) -> Table:
    """The table with the types of columns that no method looked at as its own records have them.

    The types of quasi-identifiers decided how they were generalized: they stay.
    """
    columns = []
    for column in table.of_role("sensitive", "target"):
        asked = policy.attributes[column.name]
        if asked.type is None and asked.order is None and asked.hierarchy is None:
            columns.append(seen_again(column))
    return table.with_columns(columns)


def _same_levels(made: Hierarchy, before: Hierarchy) -> bool:
    """Whether a level means the same in the hierarchy of the published records alone."""
    return made.kind == before.kind != "auto" and made.height == before.height


def _published(table: Table, group: GroupOfRecord) -> tuple[Table, GroupOfRecord]:
    """The table of the records that are published, and the group of each."""
    if isinstance(group, SqlGroups) and isinstance(table, RowsElsewhere):
        return published_outside(table, group), group
    assert isinstance(group, np.ndarray)
    kept = group >= 0
    return table.take(kept), group[kept]


def _histograms(table: Table, column: Column, group: GroupOfRecord, groups: int) -> NodeHistograms:
    """The codes of a column that occur in each group."""
    if isinstance(group, SqlGroups) and isinstance(table, RowsElsewhere):
        entries = group.histograms(column.name, groups)
        place = np.repeat(np.arange(groups), np.diff(entries.offsets))
        codes = table.lookup(column.name)[entries.codes]
        return counted(place, groups, codes, column.cardinality, entries.counts)
    assert isinstance(group, np.ndarray)
    return counted(group, groups, column.codes, column.cardinality)
