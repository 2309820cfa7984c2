"""Deletions: how many sensitive values must be deleted to delete every row of a group.

Deleting a value deletes all rows that hold it; a row holds one value of each sensitive attribute.
The fewest deletions are a minimum set cover, which is NP-hard (Gal, Chen, Gangopadhyay 2008,
theorem 3), so a question "are at least l needed?" is settled from both sides first: rows that share
no value need a deletion each (a bound from below), and any cover at all is one from above. Only
what lies between is searched, and what the search does not settle goes to an integer program.

A group is a run of *combinations*: distinct rows of values, with how many records hold each. The
values of all attributes are numbered through, so that no number stands for two of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.compiling import compiled
from incrowd.errors import EngineError
from incrowd.privacy.base import IntArray

YES, NO, OPEN = 1, 0, 2
_WORTH_A_THREAD, _WORTH_A_SEARCH = 10_000, 200
"""The rows that are worth a run in a thread: of a quick look, of a search."""
_RUNS_A_THREAD = 8
_MOST_NODES = 5_000
"""How many nodes of the search tree are looked at before a solver is asked."""


def independent(
    offsets: IntArray, members: IntArray, counts: IntArray, values: IntArray, total: int, most: int
) -> IntArray:
    """For each group how many rows the greedy choice finds that share no value, up to `most`.

    Rows are tried in ascending order of the total frequency of their values (fig. 6). So many
    deletions are needed at least (theorems 4 and 5). `values[combination]` are numbered values,
    `total` of them.
    """
    found = np.zeros(len(offsets) - 1, np.int64)
    _spread(
        lambda part, out: _independent(part, members, counts, values, total, most, out),
        offsets,
        found,
    )
    return found


def with_limits(
    offsets: IntArray,
    members: IntArray,
    counts: IntArray,
    values: IntArray,
    total: int,
    needed: int,
    limits: IntArray,
) -> IntArray:
    """For each group how many deletions the greedy check proves under limits, up to `needed`.

    Fig. 7: from rows that share no value on, rows are added as long as theorem 6 still proves as
    many deletions, first for the number proved so far, then for one more.
    """
    found = np.zeros(len(offsets) - 1, np.int64)
    _spread(
        lambda part, out: _with_limits(part, members, counts, values, total, needed, limits, out),
        offsets,
        found,
    )
    return found


def settled(
    offsets: IntArray,
    members: IntArray,
    values: IntArray,
    total: int,
    needed: int,
    limits: IntArray,
) -> npt.NDArray[np.bool_]:
    """For each group, whether at least `needed` deletions delete all its rows: exactly.

    `limits[i]` deletions at most may be values of attribute i. Where the limits let no choice of
    values delete all rows, the group passes.
    """
    verdict = np.full(len(offsets) - 1, OPEN, np.int64)
    members = _rarest_first(offsets, members, values, total)
    _spread(
        lambda part, out: _search(part, members, values, total, needed, limits, _MOST_NODES, out),
        offsets,
        verdict,
        worth=_WORTH_A_SEARCH,
    )
    for group in np.flatnonzero(verdict == OPEN):
        rows = np.unique(values[members[offsets[group] : offsets[group + 1]]], axis=0)
        fewest = fewest_deletions(rows, limits, needed)
        verdict[group] = YES if fewest is None or fewest >= needed else NO
    passes: npt.NDArray[np.bool_] = verdict == YES
    return passes


def _spread(
    judge: Callable[[IntArray, IntArray], None],
    offsets: IntArray,
    out: IntArray,
    worth: int = _WORTH_A_THREAD,
) -> None:
    """Judge runs of groups with about equally many rows, `worth` or more, in threads."""
    threads = min(os.cpu_count() or 1, 16)
    many = min(int(offsets[-1]) // worth, _RUNS_A_THREAD * threads)
    shares = offsets[-1] * np.arange(1, many) / max(many, 1)
    cuts = [0, *np.searchsorted(offsets[:-1], shares).tolist(), len(out)]
    runs = [(first, last) for first, last in pairwise(cuts) if first < last]
    if len(runs) < 2:
        judge(offsets, out)
        return
    with ThreadPoolExecutor(threads) as pool:
        done = [pool.submit(judge, offsets[a : b + 1], out[a:b]) for a, b in runs]
        for each in done:
            each.result()


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
        raise EngineError(f"The solver HiGHS failed ({status.name}). Try `check: greedy`.")
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


@compiled
def _order(members: Any, counts: Any, values: Any, first: int, last: int, frequency: Any) -> Any:
    """Positions of the rows of a group, the rarest values first; ties in ascending order."""
    width = values.shape[1]
    for at in range(first, last):
        for a in range(width):
            frequency[values[members[at], a]] = 0
    for at in range(first, last):
        for a in range(width):
            frequency[values[members[at], a]] += counts[at]
    weight = np.zeros(last - first, np.int64)
    for at in range(first, last):
        for a in range(width):
            weight[at - first] += frequency[values[members[at], a]]
    return first + np.argsort(weight, kind="mergesort")


@compiled
def _rarest_first(offsets: Any, members: Any, values: Any, total: int) -> Any:
    """The rows of every group, those with the rarest values first: they bound a search best."""
    ordered = np.empty_like(members)
    frequency = np.zeros(total, np.int64)
    ones = np.ones(len(members), np.int64)
    for group in range(len(offsets) - 1):
        first, last = offsets[group], offsets[group + 1]
        order = _order(members, ones, values, first, last, frequency)
        for i in range(last - first):
            ordered[first + i] = members[order[i]]
    return ordered


@compiled
def _independent(
    offsets: Any, members: Any, counts: Any, values: Any, total: int, most: int, found: Any
) -> None:
    frequency = np.zeros(total, np.int64)
    taken = np.full(total, -1, np.int64)
    width = values.shape[1]
    for group in range(len(found)):
        for at in _order(members, counts, values, offsets[group], offsets[group + 1], frequency):
            shares = False
            for a in range(width):
                if taken[values[members[at], a]] == group:
                    shares = True
                    break
            if shares:
                continue
            for a in range(width):
                taken[values[members[at], a]] = group
            found[group] += 1
            if found[group] == most:
                break


@compiled
def _proves(tally: Any, present: Any, attribute: Any, limits: Any, wanted: int, size: int) -> bool:
    """Whether any `wanted` values within the limits delete at most `size` rows (theorem 6)."""
    left = limits.copy()
    used = np.zeros(len(present), np.bool_)
    together = 0
    for _ in range(wanted):
        best = -1
        for i in range(len(present)):
            value = present[i]
            if used[i] or left[attribute[value]] == 0:
                continue
            if best < 0 or tally[value] > tally[present[best]]:
                best = i
        if best < 0:
            # No more values may be taken: what they miss is never deleted, else nothing is proved.
            return together < size
        used[best] = True
        left[attribute[present[best]]] -= 1
        together += tally[present[best]]
        if together > size:
            return False
    return True


@compiled
def _with_limits(
    offsets: Any, members: Any, counts: Any, values: Any, total: int, needed: int, limits: Any,
    found: Any,
) -> None:  # fmt: skip
    width = values.shape[1]
    frequency = np.zeros(total, np.int64)
    tally = np.zeros(total, np.int64)
    attribute = np.zeros(total, np.int64)
    for row in range(len(values)):
        for a in range(width):
            attribute[values[row, a]] = a
    for group in range(len(found)):
        order = _order(members, counts, values, offsets[group], offsets[group + 1], frequency)
        for at in order:
            for a in range(width):
                tally[values[members[at], a]] = 0
        chosen = np.zeros(len(order), np.bool_)
        size = 0
        for i in range(len(order)):
            row = members[order[i]]
            shares = False
            for a in range(width):
                shares = shares or tally[values[row, a]] > 0
            if not shares:
                chosen[i] = True
                size += 1
                for a in range(width):
                    tally[values[row, a]] = 1
            if size == needed:
                break
        proved = size
        if proved >= needed:
            found[group] = needed
            continue
        present = np.zeros(len(order) * width, np.int64)
        many = 0
        for i in range(len(order)):
            if chosen[i]:
                for a in range(width):
                    present[many] = values[members[order[i]], a]
                    many += 1
        for i in range(len(order)):
            row = members[order[i]]
            # A combination that several records hold is as many rows, added one by one.
            for _ in range(counts[order[i]] - (1 if chosen[i] else 0)):
                before = many
                for a in range(width):
                    if tally[values[row, a]] == 0:
                        present[many] = values[row, a]
                        many += 1
                    tally[values[row, a]] += 1
                size += 1
                if not _proves(tally, present[:many], attribute, limits, proved, size):
                    for a in range(width):
                        tally[values[row, a]] -= 1
                    size -= 1
                    many = before
                    break
                if _proves(tally, present[:many], attribute, limits, proved + 1, size):
                    proved += 1
                    if proved == needed:
                        break
            if proved == needed:
                break
        found[group] = proved


@compiled
def _greedy_cover(
    members: Any, values: Any, first: int, size: int, most: int, limits: Any, tally: Any
) -> bool:
    """Whether at most `most` values, each deleting most of what is left, delete all rows."""
    width = values.shape[1]
    gone = np.zeros(size, np.bool_)
    left = limits.copy()
    for _ in range(most):
        for i in range(size):
            for a in range(width):
                tally[values[members[first + i], a]] = 0
        best, best_attribute, best_count = np.int64(-1), 0, 0
        for i in range(size):
            if gone[i]:
                continue
            for a in range(width):
                value = values[members[first + i], a]
                tally[value] += 1
                if left[a] > 0 and tally[value] > best_count:
                    best, best_attribute, best_count = value, a, tally[value]
        if best < 0:
            break
        left[best_attribute] -= 1
        for i in range(size):
            if values[members[first + i], best_attribute] == best:
                gone[i] = True
    return bool(gone.all())


@compiled
def _look(
    members: Any, values: Any, first: int, size: int, gone: Any, left: Any, barred: Any,
    tally: Any, often: Any, free: Any, taken: Any, stamp: int, remain: int,
) -> int:  # fmt: skip
    """The row that is left with the fewest values to delete; -1: no row is left, -2: hopeless.

    Leaves in `tally` in how many rows that are left each of their values occurs.
    """
    width = values.shape[1]
    rows, pick, fewest, apart = 0, -1, width + 1, 0
    for i in range(size):
        if gone[i] == 0:
            for a in range(width):
                tally[values[members[first + i], a]] = 0
    often[:] = 0
    for i in range(size):
        if gone[i] > 0:
            continue
        rows += 1
        able, shares = 0, False
        for a in range(width):
            value = values[members[first + i], a]
            if left[a] == 0 or barred[value] > 0:
                continue
            able += 1
            tally[value] += 1
            often[tally[value]] += 1
            if taken[value] == stamp:
                shares = True
        if able == 0:
            return -2
        if able < fewest:
            pick, fewest = i, able
        if not shares:
            apart += 1
            if apart > remain:
                return -2
            for a in range(width):
                taken[values[members[first + i], a]] = stamp
    # often[n] values occur n times or more: the most frequent ones are counted level by level.
    together = 0
    for n in range(1, rows + 1):
        together += min(often[n], remain)
        if often[n] == 0:
            break
    if together < rows:
        return -2
    # Weights of rows that add up to at most 1 for every value bound the deletions from below: each
    # row first gets 1 / the rows of its most frequent value, then what its values leave free.
    bound = 0.0
    for i in range(size):
        if gone[i] == 0:
            for a in range(width):
                free[values[members[first + i], a]] = 1.0
    for again in range(2):
        for i in range(size):
            if gone[i] > 0:
                continue
            weight = 1.0
            for a in range(width):
                value = values[members[first + i], a]
                if left[a] > 0 and barred[value] == 0:
                    weight = min(weight, 1.0 / tally[value] if again == 0 else free[value])
            bound += weight
            for a in range(width):
                free[values[members[first + i], a]] -= weight
        if bound > remain + 1e-6:
            return -2
    return pick


@compiled
def _search(
    offsets: Any, members: Any, values: Any, total: int, needed: int, limits: Any, most_nodes: int,
    verdict: Any,
) -> None:  # fmt: skip
    """Look for a choice of fewer than `needed` values that deletes all rows, depth first.

    Some row is left: one of its values must go, and once all choices with one of them have failed,
    that value is barred from the choices with the others. A branch ends where a row has no value
    left to delete, where more rows share no such value than deletions remain, or where the most
    frequent values, as many as deletions remain, are in too few rows.
    """
    width = values.shape[1]
    deep = max(needed, 1)
    taken = np.full(total, np.int64(-1))
    tally = np.zeros(total, np.int64)
    barred = np.zeros(total, np.int64)
    free = np.zeros(total, np.float64)
    rows = np.zeros(deep, np.int64)
    order = np.zeros((deep, width), np.int64)
    choices = np.zeros(deep, np.int64)
    turn = np.zeros(deep, np.int64)
    stamp = np.int64(0)
    for group in range(len(verdict)):
        first, size = offsets[group], offsets[group + 1] - offsets[group]
        if _greedy_cover(members, values, first, size, needed - 1, limits, tally):
            verdict[group] = 0
            continue
        gone = np.zeros(size, np.int64)
        often = np.zeros(size + 1, np.int64)
        left = limits.copy()
        depth, nodes, result = 0, 0, 1
        entering = True
        while depth >= 0:
            if entering:
                nodes += 1
                stamp += 1
                pick = _look(
                    members, values, first, size, gone, left, barred, tally, often, free, taken,
                    stamp, needed - 1 - depth,
                )  # fmt: skip
                if pick == -1 or nodes > most_nodes:
                    result = 0 if pick == -1 else 2
                    break
                rows[depth] = members[first + max(pick, 0)]
                choices[depth] = 0
                turn[depth] = -1
                for a in range(width):
                    value = values[rows[depth], a]
                    if pick < 0 or left[a] == 0 or barred[value] > 0:
                        continue
                    # The value of most rows first; few values, so insertion will do.
                    at = choices[depth]
                    while (
                        at > 0 and tally[values[rows[depth], order[depth, at - 1]]] < tally[value]
                    ):
                        order[depth, at] = order[depth, at - 1]
                        at -= 1
                    order[depth, at] = a
                    choices[depth] += 1
            if turn[depth] >= 0:
                # Take back the value deleted at this depth, and bar it from here on.
                a = order[depth, turn[depth]]
                value = values[rows[depth], a]
                for i in range(size):
                    if values[members[first + i], a] == value:
                        gone[i] -= 1
                left[a] += 1
                barred[value] += 1
            turn[depth] += 1
            if turn[depth] == choices[depth]:
                for t in range(choices[depth]):
                    barred[values[rows[depth], order[depth, t]]] -= 1
                depth -= 1
                entering = False
                continue
            a = order[depth, turn[depth]]
            value = values[rows[depth], a]
            left[a] -= 1
            for i in range(size):
                if values[members[first + i], a] == value:
                    gone[i] += 1
            depth += 1
            entering = True
        if result != 1:
            barred[:] = 0
        verdict[group] = result
