"""What a cell of a group shows of an attribute, and how much of the domain that label covers.

The loss of a cell is its normalized certainty penalty (NCP): how many values of the domain the
label may stand for, less the one it is, over all values of the domain less one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from incrowd._runtime.arrays import FloatArray, IntArray
from incrowd.counts import Extents, NodeHistograms
from incrowd.hierarchies import ROOT_LABEL, Hierarchy
from incrowd.hierarchies.labels import plain_label, range_label, set_label
from incrowd.labels import ranked
from incrowd.methods.base import CellLabels
from incrowd.methods.options import Labels
from incrowd.table import Column
from incrowd.table.packing import RowNumbers, distinct_rows

RANGE, SET, TREE = 0, 1, 2
"""How a cell is labelled: by a range, by the set of its values, by a node of the hierarchy."""
BY_VALUE, BY_FREQUENCY, BY_CHILD = 0, 1, 2
"""How values are lined up for a split: in their order, most frequent first, by subtrees."""


@dataclass(frozen=True)
class Geometry:
    """One attribute as a method sees it: the axis of its codes, its labels and their losses."""

    column: Column
    hierarchy: Hierarchy
    label_kind: int
    order_kind: int
    positions: FloatArray
    missing_code: int
    denominator: float
    node_of: IntArray
    node_losses: FloatArray

    def losses(self, low: IntArray, high: IntArray, distinct: IntArray) -> FloatArray:
        """NCP of cells that cover the codes low..high, of which `distinct` occur."""
        if self.label_kind == SET:
            return (distinct - 1) / self.denominator
        if self.label_kind == TREE:
            level, node = self.hierarchy.lowest_common(low, high)
            return self.node_losses[level, node]
        width = np.minimum(1.0, (self.positions[high] - self.positions[low]) / self.denominator)
        mixed = (high == self.missing_code) & (low != high)
        return np.where(mixed, 1.0, width)

    def labels(self, histograms: NodeHistograms) -> CellLabels:
        """The labels that groups are generalized to, from the codes that occur in each."""
        low = histograms.codes[histograms.offsets[:-1]]
        high = histograms.codes[histograms.offsets[1:] - 1]
        distinct = np.diff(histograms.offsets)
        losses = self.losses(low, high, distinct)
        keys, texts = self._label_keys(histograms, low, high)
        ordered, place = ranked(texts)
        return CellLabels(ordered, place[keys], losses)

    def text(self, low: int, high: int) -> str | None:
        """The label of a cell that covers all of the codes low..high, None for missing."""
        if self.label_kind == TREE:
            level, node = self.hierarchy.lowest_common(np.array([low]), np.array([high]))
            return self._node_label(int(level[0]), int(node[0]))
        if self.label_kind == SET:
            return self._set_text(list(range(low, high + 1)))
        return self._range_text(low, high)

    def loss(self, low: int, high: int) -> float:
        """NCP of a cell that covers all of the codes low..high."""
        return float(self.losses(np.array([low]), np.array([high]), np.array([high - low + 1]))[0])

    def _label_keys(
        self, histograms: NodeHistograms, low: IntArray, high: IntArray
    ) -> tuple[IntArray, list[str | None]]:
        """A key per group, and the distinct texts by key."""
        if self.label_kind == SET:
            return self._set_keys(histograms)
        if self.label_kind == TREE:
            level, node = self.hierarchy.lowest_common(low, high)
            keys, first = _pairs(level, node)
            labels = [self._node_label(int(level[i]), int(node[i])) for i in first]
        else:
            keys, first = _pairs(low, high)
            labels = [self._range_text(int(low[i]), int(high[i])) for i in first]
        texts = list(dict.fromkeys(labels))
        number = {text: i for i, text in enumerate(texts)}
        return np.array([number[label] for label in labels], dtype=np.int64)[keys], texts

    def _set_keys(self, histograms: NodeHistograms) -> tuple[IntArray, list[str | None]]:
        """Groups with one value are keyed by it; only the others need their sets compared."""
        offsets, codes = histograms.offsets, histograms.codes
        alone = np.diff(offsets) == 1
        single = codes[offsets[:-1][alone]]
        occurs = np.bincount(single, minlength=self.column.cardinality) > 0
        texts = [self._value_text(int(code)) for code in np.flatnonzero(occurs)]
        keys = np.empty(len(offsets) - 1, dtype=np.int64)
        keys[alone] = (np.cumsum(occurs) - 1)[single]
        number: dict[bytes, int] = {}
        for group in np.flatnonzero(~alone).tolist():
            members = codes[offsets[group] : offsets[group + 1]]
            key = number.setdefault(members.tobytes(), len(texts))
            if key == len(texts):
                texts.append(self._set_text(members.tolist()))
            keys[group] = key
        return keys, texts

    def _value_text(self, code: int) -> str | None:
        return None if code == self.missing_code else plain_label(self.column.values[code])

    def _set_text(self, members: list[int]) -> str | None:
        if len(members) == 1:
            return self._value_text(members[0])
        values = ["" if m == self.missing_code else self.column.values[m] for m in members]
        return set_label(values if self.column.kind == "ordered" else sorted(values))

    def _range_text(self, low: int, high: int) -> str | None:
        if low == high:
            return self._value_text(low)
        numbers = self.column.numbers
        if high == self.missing_code or numbers is None:
            return ROOT_LABEL
        return range_label(self.column, int(numbers[low]), int(numbers[high]) + 1)

    def _node_label(self, level: int, node: int) -> str | None:
        if level == 0:
            return self._value_text(node)
        return self.hierarchy.labels[level][node]


def _pairs(first: IntArray, second: IntArray) -> tuple[RowNumbers, IntArray]:
    """The number of each pair among the distinct ones, and one place of each of these."""
    spans = [int(first.max(initial=0)) + 1, int(second.max(initial=0)) + 1]
    return distinct_rows([first, second], spans, len(first))


def is_grown(column: Column, hierarchy: Hierarchy) -> bool:
    """Whether an attribute has an order but no hierarchy, so that one may be grown over it."""
    return hierarchy.kind == "flat" and column.kind != "category"


def shown_labels(
    column: Column, hierarchy: Hierarchy, labels: Labels
) -> Literal["set", "hierarchy"]:
    """What the cells of one attribute show under the labels of a method."""
    if labels != "cut":
        return labels
    return "set" if is_grown(column, hierarchy) else "hierarchy"


def geometry_of(column: Column, hierarchy: Hierarchy, labels: Labels) -> Geometry:
    """The geometry of an attribute whose cells show sets and ranges, or nodes of its hierarchy."""
    by_range_or_set = SET if column.numbers is None else RANGE
    shown = shown_labels(column, hierarchy, labels)
    label_kind = TREE if shown == "hierarchy" else by_range_or_set
    for_categories = BY_FREQUENCY if hierarchy.height == 1 else BY_CHILD
    order_kind = for_categories if column.kind == "category" else BY_VALUE
    missing_code = column.missing_code if column.missing_code is not None else -1
    positions = np.arange(column.cardinality, dtype=np.float64)
    if column.numbers is not None:
        positions[: len(column.values)] = column.numbers
        if column.missing:
            positions[-1] = positions[:-1].max(initial=0.0)
    return Geometry(
        column,
        hierarchy,
        label_kind,
        order_kind,
        positions,
        missing_code,
        float(max(hierarchy.total - 1, 1)),
        hierarchy.node_of,
        hierarchy.losses(),
    )


def counted_sets(geometries: list[Geometry]) -> list[int]:
    """The attributes whose loss depends on how many different codes there are."""
    return [a for a, geometry in enumerate(geometries) if geometry.label_kind == SET]


def total_losses(geometries: list[Geometry], extents: Extents) -> FloatArray:
    """For each node, the sum of the NCP of all cells of its records."""
    one_record = np.zeros(len(extents.low))
    for a, geometry in enumerate(geometries):
        one_record += geometry.losses(extents.low[:, a], extents.high[:, a], extents.distinct[:, a])
    return one_record * extents.records
