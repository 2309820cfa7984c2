"""What every row shows at a moment of the search, and moves of whole groups of rows."""

from __future__ import annotations

import itertools
import math

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd._runtime.compiling import compiled
from incrowd.errors import PrivacyError
from incrowd.methods.histories._counting import People, Small, SupportTables
from incrowd.methods.histories._demands import NOTHING, Demands, regions_of
from incrowd.methods.histories._moves import Moves, move_all
from incrowd.methods.histories._rows import FactRows
from incrowd.methods.histories._subsets import Scratch, how_many_sets

MOST_BYTES = 2**31
"""Tables of counts larger than this are refused."""
_ALWAYS_DENSE = 2**14
_MOST_PER_SET = 4
"""A table has a place for every number if these are few, or so many for each set counted."""


class Board:
    """The label of every row. After every move all that is shown is kept.

    A label is a node on every axis of some facts; -1 shows nothing.
    """

    def __init__(self, rows: FactRows, demands: Demands) -> None:
        self.rows = rows
        self.demands = demands
        self.label: Small = np.full(len(rows.patient), -1, dtype=np.int32)
        self.number_of: dict[tuple[int, ...], int] = {}
        """The number of each label, by its facts and nodes."""
        self.labels: list[tuple[int, ...]] = []
        self.rows_at: list[Small] = []
        """The rows that show each label, ascending."""
        self.hidden: list[Small] = [each.copy() for each in rows.of_facts]
        """The rows of each of the facts that show nothing."""
        self.losses: list[float] = []
        self._is_event: list[bool] = []
        self._seen = np.zeros(rows.patients, dtype=np.bool_)
        for f in rows.of_range:
            if rows.joint[f]:
                self._begin_at_root(f)

    def _begin_at_root(self, f: int) -> None:
        """Let all rows of the facts show the root: all patients do, and so it is kept."""
        root = self.number((f, *(0 for _ in self.rows.paths[f])))
        self.label[self.hidden[f]] = root
        self.rows_at[root], self.hidden[f] = self.hidden[f], NOTHING

    def number(self, label: tuple[int, ...]) -> int:
        """The number of a label, given by facts and nodes."""
        found = self.number_of.get(label)
        if found is None:
            found = self.number_of[label] = len(self.labels)
            self.labels.append(label)
            self.rows_at.append(NOTHING)
            paths = self.rows.paths[label[0]]
            each = [p.loss[node] for p, node in zip(paths, label[1:], strict=True)]
            self.losses.append(float(np.mean(each)))
            self._is_event.append(self.rows.events[label[0]])
        return found

    def numbers(self, f: int, nodes: Small) -> tuple[IntArray, Small]:
        """The numbers of the labels that occur among columns of nodes, and which each column is."""
        key = np.zeros(nodes.shape[1], dtype=np.int64)
        for paths, column in zip(self.rows.paths[f], nodes, strict=True):
            key = key * len(paths.nodes) + column
        keys, which = _distinct(key)
        first = np.zeros(len(keys), dtype=np.int64)
        first[which[::-1]] = np.arange(len(which))[::-1]
        targets = [self.number((f, *map(int, nodes[:, at]))) for at in first]
        return np.array(targets, dtype=np.int64), which

    def nodes(self) -> Small:
        """The nodes of every label by its number."""
        width = self.rows.leaf.shape[0]
        table = np.zeros((len(self.labels) + 1, width), dtype=np.int32)
        for number, label in enumerate(self.labels):
            table[number, : len(label) - 1] = label[1:]
        return table

    def loss(self) -> float:
        """What all rows lose together: 1 for each that shows nothing."""
        return sum(map(len, self.hidden)) + sum(
            loss * len(rows) for loss, rows in zip(self.losses, self.rows_at, strict=True)
        )

    def move(self, f: int, source: int, rows: Small, targets: IntArray, which: Small) -> int:
        """Move rows from a label (-1: hidden) to targets[which], target by target; return how many.

        Those that would expose somebody stay.
        """
        order = np.argsort(
            which.astype(np.uint16) if len(targets) < 2**16 else which, kind="stable"
        )
        rows, which = rows[order], which[order]
        patient = self.rows.patient[rows]
        begins = np.ones(len(rows), dtype=np.bool_)
        begins[1:] = (patient[1:] != patient[:-1]) | (which[1:] != which[:-1])
        first = np.flatnonzero(begins)
        shown = [self._patients_at(int(target)) for target in targets]
        moves = Moves(
            patient[first],
            np.append(first, len(rows)),
            rows,
            np.searchsorted(which[first], np.arange(len(targets) + 1)),
            targets,
            np.concatenate([[0], np.cumsum([len(each) for each in shown], dtype=np.int64)]),
            np.concatenate([NOTHING, *shown]),
        )
        leaving = self._patients_at(source) if source >= 0 else NOTHING
        involved = self._involved(moves, leaving)
        tables, scratch = self._tables(f, source, targets, involved)
        moved = move_all(source, leaving, moves, self.people(), tables, scratch)
        if moved:
            self._sort_in(f, source, rows, which, targets)
        return int(moved)

    def people(self) -> People:
        """What patients show and hold, for compiled loops."""
        of = self.demands
        return People(self.rows.begin, self.label, of.held_begin, of.held, of.share)

    def hide(self, f: int, label: int) -> None:
        """Let all rows of a label show nothing, which exposes nobody."""
        rows = self.rows_at[label]
        self.label[rows] = -1
        self.rows_at[label] = NOTHING
        self.hidden[f] = _merged(self.hidden[f], rows)

    def is_event(self) -> BoolArray:
        """For each label whether it is of events, not of patients."""
        return np.array(self._is_event, dtype=np.bool_)

    def sort_anew(self) -> None:
        """List the rows by label anew, after rows were given labels one by one."""
        order = np.argsort(self.label, kind="stable").astype(np.int32)
        bounds = np.searchsorted(self.label[order], np.arange(len(self.labels) + 1))
        self.rows_at = [order[a:b] for a, b in itertools.pairwise(bounds)]
        nothing = order[: bounds[0]]
        facts = self.rows.facts[nothing]
        self.hidden = [nothing[facts == f] for f in self.rows.of_range]

    def state_of(self, rows: Small) -> tuple[Small, Small, list[Small], list[Small]]:
        """What is shown now, for `take_back` after only these rows were changed."""
        return rows, self.label[rows], list(self.rows_at), list(self.hidden)

    def take_back(self, state: tuple[Small, Small, list[Small], list[Small]]) -> None:
        """Show again what was shown when `state_of` was asked."""
        rows, label, rows_at, hidden = state
        self.label[rows] = label
        self.rows_at = rows_at + [NOTHING] * (len(self.labels) - len(rows_at))
        self.hidden = hidden

    def _sort_in(self, f: int, source: int, rows: Small, which: Small, targets: IntArray) -> None:
        """Bring the lists of rows by label up to date after a move."""
        went = self.label[rows] == targets[which]
        for at, target in enumerate(targets):
            low, high = np.searchsorted(which, (at, at + 1))
            came = rows[low:high][went[low:high]]
            if len(came):
                self.rows_at[target] = _merged(self.rows_at[target], came)
        old = self.rows_at[source] if source >= 0 else self.hidden[f]
        left = old[self.label[old] == source]
        if source >= 0:
            self.rows_at[source] = left
        else:
            self.hidden[f] = left

    def _patients_at(self, label: int) -> Small:
        """The patients who show a label, each once."""
        patient: Small = self.rows.patient[self.rows_at[label]]
        if not len(patient):
            return NOTHING
        once: Small = patient[np.append(True, patient[1:] != patient[:-1])]
        return once

    def _involved(self, moves: Moves, leaving: Small) -> Small:
        """All patients whose sets are counted, each once."""
        if len(moves.patient) == 0:
            return NOTHING
        seen = self._seen
        seen[moves.patient] = seen[moves.shown] = seen[leaving] = True
        if len(moves.patient) * 50 > len(seen):
            found = np.flatnonzero(seen)
        else:
            found = np.unique(np.concatenate([moves.patient, moves.shown, leaving]))
        seen[found] = False
        return found.astype(np.int32)

    def _tables(
        self, f: int, source: int, targets: IntArray, involved: Small
    ) -> tuple[SupportTables, Scratch]:
        """Empty tables for moves among rows of the facts, in which these patients are counted."""
        is_event = self.is_event()
        event = self.rows.events[f]
        need, bound = self.demands.about(0 if event else 1, 1 if event else 0)
        begin, facts = self.rows.begin, self.rows.facts
        often = label_counts(involved, begin, self.label, is_event)
        often[targets] += 1
        most, listed = _work(involved, begin, self.label, facts, f, source, is_event, need)
        longest = int(np.diff(begin)[involved].max(initial=0))
        people = self.people()
        tables = tables_for(often, is_event, need, bound, people, listed, two=source >= 0)
        return tables, scratch_for(longest, most, need)


def tables_for(
    often: IntArray,
    is_event: BoolArray,
    need: IntArray,
    bound: BoolArray,
    people: People,
    listed: float,
    *,
    two: bool,
) -> SupportTables:
    """Empty tables of counts over the atoms that occur so often, frequent ones first.

    `listed` is how many sets are counted at most; with `two` there is one for what is left too.

    Raises
    ------
    PrivacyError
        When they would not fit into memory.
    """
    local = np.full(len(often), -1, dtype=np.int32)
    order = np.argsort(-often, kind="stable")
    order = order[often[order] > 0]
    attributes, events = order[~is_event[order]], order[is_event[order]]
    local[attributes] = np.arange(len(attributes))
    local[events] = len(attributes) + np.arange(len(events))
    regions, whole = regions_of(need, len(attributes), len(events))
    values, hashed = 1 + len(people.share), whole > max(_ALWAYS_DENSE, _MOST_PER_SET * listed)
    places = 2.0 ** math.ceil(math.log2(2 * listed + 2)) if hashed else whole
    size = 4.0 * places * values * (2 if two else 1) + 8.0 * places * hashed
    if size > MOST_BYTES or whole >= 2.0**62:
        raise PrivacyError(
            f"Counting the combinations that an attacker may know would take {size / 2**30:,.1f} "
            f"GB, and {MOST_BYTES / 2**30:,.0f} are allowed. Bound what is known (a smaller L, or "
            "fewer `events`), or give coarser hierarchies."
        )
    keys = np.full(int(places) if hashed else 0, -1, dtype=np.int64)
    gained = np.zeros((values, int(places)), dtype=np.int32)
    kept = np.zeros((values, int(places) if two else 0), dtype=np.int32)
    return SupportTables(local, regions, need, bound, keys, gained, kept)


def scratch_for(rows: int, sets: float, need: IntArray) -> Scratch:
    """Room for the atoms of a patient with so many rows, and for so many sets.

    Raises
    ------
    PrivacyError
        When the sets of a single patient would not fit into memory.
    """
    if 8 * sets > MOST_BYTES:
        raise PrivacyError(
            f"A single patient has {sets:,.0f} combinations of events that an attacker may know, "
            "too many to count. Bound what is known (a smaller L, or fewer `events`)."
        )
    return Scratch(
        np.zeros(rows + 1, dtype=np.int64),
        np.zeros(int(sets) + 1, dtype=np.int64),
        np.zeros(need.shape, dtype=np.int64),
        np.zeros(0, dtype=np.bool_),
    )


@compiled
def label_counts(involved: Small, begin: IntArray, label: Small, is_event: BoolArray) -> IntArray:
    """How many rows of some patients show each label."""
    often = np.zeros(len(is_event), dtype=np.int64)
    for p in involved:
        for row in range(begin[p], begin[p + 1]):
            if label[row] >= 0:
                often[label[row]] += 1
    return often


@compiled
def _work(
    involved: Small,
    begin: IntArray,
    label: Small,
    facts: Small,
    f: int,
    source: int,
    is_event: BoolArray,
    need: IntArray,
) -> tuple[float, float]:
    """How many sets one patient is counted in at most, and all together, before and after.

    A row that may move counts with the label that it has and with the one that it may get.
    """
    most, whole = 0.0, 0.0
    for p in involved:
        attributes, events = 0, 0
        for row in range(begin[p], begin[p + 1]):
            if label[row] >= 0:
                if is_event[label[row]]:
                    events += 1
                else:
                    attributes += 1
            if label[row] == source and facts[row] == f:
                events += 1
                attributes += 1
        many = how_many_sets(attributes, events, need)
        whole += many
        most = max(most, many)
    return most, whole


@compiled
def most_and_all_sets(
    involved: Small, begin: IntArray, label: Small, is_event: BoolArray, need: IntArray
) -> tuple[float, float]:
    """How many sets one of some patients is counted in at most, and all together."""
    most, whole = 0.0, 0.0
    for p in involved:
        attributes, events = 0, 0
        for row in range(begin[p], begin[p + 1]):
            if label[row] >= 0:
                if is_event[label[row]]:
                    events += 1
                else:
                    attributes += 1
        many = how_many_sets(attributes, events, need)
        whole += many
        most = max(most, many)
    return most, whole


def _merged(some: Small, more: Small) -> Small:
    """Rows of two ascending lists, ascending."""
    if not len(some) or not len(more):
        return some if len(some) else np.sort(more)
    return np.sort(np.concatenate([some, more]))


def _distinct(key: IntArray) -> tuple[IntArray, Small]:
    """The distinct keys, and which each is."""
    highest = int(key.max(initial=0)) + 1
    if highest <= max(2 * len(key), 2**16):
        occurs = np.zeros(highest, dtype=np.bool_)
        occurs[key] = True
        keys = np.flatnonzero(occurs)
        number = np.zeros(highest, dtype=np.int32)
        number[keys] = np.arange(len(keys))
        return keys, number[key]
    keys, which = np.unique(key, return_inverse=True)
    return keys, which.reshape(-1).astype(np.int32)
