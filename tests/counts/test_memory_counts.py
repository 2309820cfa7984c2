"""Frequency sets of any recoding, against a Counter over the records."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partition_reference import Record, entries, table_of

from incrowd.counts import MemoryCounts
from incrowd.table import Column, MemoryTable, Weighted

CARDINALITIES = (3, 300, 4, 5, 2)
QUASI = 3


@st.composite
def counted_records(draw: st.DrawFn) -> list[Record]:
    codes = [st.sampled_from((0, 1, each // 2, each - 1)) for each in CARDINALITIES]
    distinct = draw(st.lists(st.tuples(*codes), min_size=1, max_size=12))
    return [record for record in distinct for _ in range(draw(st.integers(1, 3)))]


@st.composite
def recodings(draw: st.DrawFn) -> dict[str, list[int] | None]:
    """Some attributes in some order: as they are, or each code to any generalized one."""
    names = draw(st.permutations(range(QUASI)).map(lambda order: order[: 1 + order[0] % QUASI]))
    recoding: dict[str, list[int] | None] = {}
    for position in names:
        seed = draw(st.none() | st.integers(0, 1000))
        size = CARDINALITIES[position]
        recoding[f"q{position}"] = (
            None if seed is None else [(code * 7 + seed) % (1 + seed % 5) for code in range(size)]
        )
    return recoding


@settings(max_examples=60)
@given(records=counted_records(), recoding=recodings(), sensitive=st.sampled_from((0, 1, 2)))
def test_a_frequency_set_counts_every_record_once(
    records: list[Record], recoding: dict[str, list[int] | None], sensitive: int
) -> None:
    table, quasi, protected = table_of(records, CARDINALITIES, QUASI)
    counts = MemoryCounts(table, quasi, protected)
    asked = protected[:sensitive]
    found = counts.frequency_set(
        {n: None if m is None else np.array(m, dtype=np.int64) for n, m in recoding.items()},
        sensitive=asked,
    )
    expected: dict[Record, list[Record]] = {}
    for record in records:
        key = tuple(
            record[int(name[1:])] if mapping is None else mapping[record[int(name[1:])]]
            for name, mapping in recoding.items()
        )
        expected.setdefault(key, []).append(record)
    combinations = sorted(expected)
    assert found.attributes == tuple(recoding)
    assert [tuple(row) for row in found.codes.tolist()] == combinations
    assert found.groups.sizes.tolist() == [len(expected[key]) for key in combinations]
    assert list(found.groups.histograms) == asked
    for name in asked:
        column, histogram = int(name[1:]), found.groups.histograms[name]
        assert histogram.cardinality == CARDINALITIES[column]
        assert [entries(histogram, g) for g in range(len(combinations))] == [
            dict(sorted(Counter(record[column] for record in expected[key]).items()))
            for key in combinations
        ]
        totals = Counter(record[column] for record in records)
        assert histogram.total.tolist() == [totals[c] for c in range(CARDINALITIES[column])]
        assert counts.totals(name).tolist() == histogram.total.tolist()


def test_rows_collapse_to_the_distinct_ones_with_their_weights() -> None:
    records = [(0, 5, 1, 0, 0)] * 3 + [(2, 299, 3, 4, 1)] + [(0, 5, 1, 0, 1)] * 2
    table, quasi, protected = table_of(records, CARDINALITIES, QUASI)
    counts = MemoryCounts(table, quasi, protected)
    assert counts.records == 6
    assert sorted(counts.weights.tolist()) == [1, 2, 3]
    assert [tuple(counts.codes[row].tolist()) for row in counts.row_of_record] == records
    # Sensitive attributes that nobody asks about keep no rows apart.
    assert sorted(MemoryCounts(table, quasi).weights.tolist()) == [1, 5]


def test_no_attribute_at_all_is_one_group() -> None:
    records = [(0, 0, 0, 1, 0), (1, 0, 0, 1, 1)]
    table, quasi, protected = table_of(records, CARDINALITIES, QUASI)
    found = MemoryCounts(table, quasi, protected).frequency_set({}, sensitive=["s3"])
    assert found.codes.shape == (1, 0)
    assert found.groups.sizes.tolist() == [2]
    assert entries(found.groups.histograms["s3"], 0) == {1: 2}


def test_an_unknown_attribute_is_an_error() -> None:
    table, quasi, _ = table_of([(0, 0, 0, 0, 0)], CARDINALITIES, QUASI)
    counts = MemoryCounts(table, quasi)
    with pytest.raises(ValueError, match="not in"):
        counts.frequency_set({"q9": None})
    with pytest.raises(ValueError, match="not in"):
        counts.frequency_set({"q0": None}, sensitive=["s3"])


def test_a_row_of_more_records_than_32_bits_count() -> None:
    many = 3_000_000_000
    tally = Weighted(np.array([many, 2]), np.array([0, 1]))
    column = Column("a", "quasi", "category", np.array([0, 1], np.uint8), ("x", "y"), tally=tally)
    counts = MemoryCounts(MemoryTable((column,), many + 2), ["a"])
    assert counts.frequency_set({"a": None}).groups.sizes.tolist() == [many, 2]
    partition = counts.partition()
    assert partition.sizes(np.array([0])).tolist() == [many + 2]
    assert partition.histograms(0, np.array([0])).counts.tolist() == [many, 2]
