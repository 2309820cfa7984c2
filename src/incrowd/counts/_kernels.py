"""Compiled loops over coded rows: histograms, extents and moves of the nodes of a partition.

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
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd._runtime.compiling import compiled

if TYPE_CHECKING:
    from incrowd.counts.base import Splits

_WORTH_A_THREAD = 20_000


def over_nodes(kernel: Callable[..., None], starts: Any, ends: Any, *arguments: Any) -> None:
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
def _node_sizes(first: int, last: int, starts: Any, ends: Any, weights: Any, sizes: Any) -> None:
    for node in range(first, last):
        total = 0
        for row in range(starts[node], ends[node]):
            total += weights[row]
        sizes[node] = total


def node_sizes(weights: Any, starts: Any, ends: Any) -> Any:
    """Total weight of the rows of each node."""
    sizes = np.zeros(len(starts), np.int64)
    over_nodes(_node_sizes, starts, ends, weights, sizes)
    return sizes


@compiled
def _node_histogram(
    codes: Any, weights: Any, start: int, end: int, column: int, tally: Any, touched: Any
) -> int:
    """Tally the codes of one node; returns how many differ, their codes in `touched` ascending."""
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
    first: int, last: int, starts: Any, ends: Any, codes: Any, weights: Any, column: int,
    cardinality: int, offsets: Any, out_codes: Any, out_counts: Any, found: Any,
) -> None:  # fmt: skip
    tally = np.zeros(cardinality, np.int64)
    touched = np.empty(cardinality, np.int64)
    for node in range(first, last):
        n = _node_histogram(codes, weights, starts[node], ends[node], column, tally, touched)
        found[node] = n
        at = offsets[node]
        for i in range(n):
            out_codes[at + i] = touched[i]
            out_counts[at + i] = tally[touched[i]]
            tally[touched[i]] = 0


@compiled
def _compact(
    offsets: Any, found: Any, out_offsets: Any, codes: Any, counts: Any, out_codes: Any,
    out_counts: Any,
) -> None:  # fmt: skip
    for node in range(len(found)):
        for i in range(found[node]):
            out_codes[out_offsets[node] + i] = codes[offsets[node] + i]
            out_counts[out_offsets[node] + i] = counts[offsets[node] + i]


def tightened(offsets: Any, found: Any, codes: Any, counts: Any) -> tuple[Any, Any, Any]:
    """The entries of nodes without the room that was not needed, and where they now begin."""
    tight = np.concatenate((np.zeros(1, np.int64), np.cumsum(found)))
    out_codes = np.empty(tight[-1], np.int64)
    out_counts = np.empty(tight[-1], np.int64)
    _compact(offsets, found, tight, codes, counts, out_codes, out_counts)
    return tight, out_codes, out_counts


def node_histograms(
    codes: Any, weights: Any, starts: Any, ends: Any, column: int, cardinality: int
) -> tuple[Any, Any, Any]:
    """Offsets, codes and counts of the values of a column that occur in each node."""
    room = np.minimum(ends - starts, cardinality)
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(room)))
    loose_codes = np.empty(offsets[-1], np.int64)
    loose_counts = np.empty(offsets[-1], np.int64)
    found = np.zeros(len(starts), np.int64)
    over_nodes(
        _histogram_rooms, starts, ends, codes, weights, column, cardinality, offsets, loose_codes,
        loose_counts, found,
    )  # fmt: skip
    return tightened(offsets, found, loose_codes, loose_counts)


@compiled
def _joint_rooms(
    first: int, last: int, starts: Any, ends: Any, codes: Any, weights: Any, column: int,
    sensitive: int, values: int, offsets: Any, keys: Any, counts: Any, found: Any,
) -> None:  # fmt: skip
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
    codes: Any, weights: Any, starts: Any, ends: Any, column: int, sensitive: int, values: int
) -> tuple[Any, Any, Any, Any]:
    """Offsets, codes, sensitive values and counts of the pairs that occur in each node."""
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(ends - starts)))
    loose_keys = np.empty(offsets[-1], np.int64)
    loose_counts = np.empty(offsets[-1], np.int64)
    found = np.zeros(len(starts), np.int64)
    over_nodes(
        _joint_rooms, starts, ends, codes, weights, column, sensitive, values, offsets, loose_keys,
        loose_counts, found,
    )  # fmt: skip
    tight, keys, counts = tightened(offsets, found, loose_keys, loose_counts)
    return tight, keys // values, keys % values, counts


@compiled
def _extents(
    first: int, last: int, starts: Any, ends: Any, codes: Any, bases: Any, width: int,
    low: Any, high: Any, distinct: Any,
) -> None:  # fmt: skip
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


def node_extents(codes: Any, starts: Any, ends: Any, cardinalities: Any) -> tuple[Any, Any, Any]:
    """Smallest code, largest code and number of different codes, by (node, attribute)."""
    shape = (len(starts), len(cardinalities))
    low = np.full(shape, np.iinfo(np.int64).max)
    high = np.full(shape, -1, np.int64)
    distinct = np.zeros(shape, np.int64)
    bases = np.cumsum(cardinalities) - cardinalities
    width = int(cardinalities.sum())
    over_nodes(_extents, starts, ends, codes, bases, width, low, high, distinct)
    return low, high, distinct


@compiled
def _varying(codes: Any, start: int, end: int, dimensions: int, found: Any) -> int:
    """Put the attributes that take more than one code in a node into `found`; returns how many."""
    count = 0
    for a in range(dimensions):
        for row in range(start + 1, end):
            if codes[row, a] != codes[start, a]:
                found[count] = a
                count += 1
                break
    return count


@compiled
def _half_extents(
    first: int, last: int, starts: Any, ends: Any, codes: Any, weights: Any, attributes: Any,
    offsets: Any, left: Any, bases: Any, width: int, low: Any, high: Any, distinct: Any,
    records: Any,
) -> None:  # fmt: skip
    seen = np.full((2, width), -1, np.int64)
    side = np.full(width, -1, np.int64)
    dimensions = len(bases)
    varying = np.empty(dimensions, np.int64)
    count = 0
    for s in range(first, last):
        if starts[s] == ends[s]:
            low[:, s, :], high[:, s, :], distinct[:, s, :] = width, -1, 0
            continue
        if s == first or starts[s] != starts[s - 1] or ends[s] != ends[s - 1]:
            count = _varying(codes, starts[s], ends[s], dimensions, varying)
        for i in range(offsets[s], offsets[s + 1]):
            side[left[i]] = s
        for half in range(2):
            for a in range(dimensions):
                low[half, s, a] = high[half, s, a] = codes[starts[s], a]
                distinct[half, s, a] = 1
            for i in range(count):
                low[half, s, varying[i]] = width
                high[half, s, varying[i]] = -1
                distinct[half, s, varying[i]] = 0
        chosen = attributes[s]
        for row in range(starts[s], ends[s]):
            half = 0 if side[codes[row, chosen]] == s else 1
            records[half, s] += weights[row]
            for i in range(count):
                a = varying[i]
                code = np.int64(codes[row, a])
                if seen[half, bases[a] + code] != s:
                    seen[half, bases[a] + code] = s
                    distinct[half, s, a] += 1
                    low[half, s, a] = min(low[half, s, a], code)
                    high[half, s, a] = max(high[half, s, a], code)
        for half in range(2):
            if records[half, s] == 0:
                distinct[half, s, :] = 0


def half_extents(
    codes: Any, weights: Any, starts: Any, ends: Any, splits: Splits, cardinalities: Any
) -> tuple[Any, Any, Any, Any]:
    """Extents of the halves of splits by (half, split, attribute), and records by (half, split).

    Splits of the same node should be neighbours: what is constant in the node is found once.
    """
    shape = (2, len(starts), len(cardinalities))
    low = np.empty(shape, np.int64)
    high = np.empty(shape, np.int64)
    distinct = np.empty(shape, np.int64)
    records = np.zeros(shape[:2], np.int64)
    bases = np.cumsum(cardinalities) - cardinalities
    over_nodes(
        _half_extents, starts, ends, codes, weights, *splits.arrays, bases,
        int(cardinalities.sum()), low, high, distinct, records,
    )  # fmt: skip
    return low, high, distinct, records


@compiled
def _half_sizes(
    first: int, last: int, starts: Any, ends: Any, codes: Any, weights: Any, attributes: Any,
    offsets: Any, left: Any, width: int, sizes: Any,
) -> None:  # fmt: skip
    side = np.full(width, -1, np.int64)
    for s in range(first, last):
        for i in range(offsets[s], offsets[s + 1]):
            side[left[i]] = s
        for row in range(starts[s], ends[s]):
            half = 0 if side[codes[row, attributes[s]]] == s else 1
            sizes[half, s] += weights[row]


def half_sizes(codes: Any, weights: Any, starts: Any, ends: Any, splits: Splits, width: int) -> Any:
    """Total weight of the halves of splits, by (half, split)."""
    sizes = np.zeros((2, len(starts)), np.int64)
    over_nodes(_half_sizes, starts, ends, codes, weights, *splits.arrays, width, sizes)
    return sizes


@compiled
def _half_histogram_rooms(
    first: int, last: int, starts: Any, ends: Any, codes: Any, weights: Any, attributes: Any,
    offsets: Any, left: Any, width: int, column: int, cardinality: int, rooms: Any,
    out_codes: Any, out_counts: Any, found: Any,
) -> None:  # fmt: skip
    side = np.full(width, -1, np.int64)
    tally = np.zeros((2, cardinality), np.int64)
    touched = np.empty((2, cardinality), np.int64)
    count = np.zeros(2, np.int64)
    for s in range(first, last):
        for i in range(offsets[s], offsets[s + 1]):
            side[left[i]] = s
        count[:] = 0
        for row in range(starts[s], ends[s]):
            half = 0 if side[codes[row, attributes[s]]] == s else 1
            code = codes[row, column]
            if tally[half, code] == 0:
                touched[half, count[half]] = code
                count[half] += 1
            tally[half, code] += weights[row]
        for half in range(2):
            touched[half, : count[half]].sort()
            found[half, s] = count[half]
            at = rooms[s]
            for i in range(count[half]):
                code = touched[half, i]
                out_codes[half, at + i] = code
                out_counts[half, at + i] = tally[half, code]
                tally[half, code] = 0


def half_histograms(
    codes: Any, weights: Any, starts: Any, ends: Any, splits: Splits, width: int, column: int,
    cardinality: int,
) -> tuple[Any, ...]:  # fmt: skip
    """Offsets, codes and counts of a column in the left halves, then in the right ones."""
    room = np.minimum(ends - starts, cardinality)
    rooms = np.concatenate((np.zeros(1, np.int64), np.cumsum(room)))
    loose_codes = np.empty((2, rooms[-1]), np.int64)
    loose_counts = np.empty((2, rooms[-1]), np.int64)
    found = np.zeros((2, len(starts)), np.int64)
    over_nodes(
        _half_histogram_rooms, starts, ends, codes, weights, *splits.arrays, width,
        column, cardinality, rooms, loose_codes, loose_counts, found,
    )  # fmt: skip
    answer: list[Any] = []
    for half in range(2):
        answer += tightened(rooms, found[half], loose_codes[half], loose_counts[half])
    return tuple(answer)


@compiled
def _move_rows(
    first: int, last: int, starts: Any, ends: Any, codes: Any, weights: Any, origin: Any,
    attributes: Any, offsets: Any, left: Any, width: int, middles: Any,
) -> None:  # fmt: skip
    side = np.full(width, -1, np.int64)
    for s in range(first, last):
        for i in range(offsets[s], offsets[s + 1]):
            side[left[i]] = s
        chosen = attributes[s]
        low, high = starts[s], ends[s] - 1
        while True:
            while low <= high and side[codes[low, chosen]] == s:
                low += 1
            while low <= high and side[codes[high, chosen]] != s:
                high -= 1
            if low >= high:
                break
            for a in range(codes.shape[1]):
                code = codes[low, a]
                codes[low, a] = codes[high, a]
                codes[high, a] = code
            weight = weights[low]
            weights[low] = weights[high]
            weights[high] = weight
            row = origin[low]
            origin[low] = origin[high]
            origin[high] = row
        middles[s] = low


def move_rows(
    codes: Any, weights: Any, origin: Any, starts: Any, ends: Any, splits: Splits, width: int
) -> Any:
    """Move the rows of each split's left half to the front of its node; returns where it ends."""
    middles = np.empty(len(starts), np.int64)
    over_nodes(_move_rows, starts, ends, codes, weights, origin, *splits.arrays, width, middles)
    return middles


@compiled
def _sort_rows(
    first: int, last: int, starts: Any, ends: Any, codes: Any, weights: Any, origin: Any,
    column: int, child_of_code: Any, children: int, bounds: Any,
) -> None:  # fmt: skip
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
        for row in range(size):
            for a in range(width):
                codes[start + row, a] = codes_aside[row, a]
            weights[start + row] = weights_aside[row]
            origin[start + row] = origin_aside[row]


def sort_rows(
    codes: Any, weights: Any, origin: Any, starts: Any, ends: Any, column: int, child_of_code: Any,
    children: int,
) -> Any:  # fmt: skip
    """Sort the rows of each node by the child of their code; where children begin and end."""
    bounds = np.empty((len(starts), children + 1), np.int64)
    over_nodes(
        _sort_rows, starts, ends, codes, weights, origin, column, child_of_code, children, bounds
    )
    return bounds


@compiled
def label_rows(labels: Any, origin: Any, starts: Any, ends: Any, label_of_node: Any) -> None:
    """Write the label of each node to its rows, at their places before they were moved."""
    for node in range(len(starts)):
        for row in range(starts[node], ends[node]):
            labels[origin[row]] = label_of_node[node]
