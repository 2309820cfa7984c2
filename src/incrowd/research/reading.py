"""The codes of an attribute that a published label stands for, read with its hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.counts import NodeHistograms
from incrowd.errors import InputError
from incrowd.hierarchies import Hierarchy
from incrowd.hierarchies.labels import Anything, Members, Range, parse
from incrowd.labels import LabelWriting
from incrowd.table import Column


class LabelReader:
    """One attribute as it was coded, and the entry of a release's manifest about it."""

    def __init__(self, column: Column, hierarchy: Hierarchy, entry: Mapping[str, Any]) -> None:
        self._column = column
        self._node_of = hierarchy.node_of
        self._exact = LabelWriting.of(entry).exact
        self._code_of = {value: code for code, value in enumerate(column.values)}
        # A label means one thing wherever it stands: the lowest node with it will do.
        self._nodes = {
            label: (level, node)
            for level in range(hierarchy.height, 0, -1)
            for node, label in enumerate(hierarchy.labels[level])
        }

    def members(self, labels: Sequence[str | None]) -> NodeHistograms:
        """The codes under each label, ascending; InputError where some cannot be read."""
        found = [self._codes(label) for label in labels]
        unread = sum(not len(codes) for codes in found)
        if unread:
            raise InputError(
                f"Attribute '{self._column.name}': {unread:,} of {len(found):,} different labels "
                "stand for no value of the original. Give the policy and the table that the "
                "release was made with."
            )
        offsets = np.concatenate(([0], np.cumsum([len(codes) for codes in found])))
        codes = np.concatenate(found).astype(np.int64)
        return NodeHistograms(offsets.astype(np.int64), codes, np.ones(len(codes), dtype=np.int64))

    def _codes(self, label: str | None) -> IntArray:
        column = self._column
        if label is None:
            return _listed([] if column.missing_code is None else [column.missing_code])
        if self._exact:
            return self._of_values([label])
        parsed = parse(label)
        if isinstance(parsed, Anything):
            return np.arange(column.cardinality)
        if label in self._nodes:
            level, node = self._nodes[label]
            return np.flatnonzero(self._node_of[level] == node)
        if isinstance(parsed, Range):
            return self._within(parsed)
        return self._of_values(parsed.values if isinstance(parsed, Members) else [parsed.text])

    def _of_values(self, values: Sequence[str]) -> IntArray:
        codes = [self._code_of[value] for value in values if value in self._code_of]
        if "" in values and self._column.missing_code is not None:
            codes.append(self._column.missing_code)
        return _listed(sorted(codes))

    def _within(self, found: Range) -> IntArray:
        numbers = self._column.numbers
        if numbers is None or found.dates != (self._column.kind == "date"):
            return _listed([])
        unit = Fraction(1 if found.dates else 10**self._column.decimals)
        low = np.searchsorted(numbers, float(found.low * unit), side="left")
        high = np.searchsorted(numbers, float(found.high * unit), side="left")
        return np.arange(low, high)


def _listed(codes: list[int]) -> IntArray:
    return np.array(codes, dtype=np.int64)
