"""What spans, hidden cells and broken rules cost under each distance, given the clusters so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd.methods.clustering import Distance
from incrowd.methods.clustering._axes import NODES, Axes
from incrowd.methods.clustering._costs import HIDDEN, Boxes, Prices, broken_by
from incrowd.research.rules import Interest
from incrowd.table import Column

Amounts = tuple[FloatArray, FloatArray]
"""For each attribute the records that show it, and the sum of what their labels stand for."""


@dataclass(frozen=True)
class Pricing:
    """A distance over some attributes.

    `euclidean`
        What the label of the merged cluster spans, summed over attributes as they are.
    `ncp`
        The share of the domain that labels span, times the weight of the attribute, summed over
        all records: what the merge adds to it.
    `research-value`
        What the merge takes from the research value of the table. Of numbers and dates it is
        w T^2 / (N sum R N), where labels of N records span R values, and T of the records show
        theirs. With S = sum R N, labels that span D values more take w T^2 / (N S) x D / (S + D).
        A hidden cell takes as much as a label that spans twice the mean S / T: it gives up two of
        the T, and leaves the sum. Of categories it is the mean of w / g over the records, for
        labels that stand for g values, and nothing for a hidden cell. A broken rule takes its share
        of the importance of all rules. It is priced for every cluster that comes to break it, not
        only for the first one: the value of the table no longer tells after that, and the rule
        would be broken everywhere.
    """

    distance: Distance
    suppression: bool
    columns: Sequence[Column]
    interests: Mapping[str, Interest]
    known: Amounts | None = None
    """What labels amount to, where that is known; else it is what they amount to so far."""

    def axes(self, axes: Axes) -> Axes:
        """The axes as this distance measures them."""
        if self.distance != "research-value":
            return axes
        spans, whole = axes.spans.copy(), axes.whole.copy()
        for a in np.flatnonzero(self._counted(axes)):
            spans[a] = 1.0 - 1.0 / (spans[a] + 1.0)
            whole[a] = 1.0 - 1.0 / (whole[a] + 1.0)
        return axes._replace(spans=spans, whole=whole)

    def prices(self, axes: Axes, boxes: Boxes) -> Prices:
        """What the next merges are to pay; O(clusters x attributes)."""
        many = len(self.columns)
        none = np.zeros(0, dtype=np.int64)
        star = axes.whole.copy() if self.suppression else np.full(many, np.inf)
        no_rules = (np.zeros(many + 1, dtype=np.int64), none, none, np.zeros(0))
        if self.distance == "euclidean":
            return Prices(np.ones(many), np.zeros(many), star, False, *no_rules)
        weights = np.array([self._weight(column) for column in self.columns])
        if self.distance == "ncp":
            return Prices(weights / axes.whole, np.zeros(many), star, True, *no_rules)
        shown, spanned = self.known or amounts(boxes)
        counted = self._counted(axes)
        records = float(boxes.records.sum())
        kept = _kept(counted, shown, spanned, records)
        rate = weights * np.where(counted, 1.0 / records, kept / spanned)
        bend = np.where(counted, 0.0, 1.0 / spanned)
        if self.suppression:
            star = np.where(counted, 1.0, 2.0 * spanned / shown - 1.0)
        return Prices(rate, bend, star, True, *self._rules(weights * kept))

    def value(self, axes: Axes, boxes: Boxes) -> float:
        """The research value that clusters keep, 1 at most; a rule holds where none breaks it."""
        own = replace(self, known=None).prices(axes, boxes)
        broken = np.asarray(broken_by(axes, own, boxes).any(axis=0))
        shown, spanned = amounts(boxes)
        records = float(boxes.records.sum())
        counted = self._counted(axes)
        kept = _kept(counted, shown, spanned, records)
        total = 0.0
        for a, column in enumerate(self.columns):
            worth = self._weight(column) * float(kept[a])
            own_rules = slice(int(own.rules[a]), int(own.rules[a + 1]))
            total += worth - float(own.price[own_rules][broken[own_rules]].sum())
        return total

    def knowing(self, known: Amounts) -> Pricing:
        """The same distance, for labels that are known to amount to so much in the end."""
        return replace(self, known=known)

    def _weight(self, column: Column) -> float:
        interest = self.interests.get(column.name)
        return 1.0 if interest is None else interest.weight

    def _counted(self, axes: Axes) -> BoolArray:
        """For each attribute, whether its values are counted, and not its spans summed."""
        return np.array(
            [axes.missing[a] == NODES and c.numbers is None for a, c in enumerate(self.columns)]
        )

    def _rules(self, worth: FloatArray) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
        """Where the rules of each attribute begin, the codes they keep apart, their prices."""
        begin, pairs, price = [0], [np.zeros((0, 2), dtype=np.int64)], [np.zeros(0)]
        for a, column in enumerate(self.columns):
            interest = self.interests.get(column.name)
            rules = interest.pairs(column) if interest is not None else np.zeros((0, 3))
            if interest is not None and len(rules):
                pairs.append(rules[:, :2].astype(np.int64))
                price.append(worth[a] * rules[:, 2] / interest.importance)
            begin.append(begin[-1] + len(rules))
        codes = np.ascontiguousarray(np.concatenate(pairs).T)
        return np.array(begin, dtype=np.int64), codes[0], codes[1], np.concatenate(price)


def amounts(boxes: Boxes) -> Amounts:
    """For each attribute the records that show it, and the sum of what their labels stand for."""
    seen = (boxes.low != HIDDEN) * boxes.records[:, None]
    return (
        np.maximum(seen.sum(axis=0), 1.0),
        np.maximum((seen * (boxes.span + 1.0)).sum(axis=0), 1.0),
    )


def _kept(counted: BoolArray, shown: FloatArray, spanned: FloatArray, records: float) -> FloatArray:
    """What labels keep of the worth of each attribute, between 0 and 1, rules aside."""
    # Of counted values, labels that stand for g of them span 1 - 1/g: the sum of 1/g is left.
    return np.where(counted, 2.0 * shown - spanned, shown * shown / spanned) / records
