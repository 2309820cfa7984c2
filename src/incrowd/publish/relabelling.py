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

from incrowd.counts.placed import placed
from incrowd.engines.preparation import Prepared, with_hierarchies
from incrowd.hierarchies import Hierarchy
from incrowd.methods.base import Outcome, joined_groups
from incrowd.methods.geometry import geometry_of
from incrowd.methods.lattice.labels import level_cells
from incrowd.policy import Policy
from incrowd.publish._engine_histories import published_profiles
from incrowd.table import Table
from incrowd.table.coding import seen_again
from incrowd.table.sql_histories import AnyHistories, SqlHistories


def without_suppressed(
    prepared: Prepared, policy: Policy, outcome: Outcome
) -> tuple[Prepared, Outcome]:
    """The published records alone, with hierarchies and labels made from them."""
    labels = policy.method.label_mode
    sizes = outcome.group_sizes
    published, group = placed(prepared.table, outcome.group_of_record, len(sizes)).published()
    table, hierarchies = with_hierarchies(_seen_again(published, policy), policy)
    groups = placed(table, group, len(sizes))
    relabelled = {}
    for column in table.of_role("quasi"):
        name, hierarchy = column.name, hierarchies[column.name]
        found = groups.histograms(name)
        level = outcome.levels.get(name)
        if level is not None and _same_levels(hierarchy, prepared.hierarchies[name]):
            nodes = hierarchy.node_of[level][found.codes[found.offsets[:-1]]]
            relabelled[name] = level_cells(column, hierarchy, level, nodes)
        else:
            relabelled[name] = geometry_of(column, hierarchy, labels).labels(found)
    return (
        replace(
            prepared,
            table=table,
            hierarchies=hierarchies,
            histories=_of_published(prepared, outcome),
        ),
        replace(
            joined_groups(group, relabelled, sizes, int(sizes.sum())),
            suppressed=outcome.suppressed,
            how=outcome.how,
            levels=outcome.levels,
        ),
    )


def _of_published(prepared: Prepared, outcome: Outcome) -> AnyHistories | None:
    """The rows of the patients who are not suppressed."""
    histories, group = prepared.histories, outcome.group_of_record
    if isinstance(histories, SqlHistories):
        with published_profiles(histories, group) as source:
            profile = histories.profile
            if profile is not None:
                profile = profile[np.asarray(group) >= 0]
            return histories.of_profiles(source, profile)
    return None if histories is None else histories.of_patients(np.asarray(group) >= 0)


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
