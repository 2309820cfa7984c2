"""l-diversity: the sensitive values of every group are varied enough, in four readings."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd.counts.groups import Groups, Histogram, segment_sum, share_of_largest, sum_of_largest
from incrowd.privacy.base import SLACK, Certainty, PrivacyModel
from incrowd.privacy.parameters import Sensitive

_FEWEST, _MOST = 1e-6, 1000


class LDiversity(PrivacyModel):
    """Every group has at least l well-represented values of a sensitive attribute.

    Kinds: `distinct` (at least l different values), `entropy` (entropy of the values at least
    log l), `recursive` (with counts r1 >= r2 >= …: r1 < c (r_l + r_(l+1) + …)), `frequency` (the
    most frequent value fills at most 1/l of the group).

    Invariant: joining two groups unites their values; entropy is concave and the largest share
    convex in the distribution; for `recursive`, r_l + … + r_m is the smallest total left after
    removing l - 1 values, hence superadditive, while r1 is subadditive. All four are monotone.

    References
    ----------
    Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam (2007), l-diversity, sections 4.1 and 4.2;
    `frequency`: Xiao and Tao (2006), Anatomy, definition 2.
    """

    name: ClassVar[str] = "l-diversity"
    place: ClassVar[int] = 2
    common: ClassVar[bool] = True
    plain: ClassVar[str] = "A variety of sensitive values"
    wording: ClassVar[str] = (
        "An attacker who finds the records that look alike sees that they {kind}."
    )
    readings: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "kind": {
            "distinct": "hold at least {l} different values of {of}",
            "entropy": "vary in {of} as much as {l} equally frequent values would",
            "recursive": "do not nearly all share one value of {of}: the most frequent one is held "
            "by fewer than {c} times as many records as the {l}th most frequent and all rarer ones "
            "together",
            "frequency": "share no value of {of} more often than once in {l}",
        }
    }
    summary: ClassVar[str] = (
        "An attacker who finds a person's group still faces at least l well-represented values."
    )
    weakness: ClassVar[str] = (
        "Values may differ and still mean the same (similarity), or be far from the table's own "
        "shares (skewness)."
    )

    over_events: ClassVar[str] = "l-diversity {kind: frequency}"
    only_with: ClassVar[Mapping[str, tuple[str, str]]] = {"c": ("kind", "recursive")}

    l: int | float = Field(ge=1, examples=[2], description="values, at least")  # noqa: E741
    kind: Literal["distinct", "entropy", "recursive", "frequency"] = Field(
        default="distinct", examples=["distinct"], description="how variety is counted"
    )
    c: float | None = Field(
        default=None, gt=0, description="only for the kind recursive: larger allows more"
    )
    sensitive: Sensitive

    @model_validator(mode="after")
    def _parameters_fit(self) -> Self:
        for name, number in (("l", self.l), ("c", self.c)):
            if number == np.inf:
                raise ValueError(f"{name} must be a finite number")
        if self.c is not None and not _FEWEST <= self.c <= _MOST:
            # Compared in whole numbers of 64 bits, with six digits of c.
            raise ValueError(f"c must be between {_FEWEST:.6f} and {_MOST}")
        if self.kind == "recursive" and self.c is None:
            raise ValueError("the recursive kind needs c, as in {l: 3, kind: recursive, c: 4}")
        if self.kind != "recursive" and self.c is not None:
            raise ValueError(f"c belongs to the recursive kind, this one is {self.kind}")
        if self.kind in ("distinct", "recursive") and self.l != int(self.l):
            raise ValueError(f"l must be a whole number for the {self.kind} kind")
        return self

    @property
    def judges_events(self) -> bool:
        """The kind frequency alone: different values may all be held by every patient."""
        return bool(self.over_events) and self.kind == "frequency"

    @property
    def vacuous(self) -> bool:
        """With l = 1 one value may fill a group, unless c bounds its share."""
        return self.l <= 1 and (self.c is None or self.c > 1)

    @property
    def smallest_group(self) -> int:
        """A group with l well-represented values has at least l records."""
        return self.distinct_values

    @property
    def distinct_values(self) -> int:
        """At least l, in every reading."""
        return int(np.ceil(self.l - SLACK))

    @property
    def counts_alone(self) -> bool:
        """The distinct kind asks for different values alone."""
        return self.kind == "distinct"

    @property
    def growing(self) -> bool:
        """More records never take values away; the other kinds bound shares, which may rise."""
        return self.kind == "distinct"

    @property
    def certainty(self) -> Mapping[str, Certainty]:
        """Several values remain; the other kinds bound their shares. An l of 1 says nothing."""
        if self.l <= 1:
            return {}
        return {self.sensitive: Certainty("several" if self.kind == "distinct" else "shares")}

    def holds(self, groups: Groups) -> BoolArray:
        """For each group, whether its sensitive values are l-diverse."""
        histogram = self.histogram(groups)
        if self.kind == "recursive":
            # Exact, for the comparison is strict: 11 < 1.1 x 10 is false, though not in floats.
            c = _exact(self.c)
            first, rest = _recursive_parts(histogram, int(self.l))
            return (rest > 0) & (first * c.denominator < c.numerator * rest)
        return _diversity(self.kind, histogram, groups.sizes) >= self.l - SLACK

    def safe_size(self, groups: Groups) -> IntArray | None:
        """A part that holds even with all records of the most frequent values of the group.

        A part has at most as many records of any l - 1 values as the group has of its most
        frequent l - 1. By entropy a part holds where it does by frequency.
        """
        histogram = self.histogram(groups)
        if self.kind == "distinct":
            return sum_of_largest(histogram, int(self.l) - 1) + 1
        first = sum_of_largest(histogram, 1)
        if self.kind == "recursive":
            # r1 < c (n - the l - 1 largest), in whole numbers.
            c = _exact(self.c)
            over = first * c.denominator // c.numerator + 1
            return sum_of_largest(histogram, int(self.l) - 1) + over
        enough: IntArray = np.ceil(first * self.l - SLACK).astype(np.int64)
        return enough

    def reached(self, groups: Groups) -> dict[str, float]:
        """The largest l that all groups satisfy; for `recursive`, what c must exceed."""
        histogram = self.histogram(groups)
        if self.kind == "recursive":
            first, rest = _recursive_parts(histogram, int(self.l))
            ratio = np.divide(first, rest, out=np.full(len(first), np.inf), where=rest > 0)
            return {"c": float(ratio.max())}
        return {"l": float(_diversity(self.kind, histogram, groups.sizes).min())}


def _exact(c: float | None) -> Fraction:
    return Fraction(str(c)).limit_denominator(1_000_000)


def _diversity(kind: str, histogram: Histogram, sizes: IntArray) -> FloatArray:
    """For each group, the largest l it satisfies under a kind other than recursive."""
    if kind == "distinct":
        return np.diff(histogram.offsets).astype(np.float64)
    if kind == "frequency":
        return 1.0 / np.maximum(share_of_largest(histogram, sizes), 1e-300)
    shares = histogram.counts / sizes[histogram.groups]
    diversity: FloatArray = np.exp(segment_sum(-shares * np.log(shares), histogram.offsets))
    return diversity


def _recursive_parts(histogram: Histogram, l: int) -> tuple[IntArray, IntArray]:  # noqa: E741
    """For each group, r1 and r_l + … + r_m of its counts in descending order."""
    order = np.lexsort((-histogram.counts, histogram.groups))
    descending = histogram.counts[order]
    starts = histogram.offsets[:-1]
    rank = np.arange(len(descending)) - np.repeat(starts, np.diff(histogram.offsets))
    first = np.zeros(len(starts), dtype=np.int64)
    filled = np.diff(histogram.offsets) > 0
    first[filled] = descending[starts[filled]]
    rest = segment_sum(np.where(rank >= l - 1, descending, 0), histogram.offsets)
    return first, rest
