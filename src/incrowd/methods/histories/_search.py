"""The search: which node every row of every table shows."""

from __future__ import annotations

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.progress import Progress, silent
from incrowd.methods.histories._board import Board
from incrowd.methods.histories._clock import Clock
from incrowd.methods.histories._demands import demands_of
from incrowd.methods.histories._descent import come_back, descend, show_all_codes
from incrowd.methods.histories._global import GlobalCuts
from incrowd.methods.histories._neighbourhood import look_around
from incrowd.methods.histories._problem import HowToSearch, Problem
from incrowd.methods.histories._rows import nodes_of, rows_of

_MOST_STEPS = 1_000
_STEPS_TIMES_ROWS = 10_000_000
"""How long the neighbourhood search goes on by itself: fewer steps where there are many rows."""


def search(
    problem: Problem, options: HowToSearch | None = None, progress: Progress = silent
) -> list[IntArray]:
    """For each of the facts the node that every row shows on every axis, or HIDDEN on all.

    Raises
    ------
    PrivacyError
        When all patients together are too few or hold a value too often, or when the combinations
        to count do not fit into memory.
    """
    options = options or HowToSearch()
    rows = rows_of(problem)
    board = Board(rows, demands_of(problem, rows.drawn))
    clock = Clock(options.seconds, progress)
    if options.recoding == "global":
        _global(board, options, clock)
    else:
        _local(board, options, clock)
    clock.done()
    return nodes_of(rows, board.label, board.nodes())


def _local(board: Board, options: HowToSearch, clock: Clock) -> None:
    """Every row a label of its own; exact first where that is asked for, or all trees are flat."""
    joint = [f for f in board.rows.of_range if board.rows.joint[f]]
    flat = all(paths.deepest <= 1 for axes in board.rows.paths for paths in axes)
    if options.keep == "exact" or flat:
        descend(board, clock, joint)
        come_back(board, clock, exact=True)
        if flat:
            steps = min(_MOST_STEPS, _STEPS_TIMES_ROWS // max(len(board.label), 1))
            look_around(board, clock, 10**12 if options.seconds else steps)
    elif not joint and show_all_codes(board, clock):
        return
    descend(board, clock)
    come_back(board, clock)


def _global(board: Board, options: HowToSearch, clock: Clock) -> None:
    """Every code one label."""
    cuts = GlobalCuts(board)
    if options.keep == "exact":
        descend(board, clock, [f for f in board.rows.of_range if board.rows.joint[f]])
        cuts.show_codes()
    else:
        cuts.go_down(clock)
