"""Agglomeration in rounds: clusters that do not hold find partners, and pairs are merged.

In a round every cluster that does not hold finds the partner whose merge costs least. Pairs are
merged from the cheapest on; a cluster takes part in one merge a round, and who comes too late
waits for the next. Merged clusters are then judged. The cheapest pair always merges, so there is
an end: at the latest with one cluster, the whole table, which holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd._runtime.compiling import compiled
from incrowd._runtime.threads import in_threads
from incrowd.methods.base import Task
from incrowd.methods.clustering._axes import Axes, spans_of
from incrowd.methods.clustering._costs import HIDDEN, Boxes, Prices, broken_by
from incrowd.methods.clustering._index import index_of
from incrowd.methods.clustering._members import DistinctRows
from incrowd.methods.clustering._partners import Partners, search
from incrowd.methods.clustering._pricing import Pricing
from incrowd.table.packing import distinct_rows

_MOST_COMPARED = 4_000
"""Clusters that the index compares with one, at most."""
_FORBIDDING = 1e6
"""How much dearer a merge is that breaks up given labels."""
_COMPARISONS_AT_ONCE = 4_000_000
"""About so many between two looks at the clock, so that a run can be interrupted."""


class Clustered(NamedTuple):
    """The cluster of every distinct row, and what the clusters cover."""

    cluster_of_row: IntArray
    boxes: Boxes

    @property
    def hidden(self) -> BoolArray:
        """What clusters hide, by cluster and attribute."""
        hidden: BoolArray = self.boxes.low == HIDDEN
        return hidden

    @property
    def many(self) -> int:
        """How many clusters there are."""
        return len(self.boxes.records)


@dataclass(frozen=True)
class Fixed:
    """Attributes whose labels are given: those of each row, from its first to its last code.

    Rows with other labels are never merged as long as there is another partner; whoever gives
    labels sees to it that all rows of the same ones satisfy the models.
    """

    attributes: IntArray
    first: IntArray
    last: IntArray


def agglomerate(
    task: Task, members: DistinctRows, axes: Axes, pricing: Pricing, *, exact: bool = False,
    fixed: Fixed | None = None,
) -> Clustered:  # fmt: skip
    """Merge clusters of rows, from single rows on, until every cluster satisfies all models.

    With `exact` every partner is found by comparison with all other clusters, otherwise by the
    index.

    Notes
    -----
    O(d c^2) for c distinct rows over d attributes with `exact`; with the index about
    O(d c log c) with few attributes, and never more than 4,000 comparisons for a cluster and
    round. The rounds are about as many as the logarithm of the rows in a group.
    """
    axes = pricing.axes(axes)
    cluster, low, high = _beginning(members, fixed)
    records = np.bincount(cluster, weights=members.records).astype(np.int64)
    held = members.held(task, cluster, np.arange(len(low)))
    most = 0 if exact or fixed is not None else _MOST_COMPARED
    while not held.all() and len(records) > 1:
        task.progress("merging", int(records[held].sum()), task.counts.records)
        boxes = Boxes(low, high, spans_of(axes, low, high), records)
        prices = pricing.prices(axes, boxes)
        if fixed is not None:
            prices.rate[fixed.attributes] = _FORBIDDING * max(1.0, float(prices.rate.max()))
            prices.star[fixed.attributes] = np.inf
        boxes.span[:] = np.where(low == HIDDEN, prices.star, boxes.span)
        failing = np.flatnonzero(~held)
        partner, cost, hide = partners(axes, prices, boxes, failing, exact, most=most)
        chosen = _pairs(failing, partner, cost, len(records))
        merged, into = failing[chosen], partner[chosen]
        low[into] = np.minimum(low[into], low[merged])
        high[into] = np.maximum(high[into], high[merged])
        low[into] = np.where(hide[chosen], HIDDEN, low[into])
        high[into] = np.where(hide[chosen], HIDDEN, high[into])
        records[into] += records[merged]
        target = np.arange(len(records))
        target[merged] = into
        stays = target == np.arange(len(records))
        number = np.cumsum(stays) - 1
        cluster = number[target][cluster]
        low, high, records = low[stays], high[stays], records[stays]
        held = held[stays]
        changed = np.sort(number[into])
        held[changed] = members.held(task, cluster, changed)
    return Clustered(cluster, Boxes(low, high, spans_of(axes, low, high), records))


def _beginning(
    members: DistinctRows, fixed: Fixed | None
) -> tuple[IntArray, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The first clusters, one for each row that differs, and the codes that they cover."""
    if fixed is None:
        return np.arange(len(members.codes)), members.codes.copy(), members.codes.copy()
    low, high = members.codes.copy(), members.codes.copy()
    low[:, fixed.attributes], high[:, fixed.attributes] = fixed.first, fixed.last
    spans = [int(column.max()) + 1 for column in low.T]
    number, first = distinct_rows(list(low.T), spans, len(low))
    return number.astype(np.int64), low[first], high[first]


def partners(
    axes: Axes, prices: Prices, boxes: Boxes, wanted: IntArray, exact: bool, *,
    most: int = _MOST_COMPARED, among: int | None = None, apart: IntArray | None = None,
) -> Partners:  # fmt: skip
    """For each wanted box its partner, what the merge costs and hides; found in threads.

    Partners are the first boxes, so many as there are `among`, without the one that a wanted box
    is to be kept `apart` from: by default all but itself.
    """
    found = Partners(
        np.empty(len(wanted), dtype=np.int64),
        np.empty(len(wanted)),
        np.zeros((len(wanted), boxes.low.shape[1]), dtype=np.bool_),
    )
    among = len(boxes.records) if among is None else among
    apart = wanted if apart is None else apart
    broken = broken_by(axes, prices, boxes)
    index = index_of(axes, prices, boxes.first(among), flat=exact)
    compared = among if exact else min(_MOST_COMPARED, among)

    def work(some: slice) -> None:
        search(
            axes, prices, boxes, broken, index, wanted[some], apart[some],
            0 if exact else most, found.part(some),
        )  # fmt: skip

    at_once = max(1, _COMPARISONS_AT_ONCE // compared)
    pieces = [slice(begin, begin + at_once) for begin in range(0, len(wanted), at_once)]
    in_threads(pieces, work)
    return found


def _pairs(failing: IntArray, partner: IntArray, cost: FloatArray, clusters: int) -> IntArray:
    """Which of the failing clusters merge in this round, the cheapest first."""
    order = np.lexsort((failing, cost))
    chosen = np.zeros(len(failing), dtype=np.bool_)
    _pair_up(order, failing, partner, np.zeros(clusters, dtype=np.bool_), chosen)
    return np.flatnonzero(chosen)


@compiled
def _pair_up(
    order: IntArray, failing: IntArray, partner: IntArray, taken: BoolArray, chosen: BoolArray
) -> None:
    for at in order:
        if not taken[failing[at]] and not taken[partner[at]]:
            taken[failing[at]] = taken[partner[at]] = chosen[at] = True


def codes_within(clustered: Clustered, codes: list[IntArray]) -> tuple[IntArray, IntArray]:
    """The clusters and the codes that occur together, sorted by both; `codes` are those of rows."""
    cluster = np.concatenate([clustered.cluster_of_row] * len(codes))
    there = np.concatenate(codes)
    spans = [clustered.many, int(there.max(initial=0)) + 1]
    _, first = distinct_rows([cluster, there], spans, len(there))
    return cluster[first], there[first]
