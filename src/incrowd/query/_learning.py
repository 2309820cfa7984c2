"""What the labels of a column tell together of where values lie inside a label.

Where some cells show `40` and others `[30-60)`, the values of the latter are not spread evenly:
labels that are narrower, or that overlap, tell where the many are.
"""

from __future__ import annotations

import numpy as np

from incrowd._runtime.arrays import FloatArray, IntArray
from incrowd.query.cells import Cells
from incrowd.query.wanted import Wanted

_ROUNDS = 10


def learned_shares(
    cells: Cells, records: IntArray, wanted: Wanted, shares: FloatArray
) -> FloatArray:
    """For each label the share of what is wanted, values weighed by what all labels tell of them.

    Parameters
    ----------
    cells
        What the labels stand for.
    records
        How many records show each label.
    wanted
        What is asked.
    shares
        The shares with every value as likely, which are also those of the labels that stand for
        more than is known by name.

    Notes
    -----
    The distribution over values that makes the labels most likely, sought from the even one by ten
    rounds of expectation and maximization, each spreading the records of a label by what was found
    before. It takes labels as if chance had chosen where they are wide, which methods do not, so it
    is a second opinion on the even one and no better by itself. O(runs of labels) a round.

    References
    ----------
    Turnbull (1976), The empirical distribution function with arbitrarily grouped, censored and
    truncated data.
    """
    known = np.ones(len(cells.weight), dtype=np.bool_)
    known[[*cells.vague, *np.flatnonzero(cells.unreadable)]] = False
    used = known & (records > 0)
    runs = used[cells.label_of_run]
    if not bool(runs.any()):
        return shares
    first, last = cells.low[runs].min(), cells.high[runs].max()
    ends = np.concatenate((wanted.low, wanted.high, cells.low[runs], cells.high[runs]))
    cuts = np.unique(np.clip(ends, first, last))
    begin = np.searchsorted(cuts, np.clip(cells.low, first, last))
    end = np.searchsorted(cuts, np.clip(cells.high, first, last))
    of_run = cells.label_of_run

    def inside(mass: FloatArray, missing: float) -> FloatArray:
        """The mass of the values of each label."""
        before = np.concatenate(([0.0], np.cumsum(mass)))
        found = np.bincount(of_run, before[end] - before[begin], minlength=len(known))
        return found + cells.missing * missing

    widths = np.diff(cuts).astype(np.float64)
    mass, missing = widths, 1.0
    for _ in range(_ROUNDS):
        whole = inside(mass, missing)
        each = np.where(used & (whole > 0), records / np.where(whole > 0, whole, 1), 0)
        change = np.zeros(len(cuts))
        np.add.at(change, begin[runs], each[of_run[runs]])
        np.add.at(change, end[runs], -each[of_run[runs]])
        mass = mass * np.maximum(np.cumsum(change)[:-1], 0)
        missing *= float((each * cells.missing).sum())
    matched = mass * (wanted.within(cuts[:-1], cuts[1:]) / widths)
    whole, found = inside(mass, missing), inside(matched, missing * wanted.missing)
    open_to_chance = known & (shares > 0) & (shares < 1) & (whole > 0)
    learned = np.clip(found / np.where(whole > 0, whole, 1), 0, 1)
    return np.where(open_to_chance, learned, shares)
