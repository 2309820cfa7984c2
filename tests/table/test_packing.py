"""Distinct rows and their order against plain Python, also where keys outgrow one integer."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from incrowd.errors import InputError
from incrowd.table import packing
from incrowd.table.packing import distinct_rows

# From one value to six columns that together need 240 bits. (A column has no more values than
# there are records, so that one column times all combinations before it always fits 62 bits.)
CARDINALITIES = st.lists(
    st.sampled_from((1, 2, 3, 200, 70_000, 2**31, 2**40)), min_size=1, max_size=6
)


@st.composite
def coded_rows(draw: st.DrawFn) -> tuple[list[int], list[tuple[int, ...]]]:
    cardinalities = draw(CARDINALITIES)
    codes = [
        st.one_of(st.integers(0, min(2, each - 1)), st.integers(max(0, each - 3), each - 1))
        for each in cardinalities
    ]
    return cardinalities, draw(st.lists(st.tuples(*codes), max_size=25))


def columns_of(rows: list[tuple[int, ...]], cardinalities: list[int]) -> list[np.ndarray]:
    """Columns in the narrowest unsigned type, as tables hold them, or 64 bits beyond."""
    columns: list[np.ndarray] = []
    for position, cardinality in enumerate(cardinalities):
        dtype: type = np.int64
        for bits in (np.uint32, np.uint16, np.uint8):
            dtype = bits if cardinality <= np.iinfo(bits).max + 1 else dtype
        columns.append(np.array([row[position] for row in rows], dtype=dtype))
    return columns


@settings(max_examples=80)
@given(coded_rows())
@example(([2**40, 2**40, 3], [(0, 2**40 - 1, 2), (2**40 - 1, 0, 0), (0, 2**40 - 1, 2)]))
def test_rows_are_numbered_in_the_order_of_their_codes(
    made: tuple[list[int], list[tuple[int, ...]]],
) -> None:
    cardinalities, rows = made
    number, representative = distinct_rows(
        columns_of(rows, cardinalities), cardinalities, len(rows)
    )
    expected = sorted(set(rows))
    assert [expected[n] for n in number] == rows
    assert [rows[r] for r in representative] == expected


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_without_columns_all_rows_are_the_same(rows: int) -> None:
    number, representative = distinct_rows([], [], rows)
    assert number.tolist() == [0] * rows
    assert len(representative) == min(rows, 1)


@pytest.mark.parametrize("cardinality", [65_536, 65_537, 2**50])
def test_the_dense_and_the_hashed_way_agree(cardinality: int) -> None:
    """Either side of the bound between them, with keys that differ in their high bits only."""
    draw = random.Random(7)
    codes = [draw.choice((0, 1, cardinality // 2, cardinality - 1)) for _ in range(300)]
    codes += [cardinality - 1 - (i << 8) % cardinality for i in range(300)]
    number, representative = distinct_rows([np.array(codes)], [cardinality], len(codes))
    expected = sorted(set(codes))
    assert [expected[n] for n in number] == codes
    assert [codes[r] for r in representative] == expected


def test_many_rows_share_few_slots_of_the_hash_table() -> None:
    keys = [i << 40 for i in range(5_000)]
    number, representative = distinct_rows([np.array(keys)], [2**55], len(keys))
    assert number.tolist() == list(range(5_000))
    assert representative.tolist() == list(range(5_000))


def test_wide_tables_are_renumbered_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a small limit the key is renumbered before nearly every column."""
    monkeypatch.setattr(packing, "_LIMIT", 1 << 10)
    draw = random.Random(3)
    cardinalities = [40] * 8
    rows = [tuple(draw.choice((0, 7, 39)) for _ in cardinalities) for _ in range(20)] * 2
    columns = columns_of(rows, cardinalities)
    number, _ = distinct_rows(columns, cardinalities, len(rows))
    assert [sorted(set(rows))[n] for n in number] == rows


def test_the_hash_table_grows() -> None:
    keys = [(i * 7919) << 20 for i in range(150_000)]
    number, representative = distinct_rows([np.array(keys * 2)], [2**60], 2 * len(keys))
    assert number.tolist() == list(range(150_000)) * 2
    assert representative.tolist() == list(range(150_000))


def test_more_rows_than_can_be_numbered_are_refused() -> None:
    with pytest.raises(InputError, match="engine: duckdb"):
        distinct_rows([np.zeros(1, np.uint8)], [1], 2**31)
