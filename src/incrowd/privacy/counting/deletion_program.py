"""The fewest deletions by an integer program, where a search does not settle them."""

from __future__ import annotations

from typing import Any

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.errors import EngineError


def fewest_deletions(rows: IntArray, limits: IntArray, enough: int | None = None) -> int | None:
    """The fewest values that delete all rows, by an integer program; None if no choice does.

    With `enough`, also None if no choice of fewer than that does, which is settled sooner.
    """
    import highspy

    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.silent()
    solver.passModel(_program(highspy, rows, limits, enough))
    _run(solver)
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return None
    if status != highspy.HighsModelStatus.kOptimal:
        raise EngineError(
            f"The solver HiGHS could not count the fewest deletions ({status.name}). Free memory, "
            "then try again."
        )
    fewest: int = round(solver.getObjectiveValue())
    return fewest


def _program(highspy: Any, rows: IntArray, limits: IntArray, enough: int | None) -> Any:
    """The choice of fewest values with one of every row, within the limits, as HiGHS takes it."""
    values, columns = np.unique(rows, return_inverse=True)
    columns = columns.reshape(rows.shape)
    attribute = np.zeros(len(values), dtype=np.int64)
    attribute[columns] = np.arange(rows.shape[1])
    lines, least, most = (
        [np.unique(row) for row in columns],
        [1] * len(rows),
        [len(values)] * len(rows),
    )
    for which, limit in enumerate(limits.tolist()):
        members = np.flatnonzero(attribute == which)
        if limit < len(members):
            lines.append(members)
            least.append(0)
            most.append(limit)
    if enough is not None:
        lines.append(np.arange(len(values)))
        least.append(0)
        most.append(enough - 1)
    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = len(values), len(lines)
    program.col_cost_ = program.col_upper_ = np.ones(len(values))
    program.col_lower_ = np.zeros(len(values))
    program.row_lower_, program.row_upper_ = np.array(least, float), np.array(most, float)
    program.integrality_ = [highspy.HighsVarType.kInteger] * len(values)
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.cumsum([0, *map(len, lines)]).astype(np.int32)
    program.a_matrix_.index_ = np.concatenate(lines).astype(np.int32)
    program.a_matrix_.value_ = np.ones(sum(map(len, lines)))
    return program


def _run(solver: Any) -> None:
    """Solve, and let Ctrl-C through: the solver's own handling would swallow it."""
    solver.HandleUserInterrupt = True
    solver.startSolve()
    try:
        while not solver.wait(0.05)[0]:
            pass
    except KeyboardInterrupt:
        solver.cancelSolve()
        solver.wait(5.0)
        raise
