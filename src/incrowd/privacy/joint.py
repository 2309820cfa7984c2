"""Joint columns: the combinations of several sensitive attributes as the codes of one column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from incrowd.privacy.base import PrivacyModel
from incrowd.table import JointColumn, Table

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
