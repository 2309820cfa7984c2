"""p-sensitive k-anonymity: k records and p different sensitive values in every group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from pydantic import Field

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.counts.groups import Groups, sum_of_largest
from incrowd.privacy.base import Certainty, PrivacyModel
from incrowd.privacy.parameters import Sensitive


class PSensitive(PrivacyModel):
    """Every group has at least k records and at least p different sensitive values.

    Invariant: joining groups adds their sizes and unites their values: monotone.

    References
    ----------
    Truta and Vinay (2006), Privacy protection: p-sensitive k-anonymity property.
    """

    name: ClassVar[str] = "p-sensitive"
    place: ClassVar[int] = 4
    size: ClassVar[str] = "k"
    counts_alone: ClassVar[bool] = True
    """It asks for records and different values alone."""
    growing: ClassVar[bool] = True
    """More records never make a group smaller or less varied."""
    plain: ClassVar[str] = "A crowd with different values"
    literature: ClassVar[str] = "p-sensitive k-anonymity"
    wording: ClassVar[str] = (
        "An attacker who knows all quasi-identifiers of a patient finds at least {k:record} that "
        "fit, with at least {p:different value} of {of}."
    )
    summary: ClassVar[str] = (
        "An attacker finds at least k records that fit a person, with at least p different values."
    )
    weakness: ClassVar[str] = "One of the p values may fill nearly the whole group."

    p: int = Field(ge=1, examples=[2], description="different values, at least")
    k: int = Field(ge=2, examples=[5], description="records that look alike, at least")
    sensitive: Sensitive

    @property
    def smallest_group(self) -> int:
        """A group has at least k records, and at least p."""
        return max(self.k, self.p)

    @property
    def distinct_values(self) -> int:
        """At least p."""
        return self.p

    @property
    def certainty(self) -> Mapping[str, Certainty]:
        """That p values remain, unless p is 1."""
        return {self.sensitive: Certainty("several")} if self.p > 1 else {}

    def holds(self, groups: Groups) -> BoolArray:
        """For each group, whether it is large and varied enough."""
        distinct = np.diff(groups.histograms[self.sensitive].offsets)
        return (groups.sizes >= self.k) & (distinct >= self.p)

    def safe_size(self, groups: Groups) -> IntArray:
        """One record more than the p - 1 most frequent values have."""
        varied = sum_of_largest(groups.histograms[self.sensitive], self.p - 1) + 1
        return np.maximum(varied, self.smallest_group)

    def reached(self, groups: Groups) -> dict[str, float]:
        """The smallest group and the smallest number of values, as k and p."""
        distinct = np.diff(groups.histograms[self.sensitive].offsets)
        return {"p": int(distinct.min()), "k": int(groups.sizes.min())}
