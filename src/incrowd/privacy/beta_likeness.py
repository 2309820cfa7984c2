"""beta-likeness: in no group is a sensitive value much more frequent than in the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from incrowd._runtime.arrays import BoolArray, FloatArray
from incrowd.counts.groups import Groups, ratios_to_table, segment_max
from incrowd.privacy.base import SLACK, Certainty, PrivacyModel
from incrowd.privacy.parameters import Sensitive


class BetaLikeness(PrivacyModel):
    """In every group, the share of no value exceeds its share in the table by more than beta times.

    With q the share of a value in a group and p its share in the published table, the gain
    (q - p) / p is at most beta (`basic`), or at most min(beta, -ln p) (`enhanced`). The enhanced
    kind also binds frequent values, which the basic one lets fill a whole group as soon as
    (1 + beta) p reaches 1. Shares may fall as they like.

    Invariant: p, and with it the bound of each value, is fixed by the table. The share of a value
    in two joined groups is a mean of its shares in the parts, so its gain is at most the larger of
    theirs: both kinds are monotone. Records added may raise a share: not growing.

    Notes
    -----
    Cost: linear in the entries of the histograms.

    References
    ----------
    Cao and Karras (2012), Publishing microdata with a robust privacy guarantee: basic and
    enhanced beta-likeness.

    Example
    -------
    >>> import polars
    >>> frame = polars.DataFrame({"sex": ["F", "F", "F", "M", "M", "M"],
    ...     "disease": ["Flu", "Flu", "HIV", "Flu", "Flu", "Flu"]})
    >>> found = BetaLikeness(beta=1, sensitive="disease").check(frame, quasi=["sex"])
    >>> found.holds, found.numbers["beta"]
    (True, 1.0)
    """

    name: ClassVar[str] = "beta-likeness"
    place: ClassVar[int] = 12
    plain: ClassVar[str] = "No value much more frequent than in the table"
    wording: ClassVar[str] = (
        "Finding the records that look alike raises an attacker's belief in any value of {of} by "
        "at most {beta} times what the whole table tells{kind}."
    )
    readings: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "kind": {"basic": "", "enhanced": ", frequent values even less"}
    }
    over_events: ClassVar[str] = "beta-likeness"
    summary: ClassVar[str] = (
        "Finding a person's group raises an attacker's belief in any value by at most beta times "
        "what the whole table gives."
    )
    weakness: ClassVar[str] = (
        "Alone it hides no identity: combine it with k-anonymity. A value may be ruled out, for "
        "shares may fall to nothing."
    )

    beta: float = Field(
        gt=0,
        allow_inf_nan=False,
        examples=[3.0],
        description="gain of belief, in times the table's share",
    )
    kind: Literal["basic", "enhanced"] = Field(
        default="basic", examples=["basic"], description="how variety is counted"
    )
    sensitive: Sensitive

    @property
    def certainty(self) -> Mapping[str, Certainty]:
        """No share rises far above the table's; a frequent value may fill a group."""
        return {self.sensitive: Certainty("distance")}

    def holds(self, groups: Groups) -> BoolArray:
        """For each group, whether no value gains more than it may."""
        return self.gains(groups) <= self.beta + SLACK

    def reached(self, groups: Groups) -> dict[str, float]:
        """The largest gain of a value in a group, as beta; infinite where no beta would do."""
        return {"beta": float(self.gains(groups).max())}

    def gains(self, groups: Groups) -> FloatArray:
        """For each group the largest gain of a value, 0 where none gains.

        For the enhanced kind it is infinite where a value gains more than -ln p, which no beta
        allows.
        """
        histogram = self.histogram(groups)
        gains = ratios_to_table(histogram, groups.sizes) - 1.0
        if self.kind == "enhanced":
            # Values that the table lacks have no entry; 1 keeps their logarithm finite.
            limits = np.log(histogram.records) - np.log(np.maximum(histogram.total, 1))
            gains = np.where(gains > limits[histogram.values] + SLACK, np.inf, gains)
        return segment_max(np.maximum(gains, 0.0), histogram.offsets)
