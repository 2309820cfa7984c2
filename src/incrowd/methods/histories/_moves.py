"""Group moves: all rows below a label go there together, and those go back that it would expose.

Invariant: before and after a move every set of atoms that somebody shows is kept: K or more
patients show it, and no bounded value is held by too many of them. A move changes only sets with
the atom that is gained and sets with the atom that is left. Each of these that is not kept is
shown or was left by a patient who moved, so as long as there is one somebody goes back; when
nobody has to, all are kept. Whoever went back never moves again in this move, so it ends.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd._runtime.compiling import compiled
from incrowd.methods.histories._counting import (
    People,
    SetCounts,
    Small,
    any_held_too_often,
    any_too_few,
    dirty_sets_of,
    held_too_often,
    own_atoms,
    sets_of,
    tally,
    tally_all,
)
from incrowd.methods.histories._subsets import Scratch, choose


class Moves(NamedTuple):
    """Moves from one label to several others, one after another.

    Mover m has the rows `rows[row_begin[m]:row_begin[m + 1]]`; those of move i are the movers from
    begin[i] to below begin[i + 1], which go to target[i], and shown[shown_begin[i]:...] are the
    patients who show it before.
    """

    patient: Small
    row_begin: IntArray
    rows: Small
    begin: IntArray
    target: IntArray
    shown_begin: IntArray
    shown: Small


@compiled
def move_all(
    source: int,
    leaving: Small,
    moves: Moves,
    people: People,
    tables: SetCounts,
    scratch: Scratch,
) -> int:
    """Make moves from a label (-1: from what is hidden) that `leaving` show; return what moved.

    Returned is how many rows moved.
    """
    none = tables.kept[:, :0]
    if source >= 0:
        tally_all(leaving, source, tables.kept, none, 1, people, tables, scratch)
    moved = 0
    for i in range(len(moves.target)):
        moved += _move(source, i, moves, people, tables, scratch)
    return moved


@compiled
def _move(
    source: int,
    i: int,
    moves: Moves,
    people: People,
    tables: SetCounts,
    scratch: Scratch,
) -> int:
    """Make one move; the table of what is gained is empty before and after."""
    target = moves.target[i]
    first, last = moves.begin[i], moves.begin[i + 1]
    shown = moves.shown[moves.shown_begin[i] : moves.shown_begin[i + 1]]
    none = tables.kept[:, :0]
    listed = tally_all(shown, target, tables.gained, none, 1, people, tables, scratch)
    plain, many = np.empty(last - first, dtype=np.int32), 0
    for m in range(first, last):
        if _is_plain(source, target, m, moves, people):
            plain[many] = moves.patient[m]
            many += 1
            _give(target, m, moves, people)
        else:
            listed += _shift(source, target, m, 1, moves, people, tables, scratch)
    kept = tables.kept if source >= 0 else none
    listed += tally_all(plain[:many], target, tables.gained, kept, 1, people, tables, scratch)
    went = np.ones(last - first, dtype=np.bool_)
    scans = len(tables.keys) == 0 and tables.gained.shape[1] <= 4 * listed
    dirty = np.zeros(tables.regions.events + 1 if scans else 0, dtype=np.bool_)
    again = True
    while again:
        again = False
        if scans:
            dirty[:] = False
            again = _scan(tables.gained, people, tables, dirty)
            if source >= 0:
                again |= _scan(tables.kept, people, tables, dirty)
            if not again:
                break
            again = False
        again = _send_back(source, target, first, went, moves, people, tables, scratch, dirty)
    moved = 0
    for m in range(first, last):
        if went[m - first]:
            moved += moves.row_begin[m + 1] - moves.row_begin[m]
    if scans:
        tables.gained[:] = 0
    else:
        _clear(target, i, went, moves, people, tables, scratch)
    return moved


@compiled
def _is_plain(source: int, target: int, m: int, moves: Moves, people: People) -> bool:
    """Whether a mover, before it moves, has no other row at the label that it leaves or gains."""
    p = moves.patient[m]
    more = moves.row_begin[m + 1] - moves.row_begin[m]
    for row in range(people.begin[p], people.begin[p + 1]):
        label = people.label[row]
        if label == target:
            return False
        if label == source and source >= 0:
            more -= 1
    return source < 0 or more == 0


@compiled
def _send_back(
    source: int,
    target: int,
    first: int,
    went: BoolArray,
    moves: Moves,
    people: People,
    tables: SetCounts,
    scratch: Scratch,
    dirty: BoolArray,
) -> bool:
    """Let those movers go back, from `first` on, who are exposed; whether any did.

    Of those who show a set that too many hold a value of all go back, whoever of them holds it:
    who is hidden tells nothing of that. Of those in a set that too few show they go back one by
    one, as some who go back may be enough for those that are left behind.
    """
    found = False
    if len(people.share):
        marked = np.zeros(len(went), dtype=np.bool_)
        for i in range(len(went)):
            if went[i] and _concerned(moves.patient[first + i], people, tables, scratch, dirty):
                marked[i] = _exposed(
                    source, target, first + i, True, moves, people, tables, scratch, dirty
                )
        for i in range(len(went)):
            if marked[i]:
                _shift(source, target, first + i, -1, moves, people, tables, scratch)
                went[i] = False
                found = True
    for i in range(len(went)):
        if not went[i] or not _concerned(moves.patient[first + i], people, tables, scratch, dirty):
            continue
        if _exposed(source, target, first + i, False, moves, people, tables, scratch, dirty):
            _shift(source, target, first + i, -1, moves, people, tables, scratch)
            went[i] = False
            found = True
    return found


@compiled
def _concerned(
    p: int, people: People, tables: SetCounts, scratch: Scratch, dirty: BoolArray
) -> bool:
    """Whether a patient may show or have left a set with a marked atom as its largest."""
    if len(dirty) == 0 or dirty[len(dirty) - 1]:
        return True
    many, of_patients = own_atoms(p, people, tables, -1, scratch)
    found = False
    for at in range(of_patients, many):
        found |= dirty[scratch.own[at]]
    return found


@compiled
def _clear(
    target: int,
    i: int,
    went: BoolArray,
    moves: Moves,
    people: People,
    tables: SetCounts,
    scratch: Scratch,
) -> None:
    """Empty the table of what is gained, through whoever shows the target now."""
    for at in range(moves.shown_begin[i], moves.shown_begin[i + 1]):
        _wipe(tables.gained, sets_of(moves.shown[at], people, tables, target, scratch), scratch)
    first = moves.begin[i]
    for m in range(first, moves.begin[i + 1]):
        if went[m - first]:
            listed = sets_of(moves.patient[m], people, tables, target, scratch)
            _wipe(tables.gained, listed, scratch)


@compiled
def _wipe(counts: Small, listed: int, scratch: Scratch) -> None:
    """Nobody shows the sets that are listed."""
    for value in range(counts.shape[0]):
        for i in range(listed):
            counts[value, scratch.slots[i]] = 0


@compiled
def _give(label: int, m: int, moves: Moves, people: People) -> None:
    """Let the rows of a mover show a label."""
    for at in range(moves.row_begin[m], moves.row_begin[m + 1]):
        people.label[moves.rows[at]] = label


@compiled
def _shown_by(p: int, label: int, people: People) -> int:
    """How many rows of a patient show a label."""
    many = 0
    for row in range(people.begin[p], people.begin[p + 1]):
        if people.label[row] == label:
            many += 1
    return many


@compiled
def _shift(
    source: int,
    target: int,
    m: int,
    sign: int,
    moves: Moves,
    people: People,
    tables: SetCounts,
    scratch: Scratch,
) -> int:
    """Let a mover go (sign 1) or go back (-1), and count it so; return how many sets it shows."""
    p = moves.patient[m]
    gained, kept = tables.gained, tables.kept
    _give(target, m, moves, people)
    had = _shown_by(p, target, people) > moves.row_begin[m + 1] - moves.row_begin[m]
    left = source < 0 or _shown_by(p, source, people) == 0
    listed = sets_of(p, people, tables, target, scratch)
    tally(gained, p, people, scratch, listed, sign)
    if left and not had:
        if source >= 0:
            tally(kept, p, people, scratch, listed, -sign)
        if sign < 0:
            _give(source, m, moves, people)
        return listed
    if not left:
        tally(kept, p, people, scratch, sets_of(p, people, tables, source, scratch), sign)
    _give(source, m, moves, people)
    if had:
        tally(gained, p, people, scratch, sets_of(p, people, tables, target, scratch), -sign)
    if source >= 0:
        tally(kept, p, people, scratch, sets_of(p, people, tables, source, scratch), -sign)
    if sign > 0:
        _give(target, m, moves, people)
    return listed


@compiled
def _exposed(
    source: int,
    target: int,
    m: int,
    shares: bool,
    moves: Moves,
    people: People,
    tables: SetCounts,
    scratch: Scratch,
    dirty: BoolArray,
) -> bool:
    """Whether a set that a mover gained or left has too many holders, or else too few patients."""
    p = moves.patient[m]
    dirty_sets_of(p, people, tables, target, scratch, dirty)
    if _any_broken(tables.gained, shares, people, tables, scratch):
        return True
    if source < 0 or _shown_by(p, source, people):
        return False
    if _shown_by(p, target, people) > moves.row_begin[m + 1] - moves.row_begin[m]:
        dirty_sets_of(p, people, tables, -1, scratch, dirty)
    return _any_broken(tables.kept, shares, people, tables, scratch)


@compiled
def _any_broken(
    counts: Small, shares: bool, people: People, tables: SetCounts, scratch: Scratch
) -> bool:
    """Whether any of the listed sets has too many holders, or else too few patients."""
    if shares:
        return any_held_too_often(counts, people, tables, scratch)
    return any_too_few(counts, tables, scratch)


@compiled
def _scan(counts: Small, people: People, tables: SetCounts, dirty: BoolArray) -> bool:
    """Whether a set may not be shown; its largest atom of an event is marked, or else the end."""
    found = False
    base, span = tables.regions.base, tables.regions.span
    for a in range(base.shape[0]):
        for e in range(base.shape[1]):
            start, need = base[a, e], tables.need[a, e]
            if start < 0:
                continue
            for _ in range(choose(tables.regions.attributes, a)):
                begin = start
                for x in range(max(e - 1, 0), tables.regions.events if e else 1):
                    end = start + choose(x + 1, e)
                    for at in range(begin, end):
                        shown = counts[0, at]
                        if shown and (
                            shown < need
                            or held_too_often(counts, at, people.share, tables.bound, a, e)
                        ):
                            found = True
                            dirty[x if e else len(dirty) - 1] = True
                            break
                    begin = end
                start += span[e]
    return found
