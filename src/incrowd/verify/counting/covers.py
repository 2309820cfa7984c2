"""The fewest values that must be deleted to delete all rows of a group: minimum covers, exactly.

Deleting a value deletes every row that holds it, so the deleted values are a cover of the rows.
Rows that share no value need a deletion each, which bounds the number from below; values picked
by the rows they delete bound it from above. A group for which the two do not tell enough is
searched depth-first, and where that takes too long, solved as an integer program. The loops are in
cover_loops.py and _cover_search.py.

Numbers are only as exact as the answer needs: for each group whether it reaches `wanted`, and the
smallest number of all groups.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray, Ints
from incrowd.errors import EngineError
from incrowd.verify.counting._cover_search import below_which, search_groups
from incrowd.verify.counting.cover_loops import NEVER, GroupRows, bound_groups, renumber

SEARCHED_STEPS = 20_000
"""The steps of a search through up to 64 rows; with more rows, fewer: about a 50th of a second."""
ROWS_AT_ONCE = 1_000_000
GROUPS_AT_ONCE = 64
"""What one compiled call works through: an interrupt waits no longer than a second or two."""


def fewest_deletions(
    cells: GroupRows, wanted: int, smallest: int = NEVER, steps: int | None = None
) -> IntArray:
    """Return a number of deletions for each group that is enough to delete all its rows.

    It is below `wanted` in just the groups whose fewest deletions are, and the least of all these
    numbers is the fewest of all groups, unless `smallest`, which is known from others, is below it.

    Parameters
    ----------
    cells
        The rows; repeated ones do no harm.
    wanted
        The number of deletions that each group should need.
    smallest
        A number of deletions that no longer matters to reach.
    steps
        The steps of a search before the integer program takes over; 0 for no search.
    """
    steps = SEARCHED_STEPS if steps is None else steps
    wanted = min(wanted, NEVER)
    lower, upper = _bounds(cells)
    state = np.array([min(smallest, int(upper.min(initial=NEVER)))], np.int64)
    open_ = np.flatnonzero(~_settled(lower, upper, wanted, state[0]))
    # The groups that may need the fewest come first: what they show settles many others.
    open_ = open_[np.lexsort((upper[open_], lower[open_]))]
    for at in range(0, len(open_), GROUPS_AT_ONCE):
        search_groups(cells, open_[at : at + GROUPS_AT_ONCE], wanted, steps, lower, upper, state)
    numbers = np.full(cells.many, -1, np.int32)
    for group in open_:
        if not _settled(lower[group], upper[group], wanted, state[0]):
            rows = cells.values[cells.starts[group] : cells.starts[group + 1]]
            local, firsts = renumber(rows, cells.limits, numbers)
            below = int(below_which(upper[group], wanted, state[0]))
            found = _solve(local, firsts, cells.limits, below)
            lower[group] = min(found, below)
            upper[group] = min(found, upper[group])
            state[0] = min(state[0], upper[group])
    return upper


def _settled(
    lower: IntArray | np.int64, upper: IntArray | np.int64, wanted: int, smallest: int
) -> BoolArray | np.bool_:
    """Tell whether bounds say enough: on which side of `wanted`, and not below `smallest`."""
    return ((lower >= wanted) | (upper < wanted)) & (lower >= smallest)


def _bounds(cells: GroupRows) -> tuple[IntArray, IntArray]:
    """Return a lower and an upper bound on the fewest deletions in each group."""
    many = len(cells.starts) - 1
    lower, upper = np.zeros(many, np.int64), np.full(many, NEVER, np.int64)
    marks = np.arange(0, int(cells.starts[-1]) + ROWS_AT_ONCE, ROWS_AT_ONCE)
    cuts = np.unique(np.concatenate(([0, many], np.searchsorted(cells.starts[:-1], marks))))
    for first, last in pairwise(cuts.tolist()):
        bound_groups(cells, first, last, lower, upper)
    return lower, upper


def _solve(local: Ints, firsts: IntArray, limits: IntArray, below: int) -> int:
    """Return the fewest deletions in a group by an integer program, or `NEVER` if not `below`."""
    try:
        import highspy
    except ImportError:
        raise EngineError(
            "This release needs the solver HiGHS to be judged, and it is not installed. Install"
            " incrowd with its dependencies, among them highspy, then try again."
        ) from None
    highs: Any = highspy
    many = int(firsts[-1])
    lines = [line[line >= 0] for line in np.unique(local, axis=0)]
    least, most = [1] * len(lines), [many] * len(lines)
    for first, last, limit in zip(firsts[:-1], firsts[1:], limits, strict=True):
        if limit < last - first:
            lines.append(np.arange(first, last, dtype=np.int32))
            least.append(0)
            most.append(int(limit))
    lines.append(np.arange(many, dtype=np.int32))
    least.append(0)
    most.append(min(below - 1, many))
    program = highs.HighsLp()
    program.num_col_, program.num_row_ = many, len(lines)
    program.col_cost_ = program.col_upper_ = np.ones(many)
    program.col_lower_ = np.zeros(many)
    program.row_lower_, program.row_upper_ = np.array(least, float), np.array(most, float)
    program.integrality_ = [highs.HighsVarType.kInteger] * many
    program.a_matrix_.format_ = highs.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.cumsum([0, *map(len, lines)]).astype(np.int32)
    program.a_matrix_.index_ = np.concatenate(lines)
    program.a_matrix_.value_ = np.ones(sum(map(len, lines)))
    solver = highs.Highs()
    solver.setOptionValue("output_flag", False)
    solver.passModel(program)
    _run(solver)
    status = solver.getModelStatus()
    if status == highs.HighsModelStatus.kInfeasible:
        return NEVER
    if status != highs.HighsModelStatus.kOptimal:
        raise EngineError(
            "The solver HiGHS could not count the fewest deletions of a group while judging the"
            " release. Free memory, then try again."
        )
    return round(float(solver.getObjectiveValue()))


def _run(solver: Any) -> None:
    """Run HiGHS to its end, or stop it at an interrupt, which its own handler would swallow."""
    solver.HandleUserInterrupt = True
    solver.startSolve()
    try:
        while not solver.wait(0.1)[0]:
            pass
    except KeyboardInterrupt:
        solver.cancelSolve()
        solver.wait(5.0)
        raise
