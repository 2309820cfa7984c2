"""t-closeness: the sensitive values of every group are spread as in the whole table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field, PrivateAttr

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd.counts.groups import Groups, Histogram, segment_max, segment_sum
from incrowd.errors import ParameterError
from incrowd.privacy.base import SLACK, Certainty, PrivacyModel
from incrowd.privacy.parameters import Sensitive

if TYPE_CHECKING:
    from incrowd.hierarchies import Hierarchy
    from incrowd.table import Column


class TCloseness(PrivacyModel):
    """The distribution of a sensitive attribute in every group is within t of the table's.

    The distance is the earth mover's distance, over one of three ground distances: `equal` (any
    two values are 1 apart), `ordered` (i and j of m values are |i - j| / (m - 1) apart; needs a
    numeric, date or ordered attribute) and `hierarchical` (values are apart by the height of
    their lowest common ancestor over that of the hierarchy). The table is the published one.

    Invariant: the earth mover's distance is convex in the distribution, so a joined group is no
    farther than the farther of its parts: monotone.

    References
    ----------
    Li, Li, Venkatasubramanian (2007), t-closeness, section 5.
    """

    name: ClassVar[str] = "t-closeness"
    place: ClassVar[int] = 3
    common: ClassVar[bool] = True
    plain: ClassVar[str] = "Groups that look like the whole table"
    wording: ClassVar[str] = (
        "Among the records that look alike, {the} is spread nearly as in the whole table: the two "
        "differ by at most {t} (0 is not at all, 1 entirely; {distance})."
    )
    readings: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "distance": {
            "equal": "all values count as equally far apart",
            "ordered": "neighbouring values count as near",
            "hierarchical": "values of one branch of the hierarchy count as near",
        }
    }
    over_events: ClassVar[str] = "t-closeness {distance: equal}"
    summary: ClassVar[str] = (
        "Finding a person's group teaches an attacker little more than the whole table does."
    )
    weakness: ClassVar[str] = (
        "Alone it hides no identity: combine it with k-anonymity. It costs much utility."
    )

    t: float = Field(
        gt=0, le=1, examples=[0.3], description="distance from the whole table, 0 to 1"
    )
    distance: Literal["equal", "ordered", "hierarchical"] = Field(
        default="equal", examples=["equal"], description="when values count as near"
    )
    sensitive: Sensitive

    _levels: IntArray | None = PrivateAttr(default=None)
    _values: tuple[str, ...] = PrivateAttr(default=())
    _ancestors: dict[str, tuple[str, ...]] = PrivateAttr(default_factory=dict)

    def bind(
        self, columns: Mapping[str, Column], hierarchies: Mapping[str, Hierarchy]
    ) -> TCloseness:
        """The model with the order or the hierarchy of its attribute."""
        super().bind(columns, hierarchies)
        column = columns[self.sensitive]
        bound = self.model_copy()
        bound._values = (*column.values, *([""] if column.missing else []))
        if self.distance == "ordered" and column.kind == "category":
            raise ParameterError(
                f"t-closeness: the ordered distance needs a numeric, date or ordered attribute; "
                f"'{self.sensitive}' is a category. Give it `order:`, or take distance: equal."
            )
        if self.distance == "hierarchical":
            hierarchy = hierarchies.get(self.sensitive)
            if hierarchy is None or hierarchy.kind == "flat":
                raise ParameterError(
                    f"t-closeness: the hierarchical distance needs a hierarchy of "
                    f"'{self.sensitive}'. Give it one, or take distance: equal."
                )
            bound._levels = hierarchy.node_of
            # Nodes are named by number: their labels may tell of values that are not published.
            bound._ancestors = {
                value: tuple(
                    f"{level}.{hierarchy.node_of[level, code]}"
                    for level in range(1, hierarchy.height + 1)
                )
                for code, value in enumerate(bound._values)
            }
        return bound

    @property
    def certainty(self) -> Mapping[str, Certainty]:
        """No group is farther from the table than t; 1 is as far as can be."""
        return {self.sensitive: Certainty("distance")} if self.t < 1 else {}

    @property
    def judges_events(self) -> bool:
        """By the largest difference over values; how far values are apart needs one for each."""
        return self.distance == "equal"

    @property
    def vacuous(self) -> bool:
        """No distance is above 1."""
        return self.t >= 1

    def holds(self, groups: Groups) -> BoolArray:
        """For each group, whether it is within t of the table."""
        return self.distances(groups) <= self.t + SLACK

    def reached(self, groups: Groups) -> dict[str, float]:
        """The largest distance of a group from the table, as t."""
        return {"t": float(self.distances(groups).max())}

    def distances(self, groups: Groups) -> FloatArray:
        """The distance of each group's distribution from that of the table."""
        histogram = self.histogram(groups)
        table = histogram.total / max(histogram.records, 1)
        if self._sets is not None:
            return _largest_difference(histogram, groups.sizes, table)
        if self.distance == "equal":
            return _total_variation(histogram, groups.sizes, table)
        result = np.empty(len(groups))
        step = max(1, 4_000_000 // max(histogram.cardinality, 1))
        for begin in range(0, len(groups), step):
            part = slice(begin, min(begin + step, len(groups)))
            surplus = _dense_shares(histogram, groups.sizes, part) - table
            if self.distance == "ordered":
                result[part] = _ordered_distance(surplus, histogram.total)
            else:
                assert self._levels is not None
                result[part] = _hierarchical_distance(surplus, self._levels)
        return result

    def promise(self) -> dict[str, object]:
        """The model, its parameters, and the geometry of the values a verifier needs."""
        stated = super().promise()
        if self.distance == "ordered":
            stated["order"] = list(self._values)
        if self.distance == "hierarchical":
            stated["ancestors"] = {value: list(path) for value, path in self._ancestors.items()}
        return stated

    def promise_about(self, published: Mapping[str, set[str]]) -> dict[str, object]:
        """The promise with the geometry of the published values only."""
        known = published[self.sensitive]
        bound = self.model_copy()
        bound._values = tuple(value for value in self._values if value in known)
        kept = {v: path for v, path in self._ancestors.items() if v in known}
        # Numbered anew, for a gap would tell of a branch that is not published.
        numbers: dict[tuple[int, str], int] = {}
        counted: dict[int, int] = {}
        for path in kept.values():
            for level, node in enumerate(path, start=1):
                if (level, node) not in numbers:
                    numbers[level, node] = counted.get(level, 0)
                    counted[level] = numbers[level, node] + 1
        bound._ancestors = {
            value: tuple(f"{at}.{numbers[at, node]}" for at, node in enumerate(path, start=1))
            for value, path in kept.items()
        }
        return bound.promise()


def _total_variation(histogram: Histogram, sizes: IntArray, table: FloatArray) -> FloatArray:
    """Sum of what a group's values exceed their share in the table; absent values never do."""
    shares = histogram.counts / sizes[histogram.groups]
    excess = np.maximum(shares - table[histogram.values], 0.0)
    return segment_sum(excess, histogram.offsets)


def _largest_difference(histogram: Histogram, sizes: IntArray, table: FloatArray) -> FloatArray:
    """The largest difference, over values, of the share of a group's patients from the table's.

    Values that nobody of a group holds differ by their share in the table.
    """
    present = np.abs(histogram.counts / sizes[histogram.groups] - table[histogram.values])
    # The most frequent value that a group lacks: the first rank that is not the one in its place.
    by_rank = np.argsort(-table, kind="stable")
    rank = np.argsort(by_rank)[histogram.values]
    groups = histogram.groups
    rank = rank[np.lexsort((rank, groups))]
    place = np.arange(len(rank)) - histogram.offsets[:-1][groups]
    held = np.diff(histogram.offsets)
    lacking = -segment_max(np.where(rank == place, -held[groups], -place), histogram.offsets)
    absent = np.append(table[by_rank], 0.0)[lacking]
    largest: FloatArray = np.maximum(segment_max(present, histogram.offsets), absent)
    return largest


def _dense_shares(histogram: Histogram, sizes: IntArray, part: slice) -> FloatArray:
    shares = np.zeros((part.stop - part.start, histogram.cardinality))
    first, last = histogram.offsets[part.start], histogram.offsets[part.stop]
    rows = histogram.groups[first:last] - part.start
    shares[rows, histogram.values[first:last]] = histogram.counts[first:last]
    return shares / np.maximum(sizes[part], 1)[:, None]


def _ordered_distance(surplus: FloatArray, total: IntArray) -> FloatArray:
    """Earth moved past each gap between neighbours, over the values that occur in the table."""
    occurring = surplus[:, total > 0]
    gaps = occurring.shape[1] - 1
    if gaps < 1:
        return np.zeros(len(surplus))
    moved: FloatArray = np.abs(np.cumsum(occurring, axis=1)[:, :-1]).sum(axis=1) / gaps
    return moved


def _hierarchical_distance(surplus: FloatArray, levels: IntArray) -> FloatArray:
    """Earth that must pass each node of the tree, weighed by the height it climbs.

    Earth left over at a node after levelling out below it climbs one level: moving a unit between
    values whose lowest common ancestor has height h costs h / H, half on each side.
    """
    height = len(levels) - 1
    cost = np.zeros(len(surplus))
    for level in range(height):
        nodes = int(levels[level].max()) + 1
        through = np.zeros((nodes, len(surplus)))
        np.add.at(through, levels[level], surplus.T)
        cost += np.abs(through).sum(axis=0)
    return cost / (2 * height)
