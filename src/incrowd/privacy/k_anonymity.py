"""k-anonymity: every record looks like at least k - 1 others."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.counts.groups import Groups
from incrowd.privacy.base import CrowdBounds, PrivacyModel


class KAnonymity(PrivacyModel):
    """Every group of records that agree on all quasi-identifiers has at least k of them.

    Invariant: the size of two joined groups is the sum of their sizes, so the model is monotone.

    References
    ----------
    Sweeney (2002), k-anonymity: a model for protecting privacy.

    Example
    -------
    >>> import polars
    >>> frame = polars.DataFrame({"age": [30, 30, 41], "disease": ["Flu", "HIV", "Flu"]})
    >>> KAnonymity(k=2).check(frame, quasi=["age"]).numbers["k"]
    1
    """

    name: ClassVar[str] = "k-anonymity"
    place: ClassVar[int] = 1
    common: ClassVar[bool] = True
    size: ClassVar[str] = "k"
    counts_alone: ClassVar[bool] = True
    """It asks for records alone."""
    growing: ClassVar[bool] = True
    """More records never make a group smaller."""
    plain: ClassVar[str] = "A crowd for every record"
    wording: ClassVar[str] = (
        "An attacker who knows all quasi-identifiers of a patient finds at least {k:record} that "
        "fit, so pointing at the right one succeeds at most once in {k} tries."
    )
    summary: ClassVar[str] = (
        "An attacker who knows all quasi-identifiers of a person finds at least k records."
    )
    weakness: ClassVar[str] = (
        "Says nothing about sensitive values: if a group shares one diagnosis, it is disclosed."
    )

    k: int = Field(ge=2, examples=[5], description="records that look alike, at least")

    @property
    def bounds(self) -> CrowdBounds:
        """At least k records share all quasi-identifiers."""
        return CrowdBounds(None, self.k)

    def holds(self, groups: Groups) -> BoolArray:
        """For each group, whether it has at least k records."""
        return groups.sizes >= self.k

    def safe_size(self, groups: Groups) -> IntArray:
        """Every part of k records holds."""
        return np.full(len(groups), self.k, dtype=np.int64)

    def reached(self, groups: Groups) -> dict[str, float]:
        """The size of the smallest group, as k."""
        return {"k": int(groups.sizes.min())}
