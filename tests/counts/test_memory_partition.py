"""Nodes of a partition against the plain lists of their records, split after split."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partition_checks import (
    QUASI,
    WIDTHS,
    Asked,
    answers_agree,
    gathering_agrees,
    halves_agree,
    some_splits,
    weighed_records,
)
from partition_reference import PlainPartition, splits_of, table_of

from incrowd.counts import MemoryCounts, Splits, _nodes


@pytest.mark.parametrize("threaded", [False, True], ids=["one thread", "threads"])
@pytest.mark.parametrize("width", WIDTHS, ids=lambda width: width.__name__)
@settings(max_examples=25)
@given(data=st.data())
def test_a_partition_answers_as_the_records_themselves(
    width: type[np.unsignedinteger[Any]], threaded: bool, data: st.DataObject
) -> None:
    cardinalities = WIDTHS[width]
    records = data.draw(weighed_records(cardinalities))
    table, quasi, sensitive = table_of(records, cardinalities, QUASI)
    counts = MemoryCounts(table, quasi, sensitive)
    assert counts.codes.dtype == width
    worth = 0 if threaded else 10**9
    with (
        patch.object(_nodes, "_WORTH_A_THREAD", worth),
        patch.object(_nodes, "_threads", lambda: 3),
    ):
        partition, plain = counts.partition(), PlainPartition(records)
        leaves = [0]
        for _ in range(data.draw(st.integers(1, 4))):
            tried = some_splits(data, plain, leaves, cardinalities)
            # The same node may be tried in several ways at once.
            tried += some_splits(data, plain, leaves, cardinalities)
            halves_agree(partition, plain, tried, cardinalities)
            taken = some_splits(data, plain, leaves, cardinalities)
            left, right = partition.split(splits_of(taken))
            first = len(plain.nodes)
            plain.split(taken)
            assert left.tolist() == list(range(first, first + len(taken)))
            assert right.tolist() == list(range(first + len(taken), len(plain.nodes)))
            gone = {node for node, _, _ in taken}
            leaves = [node for node in leaves if node not in gone]
            leaves += list(range(first, len(plain.nodes)))
            answers_agree(partition, plain, cardinalities)
        if data.draw(st.booleans()):
            leaves = gathering_agrees(data, partition, plain, leaves, cardinalities)
        groups = [data.draw(st.integers(-1, 5)) for _ in leaves]
    group_of_node = np.full(len(plain.nodes), -2, dtype=np.int64)
    group_of_node[leaves] = groups
    expected = {r: g for node, g in zip(leaves, groups, strict=True) for r in plain.nodes[node]}
    assert sorted(expected) == list(range(len(records)))
    assert partition.group_of_records(group_of_node).tolist() == [
        expected[record] for record in range(len(records))
    ]


def test_a_split_that_was_taken_back_gives_its_records_back() -> None:
    records = [(code, 0, 0, 0, 0) for code in (0, 1, 2, 0)]
    table, quasi, sensitive = table_of(records, WIDTHS[np.uint8], QUASI)
    partition = MemoryCounts(table, quasi, sensitive).partition()
    partition.split(splits_of([(0, 0, {1})]))
    assert partition.group_of_records(np.array([7, -2, -2])).tolist() == [7, 7, 7, 7]
    assert partition.group_of_records(np.array([-2, 1, -1])).tolist() == [-1, 1, -1, -1]


def test_a_record_in_no_node_is_told_apart() -> None:
    records = [(code, 0, 0, 0, 0) for code in (0, 1)]
    table, quasi, sensitive = table_of(records, WIDTHS[np.uint8], QUASI)
    partition = MemoryCounts(table, quasi, sensitive).partition()
    partition.split(splits_of([(0, 0, {1})]))
    assert partition.group_of_records(np.array([-2, 0, -2])).tolist() == [-2, 0]


def test_partitions_of_one_home_do_not_touch_each_other() -> None:
    records = [(0, code, 1, 2, 0) for code in (5, 4, 3, 5)]
    table, quasi, sensitive = table_of(records, WIDTHS[np.uint8], QUASI)
    counts = MemoryCounts(table, quasi, sensitive)
    first = counts.partition()
    first.split(splits_of([(0, 1, {4})]))
    answers_agree(counts.partition(), PlainPartition(records), WIDTHS[np.uint8])
    assert [tuple(counts.codes[row].tolist()) for row in counts.row_of_record] == records


listed_splits = st.lists(
    st.tuples(
        st.integers(0, 9), st.integers(0, 2), st.sets(st.integers(0, 9), min_size=1, max_size=4)
    ),
    max_size=6,
)


def shown(splits: Splits) -> list[tuple[int, int, list[int]]]:
    bounds = splits.offsets.tolist()
    return [
        (int(node), int(attribute), splits.left[begin:end].tolist())
        for node, attribute, begin, end in zip(
            splits.nodes, splits.attributes, bounds[:-1], bounds[1:], strict=True
        )
    ]


@settings(max_examples=30)
@given(parts=st.lists(listed_splits, max_size=4), data=st.data())
def test_splits_are_joined_and_taken_in_order(parts: list[Asked], data: st.DataObject) -> None:
    joined = Splits.join([splits_of(part) for part in parts])
    expected = [(n, a, list(left)) for part in parts for n, a, left in part]
    assert shown(joined) == expected
    assert len(joined) == len(expected)
    places = st.integers(0, max(len(expected) - 1, 0))
    chosen = data.draw(st.lists(places, max_size=8 if expected else 0))
    taken = joined.take(np.array(chosen, dtype=np.int64))
    assert shown(taken) == [expected[place] for place in chosen]
