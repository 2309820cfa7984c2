"""Rows gathered to patients: one profile each, sets of values, what singles a patient out."""

from __future__ import annotations

import random

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.counts.groups import Histogram
from incrowd.counts.histograms import by_value, histogram_of
from incrowd.errors import PolicyError
from incrowd.table import MemoryTable, Role
from incrowd.table.coding import code_column
from incrowd.table.profiles import FLAT, Histories, Take, gathered, sets_of
from incrowd.table.repeats import Counting


def rows_of(frame: pl.DataFrame, **roles: Role) -> MemoryTable:
    columns = tuple(code_column(frame[name], role=role) for name, role in roles.items())
    return MemoryTable(columns, frame.height, "visits.csv")


VISITS = pl.DataFrame(
    {
        "who": [0, 0, 1, 1, 1, 2],
        "sex": ["F", "F", "M", "M", None, "F"],
        "day": ["2024-03-01", "2024-01-01", None, "2024-05-01", "2024-02-01", "2024-01-01"],
        "zip": ["10", "11", "20", "21", "21", "30"],
        "ill": ["flu", "hiv", "flu", "flu", "gout", "flu"],
    }
)


def gather(
    of_events: tuple[str, ...], take: dict[str, Take] | None = None, time: str | None = None
) -> tuple[MemoryTable, Histories]:
    roles: dict[str, Role] = {"sex": "quasi", "day": "keep", "zip": "quasi", "ill": "sensitive"}
    names = [*dict.fromkeys((*of_events, *(take or {}), *([time] if time else [])))]
    table = rows_of(VISITS, **{name: roles[name] for name in names})
    return gathered(table, VISITS["who"].to_numpy(), of_events, take or {}, time)


def cells(table: MemoryTable, name: str) -> list[str | None]:
    column = table[name]
    return [None if c == len(column.values) else column.values[c] for c in column.codes]


def test_a_column_of_patients_that_differs_is_named_with_how_many() -> None:
    table = rows_of(VISITS, sex="quasi", zip="quasi", ill="sensitive")
    with pytest.raises(PolicyError) as raised:
        gathered(table, VISITS["who"].to_numpy(), ("ill",), {}, None)
    message = str(raised.value)
    assert "'sex' (of 1 patients) and 'zip' (of 2 patients)" in message
    assert "there are 3 patients" in message
    assert "level: event" in message
    assert "take: most-frequent" in message
    assert not any(f"'{zip_code}'" in message for zip_code in VISITS["zip"])


@pytest.mark.parametrize(
    ("take", "zips"),
    [("most-frequent", ["10", "21", "30"]), ("first", ["11", "21", "30"]),
     ("last", ["10", "21", "30"])],
)  # fmt: skip
def test_which_value_stands_for_a_patient(take: Take, zips: list[str]) -> None:
    table, histories = gather(("day",), {"zip": take}, "day")
    assert cells(table, "zip") == zips
    assert table.records == 3
    assert histories.tables[FLAT].rows == 6


def test_missing_cells_count_only_where_a_patient_has_no_other() -> None:
    table, _ = gather(("ill",), {"sex": "most-frequent"})
    assert cells(table, "sex") == ["F", "M", "F"]
    assert table["sex"].missing == 0


def test_values_of_rows_that_were_not_taken_are_gone_from_the_dictionary() -> None:
    table, _ = gather((), {"zip": "most-frequent"})
    assert table["zip"].values == ("10", "21", "30")


PATIENTS = st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=6), min_size=1, max_size=9)


def histories_of(patients: list[list[int]]) -> tuple[MemoryTable, Histories]:
    who = [at for at, held in enumerate(patients) for _ in held]
    frame = pl.DataFrame({"ill": [str(value) for held in patients for value in held]})
    table = rows_of(frame.with_columns(pl.lit("x").alias("sex")), ill="sensitive", sex="keep")
    return gathered(table, np.array(who), ("ill",), {}, None)


@given(PATIENTS, st.none() | st.sets(st.integers(0, 4), min_size=1))
def test_sets_hold_what_patients_hold(patients: list[list[int]], within: set[int] | None) -> None:
    _, histories = histories_of(patients)
    events = histories.tables[FLAT]
    known = events["ill"].values
    listed = None if within is None else [c for c, v in enumerate(known) if int(v) in within]
    codes = None if listed is None else np.array(listed, dtype=np.int64)
    sets = sets_of(events, "ill", len(patients), codes)
    held = [
        {known[m] for m in sets.members[sets.offsets[s] : sets.offsets[s + 1]]} for s in sets.codes
    ]
    wanted = [{str(v) for v in each if within is None or v in within} for each in patients]
    assert held == wanted
    assert len(set(map(frozenset, wanted))) == sets.cardinality, "equal sets have one code"


@given(PATIENTS, st.data())
def test_patients_are_counted_once_for_each_value(
    patients: list[list[int]], data: st.DataObject
) -> None:
    many = data.draw(st.integers(1, 3))
    group = np.array([data.draw(st.integers(0, many - 1)) for _ in patients])
    _, histories = histories_of(patients)
    events = histories.tables[FLAT]
    sets = sets_of(events, "ill", len(patients))
    total = np.bincount(sets.codes, minlength=sets.cardinality)
    found: Histogram = by_value(histogram_of(group, many, sets.codes, total), sets)
    values = events["ill"].values
    for number in range(many):
        inside = [each for at, each in enumerate(patients) if group[at] == number]
        told = dict(
            zip(
                (
                    values[v]
                    for v in found.values[found.offsets[number] : found.offsets[number + 1]]
                ),
                found.counts[found.offsets[number] : found.offsets[number + 1]].tolist(),
                strict=True,
            )
        )
        wanted = {v: sum(int(v) in each for each in inside) for v in values}
        assert told == {v: n for v, n in wanted.items() if n}
    assert found.records == len(patients)
    assert found.total.tolist() == [sum(int(v) in each for each in patients) for v in values]


@given(PATIENTS)
def test_a_patient_is_singled_out_by_a_value_that_nobody_else_has(
    patients: list[list[int]],
) -> None:
    table, histories = histories_of(patients)
    others = [
        {v for other, held in enumerate(patients) if other != at for v in held}
        for at in range(len(patients))
    ]
    wanted = sum(bool(set(held) - others[at]) for at, held in enumerate(patients))
    assert histories.singled_out(table, ["ill"]) == wanted
    assert histories.singled_out(table, ["ill", "sex"]) == wanted
    assert histories.singled_out(table, []) == 0


@given(PATIENTS, st.integers(1, 4), st.randoms(use_true_random=False))
def test_no_patient_keeps_more_rows_than_are_allowed(
    patients: list[list[int]], most: int, draw: random.Random
) -> None:
    _, histories = histories_of(patients)
    events = histories.tables[FLAT]
    order = draw.sample(range(events.rows), events.rows)
    kept, cut = events.at_most(most, np.array(order))
    assert cut == sum(len(held) > most for held in patients)
    values = kept["ill"].values
    for at, held in enumerate(patients):
        left = [int(values[c]) for c in kept["ill"].codes[kept.patient == at]]
        assert len(left) == min(len(held), most)
        rows = [row for row in order if events.patient[row] == at][:most]
        assert sorted(left) == sorted(
            int(events["ill"].values[events["ill"].codes[r]]) for r in rows
        )


def test_numbers_of_patients_follow_their_first_rows() -> None:
    counting = Counting(["id"])
    for ids in (["b", " A"], ["a ", "B", "c"]):
        counting.add(pl.DataFrame({"id": ids}))
    assert counting.numbers("id").tolist() == [0, 1, 1, 0, 2]
    assert counting.repeats()[0].distinct == 3
