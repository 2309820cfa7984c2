"""Models over several sensitive attributes at once: multi-sensitive l-diversity, exponential l."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, PrivateAttr, field_validator, model_validator

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.counts.groups import Groups, Histogram
from incrowd.privacy import words
from incrowd.privacy.base import Certainty, PrivacyModel
from incrowd.privacy.joint import joint_name
from incrowd.privacy.parameters import PROTECTED, Limits
from incrowd.table import Column, JointColumn
from incrowd.table.packing import distinct_rows

if TYPE_CHECKING:
    from incrowd.hierarchies import Hierarchy

_UNLIMITED = 1 << 40


class Jointly(PrivacyModel):
    """A model that judges the combinations of several sensitive attributes."""

    takes_several: ClassVar[bool] = True
    counts_jointly: ClassVar[bool] = True

    sensitive: list[str] = Field(min_length=1, description=PROTECTED)

    _values: IntArray | None = PrivateAttr(default=None)
    _spans: tuple[int, ...] = PrivateAttr(default=())

    @field_validator("sensitive", mode="before")
    @classmethod
    def _one_or_more(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @field_validator("sensitive", mode="after")
    @classmethod
    def _each_once(cls, value: list[str]) -> list[str]:
        if len(set(value)) < len(value):
            raise ValueError("an attribute stands twice; list each sensitive attribute once")
        return value

    @property
    def counted_attributes(self) -> tuple[str, ...]:
        """The one column of their combinations."""
        return (joint_name(self.sensitive),)

    def bind(self, columns: Mapping[str, Column], hierarchies: Mapping[str, Hierarchy]) -> Self:
        """The model with the values of every combination, numbered through."""
        super().bind(columns, hierarchies)
        combined = columns[joint_name(self.sensitive)]
        assert isinstance(combined, JointColumn)
        bound = self.model_copy()
        bound._spans = tuple(columns[name].cardinality for name in self.sensitive)
        begins = np.cumsum([0, *bound._spans[:-1]])
        bound._values = combined.parts + begins
        return bound

    @property
    def apart(self) -> int:
        """How many records of a group it is good to have share no sensitive value."""
        return 1

    @property
    def numbered_values(self) -> IntArray:
        """The values of every combination, numbered through all attributes."""
        assert self._values is not None, "bind the model to a table first"
        return self._values

    def _combinations(self, groups: Groups) -> tuple[Histogram, IntArray]:
        return groups.histograms[joint_name(self.sensitive)], self.numbered_values


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
        from incrowd.privacy import deletions

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
        from incrowd.privacy import deletions

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


def _taken(histogram: Histogram, chosen: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Offsets, values and counts of the chosen groups of a histogram."""
    lengths = np.diff(histogram.offsets)[chosen]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    source = np.repeat(histogram.offsets[chosen] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return offsets, histogram.values[source], histogram.counts[source]
