"""Top-down local recoding: all records start under one label and are specialized, node by node.

Two records with the same value may end at different levels: the records of a child that would be
too few, or too much alike, go back to their node and stay as general as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from incrowd._runtime import randomness
from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd._runtime.threads import even_runs, in_threads
from incrowd.counts.groups import Groups
from incrowd.counts.histograms import counted, counted_groups
from incrowd.hierarchies import Hierarchy
from incrowd.methods.base import Outcome, RecordTask, Task, joined_groups
from incrowd.methods.geometry import geometry_of
from incrowd.methods.reach import refuse_unreachable
from incrowd.methods.top_down_local import TopDownLocalOptions
from incrowd.methods.top_down_local._choosing import Choices, choose
from incrowd.methods.top_down_local._relocating import relocate
from incrowd.methods.top_down_local._steps import StepTable
from incrowd.methods.top_down_local.trees import Needs, Trees, trees_of
from incrowd.table.packing import distinct_rows

_FOLLOWED, _MOST_FOLLOWED = 4, 1_000
"""How many attributes are followed to their end, and in nodes of how many records at most."""
_NEIGHBOURHOOD = 1_024
"""The groups among which records may move on."""
_LOOKED_AT, _ROUNDS = 0.25, 3
"""The share of groups that records may leave, those that lose most; how often it is tried."""


def top_down_local(task: RecordTask, options: TopDownLocalOptions | None = None) -> Outcome:
    """Specialize records from `*` towards their values, as far as every group stays private.

    A node is specialized on one attribute at a time: its records go to the children of the label
    that it shows. Children that break a model give their records back to the node; where the node
    then breaks one, children that can spare records give them (or, where that does not suffice,
    all of theirs); where nothing helps, the step is undone. What is left with a node may be
    specialized on another attribute. The attribute is the one after which the records lose least,
    by NCP over all attributes; in nodes of up to 1,000 records the best four are followed to
    their end, and the best end decides. At last records of the groups that lose most move on to
    groups where they cost less, or whole groups are dissolved.

    Notes
    -----
    Works under every monotone model: the table as one group satisfies it, or is refused, and every
    group that a step leaves is judged. Sizes of groups and distinct values are counted while the
    steps are chosen, other models only judge the step that was chosen. Under those the search is
    repeated with groups of at least twice, four times … the records, as long as less is lost that
    way, and no record moves on at the end. O(d^2 n log n) for n records and d attributes per level
    of the tree.

    References
    ----------
    Sun, Li, Wang (2010), algorithm 1, there for one quasi-identifier. Differs from the paper: the
    choice among several attributes, and the moves at the end.
    """
    options = options or TopDownLocalOptions()
    refuse_unreachable(task)
    records = _SortedRecords.of(task)
    needs, complete = _needs(task)
    group = _TopDownSearch(task, records, needs, complete).run()
    if not complete:
        group = _with_larger_groups(task, records, needs, group)
    elif options.relocate:
        task.progress("moving records", 0, 1)
        group = _relocated(records, needs, group)
    everyone = np.arange(len(group), dtype=np.int64)
    if not task.satisfied(records.groups(everyone, group, int(group.max()) + 1)).all():
        raise AssertionError("a group does not hold")
    return _outcome(task, records, group)


@dataclass(frozen=True)
class _SortedRecords:
    """All records, sorted by their quasi-identifiers, and what the models count of them.

    Invariant: records with equal quasi-identifiers stand in an order drawn from secret randomness.
    Steps and moves take records from runs of equal ones by their place, so which of them go is
    neither a function of their sensitive values nor of the order of the source.
    """

    codes: IntArray
    sensitive: IntArray
    totals: dict[str, IntArray]
    hierarchies: list[Hierarchy]
    trees: Trees
    place: IntArray
    """Where each record stands among all, sorted by all that is counted."""

    @classmethod
    def of(cls, task: Task) -> _SortedRecords:
        """The records of a task, from their frequency set."""
        names = (*task.counts.attributes, *task.sensitive)
        found = task.counts.frequency_set(dict.fromkeys(names))
        rows = np.repeat(found.codes, found.groups.sizes, axis=0)
        many = len(task.counts.attributes)
        differs = (rows[1:, :many] != rows[:-1, :many]).any(axis=1)
        place = randomness.shuffled_within(np.concatenate(([0], np.cumsum(differs))))
        hierarchies = [task.hierarchies[column.name] for column in task.columns]
        totals = {name: task.counts.totals(name) for name in task.sensitive}
        return cls(
            np.ascontiguousarray(rows[place, :many]),
            np.ascontiguousarray(rows[place, many:]),
            totals,
            hierarchies,
            trees_of(hierarchies),
            place,
        )

    def assigned(self, task: RecordTask, group: IntArray) -> npt.NDArray[np.int32]:
        """The group of every record of the source."""
        in_order = np.empty_like(group)
        in_order[self.place] = group
        return task.counts.assign(in_order)

    def loss(self, group: IntArray) -> float:
        """What all records lose, by NCP over all attributes, when groups show lowest nodes."""
        order = np.argsort(group, kind="stable")
        starts = np.flatnonzero(np.diff(group[order], prepend=-1))
        sizes = np.diff(np.append(starts, len(group)))
        total = 0.0
        for a, hierarchy in enumerate(self.hierarchies):
            codes = self.codes[order, a]
            level, node = hierarchy.lowest_common(
                np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
            )
            total += float((self.trees.loss[a, level, node] * sizes).sum())
        return total

    def groups(self, records: IntArray, number: IntArray, many: int) -> Groups:
        """Sizes and histograms of groups of records, as models judge them."""
        values = {name: self.sensitive[records, at] for at, name in enumerate(self.totals)}
        return counted_groups(number, many, values, self.totals)


def _needs(task: Task) -> tuple[Needs, bool]:
    """What is counted of every group while steps are chosen, and whether that is all there is."""
    values = np.zeros(len(task.sensitive), dtype=np.int64)
    complete = True
    for model in task.models:
        least = model.distinct_values
        for name in model.counted_attributes:
            if least:
                at = task.sensitive.index(name)
                values[at] = max(values[at], least)
        complete &= model.counts_alone
    return Needs(max(task.smallest_group, 1), values), complete


@dataclass
class _TopDownSearch:
    """The open nodes as runs of an index of all records, specialized level by level."""

    task: Task
    records: _SortedRecords
    needs: Needs
    complete: bool
    index: IntArray = field(init=False)

    def run(self) -> IntArray:
        """The group of every record; groups are numbered along the tree."""
        many = len(self.records.codes)
        self.index = np.arange(many, dtype=np.int64)
        firsts, lasts = np.zeros(1, dtype=np.int64), np.array([many], dtype=np.int64)
        barred = np.zeros((1, self.records.codes.shape[1]), dtype=np.bool_)
        final: list[IntArray] = []
        settled = 0
        while len(firsts):
            self.task.progress("specializing", settled, many)
            chosen, child, children = self._choose(firsts, lasts, barred)
            leaves = chosen < 0
            final.append(np.stack([firsts[leaves], lasts[leaves]], axis=1))
            settled += int((lasts[leaves] - firsts[leaves]).sum())
            firsts, lasts, barred = self._step(
                firsts[~leaves], lasts[~leaves], barred[~leaves], chosen[~leaves], child,
                children[~leaves],
            )  # fmt: skip
        bounds = np.concatenate(final)
        bounds = bounds[np.argsort(bounds[:, 0])]
        group = np.empty(many, dtype=np.int64)
        group[self.index] = np.repeat(np.arange(len(bounds)), bounds[:, 1] - bounds[:, 0])
        return group

    def _choose(
        self, firsts: IntArray, lasts: IntArray, barred: BoolArray
    ) -> tuple[IntArray, IntArray, IntArray]:
        """For each node an attribute or -1; the child of each record; how many children."""
        chosen = np.full(len(firsts), -1, dtype=np.int64)
        children = np.zeros(len(firsts), dtype=np.int64)
        child = np.zeros(len(self.index), dtype=np.int64)
        table = _table(self.records, self.needs)

        def work(nodes: slice) -> None:
            choose(
                table, self.index, firsts[nodes], lasts[nodes], barred[nodes], _FOLLOWED,
                _MOST_FOLLOWED, Choices(chosen[nodes], child, children[nodes]),
            )  # fmt: skip

        in_threads(even_runs(lasts - firsts), work)
        return chosen, child, children

    def _step(
        self, firsts: IntArray, lasts: IntArray, barred: BoolArray, chosen: IntArray,
        child: IntArray, children: IntArray,
    ) -> tuple[IntArray, IntArray, BoolArray]:  # fmt: skip
        """Specialize nodes; returns the nodes that are open then, with what is barred in them."""
        if not len(firsts):
            return firsts, lasts, barred
        lengths = lasts - firsts
        places = np.repeat(firsts - np.cumsum(lengths) + lengths, lengths) + np.arange(
            int(lengths.sum())
        )
        node = np.repeat(np.arange(len(firsts)), lengths)
        part, stays = child[places], np.repeat(children, lengths)
        if not self.complete:
            part = self._judged(self.index[places], node, part, stays)
        moved = np.bincount(node[part != stays], minlength=len(firsts))
        undone = moved == 0
        order = np.lexsort((part, node))
        self.index[places] = self.index[places[order]]
        keys = node[order] * (int(stays.max()) + 1) + part[order]
        begins = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
        ends = np.append(begins[1:], len(keys))
        owner = node[order][begins]
        left = barred[owner] & undone[owner, None]
        again = np.flatnonzero(undone[owner])
        left[again, chosen[owner[again]]] = True
        return places[begins], places[ends - 1] + 1, left

    def _judged(
        self, records: IntArray, node: IntArray, part: IntArray, stays: IntArray
    ) -> IntArray:
        """The children after judging: those that fail go back, and nodes that then fail take more.

        A node takes whole children, the smallest first, until it holds: at the latest with all of
        them, for then it is what it was.
        """
        part = part.copy()
        waiting = np.ones(len(part), dtype=np.bool_)
        while waiting.any():
            some = np.flatnonzero(waiting)
            wide = int(stays.max()) + 1
            number, first = distinct_rows(
                [node[some], part[some]], [int(node.max()) + 1, wide], len(some)
            )
            groups = self.records.groups(records[some], number.astype(np.int64), len(first))
            fails = ~self.task.satisfied(groups)
            is_rest = part[some][first] == stays[some][first]
            back = fails & ~is_rest
            # A rest that fails takes the smallest child; alone it is the whole node, which holds.
            owner = node[some][first]
            settled = np.isin(owner, owner[back])
            short = owner[fails & is_rest & ~settled]
            able = np.flatnonzero(~is_rest & np.isin(owner, short))
            able = able[np.lexsort((groups.sizes[able], owner[able]))]
            back[able[np.flatnonzero(np.diff(owner[able], prepend=-1))]] = True
            gone = back[number]
            part[some[gone]] = stays[some[gone]]
            again = np.unique(node[some[gone]])
            waiting = np.isin(node, again) & waiting
        return part


def _with_larger_groups(
    task: Task, records: _SortedRecords, needs: Needs, group: IntArray
) -> IntArray:
    """The best groups of searches that ask for more and more records, until more is lost.

    Where a model asks for more than is counted, small groups mostly fail, and steps that were
    chosen for them are undone; asking for larger ones then leads further.
    """
    least = records.loss(group)
    while 2 * needs.records < len(group):
        needs = Needs(2 * needs.records, needs.values)
        other = _TopDownSearch(task, records, needs, complete=False).run()
        lost = records.loss(other)
        if lost >= least:
            break
        group, least = other, lost
    return group


def _relocated(records: _SortedRecords, needs: Needs, group: IntArray) -> IntArray:
    """The groups after records have moved on, neighbourhood by neighbourhood."""
    many = int(group.max()) + 1
    moved = group.copy()
    room = max(4 * needs.records, int(np.bincount(group).max()))
    bounds = [*range(0, many, _NEIGHBOURHOOD), many]

    table = _table(records, needs)

    def work(nearby: slice) -> None:
        for at in range(nearby.start, nearby.stop):
            relocate(table, moved, bounds[at], bounds[at + 1], room, _LOOKED_AT, _ROUNDS)

    in_threads(even_runs(np.diff(bounds)), work)
    number, _ = distinct_rows([moved], [many], len(moved))
    return number.astype(np.int64)


def _table(records: _SortedRecords, needs: Needs) -> StepTable:
    """The records and what is asked of their groups, as compiled loops take them."""
    trees = records.trees
    return StepTable(
        records.codes, records.sensitive, trees.node_of, trees.loss, needs.records, needs.values
    )


def _outcome(task: RecordTask, records: _SortedRecords, group: IntArray) -> Outcome:
    """The labels of the groups, and the group of every record of the source."""
    sizes = np.bincount(group).astype(np.int64)
    labels = {}
    for a, column in enumerate(task.columns):
        geometry = geometry_of(column, task.hierarchies[column.name], "hierarchy")
        found = counted(group, len(sizes), records.codes[:, a], column.cardinality)
        labels[column.name] = geometry.labels(found)
    return joined_groups(records.assigned(task, group), labels, sizes)
