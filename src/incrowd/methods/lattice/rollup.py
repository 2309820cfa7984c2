"""Rolling up: the frequency set of one node of a lattice from that of a more specific one.

The distinct rows of the table are asked for once. From then on every frequency set is made in
memory, by joining the rows of the smallest one known whose levels are all as low or lower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import IntArray, Ints
from incrowd._runtime.compiling import compiled
from incrowd.counts.groups import Groups, Histogram
from incrowd.methods.base import RowTask

Levels = tuple[int, ...]
"""A node of the lattice: the level of every attribute, 0 for the values as they are."""

_LARGEST_KEY = 1 << 62
_KEPT_ROWS = 1 << 22
_KEPT_TIMES = 8


def is_above(one: Levels, other: Levels) -> bool:
    """Whether a node lies above another, or is the same: no attribute is finer."""
    return all(a >= b for a, b in zip(one, other, strict=True))


@dataclass(eq=False)
class Rolled:
    """The groups of a node: one distinct row of each, their sizes, and how they were made.

    `number[g]` is the group that group g of the frequency set `source` became part of.
    """

    levels: Levels
    rows: npt.NDArray[np.int32]
    sizes: IntArray
    source: Rolled | None = None
    number: npt.NDArray[np.int32] | None = None
    histograms: dict[str, Histogram] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def histogram(self, name: str) -> Histogram:
        """How often each value of a counted attribute occurs in each group, made when asked for."""
        if name not in self.histograms:
            assert self.source is not None
            assert self.number is not None
            below = self.source.histogram(name)
            offsets, values, counts = _joined_histograms(
                below.offsets, below.values, below.counts, self.number, len(self), below.cardinality
            )
            self.histograms[name] = Histogram.of(offsets, values, counts, below.total)
        return self.histograms[name]

    def groups(self, sensitive: Sequence[str]) -> Groups:
        """Sizes and histograms, as privacy models judge them."""
        return Groups(self.sizes, {name: self.histogram(name) for name in sensitive})


class FrequencySets:
    """The frequency sets of all nodes of a lattice, each made when first asked for.

    Notes
    -----
    A frequency set costs O(r d) for d attributes below their top level and r rows of the smallest
    known set it can be made from. Sets are kept until they have 4 million rows together, or 8
    times the distinct rows of the table if that is more; then all are forgotten if they are to be
    `renewed`, or no more are kept. Where a home answers with no more than so many rows, the sets
    that it was asked for have no more together, or there is one. `cells` counts what was read so
    far: rows times attributes.
    """

    def __init__(self, task: RowTask, *, renewed: bool = False) -> None:
        self.cells = 0
        self._renewed = renewed
        self._sensitive = task.sensitive
        self._counts = task.counts
        names = [column.name for column in task.columns]
        self._names = names
        self._nodes = [task.hierarchies[name].node_of for name in names]
        self._spans = [[int(level.max()) + 1 for level in nodes] for nodes in self._nodes]
        self._flat = np.concatenate([nodes.ravel() for nodes in self._nodes]).astype(np.int32)
        begins = np.cumsum([0, *(nodes.size for nodes in self._nodes)])
        self._begins = [
            [int(begin) + level * nodes.shape[1] for level in range(len(nodes))]
            for begin, nodes in zip(begins, self._nodes, strict=False)
        ]
        self.codes = np.empty((0, len(names)), dtype=np.int32, order="F")
        self._kept_levels = np.zeros((64, len(names)), dtype=np.int16)
        self._kept_rows = np.zeros(64, dtype=np.int64)
        self._asked: list[Rolled] = []
        if task.counts.most_rows is None:
            self._ask((0,) * len(names))
        self._most_room = max(_KEPT_ROWS, _KEPT_TIMES * len(self.codes))
        self._forget()

    def at(self, levels: Levels) -> Rolled:
        """The groups of a node; EngineError where they are too many to be asked for."""
        able = self._able(levels)
        if not len(able):
            rolled = self._ask(levels)
            self._keep(rolled)
            return rolled
        source = self._kept[int(able[np.argmin(self._kept_rows[able])])]
        if source.levels == levels:
            return source
        number, rolled = self._rolled(source, levels)
        room = len(rolled)
        if self._sensitive:
            rolled.source, rolled.number = source, number
            room += len(number)
        if room > self._room and self._renewed:
            self._forget()
        if room <= self._room:
            self._room -= room
            self._keep(rolled)
        return rolled

    def too_fine(self, levels: Levels, smallest: int) -> int | None:
        """Of a node with more groups than can be asked for, the records in groups below a size.

        None for a node whose groups can be had.
        """
        if self._counts.most_rows is None or len(self._able(levels)):
            return None
        many, small = self._counts.fineness(self._recoding(levels), smallest)
        return small if many > self._counts.most_rows else None

    def nodes_of(self, attribute: int, rolled: Rolled) -> IntArray:
        """The node of an attribute's hierarchy that each group is under."""
        codes = self.codes[rolled.rows, attribute]
        nodes: IntArray = self._nodes[attribute][rolled.levels[attribute]][codes]
        return nodes

    def _rolled(self, source: Rolled, levels: Levels) -> tuple[npt.NDArray[np.int32], Rolled]:
        """The groups of a node, and for each group of a more specific one which it became."""
        spans = [self._spans[a][level] for a, level in enumerate(levels)]
        varied = [a for a, span in enumerate(spans) if span > 1]
        self.cells += len(source) * (len(varied) + 1)
        size = 1
        for a in varied:
            size *= spans[a]
        places = np.array(varied, dtype=np.int64)
        begins = np.array([self._begins[a][levels[a]] for a in varied], dtype=np.int64)
        if size < _LARGEST_KEY:
            number, rows, sizes = _joined(
                self.codes, source.rows, source.sizes, places, begins,
                np.array([spans[a] for a in varied], dtype=np.int64), self._flat, size,
            )  # fmt: skip
        else:
            number, rows, sizes = _joined_wide(
                self.codes, source.rows, source.sizes, places, begins, self._flat
            )
        return number, Rolled(levels, rows, sizes)

    def _able(self, levels: Levels) -> IntArray:
        """Which of the sets that are kept a node can be made from."""
        kept = self._kept_levels[: len(self._kept)]
        return np.flatnonzero((kept <= np.array(levels, dtype=np.int16)).all(axis=1))

    def _recoding(self, levels: Levels) -> dict[str, IntArray | None]:
        """The node of every code at these levels."""
        return {
            name: None if not level else nodes[level].astype(np.int64)
            for name, nodes, level in zip(self._names, self._nodes, levels, strict=True)
        }

    def _ask(self, levels: Levels) -> Rolled:
        """The groups of a node from the home of the records."""
        recoding = self._recoding(levels)
        found = self._counts.frequency_set(recoding, sensitive=self._sensitive)
        codes = np.empty(found.codes.shape, dtype=np.int32)
        for attribute, (nodes, level) in enumerate(zip(self._nodes, levels, strict=True)):
            codes[:, attribute] = found.codes[:, attribute]
            if level:
                # Any code of a node stands for it, here and at every level above.
                _, some = np.unique(nodes[level], return_index=True)
                codes[:, attribute] = some[codes[:, attribute]]
        most = self._counts.most_rows
        if most is not None and len(self.codes) + len(codes) > most:
            # What was asked for can be asked for again.
            self.codes = self.codes[:0]
            self._asked.clear()
            self._forget()
        rows = np.arange(len(self.codes), len(self.codes) + len(codes), dtype=np.int32)
        self.codes = np.asfortranarray(np.concatenate((self.codes, codes)))
        sizes, histograms = found.groups.sizes, dict(found.groups.histograms)
        rolled = Rolled(levels, rows, sizes, histograms=histograms)
        self._asked.append(rolled)
        return rolled

    def _forget(self) -> None:
        """Keep nothing but what was asked of the home."""
        self._room = self._most_room
        self._kept: list[Rolled] = []
        for rolled in self._asked:
            self._keep(rolled)

    def _keep(self, rolled: Rolled) -> None:
        many = len(self._kept)
        if many == len(self._kept_rows):
            self._kept_levels = np.concatenate((self._kept_levels, self._kept_levels))
            self._kept_rows = np.concatenate((self._kept_rows, self._kept_rows))
        self._kept_levels[many] = rolled.levels
        self._kept_rows[many] = len(rolled)
        self._kept.append(rolled)


@compiled
def _joined(
    codes: Ints, rows: Ints, sizes: IntArray, varied: IntArray, begins: IntArray, spans: IntArray,
    flat: Ints, size: int,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], IntArray]:  # fmt: skip
    """Rows joined where they are under the same nodes: their group, its first row, its size.

    Groups are numbered as they are first seen, by a table of all keys where these are few and
    else by a hash table.
    """
    many = len(rows)
    direct = size <= max(4 * many, 4096)
    room = 1024
    while room < 2 * many:
        room *= 2
    slots = np.full(size if direct else room, -1, np.int32)
    keys = np.empty(1 if direct else many, np.int64)
    number = np.empty(many, np.int32)
    first = np.empty(many, np.int32)
    joined = np.zeros(many, np.int64)
    found = 0
    for i in range(many):
        row = rows[i]
        key = np.int64(0)
        for place in range(len(varied)):
            key = key * spans[place] + flat[begins[place] + codes[row, varied[place]]]
        slot = key
        if not direct:
            mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
            slot = np.int64((mixed ^ (mixed >> np.uint64(29))) & np.uint64(room - 1))
            while slots[slot] >= 0 and keys[slots[slot]] != key:
                slot = (slot + 1) & (room - 1)
        group = slots[slot]
        if group < 0:
            group = found
            slots[slot] = group
            first[group] = row
            if not direct:
                keys[group] = key
            found += 1
        number[i] = group
        joined[group] += sizes[i]
    return number, first[:found].copy(), joined[:found].copy()


@compiled
def _joined_wide(
    codes: Ints,
    rows: Ints,
    sizes: IntArray,
    varied: IntArray,
    begins: IntArray,
    flat: Ints,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], IntArray]:
    """Rows joined as by `_joined`, where there are more keys than fit a number.

    Rows of equal hashes are compared attribute by attribute.
    """
    many = len(rows)
    room = 1024
    while room < 2 * many:
        room *= 2
    slots = np.full(room, -1, np.int32)
    hashes = np.empty(many, np.uint64)
    number = np.empty(many, np.int32)
    first = np.empty(many, np.int32)
    joined = np.zeros(many, np.int64)
    found = 0
    for i in range(many):
        row = rows[i]
        mixed = np.uint64(0)
        for place in range(len(varied)):
            node = flat[begins[place] + codes[row, varied[place]]]
            mixed = (mixed ^ np.uint64(node)) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        slot = np.int64(mixed & np.uint64(room - 1))
        while slots[slot] >= 0:
            group = slots[slot]
            if hashes[group] == mixed:
                other = first[group]
                same = True
                for place in range(len(varied)):
                    a = varied[place]
                    if flat[begins[place] + codes[row, a]] != flat[begins[place] + codes[other, a]]:
                        same = False
                        break
                if same:
                    break
            slot = (slot + 1) & (room - 1)
        group = slots[slot]
        if group < 0:
            group = found
            slots[slot] = group
            first[group] = row
            hashes[group] = mixed
            found += 1
        number[i] = group
        joined[group] += sizes[i]
    return number, first[:found].copy(), joined[:found].copy()


@compiled
def _joined_histograms(
    offsets: IntArray, values: IntArray, counts: IntArray, number: Ints, groups: int,
    cardinality: int,
) -> tuple[IntArray, IntArray, IntArray]:  # fmt: skip
    """The histograms of joined groups, group after group, values ascending."""
    starts = np.zeros(groups + 1, np.int64)
    for part in range(len(number)):
        starts[number[part] + 1] += 1
    for group in range(groups):
        starts[group + 1] += starts[group]
    parts = np.empty(len(number), np.int64)
    filled = starts[:-1].copy()
    for part in range(len(number)):
        parts[filled[number[part]]] = part
        filled[number[part]] += 1
    joined_offsets = np.zeros(groups + 1, np.int64)
    joined_values = np.empty(len(values), np.int64)
    joined_counts = np.empty(len(values), np.int64)
    sums = np.zeros(cardinality, np.int64)
    seen = np.empty(cardinality, np.int64)
    written = 0
    for group in range(groups):
        found = 0
        for place in range(starts[group], starts[group + 1]):
            part = parts[place]
            for entry in range(offsets[part], offsets[part + 1]):
                value = values[entry]
                if sums[value] == 0 and counts[entry] > 0:
                    seen[found] = value
                    found += 1
                sums[value] += counts[entry]
        ascending = np.sort(seen[:found])
        for value in ascending:
            joined_values[written] = value
            joined_counts[written] = sums[value]
            sums[value] = 0
            written += 1
        joined_offsets[group + 1] = written
    return joined_offsets, joined_values[:written].copy(), joined_counts[:written].copy()
