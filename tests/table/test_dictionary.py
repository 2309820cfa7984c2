"""Texts become codes in order, however the column is cut into pieces."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from incrowd.table.dictionary import ColumnDictionary


@given(
    cells=st.lists(st.none() | st.text(max_size=3), min_size=1, max_size=50),
    size=st.integers(1, 50),
)
def test_codes_point_to_the_texts_in_order(cells: list[str | None], size: int) -> None:
    series = pl.Series("x", cells, dtype=pl.String)
    dictionary = ColumnDictionary(series)
    for begin in range(0, len(cells), size):
        dictionary.add(series.slice(begin, size))
    texts, codes, missing = dictionary.finish()
    assert texts == sorted({cell for cell in cells if cell})
    shown = [texts[code] if code < len(texts) else None for code in codes]
    assert shown == [cell or None for cell in cells]
    assert missing == sum(not cell for cell in cells)


def test_more_than_a_byte_of_values_across_pieces() -> None:
    texts = [f"{number:05d}" for number in range(70_000)]
    dictionary = ColumnDictionary(pl.Series("x", texts[:1]))
    for begin in range(0, len(texts), 100):
        dictionary.add(pl.Series("x", texts[begin : begin + 100]))
    found, codes, missing = dictionary.finish()
    assert found == texts
    assert codes.tolist() == list(range(70_000))
    assert missing == 0
