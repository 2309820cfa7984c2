"""From coarse to precise: groups of rows move down the trees, where that gains most first."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from itertools import product

import numpy as np

from incrowd._runtime.arrays import FloatArray, IntArray
from incrowd.methods.histories._board import Board
from incrowd.methods.histories._clock import Clock
from incrowd.methods.histories._counting import Small

WayDown = tuple[int, int, int]
"""Facts, a label of theirs (-1: hidden), and an axis to go down on."""


def descend(board: Board, clock: Clock, facts: Iterable[int] | None = None) -> None:
    """Move rows down, one step at a time, largest gain first, while there is time."""
    queue: list[tuple[float, WayDown]] = []
    known: dict[WayDown, int] = {}
    for f in facts if facts is not None else board.rows.of_range:
        source = -1
        if board.rows.joint[f]:
            source = board.number((f, *(0 for _ in board.rows.paths[f])))
        _wait(board, queue, known, f, source)
    while queue and clock.goes_on():
        priority, place = heapq.heappop(queue)
        f, source, _ = place
        if known.get(place) == _size(board, place):
            continue
        best, rows, nodes = _step(board, place)
        if best <= 0:
            continue
        if queue and -best > queue[0][0] and -best > priority:
            heapq.heappush(queue, (-best, place))
            continue
        targets, which = board.numbers(f, nodes)
        order = _large_first(board, source, targets, which)
        board.move(f, source, rows, targets[order], np.argsort(order).astype(np.int32)[which])
        known[place] = _size(board, place)
        for target in targets:
            _wait(board, queue, known, f, int(target))


def _wait(
    board: Board,
    queue: list[tuple[float, WayDown]],
    known: dict[WayDown, int],
    f: int,
    label: int,
) -> None:
    """Queue a label on every axis, where rows came that have not been tried."""
    for axis in range(len(board.rows.paths[f])):
        place = (f, label, axis)
        if _size(board, place) and known.get(place) != _size(board, place):
            gain, _, _ = _step(board, place)
            if gain > 0:
                heapq.heappush(queue, (-gain, place))


def _size(board: Board, place: WayDown) -> int:
    f, label, _ = place
    return len(board.hidden[f] if label < 0 else board.rows_at[label])


def _step(board: Board, place: WayDown) -> tuple[float, Small, Small]:
    """What the rows at a label gain one step down an axis, which can go, and where to."""
    f, label, axis = place
    rows = board.hidden[f] if label < 0 else board.rows_at[label]
    paths = board.rows.paths[f]
    at = (0,) * len(paths) if label < 0 else board.labels[label][1:]
    nodes = paths[axis].nodes
    depth = int(paths[axis].depth[at[axis]]) + 1
    if depth > paths[axis].deepest:
        return 0.0, rows, np.zeros((len(paths), 0), dtype=np.int32)
    below = nodes[board.rows.leaf[axis, rows], depth]
    goes = below != at[axis]
    rows, below = rows[goes], below[goes]
    to = np.array([np.full(len(rows), node, dtype=np.int32) for node in at], dtype=np.int32)
    to = to.reshape(len(paths), len(rows))
    to[axis] = below
    loss = paths[axis].loss
    gain = float(len(rows) * loss[at[axis]] - loss[below].sum()) / len(paths)
    return gain, rows, to


def _large_first(board: Board, source: int, targets: IntArray, which: Small) -> IntArray:
    """The order of the targets: where most is gained first."""
    of_source = 1.0 if source < 0 else board.losses[source]
    gains = of_source - np.array([board.losses[target] for target in targets])
    return np.argsort(-gains * np.bincount(which, minlength=len(targets)), kind="stable")


def show_all_codes(board: Board, clock: Clock) -> bool:
    """Let all rows that are hidden show their own codes if all may; whether they do.

    Where a code is too rare by itself that is seen at once. It is not tried either where the sets
    with the rarest code are shown by too few on average.
    """
    need = board.demands.need
    longest = max((a + e for a, e in zip(*np.nonzero(need), strict=True)), default=0)
    each = len(board.label) / max(board.rows.patients, 1)
    for f in board.rows.of_range:
        rows, at = board.hidden[f], (0, 1) if board.rows.events[f] else (1, 0)
        deepest = tuple(paths.deepest for paths in board.rows.paths[f])
        codes, which = board.numbers(f, board.rows.below(f, rows, deepest))
        often = np.bincount(which).min() if len(rows) else np.inf
        share = (each / max(len(codes), 1)) ** max(longest - 1, 0)
        if often < need[at] or often * share < need[at]:
            return False
    state = board.state_of(np.flatnonzero(board.label < 0).astype(np.int32))
    come_back(board, clock, exact=True)
    if any(map(len, board.hidden)):
        board.take_back(state)
        return False
    return True


def come_back(board: Board, clock: Clock, *, exact: bool = False) -> int:
    """Let what is hidden show the most precise labels that expose nobody; return how many do.

    With `exact` only their own codes.
    """
    came = 0
    for f in board.rows.of_range:
        if board.rows.joint[f]:
            continue
        every = list(_most_precise_first(board, f))
        for depths in every[:1] if exact else every:
            rows = board.hidden[f]
            if not len(rows) or not clock.goes_on():
                break
            nodes = board.rows.below(f, rows, depths)
            targets, which = board.numbers(f, nodes)
            order = _large_first(board, -1, targets, which)
            came += board.move(
                f, -1, rows, targets[order], np.argsort(order).astype(np.int32)[which]
            )
    return came


def _most_precise_first(board: Board, f: int) -> Iterator[tuple[int, ...]]:
    """Depths on every axis, from the leaves to the roots, by what they lose on average."""
    paths = board.rows.paths[f]
    each = [range(p.deepest + 1) for p in paths]
    means: list[FloatArray] = []
    for axis, p in enumerate(paths):
        leaves = board.rows.leaf[axis, board.rows.of_facts[f]]
        means.append(
            p.loss[p.nodes[leaves]].mean(axis=0) if len(leaves) else np.zeros(p.deepest + 1)
        )
    every = list(product(*each))
    every.sort(key=lambda depths: sum(m[d] for m, d in zip(means, depths, strict=True)))
    yield from every
