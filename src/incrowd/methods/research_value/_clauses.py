"""Strings that are ruled out, and what they leave possible: the loops of the best-first search.

A string that is doomed rules out all that are as specific in every attribute. So each of them is a
clause: some attribute must be at a higher level than there. A region of strings is all between a
lowest and a highest level of each attribute. What the clauses demand of a region raises its lowest
levels, shows that it is empty, or bounds what its strings may be worth.
"""

from __future__ import annotations

import numpy as np

from incrowd._runtime.arrays import FloatArray, Ints
from incrowd._runtime.compiling import compiled

EMPTY, OPEN = -2, -1


@compiled
def tightened(
    low: Ints, high: Ints, doomed: Ints, many: int, scores: FloatArray, top: Ints
) -> tuple[int, float]:
    """Raise the lowest levels of a region as the clauses demand, and bound its scores from above.

    Gives the clause to branch on, OPEN when the lowest string breaks none or EMPTY when no string
    satisfies all, and the bound. `low` is changed in place.

    Invariant (weak duality): each broken clause gets a price, such that for every attribute and
    level the prices of all clauses that reaching this level would satisfy sum to at most what
    reaching it costs. Some attribute satisfies each clause, so a string costs at least all prices.
    """
    d = len(low)
    broken = np.empty(many, np.int64)
    ways = np.empty(many, np.int64)
    again = True
    found = 0
    while again:
        again = False
        found = 0
        for c in range(many):
            fits = True
            for a in range(d):
                if low[a] > doomed[c, a]:
                    fits = False
                    break
            if not fits:
                continue
            able, last = 0, 0
            for a in range(d):
                if doomed[c, a] < high[a] and doomed[c, a] < top[a]:
                    able += 1
                    last = a
            if able == 0:
                return EMPTY, -np.inf
            if able == 1:
                low[last] = doomed[c, last] + 1
                again = True
            else:
                broken[found] = c
                ways[found] = able
                found += 1
    bound = 0.0
    for a in range(d):
        bound += scores[a, low[a]]
    if found == 0:
        return OPEN, bound
    slack = np.zeros(scores.shape)
    for a in range(d):
        for level in range(low[a] + 1, high[a] + 1):
            slack[a, level] = scores[a, low[a]] - scores[a, level]
    fewest = ways[:found].min()
    chosen, highest = -1, -1.0
    for wanted in range(2, d + 1):
        for place in range(found):
            if ways[place] != wanted:
                continue
            c = broken[place]
            price = np.inf
            for a in range(d):
                if doomed[c, a] < high[a] and doomed[c, a] < top[a]:
                    for level in range(doomed[c, a] + 1, high[a] + 1):
                        price = min(price, slack[a, level])
            if fewest == wanted and price > highest:
                chosen, highest = c, price
            bound -= price
            if price <= 0.0:
                continue
            for a in range(d):
                if doomed[c, a] < high[a] and doomed[c, a] < top[a]:
                    for level in range(doomed[c, a] + 1, high[a] + 1):
                        slack[a, level] -= price
    return chosen, bound


@compiled
def branched(
    low: Ints, high: Ints, clause: int, doomed: Ints, many: int, scores: FloatArray, top: Ints,
    least: float,
) -> tuple[Ints, Ints, FloatArray]:  # fmt: skip
    """The regions that satisfy a clause by one attribute each, without those that are worth less.

    The cheapest attribute first; regions do not overlap: where an attribute satisfies the clause,
    all before it do not.
    """
    d = len(low)
    costs = np.full(d, np.inf)
    for a in range(d):
        if doomed[clause, a] < high[a] and doomed[clause, a] < top[a]:
            costs[a] = scores[a, low[a]] - scores[a, doomed[clause, a] + 1]
    order = np.argsort(costs, kind="mergesort")
    lows = np.empty((d, d), low.dtype)
    highs = np.empty((d, d), high.dtype)
    bounds = np.empty(d)
    made = 0
    ceiling = high.copy()
    for a in order:
        if costs[a] == np.inf:
            break
        lows[made] = low
        highs[made] = ceiling
        lows[made, a] = doomed[clause, a] + 1
        status, bound = tightened(lows[made], highs[made], doomed, many, scores, top)
        if status != EMPTY and bound >= least:
            bounds[made] = bound
            made += 1
        ceiling[a] = doomed[clause, a]
    return lows[:made].copy(), highs[:made].copy(), bounds[:made].copy()
