"""Nodes of a partition in DuckDB against the plain lists of their records, and against memory."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partition_checks import (
    QUASI,
    answers_agree,
    gathering_agrees,
    halves_agree,
    some_splits,
    weighed_records,
)
from partition_reference import PlainPartition, Record, splits_of, table_of

from incrowd.counts import MemoryCounts
from incrowd.counts.sql.groups import SqlGroups
from incrowd.counts.sql.home import SqlCounts
from incrowd.engines._duckdb_engine import DuckDbEngine
from incrowd.table.sql_rows import SqlRows

CARDINALITIES = (3, 300, 70, 5, 2)
"""Codes that fit into one number of bits, into two, and into too many."""


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDbEngine]:
    made = DuckDbEngine(200_000_000)
    yield made
    made.close()


def counts_in(engine: DuckDbEngine, records: list[Record]) -> SqlCounts:
    """The records in a table of the engine: equal ones in one row."""
    table, quasi, sensitive = table_of(records, CARDINALITIES, QUASI)
    distinct = Counter(records)
    columns = {f"c{i}": np.array([row[i] for row in distinct]) for i in range(len(CARDINALITIES))}
    name = engine.fresh("tested")
    engine.put(name, {**columns, "n": np.array(list(distinct.values()))})
    totals = {column.name: column.counts() for column in table.columns}
    return SqlCounts(SqlRows(engine, name, (*quasi, *sensitive)), quasi, sensitive, totals)


def groups_of(placed: SqlGroups) -> list[tuple[Record, int, int]]:
    """The rows that are published with their group and their records."""
    with placed.published() as source:
        found = placed.rows.engine.ask(f"SELECT * FROM {source} rows")
    rows = [found[name].tolist() for name in placed.rows.columns]
    return sorted(
        zip(zip(*rows, strict=True), found["grp"].tolist(), found["n"].tolist(), strict=True)
    )


@settings(max_examples=25)
@given(data=st.data())
def test_a_partition_answers_as_the_records_themselves(
    engine: DuckDbEngine, data: st.DataObject
) -> None:
    records = data.draw(weighed_records(CARDINALITIES))
    partition, plain = counts_in(engine, records).partition(), PlainPartition(records)
    leaves = [0]
    for _ in range(data.draw(st.integers(1, 4))):
        if data.draw(st.booleans()):
            partition.foresee(np.array(leaves), ["s3", "s4"])
        tried = some_splits(data, plain, leaves, CARDINALITIES)
        tried += some_splits(data, plain, leaves, CARDINALITIES)
        halves_agree(partition, plain, tried, CARDINALITIES)
        taken = some_splits(data, plain, leaves, CARDINALITIES)
        partition.split(splits_of(taken))
        first = len(plain.nodes)
        plain.split(taken)
        gone = {node for node, _, _ in taken}
        leaves = [node for node in leaves if node not in gone]
        leaves += list(range(first, len(plain.nodes)))
        answers_agree(partition, plain, CARDINALITIES)
    if data.draw(st.booleans()):
        leaves = gathering_agrees(data, partition, plain, leaves, CARDINALITIES)
    groups = [data.draw(st.integers(-1, 5)) for _ in leaves]
    group_of_node = np.full(len(plain.nodes), -2, dtype=np.int64)
    group_of_node[leaves] = groups
    expected = Counter(
        (records[r], g)
        for node, g in zip(leaves, groups, strict=True)
        for r in plain.nodes[node]
        if g >= 0
    )
    assert groups_of(partition.group_of_records(group_of_node)) == sorted(
        (row, group, many) for (row, group), many in expected.items()
    )


@settings(max_examples=25)
@given(data=st.data())
def test_specialized_nodes_and_frequency_sets_are_those_of_memory(
    engine: DuckDbEngine, data: st.DataObject
) -> None:
    records = data.draw(weighed_records(CARDINALITIES))
    table, quasi, sensitive = table_of(records, CARDINALITIES, QUASI)
    here, there = MemoryCounts(table, quasi, sensitive), counts_in(engine, records)
    partitions = here.partition(), there.partition()
    nodes = np.zeros(1, dtype=np.int64)
    for _ in range(data.draw(st.integers(1, 3))):
        attribute = data.draw(st.integers(0, QUASI - 1))
        child = np.arange(CARDINALITIES[attribute]) % data.draw(st.integers(1, 3))
        one, other = (each.specialize(attribute, nodes, child) for each in partitions)
        assert one.tolist() == other.tolist()
        nodes = one[one >= 0]
        joint = [
            each.joint_histograms(0, "s3", nodes, recoding=np.arange(3) // 2) for each in partitions
        ]
        for name in ("offsets", "codes", "values", "counts"):
            assert getattr(joint[0], name).tolist() == getattr(joint[1], name).tolist()
    recoding = {"q1": np.arange(300) // 100, "q0": None}
    sets = [home.frequency_set(recoding, sensitive=sensitive) for home in (here, there)]
    assert sets[0].codes.tolist() == sets[1].codes.tolist()
    assert sets[0].groups.sizes.tolist() == sets[1].groups.sizes.tolist()
    for name in sensitive:
        mine, theirs = (each.groups.histograms[name] for each in sets)
        assert mine.offsets.tolist() == theirs.offsets.tolist()
        assert (mine.values.tolist(), mine.counts.tolist()) == (
            theirs.values.tolist(),
            theirs.counts.tolist(),
        )
    assert here.fineness(recoding, 3) == there.fineness(recoding, 3)


def test_a_split_that_was_taken_back_gives_its_records_back(engine: DuckDbEngine) -> None:
    records: list[Record] = [(code, 0, 0, 0, 0) for code in (0, 1, 2, 0)]
    partition = counts_in(engine, records).partition()
    partition.split(splits_of([(0, 0, {1})]))
    whole = groups_of(partition.group_of_records(np.array([7])))
    assert {(row[0], group) for row, group, _ in whole} == {(0, 7), (1, 7), (2, 7)}
    parts = groups_of(partition.group_of_records(np.array([-2, 1, -1])))
    assert [(row[0], group, many) for row, group, many in parts] == [(1, 1, 1)]
    with pytest.raises(AssertionError, match="a record is in no group"):
        partition.group_of_records(np.array([-2, 1]))


def test_tables_go_with_their_partition(engine: DuckDbEngine) -> None:
    records: list[Record] = [(code % 3, code, 0, 0, 0) for code in range(60)]
    counts = counts_in(engine, records)
    tables = "SELECT count(*) AS n FROM duckdb_tables()"
    before = engine.ask(tables)["n"][0]
    partition = counts.partition()
    nodes = [0]
    for code in range(40):
        (left,), (right,) = partition.split(splits_of([(nodes[-1], 1, {code})]))
        nodes += [int(left), int(right)]
    # Sixty splits leave no sixty tables.
    assert engine.ask(tables)["n"][0] - before < 10
    del partition
    assert engine.ask(tables)["n"][0] == before


def test_groups_of_many_combinations_take_the_memory_of_these_alone(engine: DuckDbEngine) -> None:
    many = 4_000
    codes = np.arange(many)
    name = engine.fresh("tested")
    engine.put(name, {"c0": codes, "c1": codes[::-1].copy(), "n": np.ones(many, dtype=np.int64)})
    totals = {"a": np.ones(many, dtype=np.int64), "b": np.ones(many, dtype=np.int64)}
    counts = SqlCounts(SqlRows(engine, name, ("a", "b")), ("a", "b"), (), totals)
    combinations = np.column_stack((codes, codes[::-1]))[::-1]
    tracemalloc.start()
    try:
        placed = counts.groups_of({"a": None, "b": codes}, combinations, codes)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < many * many  # a table of all pairs would take eight bytes for each
    assert isinstance(placed, SqlGroups)
    with placed.published() as source:
        found = engine.ask(f"SELECT c0, grp FROM {source} rows ORDER BY c0")
    assert found["grp"].tolist() == codes[::-1].tolist()
