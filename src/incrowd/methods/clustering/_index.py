"""An index over clusters: a k-d tree over their middles.

Every node knows, of each attribute, how late its clusters begin at most, how early they end at
least, and the widest of their spans: enough to say what a merge with any of them costs at least.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray, Ints
from incrowd._runtime.compiling import compiled
from incrowd.methods.clustering._axes import Axes, span_of
from incrowd.methods.clustering._costs import Boxes, Prices

_LEAF = 12
"""Clusters in a leaf, at most."""


class Index(NamedTuple):
    """The nodes of the tree: node n has children 2n + 1 and 2n + 2, or is a leaf.

    The clusters of a node are `order[start[n]:end[n]]`; a node that was never made has none.
    """

    order: IntArray
    start: IntArray
    end: IntArray
    leaf: BoolArray
    latest: npt.NDArray[np.int32]
    earliest: npt.NDArray[np.int32]
    widest: FloatArray
    fewest: IntArray


def index_of(axes: Axes, prices: Prices, boxes: Boxes, *, flat: bool = False) -> Index:
    """The tree over clusters; a single leaf with all of them where it is to be `flat`.

    O(d c log^2 c) for c clusters over d attributes.
    """
    clusters, width = boxes.low.shape
    depth = 0
    while not flat and (clusters >> depth) > _LEAF:
        depth += 1
    nodes = (2 << depth) - 1
    made = Index(
        np.arange(clusters, dtype=np.int64),
        np.zeros(nodes, dtype=np.int64),
        np.zeros(nodes, dtype=np.int64),
        np.zeros(nodes, dtype=np.bool_),
        np.zeros((nodes, width), dtype=np.int32),
        np.zeros((nodes, width), dtype=np.int32),
        np.zeros((nodes, width)),
        np.zeros(nodes, dtype=np.int64),
    )
    _build(axes, prices, boxes, made)
    return made


@compiled
def _summarize(boxes: Boxes, index: Index, node: int) -> None:
    """Write what a node knows of its clusters."""
    lows, highs, span, records = boxes
    order, latest, earliest = index.order, index.latest, index.earliest
    widest, fewest = index.widest, index.fewest
    begin, stop = index.start[node], index.end[node]
    fewest[node] = records[order[begin]]
    for a in range(lows.shape[1]):
        latest[node, a] = lows[order[begin], a]
        earliest[node, a] = highs[order[begin], a]
    for at in range(begin, stop):
        c = order[at]
        fewest[node] = min(fewest[node], records[c])
        for a in range(lows.shape[1]):
            latest[node, a] = max(latest[node, a], lows[c, a])
            earliest[node, a] = min(earliest[node, a], highs[c, a])
            widest[node, a] = max(widest[node, a], span[c, a])


@compiled
def _split_attribute(axes: Axes, rate: FloatArray, lows: Ints, highs: Ints, some: IntArray) -> int:
    """The attribute over which the middles of some clusters lie furthest apart, or -1."""
    place, missing, whole, node_of, spans = axes
    best, furthest = -1, 0.0
    for a in range(lows.shape[1]):
        least = most = (lows[some[0], a] + highs[some[0], a]) // 2
        for c in some:
            middle = (lows[c, a] + highs[c, a]) // 2
            least, most = min(least, middle), max(most, middle)
        if most > least:
            apart = rate[a] * span_of(place, missing, whole, node_of, spans, a, max(least, 0), most)
            if apart > furthest or best < 0:
                best, furthest = a, apart
    return best


@compiled
def _build(axes: Axes, prices: Prices, boxes: Boxes, index: Index) -> None:
    """Halve nodes at the median of one attribute until they are leaves."""
    lows, highs, rate = boxes.low, boxes.high, prices.rate
    order, start, end = index.order, index.start, index.end
    end[0] = len(order)
    for node in range(len(start)):
        begin, stop = start[node], end[node]
        if stop == begin:
            continue
        _summarize(boxes, index, node)
        some = order[begin:stop].copy()
        a = -1
        if stop - begin > _LEAF and 2 * node + 2 < len(start):
            a = _split_attribute(axes, rate, lows, highs, some)
        if a < 0:
            index.leaf[node] = True
            continue
        middles = lows[:, a][some] + highs[:, a][some]
        order[begin:stop] = some[np.argsort(middles, kind="mergesort")]
        middle = (begin + stop) // 2
        start[2 * node + 1], end[2 * node + 1] = begin, middle
        start[2 * node + 2], end[2 * node + 2] = middle, stop
