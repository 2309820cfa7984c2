"""What a release says once records were suppressed: as if they had never been there.

Domains and hierarchies that are made from the data know the values of suppressed records. Their
numbers and labels would give such values away, so groups are labelled anew from the records that
are published. Groups stay as they are, or are joined where labels become equal, and the models are
monotone: privacy is kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from incrowd.counts import NodeHistograms
from incrowd.counts.packing import Numbers, distinct_rows
from incrowd.methods.base import Outcome, joined_groups
from incrowd.methods.geometry import geometry_of
from incrowd.preparation import with_hierarchies

if TYPE_CHECKING:
    from incrowd.policy import Policy
    from incrowd.preparation import Prepared
    from incrowd.table import Column


def without_suppressed(
    prepared: Prepared, policy: Policy, outcome: Outcome
) -> tuple[Prepared, Outcome]:
    """The published records alone, with hierarchies and labels made from them."""
    kept = outcome.group_of_record >= 0
    labels = policy.method.label_mode
    table, hierarchies = with_hierarchies(prepared.table.take(kept), policy)
    group = outcome.group_of_record[kept]
    sizes = outcome.group_sizes
    relabelled = {
        column.name: geometry_of(column, hierarchies[column.name], labels).labels(
            _histograms(column, group, len(sizes))
        )
        for column in table.of_role("quasi")
    }
    return (
        replace(prepared, table=table, hierarchies=hierarchies),
        replace(
            joined_groups(group, relabelled, sizes),
            suppressed=outcome.suppressed,
            how=outcome.how,
        ),
    )


def _histograms(column: Column, group: Numbers, groups: int) -> NodeHistograms:
    """The codes of a column that occur in each group."""
    pair, first = distinct_rows([group, column.codes], [groups, column.cardinality], len(group))
    per_group = np.bincount(group[first], minlength=groups)
    return NodeHistograms(
        np.concatenate(([0], np.cumsum(per_group))),
        column.codes[first].astype(np.int64),
        np.bincount(pair),
    )
