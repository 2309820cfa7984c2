"""Every label that is written reads back as exactly the values that were written into it."""

from datetime import date, timedelta

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from incrowd.attacks.known_values import KnownValues
from incrowd.attacks.label_meanings import read_labels
from incrowd.hierarchies import Hierarchy
from incrowd.hierarchies.computed import dates, intervals, mask
from incrowd.hierarchies.labels import plain_label, set_label
from incrowd.labels import LabelWriting, MaskedTexts, as_mask
from incrowd.table import Column
from incrowd.table.coding import code_column

TEXTS = st.text(st.sampled_from(r"ab\|{}[)*-1 "), min_size=1, max_size=6).filter(
    lambda text: text == text.strip()
)


def covered(label: str, values: list[str], writing: LabelWriting) -> set[str]:
    """The values that a label covers, of those on a list."""
    known = KnownValues(pl.Series("x", values, dtype=pl.String))
    found = read_labels([label], known, writing)
    assert found.unreadable == 0
    bits = [found.bits[found.more[0], code >> 3] >> (code & 7) & 1 for code in range(len(values))]
    run = range(found.low[0], found.high[0])
    return {text for code, text in enumerate(known.texts) if bits[code] or code in run}


def assert_read_back(column: Column, hierarchy: Hierarchy, rule: str) -> None:
    """Every label of the hierarchy, told nothing but its rule, covers the values under it."""
    values = list(column.values)
    for label, under in hierarchy.meanings(column).items():
        assert covered(label, values, LabelWriting(labels="hierarchy", rule=rule)) == set(under), (
            label
        )


@given(st.lists(TEXTS, min_size=1, max_size=5, unique=True))
def test_sets_and_values_of_any_characters(values: list[str]) -> None:
    writing = LabelWriting(labels="set")
    assert covered(set_label(values), values, writing) == set(values)
    for value in values:
        assert covered(plain_label(value), values, writing) == {value}


@given(st.lists(st.integers(0, 89), min_size=1, max_size=8, unique=True))
def test_ranges_of_numbers(numbers: list[int]) -> None:
    cells = pl.Series("x", [str(number) for number in numbers])
    column = code_column(cells, role="quasi", kind="numeric")
    assert_read_back(*intervals(column, start=0, stop=90, widths=[5, 15]), "intervals")


@given(st.lists(st.dates(date(1, 1, 1), date.max - timedelta(1)), min_size=1, unique=True))
def test_parts_of_the_calendar(days: list[date]) -> None:
    cells = pl.Series("x", [day.isoformat() for day in days])
    column = code_column(cells, role="quasi", kind="date")
    assert_read_back(*dates(column), "dates")


@given(
    st.lists(st.text("abc01", min_size=3, max_size=3), min_size=1, unique=True),
    st.sampled_from(["left", "right"]),
)
def test_masks(values: list[str], direction: str) -> None:
    column, hierarchy = mask(
        code_column(pl.Series("x", values), role="quasi", kind="category"),
        length=3,
        direction=direction,
    )
    assert_read_back(column, hierarchy, "mask")
    for label, under in hierarchy.meanings(column).items():
        found = as_mask(label)
        if label != "*":
            assert found is not None
            behind = MaskedTexts(column.values).behind(found)
            assert [column.values[at] for at in behind] == under
