"""Nodes split by the children of a value, many at once, against plain lists of their records."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from partition_reference import PlainPartition, Record, entries, same_groups, splits_of, table_of

from incrowd.counts import MemoryCounts, _nodes

# The widest column decides how wide all codes are: uint8, uint16, uint32.
WIDTHS = {
    np.uint8: (3, 12, 6, 4, 2),
    np.uint16: (300, 3, 6, 4, 2),
    np.uint32: (3, 70_000, 6, 4, 2),
}
QUASI = 3
SENSITIVE = {"s3": 3, "s4": 4}


def some_records(draw: random.Random, cardinalities: tuple[int, ...], most: int) -> list[Record]:
    def code(cardinality: int) -> int:
        return draw.choice((0, 1, cardinality // 2, cardinality - 1, draw.randrange(cardinality)))

    distinct = [tuple(map(code, cardinalities)) for _ in range(draw.randint(1, most))]
    return [record for record in distinct for _ in range(draw.randint(1, 3))]


def children_by_code(
    draw: random.Random, occurring: set[int], cardinality: int, children: int
) -> dict[int, int]:
    """A child of each code; of codes that no record of the nodes has, perhaps none (-1)."""
    chosen = {code: draw.randrange(children) for code in range(cardinality)}
    for code in chosen.keys() - occurring:
        chosen[code] = draw.choice((-1, chosen[code]))
    return chosen


def as_array(child_of: dict[int, int], occurring: set[int]) -> Any:
    """As a partition takes it; codes beyond the last that occurs need no entry."""
    last = max(occurring, default=0)
    return np.array([child_of[code] for code in range(last + 1)], dtype=np.int64)


def specialized(
    plain: PlainPartition, attribute: int, nodes: list[int], child_of: dict[int, int]
) -> list[dict[int, list[int]]]:
    """For each node, the records of every child that has any."""
    found: list[dict[int, list[int]]] = []
    for node in nodes:
        by_child: dict[int, list[int]] = {}
        for record in plain.nodes[node]:
            by_child.setdefault(child_of[plain.records[record][attribute]], []).append(record)
        found.append(by_child)
    return found


def specialize_both(
    draw: random.Random, partition: Any, plain: PlainPartition, nodes: list[int], most: int
) -> list[int]:
    """Specialize nodes here and there; the numbers of the new ones."""
    attribute = draw.randrange(QUASI)
    occurring = {plain.records[r][attribute] for node in nodes for r in plain.nodes[node]}
    cardinality = int(max(record[attribute] for record in plain.records)) + 1
    child_of = children_by_code(draw, occurring, cardinality, draw.randint(1, most))
    array = as_array(child_of, occurring)
    numbers = partition.specialize(attribute, np.array(nodes, dtype=np.int64), array)
    assert numbers.shape == (len(nodes), int(array.max()) + 1)
    expected = specialized(plain, attribute, nodes, child_of)
    made = {}
    for row, by_child in enumerate(expected):
        for child, number in enumerate(numbers[row].tolist()):
            if child in by_child:
                made[number] = by_child[child]
            else:
                assert number == -1
    first = len(plain.nodes)
    assert sorted(made) == list(range(first, first + sum(map(len, expected))))
    plain.nodes += [made[number] for number in sorted(made)]
    return sorted(made)


def answers_agree(partition: Any, plain: PlainPartition, cardinalities: tuple[int, ...]) -> None:
    """Sizes, histograms and groups of all nodes there ever were, the latest first."""
    numbers = list(range(len(plain.nodes)))[::-1]
    nodes, members = np.array(numbers), [plain.nodes[node] for node in numbers]
    assert partition.sizes(nodes).tolist() == [len(each) for each in members]
    for attribute in range(QUASI):
        found = partition.histograms(attribute, nodes)
        joint = partition.joint_histograms(attribute, "s3", nodes)
        for i, each in enumerate(members):
            assert entries(found, i) == plain.counts(each, attribute)
            pairs = Counter((plain.records[r][attribute], plain.records[r][3]) for r in each)
            part = slice(int(joint.offsets[i]), int(joint.offsets[i + 1]))
            keys = zip(joint.codes[part].tolist(), joint.values[part].tolist(), strict=True)
            told = dict(zip(keys, joint.counts[part].tolist(), strict=True))
            assert list(told.items()) == sorted(pairs.items())
    same_groups(partition.groups(nodes, list(SENSITIVE)), members, plain, SENSITIVE, cardinalities)


def records_agree(
    draw: random.Random, partition: Any, plain: PlainPartition, leaves: list[int]
) -> None:
    """Every record is in the group of its leaf, and in no other."""
    groups = {leaf: draw.randint(-1, 5) for leaf in leaves}
    group_of_node = np.full(len(plain.nodes), -2, dtype=np.int64)
    group_of_node[leaves] = [groups[leaf] for leaf in leaves]
    expected = {record: groups[leaf] for leaf in leaves for record in plain.nodes[leaf]}
    assert sum(len(plain.nodes[leaf]) for leaf in leaves) == len(plain.records) == len(expected)
    assert partition.group_of_records(group_of_node).tolist() == [
        expected[record] for record in range(len(plain.records))
    ]


@pytest.mark.parametrize("threaded", [False, True], ids=["one thread", "threads"])
@pytest.mark.parametrize("width", WIDTHS, ids=lambda width: width.__name__)
def test_specialized_nodes_hold_the_records_of_their_children(
    width: type[np.unsignedinteger[Any]], threaded: bool
) -> None:
    cardinalities = WIDTHS[width]
    worth = 0 if threaded else 10**9
    with (
        patch.object(_nodes, "_WORTH_A_THREAD", worth),
        patch.object(_nodes, "_threads", lambda: 3),
    ):
        for seed in range(30):
            draw = random.Random(seed)
            records = some_records(draw, cardinalities, 20)
            table, quasi, sensitive = table_of(records, cardinalities, QUASI)
            counts = MemoryCounts(table, quasi, sensitive)
            assert counts.codes.dtype == width
            partition, plain, leaves = counts.partition(), PlainPartition(records), [0]
            for _ in range(draw.randint(1, 5)):
                nodes = draw.sample(leaves, draw.randint(0, len(leaves)))
                made = specialize_both(draw, partition, plain, nodes, 5) if nodes else []
                leaves = [leaf for leaf in leaves if leaf not in nodes] + made
            answers_agree(partition, plain, cardinalities)
            records_agree(draw, partition, plain, leaves)


def test_no_nodes_make_no_nodes() -> None:
    table, quasi, sensitive = table_of([(0, 1, 2, 3, 1)], WIDTHS[np.uint8], QUASI)
    partition = MemoryCounts(table, quasi, sensitive).partition()
    made = partition.specialize(0, np.zeros(0, dtype=np.int64), np.array([0, 1]))
    assert made.shape == (0, 2)
    assert partition.sizes(np.array([0])).tolist() == [1]


def test_halves_and_children_may_follow_each_other() -> None:
    records: list[Record] = [(a, b, 0, a, 0) for a in range(3) for b in range(6)]
    table, quasi, sensitive = table_of(records, WIDTHS[np.uint8], QUASI)
    partition = MemoryCounts(table, quasi, sensitive).partition()
    plain = PlainPartition(records)
    partition.split(splits_of([(0, 1, {0, 1, 2})]))
    plain.split([(0, 1, {0, 1, 2})])
    numbers = partition.specialize(0, np.array([2, 1]), np.array([1, 0, 1]))
    plain.nodes += [
        [r for r in plain.nodes[node] if (records[r][0] != 1) == bool(child)]
        for node in (2, 1)
        for child in (0, 1)
    ]
    assert numbers.tolist() == [[3, 4], [5, 6]]
    asked = [(4, 0, {2}), (5, 1, {0})]
    partition.split(splits_of(asked))
    plain.split(asked)
    answers_agree(partition, plain, WIDTHS[np.uint8])
    records_agree(random.Random(0), partition, plain, [3, 6, 7, 8, 9, 10])


def test_many_nodes_of_many_records_are_split_by_threads_as_well() -> None:
    """More rows than one thread is given, in more nodes than there are threads."""
    draw = random.Random(7)
    cardinalities = (40, 50, 60, 4, 2)
    records = [tuple(map(draw.randrange, cardinalities)) for _ in range(32_000)]
    table, quasi, sensitive = table_of(records, cardinalities, QUASI)
    counts = MemoryCounts(table, quasi, sensitive)
    assert len(counts.codes) > _nodes._WORTH_A_THREAD
    with patch.object(_nodes, "_threads", lambda: 4):
        partition, plain, leaves = counts.partition(), PlainPartition(records), [0]
        for attribute, children in ((0, 7), (1, 5), (2, 6)):
            child_of = [draw.randrange(children) for _ in range(cardinalities[attribute])]
            nodes = leaves if attribute < 2 else leaves[::-2]
            numbers = partition.specialize(attribute, np.array(nodes), np.array(child_of))
            made = {
                number: by_child[child]
                for by_child, row in zip(
                    specialized(plain, attribute, nodes, dict(enumerate(child_of))),
                    numbers.tolist(),
                    strict=True,
                )
                for child, number in enumerate(row)
            }
            plain.nodes += [made[number] for number in sorted(made)]
            leaves = [leaf for leaf in leaves if leaf not in set(nodes)] + sorted(made)
        members = [plain.nodes[leaf] for leaf in leaves]
        assert partition.sizes(np.array(leaves)).tolist() == [len(each) for each in members]
        groups = partition.groups(np.array(leaves), list(SENSITIVE))
        same_groups(groups, members, plain, SENSITIVE, cardinalities)
        found = partition.histograms(1, np.array(leaves))
        assert [entries(found, i) for i in range(len(leaves))] == [
            plain.counts(each, 1) for each in members
        ]
        records_agree(draw, partition, plain, leaves)
