"""The hierarchies of all attributes as arrays that compiled loops read, and what groups must keep.

Codes follow the tree, so the lowest node that covers some codes is the lowest that covers the
smallest and the largest of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import FloatArray, IntArray, Ints
from incrowd._runtime.compiling import compiled
from incrowd.hierarchies import Hierarchy


@dataclass(frozen=True)
class Trees:
    """`node_of[attribute, level, code]` covers a code, and costs `loss[attribute, level, node]`."""

    node_of: npt.NDArray[np.int32]
    loss: FloatArray


@dataclass(frozen=True)
class Needs:
    """What a group must have: `records`, and `values[i]` different values of sensitive column i.

    A value of 0 asks for nothing.
    """

    records: int
    values: IntArray


def trees_of(hierarchies: Sequence[Hierarchy]) -> Trees:
    """The arrays of some hierarchies, padded to the highest and widest of them."""
    levels = max(hierarchy.height for hierarchy in hierarchies) + 1
    codes = max(hierarchy.node_of.shape[1] for hierarchy in hierarchies)
    node_of = np.zeros((len(hierarchies), levels, codes), dtype=np.int32)
    loss = np.ones((len(hierarchies), levels, codes))
    for at, hierarchy in enumerate(hierarchies):
        high, wide = hierarchy.node_of.shape
        node_of[at, :high, :wide] = hierarchy.node_of
        loss[at, :high, :wide] = hierarchy.losses()
    return Trees(node_of, loss)


@compiled
def level_of(node_of: Ints, attribute: int, low: int, high: int) -> int:
    """The level of the lowest node that covers the codes low..high."""
    level = 0
    while node_of[attribute, level, low] != node_of[attribute, level, high]:
        level += 1
    return level


@compiled
def loss_of(node_of: Ints, loss: FloatArray, attribute: int, low: int, high: int) -> float:
    """What a cell loses that shows the lowest node over the codes low..high."""
    level = level_of(node_of, attribute, low, high)
    return float(loss[attribute, level, node_of[attribute, level, low]])
