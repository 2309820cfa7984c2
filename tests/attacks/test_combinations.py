"""Uniques of combinations of attributes: all of few attributes, small ones of many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl
import pytest

from incrowd.attacks import risk
from incrowd.attacks._combinations import count_uniques, largest_size


def plain_count(
    columns: Sequence[np.ndarray], sizes: np.ndarray, largest: int
) -> dict[tuple[int, ...], int]:
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    result = {}
    for size in range(1, largest + 1):
        for chosen in combinations(range(len(columns)), size):
            counts: Counter[tuple[int, ...]] = Counter()
            for row, records in zip(rows, sizes.tolist(), strict=True):
                counts[tuple(row[at] for at in chosen)] += records
            uniques = sum(count == 1 for count in counts.values())
            if uniques:
                result[chosen] = uniques
    return result


@pytest.mark.parametrize("cardinalities", [(2, 3, 4), (3, 40, 2, 5, 7), (60, 60, 60, 60)])
def test_counts_equal_plain_counts_on_weighted_rows(cardinalities: tuple[int, ...]) -> None:
    draw = np.random.default_rng(7)
    columns = [draw.integers(0, cardinality, 80) for cardinality in cardinalities]
    distinct = np.unique(np.stack(columns, axis=1), axis=0)
    columns = [np.ascontiguousarray(distinct[:, at]) for at in range(len(cardinalities))]
    sizes = draw.integers(1, 3, len(distinct))
    found = count_uniques(columns, cardinalities, sizes)
    assert found == plain_count(columns, sizes, len(cardinalities))


def test_codes_too_wide_for_one_integer() -> None:
    draw = np.random.default_rng(3)
    columns = [draw.integers(0, 1 << 30, 50) for _ in range(4)]
    columns[3][:] = columns[3][0]
    columns[0][25:] = columns[0][:25]
    sizes = np.ones(50, dtype=np.int64)
    found = count_uniques(columns, [1 << 30] * 4, sizes)
    assert found == plain_count(columns, sizes, 4)
    assert (3,) not in found


def test_more_than_ten_attributes_are_combined_by_at_most_three() -> None:
    draw = np.random.default_rng(5)
    columns = [draw.integers(0, 3, 40) for _ in range(12)]
    sizes = np.ones(40, dtype=np.int64)
    found = count_uniques(columns, [3] * 12, sizes)
    assert found == plain_count(columns, sizes, 3)
    assert max(map(len, found)) == 3


@pytest.mark.parametrize(
    ("attributes", "size"), [(1, 1), (10, 10), (11, 3), (40, 3), (60, 2), (500, 1)]
)
def test_largest_size_is_bounded(attributes: int, size: int) -> None:
    assert largest_size(attributes) == size


def test_no_unique_record_means_no_combination() -> None:
    assert count_uniques([np.array([0, 1])], [2], np.array([2, 5])) == {}


def test_an_attribute_that_adds_nothing_is_left_out_of_the_list() -> None:
    frame = pl.DataFrame({"ward": [1, 1, 1, 1], "age": [30, 31, 32, 32], "sex": list("FFFM")})
    found = risk(frame, quasi=["ward", "age", "sex"])
    assert [(each.attributes, each.uniques) for each in found.combinations] == [
        (("age", "sex"), 4),
        (("age",), 2),
        (("sex",), 1),
    ]
    assert found.combinations_up_to == 3
    assert [each.attributes for each in found.combinations_by_size] == [
        ("age",),
        ("age", "sex"),
        ("ward", "age", "sex"),
    ]


def test_top_limits_the_list() -> None:
    frame = pl.DataFrame({"age": [30, 31, 32, 32], "sex": list("FFFM")})
    assert len(risk(frame, quasi=["age", "sex"], top=1).combinations) == 1
    assert risk(frame, quasi=["age", "sex"], top=0).combinations == ()
