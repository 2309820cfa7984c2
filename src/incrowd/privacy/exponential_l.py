"""Exponential l-diversity: l values of each sensitive attribute wherever the others agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from pydantic import Field

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.counts.groups import Groups
from incrowd.privacy.base import Certainty
from incrowd.privacy.counting.joint import Jointly
from incrowd.table.packing import distinct_rows


class ExponentialL(Jointly):
    """In every group each sensitive attribute has l values wherever all the others agree.

    Invariant: rows of a joined group that agree on all other attributes include those of one part,
    which have l values already: monotone. Not growing: an added row may agree with no other.

    References
    ----------
    Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam (2006), l-diversity; as the baseline of Gal,
    Chen, Gangopadhyay (2008).
    """

    name: ClassVar[str] = "exponential-l"
    place: ClassVar[int] = 9
    plain: ClassVar[str] = "Several sensitive columns, each varied"
    literature: ClassVar[str] = "exponential l-diversity"
    wording: ClassVar[str] = (
        "An attacker who knows all but one of {the} of a patient still sees {l:different value} of "
        "the last one."
    )
    summary: ClassVar[str] = (
        "An attacker who knows all sensitive values of a person but one still sees l values of it."
    )
    weakness: ClassVar[str] = (
        "Groups need about l to the power of the number of attributes rows: little survives."
    )

    l: int = Field(ge=1, examples=[2], description="values, at least")  # noqa: E741

    @property
    def apart(self) -> int:
        """As many as values are asked for."""
        return self.l

    @property
    def vacuous(self) -> bool:
        """One value is in every group."""
        return self.l <= 1

    @property
    def smallest_group(self) -> int:
        """All combinations of l values of each attribute."""
        return int(self.l ** len(self.sensitive))

    @property
    def certainty(self) -> Mapping[str, Certainty]:
        """That l values of each attribute remain."""
        if self.l <= 1:
            return {}
        return {name: Certainty("several") for name in self.sensitive}

    def holds(self, groups: Groups) -> BoolArray:
        """For each group, whether every attribute has l values wherever the others agree."""
        return self._fewest_values(groups) >= self.l

    def reached(self, groups: Groups) -> dict[str, float]:
        """The fewest values that an attribute has where the others agree, as l."""
        return {"l": int(self._fewest_values(groups).min())}

    def _fewest_values(self, groups: Groups) -> IntArray:
        histogram, values = self._combinations(groups)
        group = histogram.groups
        fewest = np.full(len(groups), np.iinfo(np.int64).max)
        for attribute in range(len(self.sensitive)):
            others = [values[:, a] for a in range(len(self.sensitive)) if a != attribute]
            agreeing, _ = distinct_rows(others, [sum(self._spans)] * len(others), len(values))
            of_entry = agreeing[histogram.values]
            span = int(agreeing.max(initial=0)) + 1
            number, first = distinct_rows([group, of_entry], [len(groups), span], len(group))
            # Combinations are distinct, so those that agree on the others differ in this one.
            np.minimum.at(fewest, group[first], np.bincount(number))
        return fewest
