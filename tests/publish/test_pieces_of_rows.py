"""Published rows come in pieces of a bounded size, however often a row stands."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from incrowd.publish import rows as published_rows
from incrowd.publish._writing import write_rows
from incrowd.publish.rows import ShownColumn, ShownRows, numbers_shown


def shown(times: list[int]) -> ShownRows:
    codes = np.arange(len(times), dtype=np.uint8)
    texts = tuple(f"row {code}" for code in codes.tolist())
    return ShownRows((ShownColumn("name", texts, codes),), np.array(times))


@pytest.mark.parametrize("times", [[7], [1, 1, 12, 1, 3], [4, 4, 4], [1] * 9, [3, 1], [0, 5, 0, 6]])
def test_a_row_that_stands_often_is_cut(times: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published_rows, "_ROWS_AT_ONCE", 4)
    rows = shown(times)
    heights = [piece.height for piece in rows.pieces()]
    assert max(heights) <= 4
    expected = [f"row {code}" for code, many in enumerate(times) for _ in range(many)]
    assert rows.frame()["name"].to_list() == expected


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_bytes_do_not_hang_on_the_pieces(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for number, most in enumerate((500_000, 7)):
        monkeypatch.setattr(published_rows, "_ROWS_AT_ONCE", most)
        path = tmp_path / f"{number}.{ending}"
        write_rows(shown([30, 1, 25]), path)
        found.append(path.read_bytes())
    assert found[0] == found[1]


def test_large_counts_take_no_list_of_all_smaller_ones() -> None:
    numbers = np.array([3_000_000, 20, 3, 20])
    tracemalloc.start()
    try:
        found = numbers_shown("count", numbers, int(numbers.max()))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000
    assert found.texts == ("20", "3", "3000000")
    assert found.codes().tolist() == [2, 0, 1, 0]


def test_numbers_are_in_the_order_of_their_texts() -> None:
    few = numbers_shown("group_id", np.array([10, 2, 9, 10, 1, 2, 2, 2, 2, 2, 1]), 10)
    assert few.texts == ("1", "10", "2", "9")
    assert few.codes().tolist() == [1, 2, 3, 1, 0, 2, 2, 2, 2, 2, 0]
