"""The expected number of records that satisfy conditions, and its variance.

What is not published is taken as chance: which value of a generalized cell is the real one, and
which record of a group has which of the sensitive values that stand apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import FloatArray, IntArray
from incrowd.query._events import Worth, worth

if TYPE_CHECKING:
    from incrowd.published.events import EventRows
    from incrowd.published.parts import Apart, Parts


@dataclass(frozen=True)
class Counted:
    """The expected count, its variance, and whether it is certain.

    `by_record` is the part of each record, and `by_row` that of each row of patients with several,
    `deviations` the sum of the standard errors of all
    groups with values apart, and `together` how far, from 0 to 1, groups with more of what one
    table is asked for have more, or less, of what another is.
    """

    expected: float
    variance: float
    certain: bool
    by_record: FloatArray
    deviations: float = 0.0
    together: float = 0.0
    by_row: tuple[tuple[EventRows, FloatArray], ...] = ()


def count(parts: Parts, shares: Mapping[str, FloatArray], *, events: bool = False) -> Counted:
    """How many records satisfy the conditions, given the chance of each label to satisfy them.

    Of patients with several rows these are patients, or their rows where `events` are counted.

    Notes
    -----
    Let p be the chance of a record by what stands beside it, independent between records, A the
    sum of p over the n records of a group and A2 the sum of p squared. Of the values in each table
    apart b satisfy the conditions, and every assignment of them to the n records is as likely, in
    each table on its own. A record then gets such values from all tables with chance s, the product
    of b / n, and two records both do with chance t, the product of b (b - 1) / (n (n - 1)). For the
    number X of the group's records that satisfy all,

        E[X] = A s,   E[X (X - 1)] = (A^2 - A2) t,   Var X = E[X (X - 1)] + E[X] - E[X]^2.

    Groups are independent. Without tables apart s = t = 1, and the variance is the sum of
    p (1 - p). Where the rows of a patient add e on average, with variance v, that of the patient is
    p (v + e^2) - (p e)^2. O(rows of all tables).
    """
    chance = np.ones(parts.records)
    for name, column in parts.columns.items():
        if name in shares:
            chance *= shares[name][column.codes]
    of_rows = worth(parts, shares, events=events)
    if of_rows is not None:
        return _with_rows(chance, of_rows)
    tables = matching_apart(parts, shares)
    if not tables:
        variance = float((chance * (1 - chance)).sum())
        certain = bool(((chance == 0) | (chance == 1)).all())
        return Counted(float(chance.sum()), variance, certain, chance)
    return _apart(parts, chance, tables)


def _with_rows(chance: FloatArray, of_rows: Worth) -> Counted:
    """The count where patients add what their rows are worth."""
    expected = chance * of_rows.expected
    second = chance * (of_rows.variance + of_rows.expected**2)
    variance = np.maximum(second - expected**2, 0.0)
    sure = ((chance == 0) | (chance == 1)) & (of_rows.variance == 0)
    certain = sure | (expected == 0)
    by_row = tuple((rows, each * chance[rows.patient]) for rows, each in of_rows.by_row)
    return Counted(
        float(expected.sum()),
        float(variance[~certain].sum()),
        bool(certain.all()),
        expected,
        by_row=by_row,
    )


def matching_apart(parts: Parts, shares: Mapping[str, FloatArray]) -> list[FloatArray]:
    """For each table apart that is asked about, how many values of each group are wanted."""
    found = (_matching(apart, shares, len(parts.group_sizes)) for apart in parts.apart)
    return [each for each in found if each is not None]


def _matching(apart: Apart, shares: Mapping[str, FloatArray], groups: int) -> FloatArray | None:
    """How many values of each group satisfy the conditions, None where there is none on them."""
    asked = [(shares[name], column) for name, column in apart.columns.items() if name in shares]
    if not asked:
        return None
    held = apart.counts.astype(np.float64)
    for share, column in asked:
        match = share[column.codes]
        if not bool(((match == 0) | (match == 1)).all()):
            raise AssertionError("values apart are published as they are")
        held *= match
    return summed(apart.group, held, groups)


def _apart(parts: Parts, chance: FloatArray, tables: list[FloatArray]) -> Counted:
    groups = len(parts.group_sizes)
    n = parts.group_sizes.astype(np.float64)
    matching = summed(parts.group, chance, groups)
    squares = summed(parts.group, chance * chance, groups)
    above, one, two = matching.copy(), np.ones(groups), np.ones(groups)
    below = np.ones(groups)
    open_tables = np.zeros(groups, dtype=np.int64)
    for b in tables:
        above *= b
        below *= n
        one *= b / n
        two *= b * (b - 1) / np.maximum(n * (n - 1), 1)
        open_tables += (b > 0) & (b < n)
    expected = above / below
    variance = (matching**2 - squares) * (two - one**2) + matching * one - squares * one**2
    # A group's number is certain, whatever rounding makes of its variance, where nothing can match;
    # and, if each record alone surely matches or not, where all values of each table match, or all
    # records do and at most one table has values that do not.
    sure = summed(parts.group, (chance > 0) & (chance < 1), groups) == 0
    everyone = matching == parts.group_sizes
    settled = (open_tables == 0) | (everyone & (open_tables == 1))
    certain = (matching == 0) | (one == 0) | (sure & settled)
    variance = np.where(certain, 0.0, np.maximum(variance, 0.0))
    return Counted(
        float(expected.sum()),
        float(variance.sum()),
        bool(certain.all()),
        chance * one[parts.group],
        float(np.sqrt(variance).sum()),
        _together([matching / n, *(b / n for b in tables)], n),
    )


def _together(shares: list[FloatArray], sizes: FloatArray) -> float:
    """The largest correlation between two shares over the groups, its sign aside."""
    centred = [share - np.average(share, weights=sizes) for share in shares]
    spread = [float(np.sqrt((sizes * each**2).sum())) for each in centred]
    found = [
        abs(float((sizes * centred[i] * centred[j]).sum())) / (spread[i] * spread[j])
        for i in range(len(shares))
        for j in range(i)
        if spread[i] * spread[j] > 0
    ]
    return min(1.0, max(found, default=0.0))


def summed(group: IntArray, weights: npt.NDArray[Any], groups: int) -> FloatArray:
    """The sum of the weights in each group."""
    return np.bincount(group, weights=weights, minlength=groups).astype(np.float64, copy=False)
