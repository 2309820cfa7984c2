"""The crowds that an attacker meets: groups of records that look alike, and what they give away.

Everything is counted, so that it is the same wherever the records live: in memory, or in an SQL
engine that answers with counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.table.alike import Alike, Told, sizes_counted, told_by

if TYPE_CHECKING:
    from incrowd.attacks.categories import ValueCategories
    from incrowd.counts.placed import Placed


@dataclass(frozen=True)
class Crowds:
    """How many crowds there are of each size, and what they tell of sensitive attributes.

    `groups[i]` crowds have `sizes[i]` records; sizes ascend.
    """

    sizes: IntArray
    groups: IntArray
    told: Mapping[str, Told]

    @property
    def records(self) -> int:
        """How many records there are."""
        return int((self.sizes * self.groups).sum())

    @property
    def count(self) -> int:
        """How many crowds there are."""
        return int(self.groups.sum())

    @property
    def smallest(self) -> int:
        """The size of the smallest crowd."""
        return int(self.sizes[0])

    @property
    def largest(self) -> int:
        """The size of the largest crowd."""
        return int(self.sizes[-1])

    @property
    def unique(self) -> int:
        """The records that are alone."""
        return self.between(1, 1)

    def between(self, low: int, high: int | None) -> int:
        """The records in crowds from one size to another, both included."""
        held = (self.sizes >= low) & (self.sizes <= (self.largest if high is None else high))
        return int((self.sizes * self.groups)[held].sum())

    def below(self, size: int) -> int:
        """The records in crowds of fewer than so many: an attacker's chance is above 1 / size."""
        return self.between(1, size - 1)


def crowds_of_sizes(sizes: IntArray, told: Mapping[str, Told]) -> Crowds:
    """The crowds with these sizes, one for each."""
    return Crowds(*sizes_counted(sizes), told)


def crowds_of(
    alike: Alike,
    sensitive: Sequence[str] = (),
    categories: Mapping[str, ValueCategories] | None = None,
) -> Crowds:
    """The records of a table that agree on some attributes as they are.

    Notes
    -----
    In memory one sort of the rows for each sensitive attribute; in an engine one aggregation each,
    of which only sums come back.
    """
    kinds = {name: each.of_code for name, each in (categories or {}).items()}
    return Crowds(*alike.sizes(), {name: alike.told(name, kinds.get(name)) for name in sensitive})


def crowds_of_outcome(
    groups: Placed,
    sizes: IntArray,
    sensitive: Sequence[str],
    categories: Mapping[str, ValueCategories],
) -> Crowds:
    """The groups of a release, of these sizes; `groups` are beside the published records."""
    kinds = {name: each.of_code for name, each in categories.items()}
    told = {}
    for name in sensitive:
        found = groups.histograms(name)
        group = np.repeat(np.arange(len(sizes)), np.diff(found.offsets))
        told[name] = told_by(group, found.codes, found.counts, sizes, kinds.get(name))
    return crowds_of_sizes(sizes, told)
