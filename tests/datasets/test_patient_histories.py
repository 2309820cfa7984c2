import hashlib
import re
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from incrowd import datasets
from incrowd.datasets.patient_histories import FLAT, TABLES
from incrowd.errors import ParameterError

PATIENTS = 20_000
FIRST, LAST = pl.date(2015, 1, 1), pl.date(2024, 12, 31)


@pytest.fixture(scope="module")
def tables() -> dict[str, pl.DataFrame]:
    return datasets.load_histories(PATIENTS).tables


@pytest.fixture(scope="module")
def seen(tables: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """The conditions beside their patients, with the age in whole years at each."""
    born, start = pl.col("birth_date").dt, pl.col("start").dt
    later = (start.month() > born.month()) | (
        (start.month() == born.month()) & (start.day() >= born.day())
    )
    age = start.year().cast(pl.Int32) - born.year() - (~later).cast(pl.Int32)
    joined = tables["conditions"].join(tables["patients"], on="patient", how="left")
    return joined.with_columns(age=age)


def starting(*codes: str) -> pl.Expr:
    return pl.col("code").str.contains(f"^({'|'.join(map(re.escape, codes))})")


def patients_with(conditions: pl.DataFrame, *codes: str) -> set[str]:
    return set(conditions.filter(starting(*codes))["patient"])


def test_the_tables_have_the_columns_that_are_described(tables: dict[str, pl.DataFrame]) -> None:
    described = datasets.describe("patient-histories")
    assert described.tables == TABLES
    for name, frame in tables.items():
        assert frame.columns == [column.name for column in TABLES[name]], name
        dates = {"start", "end", "birth_date", "death_date"}
        for column, dtype in frame.schema.items():
            expected = pl.Date if column in dates else pl.Int64 if column == "days" else pl.String
            assert dtype == expected, (name, column)
    assert list(tables) == list(TABLES)


def test_size_is_what_was_asked_for_and_events_are_in_proportion(
    tables: dict[str, pl.DataFrame],
) -> None:
    assert tables["patients"].height == PATIENTS
    assert 5 < tables["encounters"].height / PATIENTS < 20
    assert 8 < tables["conditions"].height / PATIENTS < 12
    assert 2 < tables["prescriptions"].height / PATIENTS < 8


def test_cells_are_missing_only_where_something_has_not_ended(
    tables: dict[str, pl.DataFrame],
) -> None:
    missing = {
        (name, column)
        for name, frame in tables.items()
        for column in frame.columns
        if frame[column].null_count()
    }
    assert missing == {("patients", "death_date"), ("conditions", "end")}


def test_same_bytes_on_every_machine() -> None:
    made = datasets.load_histories(1000, seed=1).tables
    text = "".join(frame.write_csv() for frame in made.values())
    assert hashlib.sha256(text.encode()).hexdigest() == (
        "ec7236baa004835ea40f900c60332cb5f05907489fe39d1424dbf01498958b59"
    )


def test_another_seed_gives_others() -> None:
    one, other = (datasets.load_histories(300, seed=seed).tables for seed in (4, 5))
    for column in one["patients"].columns:
        assert not one["patients"][column].equals(other["patients"][column]), column


@pytest.mark.parametrize("many", [1, 2, 777])
def test_the_first_of_many_are_the_same_as_few(tables: dict[str, pl.DataFrame], many: int) -> None:
    few = datasets.load_histories(many).tables
    assert few["patients"].equals(tables["patients"].head(many))
    for name in ("encounters", "conditions", "prescriptions"):
        assert few[name].equals(tables[name].head(few[name].height)), name


def test_keys_are_unique_and_related_to_nothing(tables: dict[str, pl.DataFrame]) -> None:
    patients = tables["patients"]
    assert patients["patient"].n_unique() == PATIENTS
    assert tables["encounters"]["encounter"].is_unique().all()
    ranks = patients["patient"].rank().to_numpy()
    assert abs(np.corrcoef(ranks, np.arange(PATIENTS))[0, 1]) < 0.03
    born = patients["birth_date"].to_physical().to_numpy()
    assert abs(np.corrcoef(ranks, born)[0, 1]) < 0.03


def test_events_belong_to_the_encounters_and_patients_of_the_other_tables(
    tables: dict[str, pl.DataFrame],
) -> None:
    encounters = tables["encounters"]
    assert encounters.join(tables["patients"], on="patient", how="anti").is_empty()
    for name in ("conditions", "prescriptions"):
        keys = ["patient", "encounter", "start"]
        assert tables[name].join(encounters, on=keys, how="anti").is_empty(), name
    assert tables["conditions"].select("encounter", "code").is_unique().all()
    assert tables["prescriptions"].select("encounter", "atc").is_unique().all()


def test_events_lie_within_the_years_and_the_life(tables: dict[str, pl.DataFrame]) -> None:
    for name in ("encounters", "conditions", "prescriptions"):
        events = tables[name].join(tables["patients"], on="patient")
        within = pl.col("start").is_between(FIRST, LAST) & (pl.col("birth_date") <= pl.col("start"))
        within &= (pl.col("start") <= pl.col("death_date")).fill_null(True)
        if "end" in events.columns:
            ended = (pl.col("end") >= pl.col("start")) & (pl.col("end") <= LAST)
            within &= ended.fill_null(True)
        assert events.select(within.all()).item(), name


def test_stays_have_a_length_and_other_visits_mostly_none(tables: dict[str, pl.DataFrame]) -> None:
    days = (pl.col("end") - pl.col("start")).dt.total_days()
    lengths = dict(tables["encounters"].group_by("class").agg(days.mean()).iter_rows())
    assert lengths["ambulatory"] == lengths["wellness"] == 0
    assert 0 < lengths["emergency"] < 0.5
    assert 3 < lengths["inpatient"] < 10


def test_codes_have_their_forms_and_one_description(tables: dict[str, pl.DataFrame]) -> None:
    forms = {"conditions": ("code", r"^[A-Z]\d[0-9A-Z](\.[0-9A-Z]{1,4})?$")}
    forms["prescriptions"] = ("atc", r"^[A-Z]\d\d[A-Z]{2}\d\d$")
    for name, (column, form) in forms.items():
        assert tables[name][column].str.contains(form).all(), name
        named = tables[name].select(column, "description").unique()
        assert named.height == named[column].n_unique() == named["description"].n_unique(), name


def chapter(code: str) -> str:
    """The chapter of ICD-10-CM, by its first code."""
    starts = ["A00", "C00", "D50", "E00", "F01", "G00", "H00", "H60", "I00", "J00", "K00", "L00"]
    starts += ["M00", "N00", "O00", "P00", "Q00", "R00", "S00", "U00", "V00", "Z00", "~"]
    return next(first for first, after in pairwise(starts) if first <= code < after)


def test_there_are_hundreds_of_codes_of_nearly_all_chapters(
    tables: dict[str, pl.DataFrame],
) -> None:
    found = tables["conditions"]["code"].unique().to_list()
    assert len(found) >= 400
    assert len({chapter(code) for code in found}) == 22


def test_few_codes_are_frequent_and_many_are_rare(tables: dict[str, pl.DataFrame]) -> None:
    counts = tables["conditions"]["code"].value_counts(sort=True)["count"].to_numpy()
    assert 0.2 < counts[:10].sum() / counts.sum() < 0.4
    slope, _ = np.polyfit(np.log(np.arange(1, 201)), np.log(counts[:200]), 1)
    assert -1.2 < slope < -0.7
    held = tables["conditions"].group_by("code").agg(pl.col("patient").n_unique())
    assert (held["patient"] < PATIENTS / 1000).sum() > 60
    assert (held["patient"] < 5).sum() > 10


def test_few_patients_have_a_large_share_of_the_events(tables: dict[str, pl.DataFrame]) -> None:
    counts = tables["conditions"]["patient"].value_counts(sort=True)["count"].to_numpy()
    assert 0.03 < 1 - len(counts) / PATIENTS < 0.15
    assert np.median(counts) < counts.mean() * 0.75
    assert counts[: PATIENTS // 100].sum() > 0.1 * counts.sum()
    assert (counts > 100).sum() > 40
    assert 300 < counts.max() < 5000


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("E11",), ("I10",)),
        (("E11",), ("N18",)),
        (("I10",), ("N18",)),
        (("E66",), ("E11",)),
        (("J45",), ("J44",)),
        (("F17",), ("J44",)),
        (("F32", "F33"), ("F41",)),
        (("I21",), ("I50",)),
    ],
)
def test_linked_diseases_meet_in_one_patient_more_than_twice_as_often(
    tables: dict[str, pl.DataFrame], one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    first, second = (patients_with(tables["conditions"], *codes) for codes in (one, other))
    assert len(first & second) * PATIENTS / len(first) / len(second) > 2


def test_diseases_without_a_link_do_not_seek_each_other(tables: dict[str, pl.DataFrame]) -> None:
    first, second = (patients_with(tables["conditions"], code) for code in ("J30", "H25"))
    assert 0.6 < len(first & second) * PATIENTS / len(first) / len(second) < 1.8


@pytest.mark.parametrize(
    ("codes", "sex", "ages"),
    [
        (("O", "Z34", "Z37", "Z39"), "Female", (15, 44)),
        (("N80", "N92", "N97", "B37.31"), "Female", (15, 120)),
        (("C53", "C54", "C56", "D25", "N95", "Z01.419", "Z12.31"), "Female", (15, 120)),
        (("C61", "Z85.46"), "Male", (50, 120)),
        (("N40",), "Male", (46, 120)),
        (("C62", "N41", "N52", "K40"), "Male", (15, 120)),
        (("P", "Z38"), None, (0, 0)),
        (("J21", "L22", "R56.00", "F80"), None, (0, 4)),
        (("H66", "Z00.129"), None, (0, 14)),
        (("F90",), None, (5, 120)),
        (("Z00.00", "F43.20"), None, (15, 120)),
        (("I21", "I25"), None, (40, 120)),
        (("G30", "F03"), None, (65, 120)),
    ],
)
def test_sex_and_age_restrict_codes_without_exception(
    seen: pl.DataFrame, codes: tuple[str, ...], sex: str | None, ages: tuple[int, int]
) -> None:
    found = seen.filter(starting(*codes))
    assert found.height > 20
    assert found["age"].is_between(*ages).all()
    assert sex is None or set(found["sex"]) == {sex}


def test_age_matters(seen: pl.DataFrame) -> None:
    old, young = (pl.col("age") >= 65), pl.col("age").is_between(15, 44)
    for code, more in (("I10", 8), ("E11", 8), ("H25", 20)):
        share = {
            name: seen.filter(group).select(starting(code).mean()).item()
            for name, group in (("old", old), ("young", young))
        }
        assert share["old"] > more / 4 * share["young"], code


def test_heart_failure_comes_after_the_infarction(tables: dict[str, pl.DataFrame]) -> None:
    conditions = tables["conditions"]
    first = [
        conditions.filter(starting(code)).group_by("patient").agg(pl.col("start").min())
        for code in ("I21", "I50")
    ]
    both = first[0].join(first[1], on="patient", suffix="_of_failure")
    assert both.height > 10
    assert (both["start_of_failure"] > both["start"]).all()


def test_lasting_diseases_recur_and_do_not_end(tables: dict[str, pl.DataFrame]) -> None:
    lasting = tables["conditions"].filter(starting("I10", "E11", "J44"))
    assert lasting["end"].null_count() == lasting.height
    times = lasting.group_by("patient", pl.col("code").str.head(3)).len()["len"].to_numpy()
    assert (times > 1).mean() > 0.5
    assert times.max() > 20


@pytest.mark.parametrize(
    ("atc", "codes"),
    [
        ("A10BA02", ("E11",)),
        ("R03BB04", ("J44", "J43")),
        ("H03AA01", ("E03", "E06", "C73")),
        ("N06AB06", ("F3", "F4")),
        ("B01AF02", ("I48", "I26", "I82")),
    ],
)
def test_drugs_follow_diagnoses(
    tables: dict[str, pl.DataFrame], atc: str, codes: tuple[str, ...]
) -> None:
    given = tables["prescriptions"].filter(pl.col("atc") == atc)
    reasons = tables["conditions"].filter(starting(*codes))
    assert given.height > 50
    assert given.join(reasons, on="encounter", how="anti").is_empty()


def test_a_patient_mostly_gets_the_usual_drug_again(tables: dict[str, pl.DataFrame]) -> None:
    drugs = tables["prescriptions"].filter(pl.col("atc").is_in(["C10AA05", "C10AA07", "C10AA01"]))
    by_drug = drugs.group_by("patient", "atc").len()
    again = by_drug.group_by("patient").agg(usual=pl.col("len").max(), every=pl.col("len").sum())
    often = again.filter(pl.col("every") >= 4)
    assert often.height > 100
    assert (often["usual"] / often["every"]).to_numpy().mean() > 0.75


def test_zips_are_of_unequal_size(tables: dict[str, pl.DataFrame]) -> None:
    zips = tables["patients"]["zip"].value_counts(sort=True)
    assert zips["zip"].str.contains(r"^\d{5}$").all()
    assert zips.height >= 240
    assert zips["count"][0] > 15 * zips["count"][-1]


def test_marriages_and_deaths_go_with_age(tables: dict[str, pl.DataFrame]) -> None:
    patients = tables["patients"].with_columns(born=pl.col("birth_date").dt.year())
    children = patients.filter(pl.col("born") >= 2008)
    assert set(children["marital_status"]) == {"Single"}
    dead = patients.group_by(old=pl.col("born") < 1945).agg(
        pl.col("death_date").is_not_null().mean()
    )
    shares = dict(dead.iter_rows())
    assert shares[True] > 5 * shares[False] > 0


def test_the_flat_table_is_the_others_joined(tables: dict[str, pl.DataFrame]) -> None:
    flat = datasets.load_histories(PATIENTS, flat=True).tables
    assert list(flat) == ["visits"]
    encounters = tables["encounters"].select("encounter", "class", "department")
    joined = tables["conditions"].join(tables["patients"], on="patient", how="left")
    joined = joined.join(encounters, on="encounter", how="left", maintain_order="left")
    columns = [column.name for column in FLAT["visits"]]
    assert flat["visits"].equals(joined.select(columns))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"patients": 0}, "patients must be a whole number of at least 1, got 0"),
        ({"patients": 2.5}, "patients must be a whole number"),
        ({"patients": True}, "patients must be a whole number"),
        ({"patients": 2**31}, "patients must be at most 1,073,741,824"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"dirt": -0.1}, "dirt must be a share from 0 to 1"),
        ({"dirt": 1.5}, "dirt must be a share from 0 to 1"),
        ({"dirt": float("nan")}, "dirt must be a share from 0 to 1"),
        ({"dirt": "0.1"}, "dirt must be a share from 0 to 1"),
    ],
)
def test_what_is_no_number_of_its_kind_is_refused(asked: dict[str, object], told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        datasets.load_histories(**asked)  # type: ignore[arg-type]
