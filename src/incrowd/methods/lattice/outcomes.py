"""The groups and labels of a node of the lattice, as a method gives them back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from incrowd.methods.base import Outcome, RowTask, Task, joined_groups
from incrowd.methods.lattice.labels import level_cells
from incrowd.methods.lattice.rollup import FrequencySets, Levels


def node_outcome(task: RowTask, sets: FrequencySets, levels: Levels, smallest: int = 1) -> Outcome:
    """The outcome of one level for each attribute; groups below a size are suppressed."""
    rolled = sets.at(levels)
    kept = np.flatnonzero(rolled.sizes >= smallest)
    group_of_group = np.full(len(rolled), -1, dtype=np.int64)
    group_of_group[kept] = np.arange(len(kept))
    labels, recoding = {}, {}
    codes = np.empty((len(rolled), len(task.columns)), dtype=np.int64)
    for attribute, column in enumerate(task.columns):
        hierarchy, level = task.hierarchies[column.name], levels[attribute]
        codes[:, attribute] = sets.nodes_of(attribute, rolled)
        recoding[column.name] = hierarchy.node_of[level].astype(np.int64)
        labels[column.name] = level_cells(column, hierarchy, level, codes[kept, attribute])
    groups = task.counts.groups_of(recoding, codes, group_of_group)
    outcome = joined_groups(groups, labels, rolled.sizes[kept], task.counts.records)
    by_name = named(task, levels)
    told = _told(task, by_name)
    return replace(outcome, how={"levels": told}, levels=by_name)


def named(task: Task, levels: Levels) -> dict[str, int]:
    """The level of every attribute at a node, by name."""
    return dict(zip((column.name for column in task.columns), levels, strict=True))


def _told(task: Task, levels: Mapping[str, int]) -> str:
    """The levels that may be told to all who get the release.

    A hierarchy made from the data has as many levels as its values are many and its records
    spread: that is not published, and some of them may be dropped.
    """
    return ", ".join(
        f"{name}: {level}"
        for name, level in levels.items()
        if task.hierarchies[name].kind != "auto"
    )
