"""The search: which node every row of every table shows."""

from __future__ import annotations

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.progress import Progress, silent
from incrowd.methods.histories._board import Board
from incrowd.methods.histories._clock import Clock
from incrowd.methods.histories._demands import demands_of
from incrowd.methods.histories._descent import come_back, descend
from incrowd.methods.histories._problem import HowToSearch, Problem
from incrowd.methods.histories._rows import nodes_of, rows_of


def search(
    problem: Problem,
    options: HowToSearch | None = None,
    progress: Progress = silent,  # noqa: ARG001
) -> list[IntArray]:
    """For each of the facts the node that every row shows on every axis, or HIDDEN on all."""
    options = options or HowToSearch()
    rows = rows_of(problem)
    board = Board(rows, demands_of(problem, rows.drawn))
    clock = Clock(options.seconds)
    descend(board, clock)
    come_back(board, clock)
    return nodes_of(rows, board.label, board.nodes())
