"""Compiled loops over the halves that splits would make of nodes, and the move that makes them.

A row of split s is in the left half if its code stands in `side` with s; see `_nodes` for the rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from incrowd._runtime.arrays import IntArray, Ints
from incrowd._runtime.compiling import compiled
from incrowd.counts._nodes import CodedRows, EntryRoom, over_nodes
from incrowd.counts.base import Extents, Splits


class LeftCodes(NamedTuple):
    """The attribute of each split and the codes that go left; all codes are below `width`."""

    attributes: IntArray
    offsets: IntArray
    left: IntArray
    width: int

    @staticmethod
    def of(splits: Splits, width: int) -> LeftCodes:
        """Those of some splits."""
        return LeftCodes(splits.attributes, splits.offsets, splits.left, width)


@compiled
def _varying(codes: Ints, start: int, end: int, dimensions: int, found: IntArray) -> int:
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
    first: int, last: int, starts: IntArray, ends: IntArray, rows: CodedRows, split: LeftCodes,
    bases: IntArray, out: Extents,
) -> None:  # fmt: skip
    codes, weights, _ = rows
    attributes, offsets, left, width = split
    low, high, distinct, records = out
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
        side[left[offsets[s] : offsets[s + 1]]] = s
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
    rows: CodedRows, starts: IntArray, ends: IntArray, splits: Splits, cardinalities: IntArray
) -> Extents:
    """Extents of the halves of splits by (half, split, attribute), and records by (half, split).

    Splits of the same node should be neighbours: what is constant in the node is found once.
    """
    shape = (2, len(starts), len(cardinalities))
    low, high, distinct = (np.empty(shape, np.int64) for _ in range(3))
    out = Extents(low, high, distinct, np.zeros(shape[:2], np.int64))
    split = LeftCodes.of(splits, int(cardinalities.sum()))
    bases = np.cumsum(cardinalities) - cardinalities
    over_nodes(_half_extents, starts, ends, rows, split, bases, out)
    return out


@compiled
def _half_sizes(
    first: int, last: int, starts: IntArray, ends: IntArray, rows: CodedRows, split: LeftCodes,
    sizes: IntArray,
) -> None:  # fmt: skip
    codes, weights, _ = rows
    attributes, offsets, left, width = split
    side = np.full(width, -1, np.int64)
    for s in range(first, last):
        side[left[offsets[s] : offsets[s + 1]]] = s
        for row in range(starts[s], ends[s]):
            half = 0 if side[codes[row, attributes[s]]] == s else 1
            sizes[half, s] += weights[row]


def half_sizes(rows: CodedRows, starts: IntArray, ends: IntArray, split: LeftCodes) -> IntArray:
    """Total weight of the halves of splits, by (half, split)."""
    sizes = np.zeros((2, len(starts)), np.int64)
    over_nodes(_half_sizes, starts, ends, rows, split, sizes)
    return sizes


@compiled
def _half_histogram_rooms(
    first: int, last: int, starts: IntArray, ends: IntArray, rows: CodedRows, split: LeftCodes,
    column: int, cardinality: int, room: EntryRoom,
) -> None:  # fmt: skip
    codes, weights, _ = rows
    attributes, offsets, left, width = split
    rooms, out_codes, out_counts, found = room
    side = np.full(width, -1, np.int64)
    tally = np.zeros((2, cardinality), np.int64)
    touched = np.empty((2, cardinality), np.int64)
    count = np.zeros(2, np.int64)
    for s in range(first, last):
        side[left[offsets[s] : offsets[s + 1]]] = s
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
    rows: CodedRows, starts: IntArray, ends: IntArray, split: LeftCodes, column: int,
    cardinality: int,
) -> tuple[tuple[IntArray, IntArray, IntArray], ...]:  # fmt: skip
    """Offsets, codes and counts of a column in the left halves, then in the right ones."""
    room = EntryRoom.room(np.minimum(ends - starts, cardinality), halves=(2,))
    over_nodes(_half_histogram_rooms, starts, ends, rows, split, column, cardinality, room)
    return tuple(
        EntryRoom(room.offsets, room.codes[half], room.counts[half], room.found[half]).tightened()
        for half in range(2)
    )


@compiled
def _move_rows(
    first: int, last: int, starts: IntArray, ends: IntArray, rows: CodedRows, split: LeftCodes,
    middles: IntArray,
) -> None:  # fmt: skip
    codes, weights, origin = rows
    attributes, offsets, left, width = split
    side = np.full(width, -1, np.int64)
    for s in range(first, last):
        side[left[offsets[s] : offsets[s + 1]]] = s
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
                codes[low, a], codes[high, a] = codes[high, a], codes[low, a]
            weights[low], weights[high] = weights[high], weights[low]
            origin[low], origin[high] = origin[high], origin[low]
        middles[s] = low


def move_rows(rows: CodedRows, starts: IntArray, ends: IntArray, split: LeftCodes) -> IntArray:
    """Move the rows of each split's left half to the front of its node; returns where it ends."""
    middles = np.empty(len(starts), np.int64)
    over_nodes(_move_rows, starts, ends, rows, split, middles)
    return middles
