"""What the merge of two clusters costs.

Every record of a cluster loses, in each attribute, a price for each value that its label spans. A
merge costs what its records lose more than before. A label may also be `*`, hidden, at a fixed
loss; and a label that stands for two values which a rule keeps apart costs the price of the rule,
unless both clusters have broken it before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray, Ints
from incrowd._runtime.compiling import compiled
from incrowd.methods.clustering._axes import NODES, Axes
from incrowd.methods.top_down_local.trees import level_of

HIDDEN = -1
"""In place of the codes of a cell that is hidden."""


class Boxes(NamedTuple):
    """The clusters: codes low..high of each attribute (or HIDDEN), what they span, and records.

    `span[c, a]` is what the label spans, or `Prices.star` where it is hidden.
    """

    low: npt.NDArray[np.int32]
    high: npt.NDArray[np.int32]
    span: FloatArray
    records: IntArray

    def copied(self) -> Boxes:
        """The same, to be changed."""
        return Boxes(self.low.copy(), self.high.copy(), self.span.copy(), self.records.copy())

    def first(self, many: int) -> Boxes:
        """The first so many."""
        return Boxes(self.low[:many], self.high[:many], self.span[:many], self.records[:many])


class Prices(NamedTuple):
    """What is to be paid: per value and record, for a hidden cell, and for a broken rule.

    Labels that span D values more, summed over records, cost rate D / (1 + bend D). `star[a]` is
    the span that a hidden cell counts for, infinite where nothing may be hidden.
    The rules of attribute a are those from `rules[a]` to `rules[a + 1]`, each with the codes that
    it keeps apart, `first` below `second`. Without `per_record` a merge costs what the merged label
    spans, once.
    """

    rate: FloatArray
    bend: FloatArray
    star: FloatArray
    per_record: bool
    rules: IntArray
    first: IntArray
    second: IntArray
    price: FloatArray


@compiled
def _find_broken(
    missing: IntArray,
    node_of: Ints,
    prices: Prices,
    low: Ints,
    high: Ints,
    broken: BoolArray,
) -> None:
    for a in range(low.shape[1]):
        for r in range(prices.rules[a], prices.rules[a + 1]):
            first, second = prices.first[r], prices.second[r]
            for c in range(low.shape[0]):
                if low[c, a] == high[c, a]:
                    continue
                if missing[a] == NODES:
                    level = level_of(node_of, a, low[c, a], high[c, a])
                    node = node_of[a, level, low[c, a]]
                    broken[c, r] = (
                        node_of[a, level, first] == node and node_of[a, level, second] == node
                    )
                elif high[c, a] == missing[a]:
                    broken[c, r] = True
                else:
                    broken[c, r] = low[c, a] <= first and second <= high[c, a]


def broken_by(axes: Axes, prices: Prices, boxes: Boxes) -> BoolArray:
    """Which rules every cluster breaks, by cluster and rule."""
    broken = np.zeros((len(boxes.records), len(prices.price)), dtype=np.bool_)
    _find_broken(axes.missing, axes.node_of, prices, boxes.low, boxes.high, broken)
    return broken
