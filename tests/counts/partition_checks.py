"""What every partition must answer, checked against the plain lists of its records."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from partition_reference import PlainPartition, Record, entries, same_groups, splits_of

from incrowd.counts import Extents
from incrowd.counts.base import HalvingPartition

# The widest column decides how wide all codes are: uint8, uint16, uint32.
WIDTHS: dict[type[np.unsignedinteger[Any]], tuple[int, int, int, int, int]] = {
    np.uint8: (3, 200, 4, 5, 2),
    np.uint16: (300, 3, 4, 5, 2),
    np.uint32: (3, 70_000, 4, 5, 2),
}
QUASI = 3
SENSITIVE = {"s3": 3, "s4": 4}
Asked = list[tuple[int, int, set[int]]]


def edge_codes(cardinality: int) -> st.SearchStrategy[int]:
    return st.sampled_from((0, 1, cardinality // 2, cardinality - 1))


@st.composite
def weighed_records(draw: st.DrawFn, cardinalities: tuple[int, ...]) -> list[Record]:
    distinct = draw(st.lists(st.tuples(*map(edge_codes, cardinalities)), min_size=1, max_size=14))
    return [record for record in distinct for _ in range(draw(st.integers(1, 3)))]


def some_splits(
    data: st.DataObject, plain: PlainPartition, leaves: list[int], cardinalities: tuple[int, ...]
) -> Asked:
    """One split of each of some leaves; left codes may well not occur there."""
    chosen = data.draw(st.lists(st.sampled_from(leaves), unique=True, max_size=4))
    asked: Asked = []
    for node in chosen:
        attribute = data.draw(st.integers(0, QUASI - 1))
        asked.append(
            (node, attribute, data.draw(st.sets(edge_codes(cardinalities[attribute]), min_size=1)))
        )
    return asked


def answers_agree(
    partition: HalvingPartition, plain: PlainPartition, cardinalities: tuple[int, ...]
) -> None:
    """Sizes, histograms, extents and groups of all nodes there ever were, in any order."""
    numbers = list(range(len(plain.nodes)))[::-1]
    nodes, members = np.array(numbers), [plain.nodes[node] for node in numbers]
    assert partition.sizes(nodes).tolist() == [len(each) for each in members]
    for attribute in range(QUASI):
        found = partition.histograms(attribute, nodes)
        assert [entries(found, i) for i in range(len(numbers))] == [
            plain.counts(each, attribute) for each in members
        ]
    extents_agree(partition.extents(nodes), members, plain)
    same_groups(partition.groups(nodes, list(SENSITIVE)), members, plain, SENSITIVE, cardinalities)
    assert partition.groups(nodes, ()).histograms == {}


def extents_agree(found: Extents, members: list[list[int]], plain: PlainPartition) -> None:
    for row, each in enumerate(members):
        for attribute in range(QUASI):
            codes = list(plain.counts(each, attribute))
            assert found.distinct[row, attribute] == len(codes)
            if codes:
                assert found.low[row, attribute] == codes[0]
                assert found.high[row, attribute] == codes[-1]


def halves_agree(
    partition: HalvingPartition, plain: PlainPartition, asked: Asked, cardinalities: tuple[int, ...]
) -> None:
    halves = [plain.halves(*each) for each in asked]
    both = partition.half_groups(splits_of(asked), list(SENSITIVE))
    extents = partition.half_extents(splits_of(asked))
    for side in (0, 1):
        members = [half[side] for half in halves]
        same_groups(both[side], members, plain, SENSITIVE, cardinalities)
        extents_agree(extents[side], members, plain)


def gathering_agrees(
    data: st.DataObject,
    partition: HalvingPartition,
    plain: PlainPartition,
    leaves: list[int],
    cards: tuple[int, ...],
) -> list[int]:
    """Some leaves with records put into one node; returns the leaves there are now."""
    filled = [node for node in leaves if plain.nodes[node]]
    some = data.draw(st.lists(st.sampled_from(filled), unique=True, min_size=1))
    number = partition.gather(np.array(some))
    assert number == len(plain.nodes)
    plain.nodes.append([record for node in some for record in plain.nodes[node]])
    leaves = [*(node for node in leaves if node not in some), number]
    nodes, members = np.array(leaves), [plain.nodes[node] for node in leaves]
    assert partition.sizes(nodes).tolist() == [len(each) for each in members]
    extents_agree(partition.extents(nodes), members, plain)
    same_groups(partition.groups(nodes, list(SENSITIVE)), members, plain, SENSITIVE, cards)
    return leaves
