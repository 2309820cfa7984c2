"""What an attacker can learn who knows a few quasi-identifiers of a patient, whichever they are.

Every choice of as many attributes as the attacker knows is counted, with every combination of their
cells that occurs. Fewer attributes need no count: one more splits a combination into parts, none of
which is larger, and one of which has at least as large a share of any value. Nor do attributes need
one that show a single label, since they split nothing.
"""

from __future__ import annotations

import math
import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from incrowd.errors import EngineError
from incrowd.verify.counting.groups import PublishedGroups, UnjudgeableError
from incrowd.verify.counting.records import TABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from incrowd._runtime.arrays import IntArray, Ints

MOST_STEPS = 10**14
"""The rows of all subsets together that are still counted: a day's work for two cores."""
STEPS_AT_ONCE = 2 * 10**8
"""The rows that one call counts: a quarter of a second, which an interrupt has to wait for."""


@dataclass(frozen=True)
class Combinations:
    """The combinations that occur: the worst of them, and the attributes these are made of.

    `largest` is the largest share that a value has in one; `failing` of `count` break the promise.
    """

    smallest: int
    smallest_by: tuple[str, ...]
    largest: float
    largest_by: tuple[str, ...]
    failing: int
    count: int


@dataclass(frozen=True)
class _SortedRows:
    """The distinct rows in codes, in the order of their sensitive values; see `walk`."""

    codes: Ints
    labels: IntArray
    weights: Ints
    runs: IntArray


def judge_combinations(
    groups: PublishedGroups,
    known: int,
    *,
    k: int,
    limit: float = 1.0,
    sensitive: str | None = None,
    values: list[str] | None = None,
) -> Combinations:
    """Return what is found in all combinations of `known` quasi-identifiers, or of all if fewer.

    A combination fails that has fewer than `k` records, or in which a listed value of the
    sensitive attribute (any value for None) has a share above `limit`.
    """
    varied = _varied(groups)
    names = [*varied]
    wanted = min(known, len(names))
    try:
        rows = _coded(groups, varied, sensitive, values)
        if len(rows.weights) >= 2**31:
            raise UnjudgeableError(
                f"{len(rows.weights):,} different rows are more than can be numbered to count them"
            )
        steps = math.comb(len(names), wanted) * len(rows.weights)
        if steps > MOST_STEPS:
            raise UnjudgeableError(
                f"there are too many choices of {wanted} among the {len(names)} quasi-identifiers"
                " that vary to count them all"
            )
        found = _judge_all(rows, wanted, k, limit, groups.total)
    except MemoryError:
        raise EngineError(
            "Not enough memory to count combinations while judging the release. Free memory, then"
            " try again."
        ) from None
    smallest_by, largest_by = (
        tuple(names[each] for each in subset[:wanted]) for subset in (found.size_by, found.share_by)
    )
    return Combinations(
        found.size, smallest_by, found.share, largest_by, found.failing, found.count
    )


def _varied(groups: PublishedGroups) -> dict[str, int]:
    """Return how many labels each quasi-identifier shows, in order, without those that show one."""
    types = [_typed(groups, groups.records.sql_name(name)) for name in groups.quasi]
    last_codes = ", ".join(f"enum_code(enum_last(NULL::{each})::{each})" for each in types)
    found = zip(groups.quasi, groups.row(f"SELECT {last_codes}"), strict=True)
    return {name: last + 1 for name, last in found if last}


def _typed(groups: PublishedGroups, column: str) -> str:
    """Return the name of an SQL type that has a code for each label of a column, from 0 up."""
    name = f"label_{column}"
    groups.connection.execute(
        f"CREATE TYPE IF NOT EXISTS {name} AS ENUM (SELECT DISTINCT {column} FROM {TABLE})"
    )
    return name


def _coded(
    groups: PublishedGroups, varied: dict[str, int], sensitive: str | None, values: list[str] | None
) -> _SortedRows:
    """Return the distinct rows of these attributes and the listed sensitive values, in codes.

    The sensitive code 0 stands for all that is not listed.
    """
    import numpy as np

    columns = [groups.records.sql_name(name) for name in varied]
    selected = [f"enum_code({column}::label_{column}) AS k_{column}" for column in columns]
    value, parameters = "0::BIGINT", {}
    if sensitive is not None:
        column = groups.sensitive_name(sensitive)
        value = f"enum_code({column}::{_typed(groups, column)})::BIGINT + 1"
        if values is not None:
            listed = f"{column} IN (SELECT unnest($values))"
            value, parameters = f"CASE WHEN {listed} THEN {value} ELSE 0 END", {"values": values}
    fetched = groups.connection.execute(
        f"SELECT {', '.join([*selected, f'{value} AS value'])}, sum(n)::BIGINT AS n FROM {TABLE}"
        " GROUP BY ALL ORDER BY value",
        parameters,
    ).fetchnumpy()
    weights: Ints = fetched["n"].astype(np.int32 if groups.total < 2**31 else np.int64)
    # Where nothing varies, one attribute with one label makes the whole table the one combination.
    labels = [*varied.values()] or [1]
    codes = np.zeros((len(labels), len(weights)), np.uint8 if max(labels) <= 256 else np.uint32)
    for at, column in enumerate(columns):
        codes[at] = fetched[f"k_{column}"]
    return _SortedRows(codes, np.array(labels, np.int64), weights, _runs(fetched["value"]))


def _runs(values: Ints) -> IntArray:
    """Return where the runs of equal values start; that of 0 comes first, though it be empty."""
    import numpy as np

    starts = np.flatnonzero(np.diff(values, prepend=0))
    return np.concatenate(([0], starts, [len(values)])).astype(np.int64)


@dataclass(frozen=True)
class _WeakestSubset:
    """What the subsets counted so far have shown, with subsets as positions of attributes."""

    size: int
    size_by: tuple[int, ...]
    share: float
    share_by: tuple[int, ...]
    failing: int
    count: int

    def then(self, later: _WeakestSubset) -> _WeakestSubset:
        """Return this and what later subsets have shown; of equals, the first is kept."""
        smaller, larger = later.size < self.size, later.share > self.share
        return _WeakestSubset(
            later.size if smaller else self.size,
            later.size_by if smaller else self.size_by,
            later.share if larger else self.share,
            later.share_by if larger else self.share_by,
            self.failing + later.failing,
            self.count + later.count,
        )


def _judge_all(rows: _SortedRows, wanted: int, k: int, limit: float, total: int) -> _WeakestSubset:
    """Judge all subsets, in parts that run side by side and are joined in their order."""
    wanted = max(wanted, 1)
    attributes, many = rows.codes.shape
    judge = partial(_judge_part, rows, wanted, k, limit, total)
    parts = _parts((), attributes, wanted, many)
    found = _WeakestSubset(total + 1, (), -1.0, (), 0, 0)
    for each in _side_by_side(judge, parts):
        found = found.then(each)
    return found


def _judge_part(
    rows: _SortedRows, wanted: int, k: int, limit: float, total: int, prefix: tuple[int, ...]
) -> _WeakestSubset:
    import numpy as np

    from incrowd.verify.counting._walk import COUNT, FAILING, SIZE, Findings, walk

    whole = np.zeros(3, np.int64)
    whole[SIZE] = total + 1
    share = np.full(1, -1.0)
    by = np.zeros((2, wanted), np.int64)
    # Half of a hash table must stay free, and the bits of a hash choose a place.
    places = 1 << (2 * len(rows.weights)).bit_length()
    walk(
        rows.codes, rows.labels, rows.weights, rows.runs, np.array(prefix, np.int64), places,
        k, limit, Findings(whole, share, by),
    )  # fmt: skip
    size_by, share_by = (tuple(subset) for subset in by.tolist())
    return _WeakestSubset(
        int(whole[SIZE]), size_by, float(share[0]), share_by, int(whole[FAILING]), int(whole[COUNT])
    )


def _parts(
    prefix: tuple[int, ...], attributes: int, wanted: int, rows: int
) -> Iterator[tuple[int, ...]]:
    """Return prefixes that part all subsets in lexicographic order, few enough in each part."""
    start = prefix[-1] + 1 if prefix else 0
    left = wanted - len(prefix)
    if left == 1 or math.comb(attributes - start, left) * rows <= STEPS_AT_ONCE:
        yield prefix
        return
    for attribute in range(start, attributes - left + 1):
        yield from _parts((*prefix, attribute), attributes, wanted, rows)


def _side_by_side(
    judge: Callable[[tuple[int, ...]], _WeakestSubset], parts: Iterator[tuple[int, ...]]
) -> Iterator[_WeakestSubset]:
    """Return the findings on all parts, in order, while a thread per core judges the next ones."""
    threads = min(os.cpu_count() or 1, 16)
    waiting: deque[Future[_WeakestSubset]] = deque()
    executor = ThreadPoolExecutor(threads)
    try:
        for part in parts:
            waiting.append(executor.submit(judge, part))
            # A part may take longer than the ones behind it; no core should idle meanwhile.
            if len(waiting) > 8 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        executor.shutdown(cancel_futures=True)
