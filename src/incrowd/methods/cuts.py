"""Where a group can be cut in two along one attribute, and which cut leaves the least loss.

The values of a group are lined up (in their order, most frequent first, or subtree by subtree)
and cut once. Lining up by frequency is optimal for set labels where no half is too small: with a
values on one side and b on the other, the loss n_a (a - 1) + n_b (b - 1) is least, for a <= b, when
n_a is largest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd._runtime.compiling import compiled
from incrowd.counts import NodeHistograms, Splits
from incrowd.methods.geometry import Geometry

_TIE = 1e-12


@dataclass(frozen=True)
class LinedUp:
    """The values of nodes lined up for a cut: codes, running counts, where a cut may be.

    Position i of a node cuts after its entry i; `allowed` says whether it may (the last never).
    """

    nodes: IntArray
    attribute: int
    offsets: IntArray
    codes: IntArray
    running: IntArray
    allowed: BoolArray
    geometry: Geometry

    def best(self, first: IntArray, last: IntArray) -> IntArray:
        """For each node the allowed position in first..last with the least loss, or -1."""
        g = self.geometry
        best = np.empty(len(self.nodes), dtype=np.int64)
        price = _CellPrice(
            g.label_kind, g.positions, g.missing_code, g.denominator, g.node_of, g.node_losses
        )
        _best_cuts(self.offsets, self.codes, self.running, self.allowed, first, last, price, best)
        return best

    def within_sizes(self, smallest: IntArray | int) -> tuple[IntArray, IntArray]:
        """The first and last position that leave both halves at least `smallest` records.

        One number for all nodes, or one for each.
        """
        first = np.empty(len(self.nodes), dtype=np.int64)
        last = np.empty(len(self.nodes), dtype=np.int64)
        least = np.ascontiguousarray(np.broadcast_to(smallest, len(self.nodes)), dtype=np.int64)
        _size_bracket(self.offsets, self.running, least, first, last)
        return first, last

    def splits(self, chosen: IntArray, positions: IntArray) -> Splits:
        """The splits of the chosen nodes (by their place in `nodes`) at these positions."""
        lengths = positions + 1
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        source = np.repeat(self.offsets[chosen] - offsets[:-1], lengths) + np.arange(offsets[-1])
        attributes = np.full(len(chosen), self.attribute, dtype=np.int64)
        return Splits(self.nodes[chosen], attributes, offsets, self.codes[source])


def line_up(
    nodes: IntArray, attribute: int, histograms: NodeHistograms, geometry: Geometry,
    order_kind: int | None = None,
) -> LinedUp:  # fmt: skip
    """The values of each node in the order in which a cut divides them."""
    codes = histograms.codes.copy()
    counts = histograms.counts.copy()
    allowed = np.ones(len(codes), dtype=np.bool_)
    kind = geometry.order_kind if order_kind is None else order_kind
    if kind != 0:
        _sort_entries(kind, histograms.offsets, codes, counts, allowed, geometry.node_of)
    running = np.empty(len(codes), dtype=np.int64)
    _accumulate(histograms.offsets, counts, running, allowed)
    return LinedUp(nodes, attribute, histograms.offsets, codes, running, allowed, geometry)


@compiled
def _accumulate(offsets: IntArray, counts: IntArray, running: IntArray, allowed: BoolArray) -> None:
    for node in range(len(offsets) - 1):
        total = 0
        for i in range(offsets[node], offsets[node + 1]):
            total += counts[i]
            running[i] = total
        if offsets[node + 1] > offsets[node]:
            allowed[offsets[node + 1] - 1] = False


@compiled
def _size_bracket(
    offsets: IntArray, running: IntArray, smallest: IntArray, first: IntArray, last: IntArray
) -> None:
    for node in range(len(offsets) - 1):
        begin, end = offsets[node], offsets[node + 1]
        total = running[end - 1] if end > begin else 0
        first[node], last[node] = end - begin, -1
        for i in range(begin, end - 1):
            if running[i] >= smallest[node] and total - running[i] >= smallest[node]:
                first[node] = min(first[node], i - begin)
                last[node] = i - begin


@compiled
def _sort_entries(
    kind: int, offsets: IntArray, codes: IntArray, counts: IntArray, allowed: BoolArray,
    node_of: IntArray,
) -> None:  # fmt: skip
    """Line up by frequency (1), or by subtrees of the lowest common node, the fullest first (2)."""
    for node in range(len(offsets) - 1):
        begin, end = offsets[node], offsets[node + 1]
        size = end - begin
        if size < 2:
            continue
        child = np.arange(size)
        if kind == 2:
            level = 0
            while node_of[level, codes[begin]] != node_of[level, codes[end - 1]]:
                level += 1
            child = node_of[level - 1][codes[begin:end]] - node_of[level - 1, codes[begin]]
        weight = np.zeros(child[size - 1] + 1, np.int64)
        for i in range(size):
            weight[child[i]] += counts[begin + i]
        # Equal weights of different subtrees must not interleave.
        order = np.argsort(child - weight[child] * (len(weight) + 1), kind="mergesort")
        codes[begin:end] = codes[begin:end][order]
        counts[begin:end] = counts[begin:end][order]
        allowed[begin : end - 1] = child[order[:-1]] != child[order[1:]]


class _CellPrice(NamedTuple):
    """What a cell costs that shows some codes, by the kind of its label; see `Geometry`."""

    label_kind: int
    positions: FloatArray
    missing_code: int
    denominator: float
    node_of: IntArray
    node_losses: FloatArray


@compiled
def _cell_loss(price: _CellPrice, low: int, high: int, distinct: int) -> float:
    label_kind, positions, missing_code, denominator, node_of, node_losses = price
    if label_kind == 1:
        return (distinct - 1) / denominator
    if label_kind == 0:
        if high == missing_code and low != high:
            return 1.0
        return float(min(1.0, (positions[high] - positions[low]) / denominator))
    level = 0
    while node_of[level, low] != node_of[level, high]:
        level += 1
    return float(node_losses[level, node_of[level, low]])


@compiled
def _best_cuts(
    offsets: IntArray, codes: IntArray, running: IntArray, allowed: BoolArray, first: IntArray,
    last: IntArray, price: _CellPrice, best: IntArray,
) -> None:  # fmt: skip
    for node in range(len(offsets) - 1):
        begin, end = offsets[node], offsets[node + 1]
        size = end - begin
        best[node] = -1
        if size < 2 or first[node] > last[node]:
            continue
        total = running[end - 1]
        least_right = np.empty(size, np.int64)
        most_right = np.empty(size, np.int64)
        least_right[size - 1] = most_right[size - 1] = codes[end - 1]
        for i in range(size - 2, -1, -1):
            least_right[i] = min(least_right[i + 1], codes[begin + i])
            most_right[i] = max(most_right[i + 1], codes[begin + i])
        low = high = codes[begin]
        least, balance = np.inf, -1
        for i in range(min(size - 1, last[node] + 1)):
            low, high = min(low, codes[begin + i]), max(high, codes[begin + i])
            if i < first[node] or not allowed[begin + i]:
                continue
            left = running[begin + i]
            right = total - left
            loss = left * _cell_loss(price, low, high, i + 1) + right * _cell_loss(
                price, least_right[i + 1], most_right[i + 1], size - i - 1
            )
            smaller = min(left, right)
            if loss < least - _TIE or (loss < least + _TIE and smaller > balance):
                least, balance = loss, smaller
                best[node] = i
