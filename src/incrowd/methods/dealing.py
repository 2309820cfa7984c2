"""Bundles of records dealt to the groups of their cell, so that groups hold different values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from incrowd.compiling import compiled
from incrowd.privacy.base import IntArray


@dataclass(frozen=True)
class Bundles:
    """Records that agree on all quasi-identifiers, and the rows of sensitive values they hold.

    The rows of bundle b are `rows[offsets[b]:offsets[b + 1]]`; `values[row]` are the values of a
    row, numbered through all attributes.
    """

    sizes: IntArray
    offsets: IntArray
    rows: IntArray
    values: IntArray


def deal_cells(
    bundles: Bundles, chosen: IntArray, cell: IntArray, many: IntArray, wanted: int
) -> IntArray:
    """For each chosen bundle the number, from 0, of its group in its cell.

    `cell` has the cell of each chosen bundle, `many` the groups that every cell is dealt into.
    The bundles of a cell are dealt from those with the most frequent values to those with the
    rarest. While groups lack some of their `wanted` rows without a common value, a bundle goes to
    a group that it brings closer, the one that lacks most; else to the one with fewest records.
    """
    order = np.argsort(cell, kind="stable")
    starts = np.concatenate(([0], np.flatnonzero(np.diff(cell[order])) + 1, [len(order)]))
    groups = many[cell[order[starts[:-1]]]]
    dealt = np.empty(len(chosen), dtype=np.int64)
    dealt[order] = _deal(
        chosen[order], starts, groups, bundles.sizes, bundles.offsets, bundles.rows,
        bundles.values, int(bundles.values.max(initial=0)) + 1, wanted,
    )  # fmt: skip
    return dealt


@compiled
def _deal(
    chosen: Any, starts: Any, groups: Any, sizes: Any, offsets: Any, rows: Any, values: Any,
    total: int, wanted: int,
) -> Any:  # fmt: skip
    width = values.shape[1]
    dealt = np.zeros(len(chosen), np.int64)
    frequency = np.zeros(total, np.int64)
    local = np.zeros(total, np.int64)
    for cell in range(len(groups)):
        first, last = starts[cell], starts[cell + 1]
        many = groups[cell]
        if many == 1:
            continue
        # How often each value occurs in the cell, and a number for it there.
        for at in range(first, last):
            for row in range(offsets[chosen[at]], offsets[chosen[at] + 1]):
                for a in range(width):
                    frequency[values[rows[row], a]] = 0
        distinct = 0
        for at in range(first, last):
            for row in range(offsets[chosen[at]], offsets[chosen[at] + 1]):
                for a in range(width):
                    value = values[rows[row], a]
                    if frequency[value] == 0:
                        local[value] = distinct
                        distinct += 1
                    frequency[value] += 1
        hardness = np.zeros(last - first, np.int64)
        for at in range(first, last):
            for row in range(offsets[chosen[at]], offsets[chosen[at] + 1]):
                together = 0
                for a in range(width):
                    together += frequency[values[rows[row], a]]
                hardness[at - first] = max(hardness[at - first], together)
        has = np.zeros((many, distinct), np.bool_)
        apart = np.zeros(many, np.int64)
        records = np.zeros(many, np.int64)
        for turn in np.argsort(-hardness, kind="mergesort"):
            bundle = chosen[first + turn]
            best, best_brings, smallest = -1, False, 0
            for group in range(many):
                if records[group] < records[smallest]:
                    smallest = group
                if apart[group] >= wanted:
                    continue
                brings = False
                for row in range(offsets[bundle], offsets[bundle + 1]):
                    alien = True
                    for a in range(width):
                        if has[group, local[values[rows[row], a]]]:
                            alien = False
                            break
                    if alien:
                        brings = True
                        break
                if brings and (
                    best < 0
                    or apart[group] < apart[best]
                    or (apart[group] == apart[best] and records[group] < records[best])
                ):
                    best, best_brings = group, True
            if not best_brings:
                best = smallest
            dealt[first + turn] = best
            records[best] += sizes[bundle]
            for row in range(offsets[bundle], offsets[bundle + 1]):
                alien = apart[best] < wanted
                for a in range(width):
                    if has[best, local[values[rows[row], a]]]:
                        alien = False
                        break
                if alien:
                    apart[best] += 1
                    for a in range(width):
                        has[best, local[values[rows[row], a]]] = True
    return dealt
