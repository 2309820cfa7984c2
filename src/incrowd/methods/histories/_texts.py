"""What the nodes of a tree show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd.hierarchies import ROOT_LABEL
from incrowd.hierarchies.labels import plain_label

if TYPE_CHECKING:
    from incrowd.hierarchies import Hierarchy
    from incrowd.table import Column


def label_of(column: Column, hierarchy: Hierarchy, level: int, number: int) -> str | None:
    """The text of a node of a hierarchy, None for missing cells; that of the root is `*`.

    So readers, who know no hierarchy, tell what says nothing from what says something.
    """
    if level == hierarchy.height:
        return ROOT_LABEL
    if level == 0:
        return None if number == column.missing_code else plain_label(column.values[number])
    label: str = hierarchy.labels[level][number]
    return label
