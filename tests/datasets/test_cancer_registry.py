import hashlib
from datetime import date

import numpy as np
import polars as pl
import pytest

from incrowd import datasets
from incrowd.datasets.cancer_registry._generator import completed_years
from incrowd.datasets.cancer_registry._tables import people, tumors
from incrowd.datasets.resources import read_rows

FEMALE_ONLY = ("C51", "C52", "C53", "C54", "C56")
MALE_ONLY = ("C60", "C61", "C62")


@pytest.fixture(scope="module")
def registry() -> pl.DataFrame:
    return datasets.load("cancer-registry")


def share(frame: pl.DataFrame, condition: pl.Expr) -> float:
    return frame.filter(condition).height / frame.height


def test_same_seed_same_patients_other_seed_other_patients() -> None:
    one = datasets.load("cancer-registry", rows=500, seed=4)
    assert one.equals(datasets.load("cancer-registry", rows=500, seed=4))
    other = datasets.load("cancer-registry", rows=500, seed=5)
    for column in set(one.columns) - {"patient_id"}:
        assert not one[column].equals(other[column]), column


def test_same_bytes_on_every_machine() -> None:
    text = datasets.load("cancer-registry", rows=1000).write_csv()
    assert hashlib.sha256(text.encode()).hexdigest() == (
        "bd4323e4f4f7a2a86e821cf6940afde70e11d9ef67be365fb81297977aff3e81"
    )


@pytest.mark.parametrize("rows", [1, 2, 777, 100_000])
def test_any_number_of_rows_and_the_first_are_always_the_same(
    registry: pl.DataFrame, rows: int
) -> None:
    some = datasets.load("cancer-registry", rows=rows)
    assert some.height == rows
    both = min(rows, registry.height)
    assert some.head(both).equals(registry.head(both))


def test_shape_and_types(registry: pl.DataFrame) -> None:
    assert registry.shape == (72_194, 13)
    assert registry["patient_id"].n_unique() == 72_194
    whole = {"survival_years", "age_at_diagnosis", "tumor_size"}
    for column, dtype in registry.schema.items():
        expected = (
            pl.Date if column.endswith("_date") else pl.Int64 if column in whole else pl.String
        )
        assert dtype == expected, column


def test_missing_values_are_few_and_only_where_described(registry: pl.DataFrame) -> None:
    shares = {
        name: count / registry.height
        for name, count in registry.null_count().row(0, named=True).items()
        if count
    }
    assert set(shares) == {"race", "zip", "tumor_size"}
    assert 0.002 < shares["race"] < 0.02
    assert 0.002 < shares["zip"] < 0.02
    assert 0.05 < shares["tumor_size"] < 0.3


def test_numbers_of_distinct_values(registry: pl.DataFrame) -> None:
    distinct = {name: registry[name].drop_nulls().n_unique() for name in registry.columns}
    assert distinct["gender"] == 2
    assert distinct["race"] == 12
    assert distinct["zip"] == 250
    assert distinct["tumor_topography"] == 78
    assert distinct["histology"] == 65
    assert distinct["tumor_site"] == 23
    assert distinct["survival_years"] == 31
    assert distinct["recur_status"] == 31


def test_zips_are_five_digits_as_text(registry: pl.DataFrame) -> None:
    assert registry["zip"].drop_nulls().str.contains(r"^\d{5}$").all()
    assert registry["zip"].drop_nulls().str.starts_with("0").any()


@pytest.mark.parametrize("seed", [0, 1])
def test_no_tumor_in_an_organ_the_patient_does_not_have(seed: int) -> None:
    patients = datasets.load("cancer-registry", rows=200_000, seed=seed)
    for gender, wrong in (("Male", FEMALE_ONLY), ("Female", MALE_ONLY)):
        places = patients.filter(pl.col("gender") == gender)["tumor_topography"].str.slice(0, 3)
        assert not places.is_in(wrong).any()
        others = patients.filter(pl.col("gender") != gender)["tumor_topography"].str.slice(0, 3)
        assert set(wrong) <= set(others)


def test_weights_of_gender_specific_places_are_zero_in_the_tables() -> None:
    by_gender = tumors().weights.reshape(2, -1, len(tumors().topographies)).sum(axis=1)
    for index, code in enumerate(tumors().topographies):
        female, male = by_gender[:, index]
        assert (female == 0) == (code[:3] in MALE_ONLY), code
        if code[:3] in FEMALE_ONLY:
            assert male == 0


def test_breast_cancer_is_rare_in_men(registry: pl.DataFrame) -> None:
    breast = registry.filter(pl.col("tumor_topography").str.starts_with("C50"))
    assert 0 < share(breast, pl.col("gender") == "Male") < 0.03


def test_age_is_what_the_two_dates_say(registry: pl.DataFrame) -> None:
    columns = registry.select("birth_date", "diagnosis_date", "age_at_diagnosis")
    for born, diagnosed, age in columns.iter_rows():
        had_birthday = (diagnosed.month, diagnosed.day) >= (born.month, born.day)
        assert age == diagnosed.year - born.year - (not had_birthday)
    assert registry["age_at_diagnosis"].min() == 0
    assert 90 < int(str(registry["age_at_diagnosis"].max())) <= 100


@pytest.mark.parametrize(
    ("start", "end", "years"),
    [
        ("2000-03-01", "2001-02-28", 0),
        ("2000-03-01", "2001-03-01", 1),
        ("2000-02-29", "2001-02-28", 0),
        ("2000-02-29", "2001-03-01", 1),
        ("1969-12-31", "1970-01-01", 0),
        ("1899-05-05", "1985-05-05", 86),
        ("1990-07-07", "1990-07-07", 0),
    ],
)
def test_completed_years_count_birthdays(start: str, end: str, years: int) -> None:
    days = [np.array([each], dtype="datetime64[D]") for each in (start, end)]
    assert completed_years(*days).tolist() == [years]


def test_diagnoses_are_dated_1985_to_2007_and_mostly_on_weekdays(registry: pl.DataFrame) -> None:
    days = registry["diagnosis_date"]
    assert (days.dt.year().min(), days.dt.year().max()) == (1985, 2007)
    assert 0.01 < share(registry, pl.col("diagnosis_date").dt.weekday() >= 6) < 0.1
    by_year = days.dt.year().value_counts().sort("diagnosis_date")["count"]
    assert by_year[-1] > 2 * by_year[0]


def test_survival_fits_between_diagnosis_and_last_contact(registry: pl.DataFrame) -> None:
    assert (registry["survival_years"].min(), registry["survival_years"].max()) == (0, 30)
    latest = registry.select(
        pl.col("diagnosis_date").dt.year() + pl.col("survival_years")
    ).to_series()
    assert int(str(latest.max())) <= 2015


def test_survival_depends_on_site_and_age(registry: pl.DataFrame) -> None:
    mean = dict(registry.group_by("tumor_site").agg(pl.col("survival_years").mean()).iter_rows())
    assert mean["Pancreas"] < 1 < mean["Lung and bronchus"] < 3 < mean["Colon"] < mean["Breast"]
    breast = registry.filter(pl.col("tumor_site") == "Breast")
    young = breast.filter(pl.col("age_at_diagnosis") < 50)["survival_years"].median()
    old = breast.filter(pl.col("age_at_diagnosis") > 80)["survival_years"].median()
    assert isinstance(young, float)
    assert isinstance(old, float)
    assert young > old + 4


def test_age_depends_on_the_tumor(registry: pl.DataFrame) -> None:
    ages = dict(registry.group_by("histology").agg(pl.col("age_at_diagnosis").mean()).iter_rows())
    assert ages["9510/3"] < 5 < ages["9835/3"] < 25 < ages["9061/3"] < 45 < ages["8140/3"]
    everyone = registry["age_at_diagnosis"]
    assert everyone.median() == pytest.approx(65, abs=3)
    assert share(registry, pl.col("age_at_diagnosis") < 20) < 0.02


def test_histologies_grow_only_where_the_tables_let_them(registry: pl.DataFrame) -> None:
    folder = "data/cancer-registry"
    profile = {row["code"]: row["profile"] for row in read_rows(f"{folder}/topographies.csv")}
    grows = {(row["profile"], row["histology"]) for row in read_rows(f"{folder}/profiles.csv")}
    pairs = registry.select("tumor_topography", "histology").unique().iter_rows()
    assert all((profile[place], kind) in grows for place, kind in pairs)


def test_every_table_refers_to_names_that_exist() -> None:
    folder = "data/cancer-registry"
    topographies = read_rows(f"{folder}/topographies.csv")
    histologies = {row["code"] for row in read_rows(f"{folder}/histologies.csv")}
    profiles = read_rows(f"{folder}/profiles.csv")
    assert {row["profile"] for row in topographies} == {row["profile"] for row in profiles}
    assert {row["histology"] for row in profiles} == histologies
    pairs = [(row["profile"], row["histology"]) for row in profiles]
    assert len(set(pairs)) == len(pairs)
    assert np.isfinite(people().race_in_area).all()


def test_site_follows_the_topography_but_for_a_few(registry: pl.DataFrame) -> None:
    rows = read_rows("data/cancer-registry/topographies.csv")
    expected = registry["tumor_topography"].replace_strict(
        {row["code"]: row["site"] for row in rows}
    )
    differs = expected != registry["tumor_site"]
    assert 0.005 < differs.mean() < 0.03  # type: ignore[operator]
    assert set(registry["tumor_site"].filter(differs)) == {"Other and ill-defined"}


def test_sizes_are_plausible_skewed_and_heaped(registry: pl.DataFrame) -> None:
    sizes = registry["tumor_size"].drop_nulls()
    assert 1 <= int(str(sizes.min())) <= int(str(sizes.max())) <= 300
    assert sizes.mean() > 1.2 * sizes.median()  # type: ignore[operator]
    assert (sizes % 5 == 0).mean() > 0.4  # type: ignore[operator]
    blood = registry.filter(pl.col("tumor_topography") == "C42.1")
    assert blood["tumor_size"].null_count() == blood.height


@pytest.mark.parametrize(
    ("column", "top", "at_least"),
    [
        ("race", 1, 0.8),
        ("zip", 25, 0.3),
        ("tumor_topography", 10, 0.5),
        ("histology", 5, 0.5),
        ("recur_status", 3, 0.7),
    ],
)
def test_values_are_skewed(registry: pl.DataFrame, column: str, top: int, at_least: float) -> None:
    counts = registry[column].drop_nulls().value_counts(sort=True)["count"]
    assert counts.head(top).sum() > at_least * registry.height
    assert counts[-1] < 0.002 * registry.height


def test_recurrence_goes_with_survival(registry: pl.DataFrame) -> None:
    years = dict(registry.group_by("recur_status").agg(pl.col("survival_years").mean()).iter_rows())
    assert years["Never disease-free"] < years["Distant liver"] < years["Disease-free"]


def test_place_and_race_change_what_people_have(registry: pl.DataFrame) -> None:
    lung = pl.col("tumor_topography").str.starts_with("C34")
    mountains = registry.filter(pl.col("zip").str.starts_with("004"))
    city = registry.filter(pl.col("zip").str.starts_with("001"))
    assert share(mountains, lung) > 1.2 * share(city, lung)
    assert share(city, pl.col("race") == "Black") > 3 * share(mountains, pl.col("race") == "Black")
    skin = pl.col("tumor_topography").str.starts_with("C44")
    black, white = (registry.filter(pl.col("race") == race) for race in ("Black", "White"))
    assert share(black, skin) < 0.3 * share(white, skin)


def test_nearly_everyone_is_unique_by_the_quasi_identifiers(registry: pl.DataFrame) -> None:
    alone = registry.select("birth_date", "gender", "race", "zip").is_unique()
    assert alone.mean() > 0.95  # type: ignore[operator]


def test_dates_are_written_to_csv_as_iso_dates(registry: pl.DataFrame) -> None:
    _, *days = registry.head(50).select("birth_date").write_csv().split()
    assert [date.fromisoformat(day) for day in days] == registry["birth_date"].head(50).to_list()
