"""The search for partners: for each cluster the one whose merge with it costs least.

Nodes of the index that cost more than the best partner so far are left out. With many attributes
few nodes can be left out; then the search ends after so many clusters, the nearest nodes first, and
the partner is a good one, not always the best.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd._runtime.compiling import compiled
from incrowd.methods.clustering._axes import NODES, Axes
from incrowd.methods.clustering._costs import HIDDEN, Boxes, Prices
from incrowd.methods.clustering._index import Index


class Partners(NamedTuple):
    """For each wanted cluster its partner, the cost of the merge, and what it hides."""

    partner: IntArray
    cost: FloatArray
    hide: BoolArray

    def part(self, some: slice) -> Partners:
        """Those of some clusters."""
        return Partners(self.partner[some], self.cost[some], self.hide[some])


@compiled
def search(
    axes: Axes, prices: Prices, boxes: Boxes, broken: BoolArray, index: Index, wanted: IntArray,
    apart: IntArray, most: int, found: Partners,
) -> None:  # fmt: skip
    """Write for each wanted cluster its partner, the cost of the merge, and what it hides.

    No box is the partner of the one that it is `apart` from. Of equals the first is the partner. At
    most about `most` clusters are compared with each; 0 for as many as it takes.

    The comparisons are written out here, twice, for the sake of speed: a call that passes twenty
    arrays costs a hundred times as much as what it compares.

    Notes
    -----
    What a merge with any cluster of a node costs at least: the merged codes begin no later than
    the latest of the node's and end no earlier than the earliest, and spans only grow with the
    codes; a hidden cell counts for `star`, which is therefore the most to be counted on.
    """
    place, missing, whole, node_of, spans = axes
    rate, bend, star, per_record, rules, first, second, price = prices
    lows, highs, span, records = boxes
    order, start, end, leaf, latest, earliest, widest, fewest = index
    partner, cost, hide = found
    width = lows.shape[1]
    stack, bounds = np.empty(256, np.int64), np.empty(256)
    trial = np.zeros(width, np.bool_)
    both = np.empty(2)
    for at in range(len(wanted)):
        i = wanted[at]
        many = records[i]
        best, least, seen = -1, np.inf, 0
        stack[0], bounds[0] = 0, 0.0
        depth = 1
        while depth > 0:
            depth -= 1
            node = stack[depth]
            # Sums in another order may differ in the last digits.
            if bounds[depth] > least * (1.0 + 1e-12):
                continue
            if leaf[node]:
                if most > 0 and seen >= most and best >= 0:
                    break
                seen += end[node] - start[node]
                for at_place in range(start[node], end[node]):
                    j = order[at_place]
                    if j == apart[at]:
                        continue
                    more = records[j]
                    total = 0.0
                    for a in range(width):
                        shown = np.inf
                        if lows[i, a] != HIDDEN and lows[j, a] != HIDDEN:
                            low = min(lows[i, a], lows[j, a])
                            high = max(highs[i, a], highs[j, a])
                            level = 0
                            if low == high:
                                wide = 0.0
                            elif missing[a] == NODES:
                                while node_of[a, level, low] != node_of[a, level, high]:
                                    level += 1
                                wide = spans[a, level, node_of[a, level, low]]
                            elif high == missing[a]:
                                wide = whole[a]
                            else:
                                wide = min(whole[a], place[a, high] - place[a, low])
                            if per_record:
                                wide = many * (wide - span[i, a]) + more * (wide - span[j, a])
                            shown = rate[a] * wide / (1.0 + bend[a] * wide)
                            for r in range(rules[a], rules[a + 1]):
                                if low == high or (broken[i, r] and broken[j, r]):
                                    continue
                                if missing[a] == NODES:
                                    label = node_of[a, level, low]
                                    breaks = (
                                        node_of[a, level, first[r]] == label
                                        and node_of[a, level, second[r]] == label
                                    )
                                else:
                                    breaks = high == missing[a] or (
                                        low <= first[r] and second[r] <= high
                                    )
                                if breaks:
                                    shown += price[r]
                        trial[a] = False
                        if star[a] != np.inf:
                            hidden = star[a]
                            if per_record:
                                # A cell that has lost more gains nothing by being hidden.
                                hidden = many * max(0.0, star[a] - span[i, a])
                                hidden += more * max(0.0, star[a] - span[j, a])
                            hidden = rate[a] * hidden / (1.0 + bend[a] * hidden)
                            if hidden < shown:
                                shown = hidden
                                trial[a] = True
                        total += shown
                        if total > least:
                            break
                    if total < least or best < 0 or (total == least and j < best):
                        best, least = j, total
                        for a in range(width):
                            hide[at, a] = trial[a]
                continue
            for side in range(2):
                child = 2 * node + 1 + side
                total = 0.0
                for a in range(width):
                    wide = star[a]
                    if lows[i, a] != HIDDEN:
                        low = min(lows[i, a], latest[child, a])
                        high = max(highs[i, a], earliest[child, a])
                        if low == HIDDEN or (low == lows[i, a] and high == highs[i, a]):
                            shown = span[i, a]
                        elif missing[a] == NODES:
                            level = 0
                            while node_of[a, level, low] != node_of[a, level, high]:
                                level += 1
                            shown = spans[a, level, node_of[a, level, low]]
                        elif high == missing[a]:
                            shown = whole[a]
                        else:
                            shown = min(whole[a], place[a, high] - place[a, low])
                        wide = min(wide, shown)
                    if per_record:
                        wide = many * max(0.0, wide - span[i, a]) + fewest[child] * max(
                            0.0, wide - widest[child, a]
                        )
                    total += rate[a] * wide / (1.0 + bend[a] * wide)
                    if total > least:
                        break
                both[side] = total
            # The nearer child is looked at first, so it is put on top.
            near = 1 if both[1] < both[0] else 0
            stack[depth], bounds[depth] = 2 * node + 2 - near, both[1 - near]
            stack[depth + 1], bounds[depth + 1] = 2 * node + 1 + near, both[near]
            depth += 2
        partner[at], cost[at] = best, least
