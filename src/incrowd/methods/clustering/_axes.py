"""The attributes as arrays that compiled loops read: how many values a label spans.

A cluster covers the codes low..high of an attribute. Its label is a range of numbers, or the
lowest node of the hierarchy over these codes. What it spans are the values of the domain that the
label stands for, less the one that a record has: 0 where all records agree. Spans never shrink
when low falls or high rises, which is what the index over clusters relies on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import FloatArray, IntArray, Ints
from incrowd._runtime.compiling import compiled
from incrowd.hierarchies import Hierarchy
from incrowd.methods.geometry import RANGE, TREE, geometry_of
from incrowd.methods.top_down_local.trees import level_of
from incrowd.table import Column

NODES = -2
"""In place of a missing code: labels are nodes of a hierarchy."""


class Axes(NamedTuple):
    """The axes of all attributes, padded to the widest and highest of them.

    `place[a, code]` is where a code lies on an axis of ranges; `missing[a]` the code that no
    range can hold, -1 where there is none, NODES where labels are nodes; `whole[a]` what all
    values span; `node_of[a, level, code]` covers a code and spans `spans[a, level, node]`.
    """

    place: FloatArray
    missing: IntArray
    whole: FloatArray
    node_of: npt.NDArray[np.int32]
    spans: FloatArray


def axes_of(columns: Sequence[Column], hierarchies: Sequence[Hierarchy]) -> Axes:
    """The axes of some attributes: nodes where there is a hierarchy, ranges elsewhere.

    Categories without a hierarchy have a flat one, of values and one root. Ordered categories
    without one are spanned from the lowest to the highest value.
    """
    many = len(columns)
    geometries = [
        geometry_of(column, hierarchy, "cut")
        for column, hierarchy in zip(columns, hierarchies, strict=True)
    ]
    trees = [g.hierarchy for g in geometries if g.label_kind == TREE]
    levels = max((tree.height + 1 for tree in trees), default=1)
    codes = max(column.cardinality for column in columns)
    wide = max((tree.node_of.shape[1] for tree in trees), default=1)
    made = Axes(
        np.zeros((many, codes)),
        np.full(many, -1, dtype=np.int64),
        np.array([float(max(h.total - 1, 1)) for h in hierarchies]),
        np.zeros((many, levels, wide), dtype=np.int32),
        np.zeros((many, levels, wide)),
    )
    for a, geometry in enumerate(geometries):
        if geometry.label_kind == TREE:
            high, across = geometry.hierarchy.node_of.shape
            made.node_of[a, :high, :across] = geometry.hierarchy.node_of
            for level, weights in enumerate(geometry.hierarchy.weights):
                made.spans[a, level, : len(weights)] = np.minimum(weights - 1, made.whole[a])
            made.missing[a] = NODES
        elif geometry.label_kind == RANGE:
            made.place[a, : len(geometry.positions)] = geometry.positions
            made.missing[a] = geometry.missing_code
        else:
            made.place[a] = np.arange(codes)
    return made


@compiled
def span_of(
    place: FloatArray, missing: IntArray, whole: FloatArray, node_of: Ints, spans: FloatArray,
    a: int, low: int, high: int,
) -> float:  # fmt: skip
    """How many values a label over the codes low..high stands for, less one."""
    if low == high:
        return 0.0
    if missing[a] == NODES:
        level = level_of(node_of, a, low, high)
        return float(spans[a, level, node_of[a, level, low]])
    if high == missing[a]:
        return float(whole[a])
    return float(min(whole[a], place[a, high] - place[a, low]))


@compiled
def _cluster_spans(axes: Axes, low: Ints, high: Ints, found: FloatArray) -> None:
    place, missing, whole, node_of, spans = axes
    for c in range(low.shape[0]):
        for a in range(low.shape[1]):
            found[c, a] = span_of(place, missing, whole, node_of, spans, a, low[c, a], high[c, a])


def spans_of(axes: Axes, low: npt.NDArray[np.int32], high: npt.NDArray[np.int32]) -> FloatArray:
    """What the label of every cluster spans, by cluster and attribute; hidden ones span nothing."""
    found = np.empty(low.shape)
    _cluster_spans(axes, low, high, found)
    return found
