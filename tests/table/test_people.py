"""Rows gathered by whose they are, against plain counting."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import InputError
from incrowd.table.coding import code_column
from incrowd.table.people import HeldByPatients, by_patient, patients_of
from incrowd.table.person_names import numbers_people

CELLS = st.lists(
    st.tuples(st.sampled_from(["p1", "P1 ", "p2", "p3"]), st.sampled_from(["a", "b", None])),
    min_size=1,
)


@given(CELLS)
def test_one_row_each_with_the_value_that_most_rows_have(
    cells: list[tuple[str, str | None]],
) -> None:
    frame = pl.DataFrame(cells, {"who": pl.String, "zip": pl.String}, orient="row")
    values: dict[str, Counter[str | None]] = defaultdict(Counter)
    for who, value in cells:
        values[who.strip().lower()][value] += 1
    expected = [
        min(counts, key=lambda value: (value is None, -counts[value], value or ""))
        for counts in values.values()
    ]
    found = by_patient(frame, patients_of(frame["who"], "visits"), ["zip"])
    assert found.frame["zip"].to_list() == expected
    assert found.differing.get("zip", 0) == sum(len(counts) > 1 for counts in values.values())
    assert (found.rows, found.any) == (len(cells), len(cells) > len(values))


@given(CELLS)
def test_a_value_counts_once_for_each_patient(cells: list[tuple[str, str | None]]) -> None:
    frame = pl.DataFrame(cells, {"who": pl.String, "ill": pl.String}, orient="row")
    patient = patients_of(frame["who"], "visits")
    column = code_column(frame["ill"], role="keep", kind="category")
    everyone = np.zeros(int(patient.max()) + 1, dtype=np.int64)
    _, codes, counts = HeldByPatients.of(column, patient).in_groups(everyone, 1)
    texts = [*column.values, None]
    found = {texts[code]: many for code, many in zip(codes.tolist(), counts.tolist(), strict=True)}
    assert found == dict(Counter(ill for _, ill in {(w.strip().lower(), ill) for w, ill in cells}))


def test_a_row_that_is_nobodys_is_refused() -> None:
    with pytest.raises(InputError, match=r"'who' is missing in 2 of 3 rows of visits\.csv"):
        patients_of(pl.Series("who", ["p1", None, " "]), "visits.csv")


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("patient_id", True),
        ("PatientNr", True),
        ("mrn", True),
        ("id", True),
        ("Versichertennummer", True),
        ("patient_age", False),
        ("visit_id", False),
        ("zip", False),
        ("no", False),
    ],
)
def test_columns_that_number_people_are_known_by_name(name: str, numbers: bool) -> None:
    assert numbers_people(name) is numbers
