"""The smallest and the largest count that the published cells allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.arrays import FloatArray
from incrowd.query._counting import matching_apart, summed
from incrowd.query._events import worth_limits
from incrowd.query.cells import LabelLimits

if TYPE_CHECKING:
    from incrowd.published.parts import Parts


def bounds(
    parts: Parts, limits: Mapping[str, LabelLimits], *, events: bool = False
) -> tuple[int, int]:
    """The fewest and the most published records that may satisfy the conditions.

    Of patients with several rows these are patients, or their rows where `events` are counted.

    Notes
    -----
    Invariant: no table that could be behind the release has a count outside, and some have each
    end, unless more is known of it than its labels (a group shows every member of its set at least
    once, for instance). Beside the records, cells are chosen freely: a record counts for the least
    where all its labels are certain, for the most where all are possible. Of the n records of a
    group with u that may match and c that must, and tables apart in which b of n values match, at
    most min(u, all b) match, and at least c + the sum of b - n for each table, or none.
    """
    possible = np.ones(parts.records, dtype=np.bool_)
    certain = np.ones(parts.records, dtype=np.bool_)
    for name, column in parts.columns.items():
        if name in limits:
            possible &= limits[name].possible[column.codes]
            certain &= limits[name].certain[column.codes]
    of_rows = worth_limits(parts, limits, events=events)
    if of_rows is not None:
        fewest, largest = of_rows
        return int(fewest[certain].sum()), int(largest[possible].sum())
    shares: dict[str, FloatArray] = {
        name: each.possible.astype(np.float64) for name, each in limits.items()
    }
    tables = matching_apart(parts, shares)
    if not tables:
        return int(certain.sum()), int(possible.sum())
    groups = len(parts.group_sizes)
    most = summed(parts.group, possible, groups)
    least = summed(parts.group, certain, groups)
    for held in tables:
        most = np.minimum(most, held)
        least += held - parts.group_sizes
    return int(np.maximum(least, 0).sum()), int(most.sum())
