"""Tables of coded columns: reordered, filtered, looked up by name and role."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.table import ONE_EACH, Column, MemoryTable, Tally, Weighted, code_dtype, narrow
from incrowd.table.coding import code_column

cells_lists = st.lists(st.one_of(st.none(), st.sampled_from("abcdef")), min_size=1, max_size=20)
number_lists = st.lists(st.one_of(st.none(), st.integers(-5, 5)), min_size=1, max_size=20)


def category(cells: list[str | None], name: str = "sex", role: str = "quasi") -> Column:
    series = pl.Series(name, cells, dtype=pl.String)
    return code_column(series, role=role, kind="category")  # type: ignore[arg-type]


def shown(column: Column) -> list[str | None]:
    texts = [*column.values, None]
    return [texts[int(code)] for code in column.codes]


@given(cells_lists, st.randoms(use_true_random=False))
def test_a_reordered_column_shows_the_same_cells(cells: list[str | None], random: Random) -> None:
    column = category(cells)
    order = list(column.values)
    random.shuffle(order)
    reordered = column.reordered(order)
    assert reordered.values == tuple(order)
    assert shown(reordered) == cells
    assert reordered.missing == column.missing
    assert reordered.codes.dtype == column.codes.dtype


def test_numbers_move_with_their_values() -> None:
    column = code_column(pl.Series("age", [3, 1, None, 2]), role="quasi")
    reordered = column.reordered(["3", "1", "2"])
    assert reordered.numbers is not None
    assert reordered.numbers.tolist() == [3, 1, 2]
    assert shown(reordered) == ["3", "1", None, "2"]


@given(number_lists, st.data())
def test_taken_rows_show_the_same_cells_with_a_dictionary_of_what_remains(
    cells: list[int | None], data: st.DataObject
) -> None:
    column = code_column(pl.Series("age", cells, dtype=pl.Int64), role="quasi")
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=len(cells), max_size=len(cells))))
    taken = column.take(chosen)
    expected = [
        None if cell is None else str(cell)
        for cell, kept in zip(cells, chosen, strict=True)
        if kept
    ]
    assert shown(taken) == expected
    assert set(taken.values) == {cell for cell in expected if cell is not None}
    assert taken.missing == expected.count(None)
    assert taken.numbers is not None
    assert taken.numbers.tolist() == [int(value) for value in taken.values]
    assert taken.cardinality == len(set(expected))


def test_taken_codes_are_as_narrow_as_what_remains() -> None:
    column = category([f"v{i:03d}" for i in range(300)])
    assert column.codes.dtype == np.uint16
    taken = column.take(np.arange(300) < 256)
    assert taken.codes.dtype == np.uint8
    assert shown(taken) == [f"v{i:03d}" for i in range(256)]
    assert shown(taken.reordered(taken.values[::-1])) == [f"v{i:03d}" for i in range(256)]


def test_no_rows_can_be_taken() -> None:
    taken = category(["a", None]).take(np.zeros(2, dtype=np.bool_))
    assert (taken.values, len(taken.codes), taken.missing, taken.cardinality) == ((), 0, 0, 0)


def table() -> MemoryTable:
    columns = (
        category(["m", "f", None], "sex", "quasi"),
        category(["x", "y", "z"], "zip", "quasi"),
        category(["Flu", "HIV", "Flu"], "disease", "sensitive"),
    )
    return MemoryTable(columns, 3, "patients.csv")


def test_columns_are_found_by_name_and_role() -> None:
    patients = table()
    assert patients["disease"].values == ("Flu", "HIV")
    assert "sex" in patients
    assert "age" not in patients
    assert [column.name for column in patients.of_role("quasi")] == ["sex", "zip"]
    assert [column.name for column in patients.of_role("sensitive", "quasi")] == [
        "sex",
        "zip",
        "disease",
    ]
    assert patients.of_role("target") == ()
    with pytest.raises(KeyError):
        patients["age"]


def test_replaced_columns_are_found_in_the_new_table_only() -> None:
    patients = table()
    changed = patients.with_columns([category(["A", "B", "C"], "sex", "quasi")])
    assert changed["sex"].values == ("A", "B", "C")
    assert patients["sex"].values == ("f", "m")
    assert [column.name for column in changed.columns] == ["sex", "zip", "disease"]
    assert changed.records == 3


def test_rows_are_taken_from_every_column() -> None:
    patients = table().take(np.array([True, False, True]))
    assert patients.records == 2
    assert [shown(column) for column in patients.columns] == [
        ["m", None],
        ["x", "z"],
        ["Flu", "Flu"],
    ]
    assert patients["disease"].values == ("Flu",)
    assert patients.name == "patients.csv"


def test_the_size_is_that_of_the_codes() -> None:
    assert sum(column.codes.nbytes for column in table().columns) == 9


@pytest.mark.parametrize(
    ("cardinality", "bytes_each"),
    [(0, 1), (1, 1), (256, 1), (257, 2), (65_536, 2), (65_537, 4), (2**32, 4)],
)
def test_codes_take_as_few_bytes_as_they_can(cardinality: int, bytes_each: int) -> None:
    dtype = np.dtype(code_dtype(cardinality))
    assert dtype.itemsize == bytes_each
    assert np.iinfo(dtype).max >= cardinality - 1


def test_narrowed_codes_keep_their_values() -> None:
    codes = np.array([0, 255], dtype=np.int64)
    assert narrow(codes, 256).tolist() == [0, 255]
    assert narrow(codes, 256).dtype == np.uint8


def test_taking_rows_forgets_the_decimals_of_the_others() -> None:
    column = code_column(pl.Series("dose", ["1", "2.5", "3.125"]), role="quasi")
    taken = column.take(np.array([True, True, False]))
    assert (taken.decimals, taken.values) == (1, ("1", "2.5"))
    assert taken.numbers is not None
    assert taken.numbers.tolist() == [10, 25]
    whole = column.take(np.array([True, False, False]))
    assert (whole.decimals, whole.values) == (0, ("1",))


def test_a_copy_with_other_columns_leaves_the_table_as_it_is() -> None:
    patients = table()
    other = replace(patients, columns=(category(["A", "B", "C"], "sex", "quasi"),))
    assert (patients["sex"].values, other["sex"].values) == (("f", "m"), ("A", "B", "C"))
    assert "zip" not in other


@settings(max_examples=50)
@given(st.lists(st.tuples(*[st.sampled_from("ab")] * 3, st.integers(1, 3)), min_size=1), st.data())
def test_rows_that_stand_for_several_records_tell_what_the_records_tell(
    rows: list[tuple[str, str, str, int]], data: st.DataObject
) -> None:
    chosen = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    weights = np.array([row[-1] for row in rows])
    weighted = patients_of(rows, Weighted.unordered(weights))
    plain = patients_of([row for row in rows for _ in range(row[-1])], ONE_EACH)
    kept = np.array(chosen)
    pairs = [(weighted, plain), (weighted.take(kept), plain.take(np.repeat(kept, weights)))]
    for one, other in pairs:
        assert one.records == other.records == other.rows
        assert [c.counts().tolist() for c in one.columns] == [
            c.counts().tolist() for c in other.columns
        ]
        assert [shown(c) for c in one.in_order().columns] == [
            shown(c) for c in other.in_order().columns
        ]
        alike, same = one.alike(["q", "r"]), other.alike(["q", "r"])
        assert [each.tolist() for each in alike.sizes()] == [each.tolist() for each in same.sizes()]
        assert alike.alone == same.alone
        assert alike.told("ill") == same.told("ill")
        joint, whole = (each.with_combinations("both", ["q", "ill"])[1] for each in (one, other))
        assert joint.counts().tolist() == whole.counts().tolist()
        assert joint.parts.tolist() == whole.parts.tolist()


def patients_of(rows: list[tuple[str, str, str, int]], tally: Tally) -> MemoryTable:
    columns = [
        replace(category([str(row[at]) for row in rows], name), tally=tally)
        for at, name in enumerate(("q", "r", "ill"))
    ]
    return MemoryTable(tuple(columns), int(tally.count(np.zeros(len(rows), np.int64)).sum()))
