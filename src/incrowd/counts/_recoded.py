"""Histograms of nodes over recoded values: the children of a value, the protected values."""

from __future__ import annotations

from typing import Any

import numpy as np

from incrowd._runtime.compiling import compiled
from incrowd.counts._kernels import over_nodes, tightened

_FEW = 16
"""Up to this share of all cells (one in so many) the ones that were touched are sorted."""


@compiled
def _recoded_rooms(
    first: int, last: int, starts: Any, ends: Any, codes: Any, weights: Any, column: int,
    child: Any, sensitive: int, value: Any, values: int, offsets: Any, keys: Any, counts: Any,
    found: Any,
) -> None:  # fmt: skip
    span = (child.max() + 1) * values
    tally = np.zeros(span, np.int64)
    touched = np.empty(span, np.int64)
    for node in range(first, last):
        many = 0
        for row in range(starts[node], ends[node]):
            key = child[codes[row, column]] * values
            if values > 1:
                key += value[codes[row, sensitive]]
            if tally[key] == 0:
                touched[many] = key
                many += 1
            tally[key] += weights[row]
        if many * _FEW < span:
            touched[:many].sort()
        else:
            many = 0
            for key in range(span):
                if tally[key] > 0:
                    touched[many] = key
                    many += 1
        found[node] = many
        for i in range(many):
            keys[offsets[node] + i] = touched[i]
            counts[offsets[node] + i] = tally[touched[i]]
            tally[touched[i]] = 0


def recoded_histograms(
    codes: Any, weights: Any, starts: Any, ends: Any, column: int, child: Any,
    sensitive: int = 0, value: Any = None,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """Offsets, children, values and counts of the pairs that occur in each node, ascending.

    `child` gives the child of each code of a column, `value` the number of each code of the
    sensitive column; without it all values are one. Every code that occurs has a child.

    Notes
    -----
    O(rows of the nodes), and O(children x values) for each node that has many of them.
    """
    values = 1 if value is None else int(value.max(initial=0)) + 1
    value = np.zeros(1, np.int64) if value is None else np.asarray(value, np.int64)
    span = (int(child.max()) + 1) * values
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.minimum(ends - starts, span))))
    keys = np.empty(offsets[-1], np.int64)
    counts = np.empty(offsets[-1], np.int64)
    found = np.zeros(len(starts), np.int64)
    over_nodes(
        _recoded_rooms, starts, ends, codes, weights, column, child, sensitive, value, values,
        offsets, keys, counts, found,
    )  # fmt: skip
    tight, keys, counts = tightened(offsets, found, keys, counts)
    return tight, keys // values, keys % values, counts
