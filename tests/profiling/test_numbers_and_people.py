"""Numbers that are given out and names of people are not published, whatever a column is called."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import polars as pl
import pytest

from incrowd.profiling import ColumnProfile, profile

SURNAMES = [
    stem + end
    for stem in ("Aber", "Schm", "Gar", "Ros", "Dup", "Nov", "Web", "Bra", "Kle", "Wol", "Har")
    for end in ("nathy", "idt", "cia", "si", "ont", "ak", "er", "un", "in", "f", "ris", "ley")
]


def column(name: str, cells: Sequence[object]) -> ColumnProfile:
    sex = [("F", "M")[at % 2] for at in range(len(cells))]
    return profile(pl.DataFrame({name: cells, "sex": sex}))[name]


def six_digits(records: int) -> list[int]:
    return random.Random(2).sample(range(100_000, 999_999), records)


NUMBERED = [
    "lab_no",
    "biopsy_no",
    "prescription_no",
    "drug_no",
    "treatment_no",
    "blood_bag",
    "histology_no",
    "operation_no",
    "transfusion_no",
    "hiv_no",
    "diag_nr",
    "Therapie-Nr",
    "resultNumber",
    "visit_no",
    "death_certificate_no",
]


@pytest.mark.parametrize("name", NUMBERED)
def test_numbers_that_are_given_out_are_identifiers(name: str) -> None:
    numbers = six_digits(300)
    assert column(name, numbers).role == "identifier"
    assert column(name, [str(number) for number in numbers]).role == "identifier"
    assert column(name, numbers[:12]).role == "identifier"  # in a small table
    assert column(name, [number for number in numbers[:150] for _ in "ab"]).role == "identifier"
    # Of any length, once nearly every record has its own.
    assert column(name, [7 * at for at in range(3, 303)]).role == "identifier"


@pytest.mark.parametrize("name", ["lab", "histology", "treatment", "drug", "visit", "hospital"])
@pytest.mark.parametrize("begin", [10_000, 99_000, 100_000, 10**17])
def test_long_numbers_that_single_out_are_identifiers_without_a_word(name: str, begin: int) -> None:
    assert column(name, [begin + 37 * at for at in range(300)]).role == "identifier"


@pytest.mark.parametrize("name", ["visit", "hospital", "insurance"])
def test_codes_that_single_out_are_not_listed_in_sets(name: str) -> None:
    assert column(name, [f"{at * 7:06}" for at in range(300)]).role == "identifier"
    assert column(name, [f"V{at * 7:05}" for at in range(300)]).role == "identifier"


PERSONS = ["result_by", "disease_reporter", "lab_technician", "result_author", "disease_contact"]
CARE = ["spouse", "doctor", "surgeon", "physician", "diagnosis_doctor", "death_reported_by", "arzt"]


@pytest.mark.parametrize("name", [*PERSONS, *CARE, "test_result_by", "Médecin", "husband"])
def test_names_of_people_are_neither_published_nor_listed(name: str) -> None:
    draw = random.Random(3)
    assert column(name, [draw.choice(SURNAMES) for _ in range(300)]).role == "identifier"
    assert column(name, [draw.choice(SURNAMES[:20]) for _ in range(2_000)]).role == "identifier"
    assert column(name, SURNAMES[:8]).role == "identifier"
    few = column(name, [draw.choice(["yes", "no", "unknown"]) for _ in range(300)])
    assert few.role == "quasi", "published as it is"


@pytest.mark.parametrize(
    "name", ["doctor_city", "provider_state", "spouse_occupation", "spouse_education"]
)
def test_traits_of_people_are_no_names(name: str) -> None:
    draw = random.Random(4)
    assert column(name, [draw.choice(SURNAMES[:30]) for _ in range(300)]).role == "quasi"


def measures(kind: str) -> list[object]:
    draw = random.Random(5)
    kinds: dict[str, Callable[[], object]] = {
        "decimals": lambda: round(draw.uniform(3.5, 12), 3),
        "written": lambda: f"{draw.randint(100, 999)}.0",
        "counts": lambda: draw.randint(0, 118),
        "orders": lambda: int(10 ** draw.uniform(1.3, 6)),
        "thousands": lambda: 1000 * draw.randint(120, 420),
    }
    drawn = kinds[kind]
    return [drawn() for _ in range(60 if kind == "written" else 300)]


@pytest.mark.parametrize(
    ("name", "kind", "role"),
    [
        ("glucose", "decimals", "sensitive"),
        ("lab_result", "decimals", "sensitive"),
        ("triglycerides_result", "written", "sensitive"),
        ("num_lab_procedures", "counts", "sensitive"),
        ("no_of_medications", "counts", "sensitive"),
        ("number_of_visits", "counts", "quasi"),
        ("viral_load", "orders", "sensitive"),
        ("platelets", "thousands", "sensitive"),
    ],
)
def test_measures_and_counts_stay(name: str, kind: str, role: str) -> None:
    assert column(name, measures(kind)).role == role


@pytest.mark.parametrize("name", ["income", "salary", "cost", "total_charges", "plz", "zip"])
def test_amounts_and_postal_codes_stay(name: str) -> None:
    numbers = [10_000 + 37 * at for at in range(300)]
    assert column(name, numbers).role == "quasi"
    assert column(name, [str(number) for number in numbers]).role == "quasi"
