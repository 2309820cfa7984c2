"""Neighbourhood search where axes are flat: some rows give way, and others come back first.

Who shows an atom keeps others from showing theirs. So a hidden row is drawn, and one or two atoms
that its patient shows: these give way, in all patients who hide the atom of the row too, or
everywhere. Then what was drawn comes back as a group, then what gave way, then whatever else those
patients hide. If less is shown than before, it is all undone.

Invariant: all sets that anybody shows are counted, and are kept between two steps. A group that
comes back changes only sets with its atom, as does one that gives way, and whoever then shows such
a set that is not kept hides the atom, until nobody does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from incrowd._runtime import randomness
from incrowd._runtime.arrays import IntArray, Uints
from incrowd._runtime.compiling import compiled
from incrowd.methods.histories._board import (
    Board,
    label_counts,
    most_and_all_sets,
    scratch_for,
    tables_for,
)
from incrowd.methods.histories._clock import Clock
from incrowd.methods.histories._counting import (
    People,
    Small,
    SupportTables,
    any_held_too_often,
    any_too_few,
    sets_of,
    tally,
    tally_all,
)
from incrowd.methods.histories._subsets import Scratch

_STEPS_AT_ONCE = 20


class Around(NamedTuple):
    """What may be hidden or shown, and what a step did."""

    patient: Small
    own: Small
    """The label that each row may show; -1 where it is not for this search to decide."""
    begin: IntArray
    rows: Small
    """The rows that may show label x: rows[begin[x]:begin[x + 1]]."""
    log: Small
    """The rows that changed in this step, one after another."""
    group: Small
    """The rows that come back together."""
    state: Uints
    """What the next number drawn follows from."""
    hidden: Small
    """The rows that are hidden, in any order; `place` says where each is, or -1."""
    place: Small


def look_around(board: Board, clock: Clock, steps: int) -> None:
    """Show more of what flat axes hide, by so many steps, while there is time."""
    own = np.full(len(board.label), -1, dtype=np.int32)
    for f, rows in enumerate(board.rows.of_facts):
        if not board.rows.joint[f]:
            depths = tuple(paths.deepest for paths in board.rows.paths[f])
            targets, which = board.numbers(f, board.rows.below(f, rows, depths))
            own[rows] = targets.astype(np.int32)[which]
    may = np.flatnonzero((own >= 0) & ((board.label < 0) | (board.label == own)))
    rows = may[np.argsort(own[may], kind="stable")].astype(np.int32)
    hidden = np.flatnonzero((board.label < 0) & (own >= 0)).astype(np.int32)
    if not len(hidden):
        return
    place = np.full(len(own), -1, dtype=np.int32)
    place[hidden] = np.arange(len(hidden))
    room = np.zeros(len(rows), dtype=np.int32)
    room[: len(hidden)] = hidden
    around = Around(
        board.rows.patient,
        own,
        np.searchsorted(own[rows], np.arange(len(board.labels) + 1)),
        rows,
        np.zeros(16 * len(rows) + 16, dtype=np.int32),
        np.zeros(len(rows), dtype=np.int32),
        randomness.keys(1) | np.uint64(1),
        room,
        place,
    )
    people = board.people()
    tables, scratch = _tables(board, own, people)
    everybody = np.arange(board.rows.patients, dtype=np.int32)
    tally_all(everybody, -1, tables.gained, tables.kept, 1, people, tables, scratch)
    many = len(hidden)
    for _ in range(0, steps, _STEPS_AT_ONCE):
        if many == 0 or not clock.goes_on():
            break
        many = _steps(_STEPS_AT_ONCE, many, around, people, tables, scratch)
    board.sort_anew()


def _tables(board: Board, own: Small, people: People) -> tuple[SupportTables, Scratch]:
    """Empty tables for all sets of what rows show or may show."""
    everybody = np.arange(board.rows.patients, dtype=np.int32)
    begin, is_event = board.rows.begin, board.is_event()
    may = np.where(board.label < 0, own, board.label)
    need, bound = board.demands.about(0, 0)
    often = label_counts(everybody, begin, may, is_event)
    most, listed = most_and_all_sets(everybody, begin, may, is_event, need)
    tables = tables_for(often, is_event, need, bound, people, listed, two=False)
    return tables, scratch_for(int(np.diff(begin).max(initial=0)), most, need)


@compiled
def _drawn(state: Uints, below: int) -> int:
    """A number from 0 to below `below` (xorshift, from a secret start)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    drawn: int = np.int64((x >> np.uint64(11)) % np.uint64(below))  # type: ignore[assignment]
    return drawn


@compiled
def _toggle(
    row: int, many: int, around: Around, people: People, tables: SupportTables, scratch: Scratch
) -> int:
    """Show a row that is hidden, or hide it; return how many are hidden then, of `many` before."""
    p = around.patient[row]
    tally(tables.gained, p, people, scratch, sets_of(p, people, tables, -1, scratch), -1)
    if people.label[row] < 0:
        people.label[row] = around.own[row]
        many -= 1
        last, at = around.hidden[many], around.place[row]
        around.hidden[at] = last
        around.place[last] = at
        around.place[row] = -1
    else:
        people.label[row] = -1
        around.hidden[many] = row
        around.place[row] = many
        many += 1
    tally(tables.gained, p, people, scratch, sets_of(p, people, tables, -1, scratch), 1)
    return many


@compiled
def _hide_exposed(
    many: int, came: int, around: Around, people: People, tables: SupportTables, scratch: Scratch
) -> tuple[int, int]:
    """Hide those of the group who are exposed; return how many are hidden then, and who is left.

    Those of a set that too many hold a value of are hidden together, whoever of them holds it.
    """
    again = True
    while again:
        again = False
        if len(people.share):
            exposed = np.zeros(came, dtype=np.bool_)
            for i in range(came):
                sets_of(around.patient[around.group[i]], people, tables, -1, scratch)
                exposed[i] = any_held_too_often(tables.gained, people, tables, scratch)
            stay = 0
            for i in range(came):
                row = around.group[i]
                if exposed[i]:
                    many = _toggle(row, many, around, people, tables, scratch)
                    again = True
                else:
                    around.group[stay] = row
                    stay += 1
            came = stay
        stay = 0
        for i in range(came):
            row = around.group[i]
            sets_of(around.patient[row], people, tables, -1, scratch)
            if any_too_few(tables.gained, tables, scratch):
                many = _toggle(row, many, around, people, tables, scratch)
                again = True
            else:
                around.group[stay] = row
                stay += 1
        came = stay
    return many, came


@compiled
def _come_back(
    label: int,
    many: int,
    logged: int,
    around: Around,
    people: People,
    tables: SupportTables,
    scratch: Scratch,
) -> tuple[int, int]:
    """Show all rows of a label, but for those that it would expose; how many are hidden, logged."""
    came = 0
    for at in range(around.begin[label], around.begin[label + 1]):
        row = around.rows[at]
        if people.label[row] < 0:
            around.group[came] = row
            came += 1
    for i in range(came):
        many = _toggle(around.group[i], many, around, people, tables, scratch)
    many, came = _hide_exposed(many, came, around, people, tables, scratch)
    for i in range(came):
        around.log[logged] = around.group[i]
        logged += 1
    return many, logged


@compiled
def _give_way(
    label: int,
    other: int,
    many: int,
    logged: int,
    around: Around,
    people: People,
    tables: SupportTables,
    scratch: Scratch,
) -> tuple[int, int]:
    """Hide the rows of a label, of patients who hide another (-1: of all), and of whom it exposes.

    Returned is how many rows are hidden then, and how many are logged.
    """
    shown, left = logged, 0
    for at in range(around.begin[label], around.begin[label + 1]):
        row = around.rows[at]
        if people.label[row] < 0:
            continue
        around.log[shown] = row
        shown += 1
        goes = other < 0
        p = around.patient[row]
        for each in range(people.begin[p], people.begin[p + 1]):
            if around.own[each] == other and people.label[each] < 0:
                goes = True
        if goes:
            many = _toggle(row, many, around, people, tables, scratch)
        else:
            around.group[left] = row
            left += 1
    many, _ = _hide_exposed(many, left, around, people, tables, scratch)
    for at in range(logged, shown):
        if people.label[around.log[at]] < 0:
            around.log[logged] = around.log[at]
            logged += 1
    return many, logged


@compiled
def _steps(
    steps: int, many: int, around: Around, people: People, tables: SupportTables, scratch: Scratch
) -> int:
    """Make some steps; return how many rows are hidden, of `many` before."""
    stale = np.zeros(len(tables.local), dtype=np.int64)
    waiting = np.zeros(len(tables.local), dtype=np.int64)
    for step in range(1, steps + 1):
        if many == 0:
            break
        before, logged = many, 0
        row = around.hidden[_drawn(around.state, many)]
        p, label = around.patient[row], around.own[row]
        size = people.begin[p + 1] - people.begin[p]
        everywhere = _drawn(around.state, 4) == 0
        for _ in range(1 + _drawn(around.state, 2)):
            other = people.begin[p] + _drawn(around.state, size)
            if around.own[other] >= 0 and people.label[other] == around.own[other]:
                many, logged = _give_way(
                    around.own[other],
                    -1 if everywhere else label,
                    many,
                    logged,
                    around,
                    people,
                    tables,
                    scratch,
                )
        gone = logged
        many, logged = _come_back(label, many, logged, around, people, tables, scratch)
        stale[label] = step
        ready = 0
        for i in range(gone):
            q = around.patient[around.log[i]]
            for each in range(people.begin[q], people.begin[q + 1]):
                next_label = around.own[each]
                if next_label >= 0 and people.label[each] < 0 and stale[next_label] != step:
                    stale[next_label] = step
                    waiting[ready] = next_label
                    ready += 1
        for i in range(ready):
            j = i + _drawn(around.state, ready - i)
            waiting[i], waiting[j] = waiting[j], waiting[i]
            if logged + 2 * len(around.group) < len(around.log):
                many, logged = _come_back(waiting[i], many, logged, around, people, tables, scratch)
        if many > before:
            for i in range(logged - 1, -1, -1):
                many = _toggle(around.log[i], many, around, people, tables, scratch)
    return many
