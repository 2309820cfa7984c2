"""What groups show of an attribute that is generalized to one level for all records alike."""

from __future__ import annotations

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.hierarchies import Hierarchy
from incrowd.hierarchies.labels import Plain, parse, plain_label
from incrowd.labels import missing_first
from incrowd.methods.base import CellLabels
from incrowd.table import Column


def level_cells(
    column: Column, hierarchy: Hierarchy, level: int, node_of_group: IntArray
) -> CellLabels:
    """The labels of groups generalized to a level, from the node that each group is under."""
    label_of_node = [
        _label(column, hierarchy, level, node) for node in range(len(hierarchy.labels[level]))
    ]
    texts = sorted(set(label_of_node), key=missing_first)
    place = {text: i for i, text in enumerate(texts)}
    text_of_node = np.array([place[label] for label in label_of_node], dtype=np.int64)
    return CellLabels(
        tuple(texts), text_of_node[node_of_group], hierarchy.losses()[level][node_of_group]
    )


def _label(column: Column, hierarchy: Hierarchy, level: int, node: int) -> str | None:
    """The text of a node, None for missing cells.

    A node that stands for one value of the domain and has no name of its own, or one that would
    be read as a range or a set, shows the value.
    """
    code = int(np.searchsorted(hierarchy.node_of[level], node))
    if code == column.missing_code and level < hierarchy.height:
        return None
    if level == 0:
        return plain_label(column.values[code])
    label = hierarchy.labels[level][node]
    alone = hierarchy.weights[level][node] == 1 and level < hierarchy.height
    if alone and (label == column.values[code] or not isinstance(parse(label), Plain)):
        return plain_label(column.values[code])
    return label
