"""What the nodes of a tree show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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
    code = int(np.searchsorted(hierarchy.node_of[level], number))
    if code == column.missing_code:
        return None
    if level == 0:
        return plain_label(column.values[code])
    label: str = hierarchy.labels[level][number]
    return label
