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
from incrowd.counts.sql.groups import published_profiles
from incrowd.engines.preparation import Prepared, with_hierarchies
from incrowd.engines.seen_types import histories_seen_again, table_seen_again
from incrowd.hierarchies import Hierarchy
from incrowd.methods.base import Outcome, joined_groups
from incrowd.methods.geometry import geometry_of
from incrowd.methods.lattice.labels import level_cells
from incrowd.policy import Policy
from incrowd.table.sql_histories import AnyHistories, SqlHistories


def without_suppressed(
    prepared: Prepared, policy: Policy, outcome: Outcome
) -> tuple[Prepared, Outcome]:
    """The published records alone, with hierarchies and labels made from them."""
    labels = policy.method.label_mode
    sizes = outcome.group_sizes
    published, group = placed(prepared.table, outcome.group_of_record, len(sizes)).published()
    table, hierarchies = with_hierarchies(table_seen_again(published, policy), policy)
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
            histories=_of_published(prepared, policy, outcome),
        ),
        replace(
            joined_groups(group, relabelled, sizes, int(sizes.sum())),
            suppressed=outcome.suppressed,
            how=outcome.how,
            levels=outcome.levels,
        ),
    )


def _of_published(prepared: Prepared, policy: Policy, outcome: Outcome) -> AnyHistories | None:
    """The rows of the patients who are not suppressed, with types of their own as well."""
    histories = prepared.histories
    if histories is None:
        return None
    return histories_seen_again(_rows_left(histories, outcome), policy)


def _rows_left(histories: AnyHistories, outcome: Outcome) -> AnyHistories:
    group = outcome.group_of_record
    if isinstance(histories, SqlHistories):
        with published_profiles(histories, group) as source:
            profile = histories.profile
            if profile is not None:
                profile = profile[np.asarray(group) >= 0]
            return histories.of_profiles(source, profile)
    return histories.of_patients(np.asarray(group) >= 0)


def _same_levels(made: Hierarchy, before: Hierarchy) -> bool:
    """Whether a level means the same in the hierarchy of the published records alone."""
    return made.kind == before.kind != "auto" and made.height == before.height
