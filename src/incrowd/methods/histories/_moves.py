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
    Small,
    Tables,
    any_broken,
    broken_at,
    own_atoms,
    sets_of,
    tally,
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
    source: int, leaving: Small, moves: Moves, people: People, tables: Tables, scratch: Scratch
) -> int:
    """Make moves from a label (-1: from what is hidden) that `leaving` show; return what moved.

    Returned is how many rows moved.
    """
    if source >= 0:
        for p in leaving:
            listed = sets_of(p, people, tables, source, scratch)
            tally(tables.kept, p, people, scratch, listed, 1)
    dirty = np.zeros(tables.regions.attributes + tables.regions.events, dtype=np.bool_)
    moved = 0
    for i in range(len(moves.target)):
        moved += _move(source, i, moves, people, tables, scratch, dirty)
    return moved


@compiled
def _move(
    source: int,
    i: int,
    moves: Moves,
    people: People,
    tables: Tables,
    scratch: Scratch,
    dirty: BoolArray,
) -> int:
    """Make one move; the table of what is gained is empty before and after."""
    target = moves.target[i]
    first, last = moves.begin[i], moves.begin[i + 1]
    listed = 0
    for at in range(moves.shown_begin[i], moves.shown_begin[i + 1]):
        p = moves.shown[at]
        many = sets_of(p, people, tables, target, scratch)
        tally(tables.gained, p, people, scratch, many, 1)
        listed += many
    for m in range(first, last):
        listed += _shift(source, target, m, 1, moves, people, tables, scratch)
    went = np.ones(last - first, dtype=np.bool_)
    scans = len(tables.keys) == 0 and tables.gained.shape[1] <= 4 * listed
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
        for m in range(first, last):
            if went[m - first] and (
                not scans or _concerned(moves.patient[m], source, people, tables, scratch, dirty)
            ):
                if _exposed(source, target, m, moves, people, tables, scratch):
                    _shift(source, target, m, -1, moves, people, tables, scratch)
                    went[m - first] = False
                    again = True
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
def _clear(
    target: int,
    i: int,
    went: BoolArray,
    moves: Moves,
    people: People,
    tables: Tables,
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
    tables: Tables,
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
    moves: Moves,
    people: People,
    tables: Tables,
    scratch: Scratch,
) -> bool:
    """Whether a set that a mover gained, or one that it left, may not be shown."""
    p = moves.patient[m]
    sets_of(p, people, tables, target, scratch)
    if any_broken(tables.gained, people, tables, scratch):
        return True
    if source < 0 or _shown_by(p, source, people):
        return False
    if _shown_by(p, target, people) > moves.row_begin[m + 1] - moves.row_begin[m]:
        sets_of(p, people, tables, -1, scratch)
    return any_broken(tables.kept, people, tables, scratch)


@compiled
def _concerned(
    p: int, source: int, people: People, tables: Tables, scratch: Scratch, dirty: BoolArray
) -> bool:
    """Whether a patient shows, or has left, an atom of a set that may not be shown."""
    if source >= 0 and dirty[tables.local[source]]:
        return True
    many, of_patients = own_atoms(p, people, tables, -1, scratch)
    for i in range(of_patients):
        if dirty[scratch.own[i]]:
            return True
    for i in range(of_patients, many):
        if dirty[tables.regions.attributes + scratch.own[i]]:
            return True
    return False


@compiled
def _scan(counts: Small, people: People, tables: Tables, dirty: BoolArray) -> bool:
    """Mark an atom of every set that may not be shown, its largest; whether there is any."""
    found = False
    base, span = tables.regions.base, tables.regions.span
    attributes, events = tables.regions.attributes, tables.regions.events
    for a in range(base.shape[0]):
        for e in range(base.shape[1]):
            if base[a, e] < 0:
                continue
            start = base[a, e]
            for _ in range(choose(attributes, a) if e else 1):
                highest = events if e else attributes
                size = e if e else a
                begin = start
                for x in range(size - 1 if size else 0, highest if size else 1):
                    end = start + (choose(x + 1, size) if size else 1)
                    for at in range(begin, end):
                        if counts[0, at] and broken_at(
                            counts, at, tables.need[a, e], people.share, tables.bound, a, e
                        ):
                            found = True
                            if size == 0:
                                dirty[:] = True
                                return True
                            dirty[x + (attributes if e else 0)] = True
                            break
                    begin = end
                start += span[e]
    return found
