"""Rows of codes as single integers: packed keys, distinct rows, and who belongs to which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import IntArray, Ints
from incrowd._runtime.compiling import compiled
from incrowd.errors import InputError
from incrowd.table._table import Column

RowNumbers = npt.NDArray[np.int32]
"""Numbers of rows or groups: half the memory of codes packed into keys."""
_LIMIT = 1 << 62
_MOST_ROWS = int(np.iinfo(np.int32).max)
"""Rows whose numbers, and those of groups of them, fit `RowNumbers`."""
_DENSE_PER_ROW = 4


def distinct_rows(
    columns: Iterable[npt.NDArray[np.integer]], cardinalities: Sequence[int], rows: int
) -> tuple[RowNumbers, IntArray]:
    """For each row the number of its combination of codes, and one row of each combination.

    Combinations are numbered in ascending order of their codes. Cost: one look-up
    in a hash table per row, or in an array where the combinations possible are hardly more.
    More rows than `RowNumbers` can tell apart are refused.
    """
    if rows > _MOST_ROWS:
        raise InputError(
            f"{rows:,} rows are more than can be worked on in memory, {_MOST_ROWS:,}. Set"
            " `engine: duckdb` or `engine: spark` in the policy: equal records are one row there."
        )
    if not len(cardinalities):
        return np.zeros(rows, dtype=np.int32), np.zeros(min(rows, 1), dtype=np.int64)
    number, distinct = _renumber(*_packed(columns, cardinalities, rows))
    return number, _representatives(number, distinct)


def distinct_rows_of(columns: Sequence[Column], rows: int) -> tuple[RowNumbers, IntArray]:
    """The same for so many rows of columns."""
    cardinalities = [column.cardinality for column in columns]
    return distinct_rows((column.codes for column in columns), cardinalities, rows)


def _packed(
    columns: Iterable[npt.NDArray[np.integer]], cardinalities: Sequence[int], rows: int
) -> tuple[npt.NDArray[np.integer], int]:
    """One integer per row that orders rows as their codes do, and a bound above all of them."""
    key: npt.NDArray[np.integer] = np.zeros(rows, dtype=np.int64)
    span = 1
    for codes, cardinality in zip(columns, cardinalities, strict=True):
        cardinality = max(cardinality, 1)
        if span * cardinality >= _LIMIT:
            key, span = _renumber(key, span)
        key = key.astype(np.int64, copy=False)
        key *= cardinality
        key += codes
        span *= cardinality
    return key, span


def _renumber(key: npt.NDArray[np.integer], span: int) -> tuple[RowNumbers, int]:
    """The keys renumbered 0, 1, 2 … in their order, and how many there are."""
    if span <= max(_DENSE_PER_ROW * len(key), 1 << 16):
        occurs = np.zeros(span, dtype=np.bool_)
        occurs[key] = True
        rank = np.cumsum(occurs, dtype=np.int32)
        rank -= 1
        return rank[key], int(rank[-1]) + 1 if span else 0
    number, unique = _first_seen(key)
    order = np.argsort(unique)
    rank = np.empty(len(unique), dtype=np.int32)
    rank[order] = np.arange(len(unique), dtype=np.int32)
    return rank[number], len(unique)


@compiled
def _representatives(number: Ints, distinct: int) -> IntArray:
    """The first row of each number."""
    rows = np.full(distinct, -1, np.int64)
    for row in range(len(number)):
        if rows[number[row]] < 0:
            rows[number[row]] = row
    return rows


@compiled
def _slot(slots: Ints, unique: IntArray, key: int) -> np.int64:
    """Where a key is in the hash table, or the free place where it belongs."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64((mixed ^ (mixed >> np.uint64(29))) & np.uint64(len(slots) - 1))
    while slots[slot] >= 0 and unique[slots[slot]] != key:
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@compiled
def _first_seen(key: Ints) -> tuple[RowNumbers, IntArray]:
    """Keys numbered as they are first seen, by a hash table, and the key of each number."""
    slots = np.full(1 << 16, -1, np.int32)
    unique = np.empty(len(slots) // 2, np.int64)
    number = np.empty(len(key), np.int32)
    found = 0
    for row in range(len(key)):
        slot = _slot(slots, unique, key[row])
        if slots[slot] < 0:
            if found == len(unique):
                unique = np.append(unique, np.empty(found, np.int64))
                slots = np.full(2 * len(slots), -1, np.int32)
                for earlier in range(found):
                    slots[_slot(slots, unique, unique[earlier])] = earlier
                slot = _slot(slots, unique, key[row])
            slots[slot] = found
            unique[found] = key[row]
            found += 1
        number[row] = slots[slot]
    return number, unique[:found].copy()
