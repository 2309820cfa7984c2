"""Multi-sensitive l-diversity: l values must be deleted to delete all rows of a group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.counts.groups import Groups, Histogram
from incrowd.privacy import _words as words
from incrowd.privacy.base import Certainty
from incrowd.privacy.counting.joint import Jointly
from incrowd.privacy.parameters import Limits

_UNLIMITED = 1 << 40


class MultiSensitive(Jointly):
    """Every group has k records, and l sensitive values must be deleted to delete all its rows.

    Deleting a value, of whichever sensitive attribute, deletes all rows that hold it: an attacker
    who can rule out up to l - 2 values of a person still sees two rows that differ. With `limits`,
    at most so many of the deleted values are taken from an attribute; a group whose rows cannot all
    be deleted that way passes.

    Invariant: whatever deletes all rows of a group deletes those of each part, so a group with any
    rows added needs as many deletions or more: monotone and growing. The greedy check is sound
    (theorems 4 to 6) but may say no to a group that holds, even to one whose part it accepts; what
    a method concludes from its yes is true all the same. The exact check says no to none.

    Notes
    -----
    Greedy: O(m n log n) for a group of n rows and m attributes. Exact: minimum set cover, bounded
    from both sides, searched in between, an integer program where the search does not settle it.

    References
    ----------
    Gal, Chen, Gangopadhyay (2008), A privacy protection model for patient data with multiple
    sensitive attributes, Definitions 6 and 7, figs. 6 and 7.

    Example
    -------
    >>> import polars
    >>> frame = polars.DataFrame({"age": ["[41-50)"] * 4,
    ...     "disease": ["Heart", "Heart", "Flu", "Stomach"],
    ...     "treatment": ["Medicine", "Surgery", "IV", "IV"]})
    >>> model = MultiSensitive(k=4, l=3, sensitive=["disease", "treatment"])
    >>> model.check(frame, quasi=["age"]).numbers["l"]
    2
    """

    name: ClassVar[str] = "multi-sensitive"
    place: ClassVar[int] = 8
    size: ClassVar[str] = "k"
    growing: ClassVar[bool] = True
    """More rows never need fewer deletions."""
    plain: ClassVar[str] = "Several sensitive columns together"
    literature: ClassVar[str] = "multi-sensitive diversity"
    wording: ClassVar[str] = (
        "An attacker finds at least {k:record} that fit, and {can} tell from {the} which of two "
        "rows is the patient's."
    )
    summary: ClassVar[str] = (
        "An attacker finds at least k records that fit a person, and who rules out up to l - 2 "
        "sensitive values still cannot tell which of two rows is the person's."
    )
    weakness: ClassVar[str] = (
        "One value may fill nearly the whole group: diversity counts values, not their shares."
    )

    k: int = Field(ge=2, examples=[5], description="records that look alike, at least")
    l: int = Field(ge=1, examples=[2], description="values, at least")  # noqa: E741
    limits: Limits = Field(
        default_factory=dict,
        description="values of it that an attacker may rule out; left out: no limit",
    )
    check_: Literal["greedy", "exact"] = Field(
        default="exact", alias="check", description="exact, or quicker and never too lax"
    )

    @classmethod
    def sentence(cls, p: Mapping[str, Any]) -> str:
        """What it promises with these parameters; who rules nothing out is nobody to fear."""
        spare = p["l"] - 2 if isinstance(p.get("l"), int) else 0
        can = "one who can rule out {spare:value} of {of} cannot" if spare > 0 else "nobody can"
        return words.told(cls.wording.replace("{can}", can), {**p, "spare": spare})

    @property
    def apart(self) -> int:
        """As many as values are asked for."""
        return self.l

    @model_validator(mode="after")
    def _limits_fit(self) -> Self:
        unknown = [name for name in self.limits if name not in self.sensitive]
        if unknown:
            raise ValueError(
                f"limits names '{unknown[0]}', which is not among the sensitive attributes "
                f"{', '.join(self.sensitive)}"
            )
        return self

    @property
    def smallest_group(self) -> int:
        """A group has at least k records, and l of them hold different values."""
        return self.k if self.limits else max(self.k, self.l)

    @property
    def certainty(self) -> Mapping[str, Certainty]:
        """No value is in all rows: several remain of each attribute that limits do not spare."""
        if self.l <= 1:
            return {}
        spared = [name for name, most in self.limits.items() if not most]
        return {name: Certainty("several") for name in self.sensitive if name not in spared}

    def holds(self, groups: Groups) -> BoolArray:
        """For each group, whether it is large enough and needs at least l deletions."""
        from incrowd.privacy.counting import deletions

        histogram, values = self._combinations(groups)
        total = sum(self._spans)
        held = np.zeros(len(groups), dtype=np.bool_)
        large = np.flatnonzero(groups.sizes >= self.k)
        offsets, members, counts = _taken(histogram, large)
        found = deletions.independent(offsets, members, counts, values, total, self.l)
        held[large[found >= self.l]] = True
        waiting = large[found < self.l]
        if self.limits and len(waiting):
            offsets, members, counts = _taken(histogram, waiting)
            found = deletions.with_limits(
                offsets, members, counts, values, total, self.l, self._limits()
            )
            held[waiting[found >= self.l]] = True
            waiting = waiting[found < self.l]
        if self.check_ == "exact" and len(waiting):
            offsets, members, counts = _taken(histogram, waiting)
            exact = deletions.settled(offsets, members, values, total, self.l, self._limits())
            held[waiting[exact]] = True
        return held

    def reaches(self, whole: Groups) -> bool:
        """Whether the table satisfies the model, exactly: the greedy check may say no to it."""
        exact = self.model_copy(update={"check_": "exact"})
        return bool(exact.holds(whole).all())

    def reached(self, groups: Groups) -> dict[str, float]:
        """The smallest group, and the fewest deletions that delete all rows of one, as k and l."""
        numbers: dict[str, float] = {"k": int(groups.sizes.min())}
        fewest = self._fewest(groups)
        if fewest is not None:
            numbers["l"] = fewest
        return numbers

    def _fewest(self, groups: Groups) -> int | None:
        """The fewest deletions of any group; None where limits let no group be deleted."""
        from incrowd.privacy.counting import deletions

        histogram, values = self._combinations(groups)
        total, limits = sum(self._spans), self._limits()
        offsets, members, counts = histogram.offsets, histogram.values, histogram.counts
        # Asked for number by number, since the numbers that are promised are small. A group that
        # can be deleted at all can be by one value for each of its combinations.
        for least in range(1, int(np.diff(offsets).max(initial=0)) + 1):
            found = deletions.independent(offsets, members, counts, values, total, least + 1)
            unsure = np.flatnonzero(found <= least)
            some = _taken(histogram, unsure)
            if not deletions.settled(*some[:2], values, total, least + 1, limits).all():
                return least
        return None

    def _limits(self) -> IntArray:
        return np.array([self.limits.get(name, _UNLIMITED) for name in self.sensitive], np.int64)


def _taken(histogram: Histogram, chosen: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Offsets, values and counts of the chosen groups of a histogram."""
    lengths = np.diff(histogram.offsets)[chosen]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    source = np.repeat(histogram.offsets[chosen] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return offsets, histogram.values[source], histogram.counts[source]
