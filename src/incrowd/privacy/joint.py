"""Joint columns: the combinations of several sensitive attributes as the codes of one column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.privacy.base import PrivacyModel
from incrowd.table import Column, narrow
from incrowd.table.packing import distinct_rows_of

_SEPARATOR = "\x1f"


def joint_name(attributes: Sequence[str]) -> str:
    """The name under which homes count the combinations of some attributes."""
    return _SEPARATOR + _SEPARATOR.join(attributes)


@dataclass(frozen=True)
class JointColumn(Column):
    """A column whose codes are combinations: `parts[code]` holds the codes of its attributes."""

    parts: IntArray | None = None

    @property
    def combinations(self) -> IntArray:
        """The codes of all attributes, by combination."""
        assert self.parts is not None
        return self.parts


def combinations(columns: Sequence[Column]) -> JointColumn:
    """The combinations of some columns that occur, numbered in ascending order."""
    records = len(columns[0].codes)
    number, first = distinct_rows_of(columns, records)
    parts = np.empty((len(first), len(columns)), dtype=np.int64)
    for position, column in enumerate(columns):
        parts[:, position] = column.codes[first]
    return JointColumn(
        joint_name([column.name for column in columns]),
        "sensitive",
        "category",
        narrow(number.astype(np.int64), len(first)),
        tuple(map(str, range(len(first)))),
        parts=parts,
    )


def joint_columns(
    models: Iterable[PrivacyModel], columns: Mapping[str, Column]
) -> dict[str, JointColumn]:
    """The joint columns that models count, by name."""
    made: dict[str, JointColumn] = {}
    for model in models:
        names = model.sensitive_attributes
        if model.counts_jointly and all(name in columns for name in names):
            name = joint_name(names)
            if name not in made:
                made[name] = combinations([columns[each] for each in names])
    return made
