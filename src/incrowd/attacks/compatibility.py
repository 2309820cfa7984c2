"""Who may be which record: distinct people against distinct rows of labels, within bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd.attacks.label_meanings import LabelCoverage
from incrowd.table.packing import distinct_rows

_PAIRS_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class SharedAttribute:
    """One attribute on both sides.

    `people` holds the code of each distinct person, `rows` the label of each distinct row,
    `coverage` which codes each label covers.
    """

    people: IntArray
    cardinality: int
    rows: IntArray
    coverage: LabelCoverage

    def compatible(self, codes: IntArray, rows: IntArray) -> BoolArray:
        """For each pair of a code and a row, whether the row's label covers the code."""
        labels = self.rows[rows]
        result: BoolArray = (self.coverage.low[labels] <= codes) & (
            codes < self.coverage.high[labels]
        )
        if len(self.coverage.bits) > 1:
            byte = self.coverage.bits[self.coverage.more[labels], codes >> 3]
            result |= (byte >> (codes & 7).astype(np.uint8) & 1).astype(np.bool_)
        return result


@dataclass(frozen=True)
class Matches:
    """Compatible pairs: `rows[offsets[i]:offsets[i + 1]]` are the rows that `people[i]` may be."""

    people: IntArray
    offsets: IntArray
    rows: IntArray


def compatible_pairs(attributes: Sequence[SharedAttribute], people: int) -> Iterator[Matches]:
    """Every distinct person with the rows that may be theirs, a bounded number of pairs at a time.

    People with no row are left out.

    Notes
    -----
    Attributes whose labels cover one value each are joined by sorting. For the others, people
    form a tree by their values, attribute after attribute, and each node keeps the rows that fit
    so far, so that people who share values share the work. The cost is the number of pairs
    that fit all but one attribute, not people times rows.
    """
    exact = [each for each in attributes if each.coverage.single]
    wide = sorted(
        (each for each in attributes if not each.coverage.single), key=lambda a: a.cardinality
    )
    tree = _PeopleTree(exact, wide, people)
    yield from _descend(tree, 0, tree.roots(exact, len(attributes[0].rows)), wide)


class _PeopleTree:
    """The distinct people sorted by their values; nodes of a level are runs of that order."""

    def __init__(
        self, exact: Sequence[SharedAttribute], wide: Sequence[SharedAttribute], people: int
    ) -> None:
        node, first = distinct_rows(
            [each.people for each in exact], [each.cardinality for each in exact], people
        )
        self._exact_first = first
        self.children: list[IntArray] = []
        self.codes: list[IntArray] = []
        for each in wide:
            below, chosen = distinct_rows(
                [node, each.people], [len(first), each.cardinality], people
            )
            self.children.append(np.searchsorted(node[chosen], np.arange(len(first) + 1)))
            self.codes.append(each.people[chosen])
            node, first = below, chosen
        self.person_of_leaf = first

    def roots(self, exact: Sequence[SharedAttribute], all_rows: int) -> Matches:
        """The nodes of the first level with the rows that fit all exactly matched attributes."""
        nodes = len(self._exact_first)
        fits = np.ones(all_rows, dtype=np.bool_)
        for each in exact:
            fits &= (each.coverage.high > each.coverage.low)[each.rows]
        rows = np.flatnonzero(fits)
        number, _ = distinct_rows(
            [
                np.concatenate((each.people[self._exact_first], each.coverage.low[each.rows[rows]]))
                for each in exact
            ],
            [each.cardinality for each in exact],
            nodes + len(rows),
        )
        node_of_number = np.full(int(number.max()) + 1, -1, dtype=np.int64)
        node_of_number[number[:nodes]] = np.arange(nodes)
        node = node_of_number[number[nodes:]]
        return _gathered(np.arange(nodes), node[node >= 0], rows[node >= 0])


def _descend(
    tree: _PeopleTree, level: int, matches: Matches, wide: Sequence[SharedAttribute]
) -> Iterator[Matches]:
    """The pairs at the leaves below some nodes of a level with the rows that fit them."""
    if level == len(wide):
        yield Matches(tree.person_of_leaf[matches.people], matches.offsets, matches.rows)
        return
    begin, end = tree.children[level][matches.people], tree.children[level][matches.people + 1]
    parent = np.repeat(np.arange(len(matches.people)), end - begin)
    child = _runs(begin, end - begin)
    counts = np.diff(matches.offsets)[parent]
    ends = np.cumsum(counts)
    first = 0
    while first < len(child):
        limit = (ends[first - 1] if first else 0) + _PAIRS_AT_ONCE
        last = max(int(np.searchsorted(ends, limit, side="right")), first + 1)
        chunk = slice(first, last)
        rows = matches.rows[_runs(matches.offsets[:-1][parent[chunk]], counts[chunk])]
        place = np.repeat(np.arange(last - first), counts[chunk])
        fits = wide[level].compatible(tree.codes[level][child[chunk]][place], rows)
        below = _gathered(child[chunk], place[fits], rows[fits])
        del rows, place, fits
        yield from _descend(tree, level + 1, below, wide)
        first = last


def _gathered(nodes: IntArray, of_pair: IntArray, rows: IntArray) -> Matches:
    """Pairs (position of a node, row) as matches, without nodes that have no row."""
    if len(of_pair) and bool((of_pair[1:] < of_pair[:-1]).any()):
        order = np.argsort(of_pair, kind="stable")
        of_pair, rows = of_pair[order], rows[order]
    counts = np.bincount(of_pair, minlength=len(nodes))
    offsets = np.concatenate(([0], np.cumsum(counts[counts > 0])))
    return Matches(nodes[counts > 0], offsets, rows)


def _runs(starts: IntArray, lengths: IntArray) -> IntArray:
    """starts[0], starts[0] + 1 … for each start as many as its length, one after the other."""
    total = int(lengths.sum())
    shift = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    return shift + np.arange(total)
