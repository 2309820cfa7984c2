"""Compiled loops over coded rows: sizes, histograms and extents of the nodes of a partition.

Every kernel walks the rows of its nodes once. `starts` and `ends` bound the rows of each node,
which are neighbours; nodes share no rows, so runs of nodes go to a thread each. Plain threads
around kernels that release the interpreter's lock compile in a fraction of the time that
Numba's own parallel loops take, and start-up matters to a command line.

Invariant: every row weighs 1 or more. A tally of 0 then means "not seen yet", and no list of what
was seen is longer than the codes there are. `MemoryCounts` sees to it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from incrowd._runtime.arrays import IntArray, Ints
from incrowd._runtime.compiling import compiled
from incrowd.counts.base import Extents

_WORTH_A_THREAD = 20_000


class CodedRows(NamedTuple):
    """Rows by column, how many records each stands for, and their places before they moved."""

    codes: Ints
    weights: Ints
    origin: Ints


class EntryRoom(NamedTuple):
    """Room for the entries of nodes: those of node n from `offsets[n]` on, `found[n]` of them.

    Of halves, all but `offsets` are by half first.
    """

    offsets: IntArray
    codes: IntArray
    counts: IntArray
    found: IntArray

    @staticmethod
    def room(sizes: IntArray, halves: tuple[int, ...] = ()) -> EntryRoom:
        """Room for so many entries of each node."""
        offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
        shape = (*halves, int(offsets[-1]))
        return EntryRoom(
            offsets,
            np.empty(shape, np.int64),
            np.empty(shape, np.int64),
            np.zeros((*halves, len(sizes)), np.int64),
        )

    def tightened(self) -> tuple[IntArray, IntArray, IntArray]:
        """The entries without the room that was not needed, and where they now begin."""
        tight = np.concatenate((np.zeros(1, np.int64), np.cumsum(self.found)))
        held = np.repeat(self.offsets[:-1] - tight[:-1], self.found) + np.arange(tight[-1])
        return tight, self.codes[held], self.counts[held]


def over_nodes(
    kernel: Callable[..., None], starts: IntArray, ends: IntArray, *arguments: object
) -> None:
    """Call kernel(first, last, starts, ends, …) over runs of nodes with about equally many rows."""
    rows = np.cumsum(ends - starts + 1)
    threads = _threads()
    if len(starts) < 2 or threads < 2 or rows[-1] < _WORTH_A_THREAD:
        kernel(0, len(starts), starts, ends, *arguments)
        return
    cuts = np.searchsorted(rows, rows[-1] * np.arange(1, threads) / threads, side="left") + 1
    bounds = [0, *np.minimum(cuts, len(starts)).tolist(), len(starts)]
    runs = [
        _pool().submit(kernel, first, last, starts, ends, *arguments)
        for first, last in pairwise(bounds)
        if first < last
    ]
    for run in runs:
        run.result()


@cache
def _threads() -> int:
    return min(os.cpu_count() or 1, 16)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_threads(), thread_name_prefix="incrowd-counts")


@compiled
def _node_sizes(
    first: int, last: int, starts: IntArray, ends: IntArray, weights: Ints, sizes: IntArray
) -> None:
    for node in range(first, last):
        total = 0
        for row in range(starts[node], ends[node]):
            total += weights[row]
        sizes[node] = total


def node_sizes(rows: CodedRows, starts: IntArray, ends: IntArray) -> IntArray:
    """Total weight of the rows of each node."""
    sizes = np.zeros(len(starts), np.int64)
    over_nodes(_node_sizes, starts, ends, rows.weights, sizes)
    return sizes


@compiled
def _node_histogram(
    rows: CodedRows, start: int, end: int, column: int, tally: IntArray, touched: IntArray
) -> int:
    """Tally the codes of one node; returns how many differ, their codes in `touched` ascending."""
    codes, weights, _ = rows
    found = 0
    for row in range(start, end):
        code = codes[row, column]
        if tally[code] == 0:
            touched[found] = code
            found += 1
        tally[code] += weights[row]
    if found * 16 < len(tally):
        touched[:found].sort()
    else:
        found = 0
        for code in range(len(tally)):
            if tally[code] > 0:
                touched[found] = code
                found += 1
    return found


@compiled
def _histogram_rooms(
    first: int, last: int, starts: IntArray, ends: IntArray, rows: CodedRows, column: int,
    cardinality: int, room: EntryRoom,
) -> None:  # fmt: skip
    offsets, out_codes, out_counts, found = room
    tally = np.zeros(cardinality, np.int64)
    touched = np.empty(cardinality, np.int64)
    for node in range(first, last):
        n = _node_histogram(rows, starts[node], ends[node], column, tally, touched)
        found[node] = n
        at = offsets[node]
        for i in range(n):
            out_codes[at + i] = touched[i]
            out_counts[at + i] = tally[touched[i]]
            tally[touched[i]] = 0


def node_histograms(
    rows: CodedRows, starts: IntArray, ends: IntArray, column: int, cardinality: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Offsets, codes and counts of the values of a column that occur in each node."""
    room = EntryRoom.room(np.minimum(ends - starts, cardinality))
    over_nodes(_histogram_rooms, starts, ends, rows, column, cardinality, room)
    return room.tightened()


@compiled
def _joint_rooms(
    first: int, last: int, starts: IntArray, ends: IntArray, rows: CodedRows, column: int,
    sensitive: int, values: int, room: EntryRoom,
) -> None:  # fmt: skip
    codes, weights, _ = rows
    offsets, keys, counts, found = room
    for node in range(first, last):
        start, size = starts[node], ends[node] - starts[node]
        pairs = np.empty(size, np.int64)
        for row in range(size):
            pairs[row] = np.int64(codes[start + row, column]) * values
            pairs[row] += np.int64(codes[start + row, sensitive])
        at, previous = offsets[node] - 1, np.int64(-1)
        for row in np.argsort(pairs):
            if pairs[row] != previous:
                at += 1
                previous = pairs[row]
                keys[at] = previous
                counts[at] = 0
            counts[at] += weights[start + row]
        found[node] = at + 1 - offsets[node]


def joint_histograms(
    rows: CodedRows, starts: IntArray, ends: IntArray, column: int, sensitive: int, values: int
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Offsets, codes, sensitive values and counts of the pairs that occur in each node."""
    room = EntryRoom.room(ends - starts)
    over_nodes(_joint_rooms, starts, ends, rows, column, sensitive, values, room)
    tight, keys, counts = room.tightened()
    return tight, keys // values, keys % values, counts


@compiled
def _extents(
    first: int, last: int, starts: IntArray, ends: IntArray, codes: Ints, bases: IntArray,
    width: int, out: Extents,
) -> None:  # fmt: skip
    low, high, distinct, _ = out
    seen = np.full(width, -1, np.int64)
    for node in range(first, last):
        for row in range(starts[node], ends[node]):
            for a in range(len(bases)):
                code = np.int64(codes[row, a])
                if seen[bases[a] + code] != node:
                    seen[bases[a] + code] = node
                    distinct[node, a] += 1
                    low[node, a] = min(low[node, a], code)
                    high[node, a] = max(high[node, a], code)


def node_extents(
    rows: CodedRows, starts: IntArray, ends: IntArray, cardinalities: IntArray
) -> Extents:
    """Smallest code, largest code and number of different codes, by (node, attribute)."""
    shape = (len(starts), len(cardinalities))
    out = Extents(
        np.full(shape, np.iinfo(np.int64).max),
        np.full(shape, -1, np.int64),
        np.zeros(shape, np.int64),
        node_sizes(rows, starts, ends),
    )
    bases = np.cumsum(cardinalities) - cardinalities
    over_nodes(_extents, starts, ends, rows.codes, bases, int(cardinalities.sum()), out)
    return out


@compiled
def _sort_rows(
    first: int, last: int, starts: IntArray, ends: IntArray, rows: CodedRows, column: int,
    child_of_code: IntArray, children: int, bounds: IntArray,
) -> None:  # fmt: skip
    codes, weights, origin = rows
    largest = 0
    for node in range(first, last):
        largest = max(largest, ends[node] - starts[node])
    width = codes.shape[1]
    codes_aside = np.empty((largest, width), codes.dtype)
    weights_aside = np.empty(largest, weights.dtype)
    origin_aside = np.empty(largest, origin.dtype)
    place = np.empty(children, np.int64)
    for node in range(first, last):
        start, size = starts[node], ends[node] - starts[node]
        place[:] = 0
        for row in range(start, start + size):
            place[child_of_code[codes[row, column]]] += 1
        at = start
        kinds = 0
        for child in range(children):
            bounds[node, child] = at
            if place[child] > 0:
                kinds += 1
            at += place[child]
            place[child] = bounds[node, child] - start
        bounds[node, children] = at
        if kinds < 2:
            continue
        for row in range(start, start + size):
            child = child_of_code[codes[row, column]]
            to = place[child]
            place[child] += 1
            for a in range(width):
                codes_aside[to, a] = codes[row, a]
            weights_aside[to] = weights[row]
            origin_aside[to] = origin[row]
        codes[start : start + size] = codes_aside[:size]
        weights[start : start + size] = weights_aside[:size]
        origin[start : start + size] = origin_aside[:size]


def sort_rows(
    rows: CodedRows, starts: IntArray, ends: IntArray, column: int, child_of_code: IntArray,
    children: int,
) -> IntArray:  # fmt: skip
    """Sort the rows of each node by the child of their code; where children begin and end."""
    bounds = np.empty((len(starts), children + 1), np.int64)
    over_nodes(_sort_rows, starts, ends, rows, column, child_of_code, children, bounds)
    return bounds


@compiled
def label_rows(
    labels: Ints, origin: Ints, starts: IntArray, ends: IntArray, label_of_node: IntArray
) -> None:
    """Write the label of each node to its rows, at their places before they were moved."""
    for node in range(len(starts)):
        labels[origin[starts[node] : ends[node]]] = label_of_node[node]
