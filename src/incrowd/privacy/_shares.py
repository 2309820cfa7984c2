"""What models have in common that bound how sure an attacker can be of a value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Self

import numpy as np
from pydantic import Field, PrivateAttr

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd.counts.groups import Groups, segment_max
from incrowd.privacy.base import SLACK, Certainty, CrowdBounds, PrivacyModel
from incrowd.privacy.parameters import PROTECTED, Values

if TYPE_CHECKING:
    from incrowd.hierarchies import Hierarchy
    from incrowd.table import Column


class BoundedShares(PrivacyModel):
    """A model about the largest share that a listed value (any value, without a list) has.

    What `size`, `share` and `partial` name is all that it bounds.

    Invariant: a value's share in two joined groups lies between its shares in the parts.
    """

    sensitive: str | None = Field(default=None, description=PROTECTED)
    values: Values | None = Field(default=None, min_length=1, description="left out: all values")

    _listed: IntArray | None = PrivateAttr(default=None)
    _cardinality: int = PrivateAttr(default=0)

    def bind(self, columns: Mapping[str, Column], hierarchies: Mapping[str, Hierarchy]) -> Self:
        """The model with its listed values as the column writes them, and their codes."""
        super().bind(columns, hierarchies)
        bound = self.model_copy()
        if self.sensitive is not None:
            bound._cardinality = columns[self.sensitive].cardinality
        if self.values is not None and self.sensitive is not None:
            column = columns[self.sensitive]
            listed = [text for text in dict.fromkeys(column.named(self.values)) if text is not None]
            bound = bound.model_copy(update={"values": listed})
            codes = [column.values.index(text) for text in listed]
            bound._listed = np.array(codes, dtype=np.int64)
        return bound

    @property
    def largest_share(self) -> float:
        """The largest share that a listed value may have."""
        return float(getattr(self, self.share))

    @property
    def known_attributes(self) -> int | None:
        """How many quasi-identifiers an attacker knows, None where all."""
        return getattr(self, self.partial) if self.partial else None

    @property
    def bounds(self) -> CrowdBounds | None:
        """The bounds on crowds; where no confidence is too much, no value is counted."""
        known, K, C = self.known_attributes, self.smallest_group, self.largest_share
        if C >= 1:
            return CrowdBounds(known, K)
        if self._sets is not None:
            return None  # crowds count one value for each record
        return CrowdBounds(known, K, C, self.sensitive, self._listed, self._cardinality)

    @property
    def certainty(self) -> Mapping[str, Certainty]:
        """A share below 1 bounds how sure of the listed values an attacker may be."""
        if self.sensitive is None or self.largest_share >= 1:
            return {}
        listed = self.values is not None
        return {self.sensitive: Certainty("shares", listed, self.known_attributes)}

    @property
    def vacuous(self) -> bool:
        """Where crowds may be single records and an attacker certain, any table will do."""
        return self.smallest_group <= 1 and self.largest_share >= 1

    @property
    def needed_values(self) -> int:
        """As many as have the share each."""
        return math.ceil(1 / self.largest_share - SLACK)

    def largest_shares(self, groups: Groups) -> FloatArray:
        """For each group, the largest share of a listed value."""
        return self._most(groups) / np.maximum(groups.sizes, 1)

    def holds(self, groups: Groups) -> BoolArray:
        """For each group, whether it is large enough and no listed value has too large a share."""
        bounded = self.largest_shares(groups) <= self.largest_share + SLACK
        return bounded & (groups.sizes >= self.least_records)

    def safe_size(self, groups: Groups) -> IntArray:
        """The sizes at which all records of the most frequent listed value have that share.

        No part of a group has more of a value than the group.
        """
        if self.largest_share >= 1:
            return np.full(len(groups), self.smallest_group, dtype=np.int64)
        needed = np.ceil(self._most(groups) / self.largest_share - SLACK).astype(np.int64)
        return np.maximum(needed, self.smallest_group)

    def reached(self, groups: Groups) -> dict[str, float]:
        """The largest share of a listed value in a group, and the smallest group, if bounded."""
        numbers = {self.share: float(self.largest_shares(groups).max())}
        return {**numbers, self.size: int(groups.sizes.min())} if self.size else numbers

    def _most(self, groups: Groups) -> IntArray:
        """For each group, how often its most frequent listed value occurs."""
        if self.sensitive is None:
            return np.zeros(len(groups), dtype=np.int64)
        histogram = self.histogram(groups)
        counts = histogram.counts
        if self._listed is not None:
            counts = np.where(np.isin(histogram.values, self._listed), counts, 0)
        return segment_max(counts, histogram.offsets).astype(np.int64)
