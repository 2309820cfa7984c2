from datetime import date

import numpy as np
import polars as pl
import pytest

from incrowd import datasets
from incrowd.datasets.patient_histories import GeneratedHistories
from incrowd.datasets.patient_histories._dirt import EMPTIED

PATIENTS, SHARE = 5000, 0.08
EVENTS = ("encounters", "conditions", "prescriptions")


@pytest.fixture(scope="module")
def clean() -> dict[str, pl.DataFrame]:
    return datasets.load_histories(PATIENTS).tables


@pytest.fixture(scope="module")
def dirty() -> GeneratedHistories:
    return datasets.load_histories(PATIENTS, dirt=SHARE)


@pytest.fixture(scope="module")
def flat() -> GeneratedHistories:
    return datasets.load_histories(PATIENTS, dirt=SHARE, flat=True)


def tidy(key: str = "patient") -> pl.Expr:
    return pl.col(key).str.strip_chars().str.to_lowercase()


def many(frame: pl.DataFrame, condition: pl.Expr) -> int:
    return frame.filter(condition).height


def wrong_events(
    table: str, frame: pl.DataFrame, people: pl.DataFrame, known: pl.Series
) -> dict[str, int]:
    """What can be found wrong in a table of events by looking, without how it was made."""
    born = people.select(tidied="patient", born="birth_date")
    frame = frame.with_columns(tidied=tidy()).join(born, on="tidied", how="left")
    key = pl.col("patient")
    doubled = int(frame.is_duplicated().sum())
    assert doubled % 2 == 0
    found = {
        "blanks around the key": many(frame, key != key.str.strip_chars()),
        "key in other case": many(frame, key != key.str.to_lowercase()),
        "no key": frame["patient"].null_count(),
        "row twice": doubled // 2,
        "empty cell": sum(frame[column].null_count() for column in EMPTIED[table]),
        "date in the future": many(frame, pl.col("start") > date(2100, 1, 1)),
        "date before birth": many(frame, pl.col("start") < pl.col("born")),
        "row of a patient who is left out": many(frame, ~pl.col("tidied").is_in(known.implode())),
    }
    if "end" in frame.columns:
        found["end before start"] = many(frame, pl.col("end") < pl.col("start"))
    return found


def test_without_dirt_nothing_is_wrong(clean: dict[str, pl.DataFrame]) -> None:
    assert all(not wrong for wrong in datasets.load_histories(20).wrong.values())
    for table in EVENTS:
        found = wrong_events(table, clean[table], clean["patients"], clean["patients"]["patient"])
        assert set(found.values()) == {0}, table


@pytest.mark.parametrize("table", EVENTS)
def test_what_is_told_of_events_is_what_is_found(
    table: str, clean: dict[str, pl.DataFrame], dirty: GeneratedHistories
) -> None:
    known = dirty.tables["patients"]["patient"]
    found = wrong_events(table, dirty.tables[table], clean["patients"], known)
    assert found == dirty.wrong[table]
    assert min(found.values()) > 20


def test_what_is_told_of_patients_is_what_is_found(
    clean: dict[str, pl.DataFrame], dirty: GeneratedHistories
) -> None:
    patients, right = dirty.tables["patients"], clean["patients"]
    told = dirty.wrong["patients"]
    again = patients.filter(~pl.col("patient").is_first_distinct())
    compared = again.join(right, on="patient", suffix="_right")
    assert compared.height == again.height
    for column in ("zip", "marital_status", "birth_date", "sex", "race"):
        differs = many(compared, pl.col(column) != pl.col(f"{column}_right"))
        name = f"patient again, with another {column.replace('_', ' ')}"
        assert differs == told.get(name, 0), column
        assert differs > 20 or column in ("sex", "race")
    missing = right.filter(~pl.col("patient").is_in(patients["patient"].implode()))
    assert missing.height == told["patient left out, whose events remain"] > 20
    events = set(clean["encounters"]["patient"])
    assert set(missing["patient"]) <= events
    empty = sum(patients[column].null_count() for column in EMPTIED["patients"])
    assert empty == told["empty cell"] > 20
    assert patients.height == PATIENTS + again.height - missing.height


@pytest.mark.parametrize("table", ["patients", *EVENTS])
def test_the_share_is_that_of_the_rows_and_all_ways_are_as_likely(
    table: str, clean: dict[str, pl.DataFrame], dirty: GeneratedHistories
) -> None:
    told = {
        way: rows
        for way, rows in dirty.wrong[table].items()
        if way != "row of a patient who is left out"
    }
    rows = clean[table].height
    assert sum(told.values()) == pytest.approx(rows * SHARE, rel=0.12)
    even = np.full(len(told), rows * SHARE / len(told))
    assert list(told.values()) == pytest.approx(even, rel=0.35)


@pytest.mark.parametrize("table", EVENTS)
def test_rows_that_are_not_wrong_are_as_without_dirt(
    table: str, clean: dict[str, pl.DataFrame], dirty: GeneratedHistories
) -> None:
    kept = clean[table].join(
        dirty.tables[table], on=clean[table].columns, how="semi", nulls_equal=True
    )
    assert 1 - kept.height / clean[table].height == pytest.approx(SHARE, rel=0.2)


def test_what_is_told_of_the_flat_file_is_what_is_found(
    clean: dict[str, pl.DataFrame], flat: GeneratedHistories
) -> None:
    visits, told = flat.tables["visits"], flat.wrong["visits"]
    born = pl.col("birth_date").is_null()
    strangers = many(visits, born & pl.col("patient").is_not_null())
    right = clean["patients"]
    known = visits.filter(~born).select(tidy()).unique()["patient"]
    found = wrong_events("visits", visits.drop("birth_date"), right, known)
    assert strangers == found["row of a patient who is left out"]
    compared = visits.filter(~born).with_columns(tidy()).join(right, on="patient", suffix="_right")
    for column in ("zip", "marital_status", "birth_date"):
        name = f"row with another {column.replace('_', ' ')} of the patient"
        found[name] = many(compared, pl.col(column) != pl.col(f"{column}_right"))
    assert found == told
    assert min(found.values()) > 20


def test_all_rows_may_be_wrong() -> None:
    made = datasets.load_histories(50, dirt=1.0)
    for table in EVENTS:
        ways = {way: rows for way, rows in made.wrong[table].items() if "left out" not in way}
        assert sum(ways.values()) + ways["row twice"] == made.tables[table].height
