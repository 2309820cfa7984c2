"""Joint columns: the combinations of several sensitive attributes as the codes of one column.

What models have in common that judge them stands beside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

import numpy as np
from pydantic import Field, PrivateAttr, field_validator

from incrowd._runtime.arrays import IntArray
from incrowd.counts.groups import Groups, Histogram
from incrowd.privacy.base import PrivacyModel
from incrowd.privacy.parameters import PROTECTED
from incrowd.table import Column, JointColumn, Table

if TYPE_CHECKING:
    from incrowd.hierarchies import Hierarchy

_SEPARATOR = "\x1f"
_TableWithJoint = TypeVar("_TableWithJoint", bound=Table)


def joint_name(attributes: Sequence[str]) -> str:
    """The name under which homes count the combinations of some attributes."""
    return _SEPARATOR + _SEPARATOR.join(attributes)


def with_joint(
    table: _TableWithJoint, models: Iterable[PrivacyModel]
) -> tuple[_TableWithJoint, dict[str, JointColumn]]:
    """The table whose rows can be counted by the combinations that models count, and these."""
    made: dict[str, JointColumn] = {}
    for model in models:
        names = model.sensitive_attributes
        name = joint_name(names)
        if model.counts_jointly and name not in made and all(each in table for each in names):
            table, made[name] = table.with_combinations(name, names)
    return table, made


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
