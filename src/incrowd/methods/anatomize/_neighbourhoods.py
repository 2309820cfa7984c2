"""Neighbourhoods: records with similar quasi-identifiers, cut at random places from each other.

Where a neighbourhood is cut is drawn from secret randomness and from quasi-identifiers alone.
Sensitive values have one say: whether both halves could still be dealt into groups.

Invariant: a cut that was made says of the records inside a half no more than the counts of the
half, which are published. That a cut was not made could say on which side values lie. So it is
rehearsed first, with the values of the neighbourhood handed out anew at random, several times: what
a rehearsal finds depends on counts alone, which are published, and wherever the true values could
fail, so could a rehearsal. No arrangement of the values is excluded by a cut that was not made, and
it is hardly likelier: of all that could have failed, the true values are one in `_REHEARSALS` + 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from incrowd._runtime import randomness
from incrowd._runtime.arrays import BoolArray, IntArray, Uints
from incrowd._runtime.compiling import compiled
from incrowd.counts import HalvingPartition, Splits
from incrowd.counts.groups import Groups
from incrowd.counts.histograms import counted_groups
from incrowd.methods.base import RecordTask
from incrowd.methods.cuts import LinedUp, line_up
from incrowd.methods.geometry import BY_VALUE, Geometry, geometry_of

_ROOM = 4
"""The smallest groups that a neighbourhood has records for, at the least."""
_LARGE = 32
"""The smallest groups from which on a neighbourhood may try several cuts."""
_TRIES = 4
_REHEARSALS = 16
_FROM, _TO = 0.3, 0.7
"""The share of the records that a cut leaves on its left side, unless equal values forbid it."""


def neighbourhoods(
    task: RecordTask, smallest: int, admissible: Callable[[Groups], BoolArray]
) -> IntArray:
    """For each record the number of its neighbourhood.

    Parameters
    ----------
    smallest
        The size of a group; a neighbourhood has room for several.
    admissible
        Whether the records of a neighbourhood can be dealt into groups, by their counts.

    Notes
    -----
    O((d + r) n log n) for n records, d attributes and r rehearsals.
    """
    partition = task.counts.partition()
    geometries = [
        geometry_of(column, task.hierarchies[column.name], "set") for column in task.columns
    ]
    rehearsing = _Rehearsing(task, admissible)
    nodes = np.zeros(1, dtype=np.int64)
    whole: list[IntArray] = []
    settled = 0
    while len(nodes):
        task.progress("finding neighbourhoods", settled, task.counts.records)
        splits = _cuts(partition, geometries, nodes, smallest, rehearsing)
        whole.append(np.setdiff1d(nodes, splits.nodes))
        settled += int(partition.sizes(whole[-1]).sum())
        nodes = np.sort(np.concatenate(partition.split(splits))) if len(splits) else nodes[:0]
    leaves = np.sort(np.concatenate(whole))
    return _number_of_records(partition, leaves)


def _number_of_records(partition: HalvingPartition, nodes: IntArray) -> IntArray:
    """For each record the place of its node in `nodes`, below zero if it is in none of them."""
    marks = np.full(int(nodes.max(initial=-1)) + 1, -2, dtype=np.int64)
    marks[nodes] = np.arange(len(nodes))
    found = partition.group_of_records(marks)
    assert isinstance(found, np.ndarray)
    return found.astype(np.int64)


def _cuts(
    partition: HalvingPartition, geometries: list[Geometry], nodes: IntArray, smallest: int,
    rehearsing: _Rehearsing,
) -> Splits:  # fmt: skip
    """The cuts that are made: drawn ones of which both halves are admissible, and rehearsed."""
    sizes = partition.sizes(nodes)
    waiting = nodes[sizes >= 2 * _ROOM * smallest]
    large = nodes[sizes >= _LARGE * smallest]
    made: list[Splits] = []
    for turn in range(_TRIES):
        if turn:
            waiting = np.intersect1d(waiting, large)
        drawn = _drawn(partition, geometries, waiting, _ROOM * smallest)
        if not len(drawn):
            break
        made.append(rehearsing.passed(partition, drawn))
        waiting = np.setdiff1d(waiting, made[-1].nodes)
    splits = Splits.join(made)
    return splits.take(np.argsort(splits.nodes, kind="stable"))


class _Rehearsing:
    """Cuts tried on the values as they are, and on the same values handed out at random."""

    def __init__(self, task: RecordTask, admissible: Callable[[Groups], BoolArray]) -> None:
        self._admissible = admissible
        self._names = task.sensitive
        self._codes = {name: task.counts.codes_of_records(name) for name in self._names}
        self._totals = {name: task.counts.totals(name) for name in self._names}

    def passed(self, partition: HalvingPartition, drawn: Splits) -> Splits:
        """The cuts with two admissible halves, in truth and in every rehearsal."""
        left, right = partition.half_groups(drawn, self._names)
        truly = np.flatnonzero(self._admissible(left) & self._admissible(right))
        drawn, left_sizes = drawn.take(truly), left.sizes[truly]
        if not len(drawn):
            return drawn
        order = np.argsort(drawn.nodes)
        node = _number_of_records(partition, drawn.nodes[order])
        return drawn.take(np.sort(order[self._rehearsed(node, left_sizes[order])]))

    def _rehearsed(self, node: IntArray, left: IntArray) -> IntArray:
        """The nodes that pass all rehearsals; a cut leaves `left` of a node's records there."""
        passing = np.arange(len(left))
        records = np.argsort(node, kind="stable")[np.count_nonzero(node < 0) :]
        sizes = np.bincount(node[records])
        for _ in range(_REHEARSALS):
            first = np.cumsum(sizes) - sizes
            _shuffle(records, first, sizes, randomness.keys(len(records)))
            right = np.arange(len(records)) >= np.repeat(first + left[passing], sizes)
            number = 2 * np.repeat(np.arange(len(sizes)), sizes) + right
            values = {name: codes[records] for name, codes in self._codes.items()}
            held = self._admissible(counted_groups(number, 2 * len(sizes), values, self._totals))
            held = held[0::2] & held[1::2]
            records = records[np.repeat(held, sizes)]
            passing, sizes = passing[held], sizes[held]
            if not len(passing):
                break
        return passing


@compiled
def _shuffle(records: IntArray, first: IntArray, sizes: IntArray, keys: Uints) -> None:
    """Put the records of every node into an order of which all are equally likely."""
    for node in range(len(sizes)):
        begin = first[node]
        for at in range(sizes[node] - 1, 0, -1):
            other = np.int64(keys[begin + at] % np.uint64(at + 1))
            here, there = begin + at, begin + other
            records[here], records[there] = records[there], records[here]


def _drawn(
    partition: HalvingPartition, geometries: list[Geometry], nodes: IntArray, least: int
) -> Splits:
    """A cut of each node that leaves `least` records on both sides, where there is one.

    The wider an attribute is in a node, the likelier it is cut.
    """
    extents = partition.extents(nodes)
    widths = np.stack(
        [
            g.losses(extents.low[:, a], extents.high[:, a], extents.distinct[:, a])
            for a, g in enumerate(geometries)
        ]
    )
    ranking = np.argsort(-widths * _fractions(widths.size).reshape(widths.shape), axis=0)
    share = _FROM + (_TO - _FROM) * _fractions(len(nodes))
    waiting = np.arange(len(nodes))
    drawn: list[Splits] = []
    for turn in range(len(geometries)):
        still = [waiting[:0]]
        for attribute, geometry in enumerate(geometries):
            here = waiting[ranking[turn, waiting] == attribute]
            histograms = partition.histograms(attribute, nodes[here])
            lined = line_up(nodes[here], attribute, histograms, geometry, BY_VALUE)
            first, last = lined.within_sizes(least)
            possible = first <= last
            position = np.clip(_position(lined, share[here]), first, last)[possible]
            drawn.append(lined.splits(np.flatnonzero(possible), position))
            still.append(here[~possible])
        waiting = np.sort(np.concatenate(still))
    return Splits.join(drawn)


def _position(lined: LinedUp, share: np.ndarray) -> IntArray:
    """The place in each node's line-up where about this share of its records is to the left."""
    totals = lined.running[lined.offsets[1:] - 1]
    before = np.concatenate(([0], np.cumsum(totals)))[:-1]
    running = lined.running + np.repeat(before, np.diff(lined.offsets))
    found = np.searchsorted(running, before + share * totals)
    return (found - lined.offsets[:-1]).astype(np.int64)


def _fractions(many: int) -> np.ndarray:
    """Numbers between 0 and 1, drawn from secret randomness."""
    return randomness.keys(many) / 2.0**64
