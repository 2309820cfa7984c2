"""delta-disclosure privacy: no group shows a value much more, or much less, than the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from pydantic import Field

from incrowd._runtime.arrays import BoolArray, FloatArray
from incrowd.counts.groups import Groups, ratios_to_table, segment_max
from incrowd.privacy.base import SLACK, Certainty, PrivacyModel
from incrowd.privacy.parameters import Sensitive


class DeltaDisclosure(PrivacyModel):
    """In every group, |ln(q / p)| < delta for the share q of each value, p being its table share.

    Every value that occurs in the published table counts, in every group: where a group lacks one,
    q is 0 and the logarithm infinite, so the group fails whatever delta is. An attacker who finds
    a person's group neither gains much belief in a value nor can rule one out.

    Invariant: p is fixed by the table, and the share of a value in two joined groups is a mean of
    its shares in the parts. These lie strictly between p exp(-delta) and p exp(delta), so the mean
    does: monotone. (Values that a group lacks must not be passed over: with them the model would
    not be monotone, for a value of one part may be rare in the whole.) Records added may change a
    share in any way: not growing.

    Notes
    -----
    The comparison is strict: what comes within a billionth of delta fails, so that a tie fails
    however it is rounded. The logarithm is the natural one, as in pycanon; a delta for ARX, which
    takes logarithms to base 2, is this one over ln 2. Both pass over the values that a group lacks,
    which the definition does not. Cost: linear in the entries of the histograms.

    References
    ----------
    Brickell and Shmatikov (2008), The cost of privacy: destruction of data-mining utility in
    anonymized data publishing.

    Example
    -------
    >>> import polars
    >>> frame = polars.DataFrame({"sex": ["F", "F", "F", "M", "M", "M"],
    ...     "disease": ["Flu", "Flu", "HIV", "Flu", "HIV", "HIV"]})
    >>> found = DeltaDisclosure(delta=0.5, sensitive="disease").check(frame, quasi=["sex"])
    >>> found.holds, round(found.numbers["delta"], 3)
    (True, 0.405)
    """

    name: ClassVar[str] = "delta-disclosure"
    place: ClassVar[int] = 11
    plain: ClassVar[str] = "No value much more or less frequent"
    literature: ClassVar[str] = "delta-disclosure privacy"
    wording: ClassVar[str] = (
        "Among the records that look alike, every value of {of} is nearly as frequent as in the "
        "whole table (by a factor below e to the {delta}), so an attacker neither believes much "
        "more in one nor can rule one out."
    )
    over_events: ClassVar[str] = "delta-disclosure"
    summary: ClassVar[str] = (
        "In a person's group every value is nearly as frequent as in the whole table, so an "
        "attacker neither believes much more in one nor can rule one out."
    )
    weakness: ClassVar[str] = (
        "Alone it hides no identity: combine it with k-anonymity. Every group must hold every "
        "value, which costs very much utility where values are rare."
    )

    delta: float = Field(
        gt=0,
        allow_inf_nan=False,
        examples=[2.0],
        description="difference of logarithms, above 0",
    )
    sensitive: Sensitive

    @property
    def certainty(self) -> Mapping[str, Certainty]:
        """No share is far from the table's; a frequent value stays frequent."""
        return {self.sensitive: Certainty("distance")}

    def holds(self, groups: Groups) -> BoolArray:
        """For each group, whether every value is within delta of its share in the table."""
        return self.disclosures(groups) < self.delta * (1 - SLACK)

    def reached(self, groups: Groups) -> dict[str, float]:
        """What delta must exceed: the largest |ln(q / p)| of a value in a group."""
        return {"delta": float(self.disclosures(groups).max())}

    def disclosures(self, groups: Groups) -> FloatArray:
        """For each group the largest |ln(q / p)| of a value, infinite where it lacks one."""
        histogram = self.histogram(groups)
        told = np.abs(np.log(ratios_to_table(histogram, groups.sizes)))
        largest: FloatArray = segment_max(told, histogram.offsets)
        lacks = np.diff(histogram.offsets) < np.count_nonzero(histogram.total)
        return np.where(lacks, np.inf, largest)
