"""Groups that miss a model joined with neighbours, together with as many that need not be.

Groups that were made from quasi-identifiers alone may miss a model on sensitive values. They are
joined along blocks that were fixed before any sensitive value was looked at. A block that is joined
would tell that one of its groups had missed the model; so as many others are joined, drawn at
random from those of which the same might be thought.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from incrowd._runtime import randomness
from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.counts.groups import Groups
from incrowd.counts.histograms import histogram_of
from incrowd.methods.base import Task

Born = tuple[IntArray, IntArray, IntArray]
"""Nodes that were cut, with their left and their right halves."""


def joined_leaves(task: Task, groups: Groups, leaves: IntArray, born: Sequence[Born]) -> IntArray:
    """The group of each leaf, after those that miss a model and as many others were joined.

    Parameters
    ----------
    task
        The models.
    groups
        Sizes and sensitive histograms of the leaves.
    leaves, born
        The nodes that were not cut, and how all nodes came about.

    Notes
    -----
    Invariant: which leaves can be joined with which is decided from the quasi-identifiers. Blocks
    double with every round: one is joined where a part of it misses a model, and as many that miss
    none, by secret randomness. A leaf that stands alone is known to hold, and its histogram is
    published: nothing else is known of it. Of a joined block an attacker knows that a part of it
    missed a model, or that it was drawn; as its parts are about equal in size he does not know
    which part. The rounds end, for the table as a whole satisfies all models.
    """
    unit = np.arange(len(leaves))
    for block in blocks_of(leaves, born):
        failing = ~task.satisfied(merged(groups, unit))
        if not failing.any():
            return unit
        needed = np.bincount(block, weights=failing[unit]) > 0
        joined = needed | _drawn(task, groups, unit, block, needed)
        # Blocks are numbered apart from what stays as it is, and all of it from 0 on again.
        chosen = np.where(joined[block], len(leaves) + block, unit)
        unit = np.unique(chosen, return_inverse=True)[1].astype(np.int64)
    return unit


def blocks_of(leaves: IntArray, born: Sequence[Born]) -> Iterator[IntArray]:
    """Rounds of blocks: for each leaf the number of its block, until all are in one.

    Two blocks that are near in the tree of cuts make the next one; of three, those of the most
    equal size in leaves. An odd one goes up to where it meets another.
    """
    place = {int(node): number for number, node in enumerate(leaves)}
    cuts = [
        (int(node), int(left), int(right))
        for nodes, lefts, rights in born
        for node, left, right in zip(nodes, lefts, rights, strict=True)
    ]
    waiting: dict[int, list[list[int]]] = {node: [[number]] for node, number in place.items()}
    while True:
        block = np.full(len(leaves), -1, dtype=np.int64)
        made: dict[int, list[list[int]]] = {}
        number = 0
        for node, left, right in reversed(cuts):
            units = [*waiting.pop(node, []), *waiting.pop(left, []), *waiting.pop(right, [])]
            units.sort(key=len)
            while len(units) > 1:
                pair = [*units.pop(0), *units.pop(0)]
                block[pair] = number
                number += 1
                made.setdefault(node, []).append(pair)
            if units:
                waiting[node] = units
        odd = [unit for units in waiting.values() for unit in units]
        if not number:
            yield np.zeros(len(leaves), dtype=np.int64)
            return
        for unit in odd:  # the one that met no other joins the block that was made last
            block[unit] = number - 1
            last = next(node for node in reversed(made))
            made[last][-1].extend(unit)
        yield block
        if number == 1:
            return
        waiting = made


def merged(groups: Groups, unit: IntArray) -> Groups:
    """Sizes and histograms of unions of groups, which are numbered from 0 on."""
    sizes = np.bincount(unit, weights=groups.sizes).astype(np.int64)
    many = len(sizes)
    return Groups(
        sizes,
        {
            name: histogram_of(unit[h.groups], many, h.values, h.total, h.counts)
            for name, h in groups.histograms.items()
        },
    )


def _drawn(
    task: Task, groups: Groups, unit: IntArray, block: IntArray, needed: BoolArray
) -> BoolArray:
    """As many blocks as there are needed ones, of those that might have been needed."""
    able = np.flatnonzero(~needed & _may_fail(task, groups, unit, block))
    chosen = able[randomness.permutation(len(able))[: int(needed.sum())]]
    drawn = np.zeros(len(needed), dtype=np.bool_)
    drawn[chosen] = True
    return drawn


def _may_fail(task: Task, groups: Groups, unit: IntArray, block: IntArray) -> BoolArray:
    """For each block, whether a part might miss a model if the values were dealt otherwise.

    Where a model does not tell how large a part must be to hold for certain, any part might.
    """
    whole = merged(groups, block)
    sizes = np.bincount(unit, weights=groups.sizes)[unit]
    smallest = np.full(len(whole), np.inf)
    np.minimum.at(smallest, block, sizes)
    safe = np.zeros(len(whole))
    for model in task.models:
        size = model.safe_size(whole)
        safe = np.maximum(safe, np.inf if size is None else size)
    return np.asarray((smallest < whole.sizes) & (smallest < safe))
