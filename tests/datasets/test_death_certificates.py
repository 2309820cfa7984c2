import csv
import hashlib
from pathlib import Path

import polars as pl
import pytest
import yaml

import incrowd
from incrowd import datasets
from incrowd.datasets.death_certificates import INFO, attributes, levels, subsets
from incrowd.datasets.death_certificates._tables import choice, rows_of
from incrowd.datasets.resources import list_names, read_text
from incrowd.engines.preparation import prepare
from incrowd.errors import ParameterError
from incrowd.policy import Policy

NAME = "death-certificates"
EXTERNAL = pl.col("cause_of_death").str.contains("^[VWXY]")
INJURY = ["injury_date", "injury_time", "injury_county_code", "injury_census"]


@pytest.fixture(scope="module")
def certificates() -> pl.DataFrame:
    return datasets.load(NAME)


def share(frame: pl.DataFrame, condition: pl.Expr) -> float:
    return frame.filter(condition).height / frame.height


def years() -> pl.Expr:
    return pl.col("age_in_days") / 365.2425


def column_of(name: str) -> dict[str, list[str]]:
    lines = csv.reader(read_text(f"hierarchies/{NAME}/{name}.csv").splitlines())
    return {line[0]: line[1:] for line in lines}


def test_shape_is_that_of_the_thesis(certificates: pl.DataFrame) -> None:
    assert certificates.shape == (216_000, 36)


def test_same_bytes_on_every_machine() -> None:
    text = datasets.load(NAME, rows=200).write_csv()
    assert (
        hashlib.sha256(text.encode()).hexdigest()
        == "cfe1dcb4984bf0e7cd39e817eaeec34e502eafbdd38669a943d6ea5a368894c3"
    )


@pytest.mark.parametrize("rows", [1, 2, 777])
def test_first_rows_do_not_depend_on_their_number(certificates: pl.DataFrame, rows: int) -> None:
    assert datasets.load(NAME, rows=rows).equals(certificates.head(rows))


def test_another_seed_gives_other_certificates() -> None:
    one, other = (datasets.load(NAME, rows=2000, seed=seed) for seed in (4, 5))
    assert one.equals(datasets.load(NAME, rows=2000, seed=4))
    for column in one.columns:
        assert not one[column].equals(other[column]), column


def test_levels_range_from_one_to_six() -> None:
    found = levels()
    assert list(found) == [column.name for column in INFO.columns]
    assert set(found.values()) == {1, 2, 3, 4, 5, 6}
    assert found["race"] == 4
    assert found["sex"] == 1
    assert found["age_in_days"] == 6


def test_levels_are_those_of_the_hierarchies_that_are_built(
    certificates: pl.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    datasets.export_hierarchies(NAME, ".")
    policy = Policy.from_mapping(
        {"attributes": attributes(), "privacy": [{"k-anonymity": {"k": 2}}], "method": "mondrian"}
    )
    built = prepare(certificates, policy).hierarchies
    assert {name: built[name].height for name in built} == levels()


@pytest.mark.parametrize("size", [3, 8, 12, 24])
def test_m_subsets_hold_the_deepest_attributes(size: int) -> None:
    found, inside = levels(), subsets()[f"m{size:02}"]
    assert len(set(inside)) == size
    outside = set(found) - set(inside)
    assert min(found[name] for name in inside) >= max(found[name] for name in outside)


@pytest.mark.parametrize("size", [3, 8, 12, 24])
def test_r_subsets_are_no_choice_by_depth(size: int) -> None:
    found, inside = levels(), subsets()[f"r{size:02}"]
    assert len(set(inside)) == size
    assert set(inside) <= set(found)
    outside = set(found) - set(inside)
    assert min(found[name] for name in inside) < max(found[name] for name in outside)


def test_subsets_do_not_change() -> None:
    assert subsets()["m03"] == ("age_in_days", "cause_of_death", "injury_time")
    assert subsets()["r03"] == ("education", "manner_of_death", "pregnant")
    assert set(subsets()["m08"]) < set(subsets()["m12"]) < set(subsets()["m24"])


def test_attributes_of_a_subset_are_quasi_identifiers_in_the_order_of_the_data() -> None:
    found = attributes("r12")
    assert tuple(found) == subsets()["r12"]
    assert {each["role"] for each in found.values()} == {"quasi"}
    assert len(attributes()) == 36


def test_unknown_subset_and_column_are_refused_with_the_nearest_one() -> None:
    with pytest.raises(ParameterError, match=r"No subset 'r13'\. Did you mean 'r\d\d'\?"):
        attributes("r13")
    with pytest.raises(ParameterError, match=r"No column 'rase'.*Did you mean 'race'\?"):
        attributes(["sex", "rase"])


def test_example_policy_has_the_hierarchies_of_the_data() -> None:
    written = yaml.safe_load(datasets.policy(NAME))["attributes"]
    quasi = {
        name: {"role": each} if isinstance(each, str) else each
        for name, each in written.items()
        if (each if isinstance(each, str) else each["role"]) == "quasi"
    }
    assert quasi == attributes(quasi)
    assert len(quasi) == 7


def test_all_attributes_can_be_anonymized_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    datasets.export_hierarchies(NAME, ".")
    release = incrowd.anonymize(
        datasets.load(NAME, rows=3000),
        {"attributes": attributes(), "privacy": [{"k-anonymity": {"k": 3}}], "method": "mondrian"},
    )
    assert release.manifest["records"]["published"] == 3000
    assert len(release.data.columns) == 36


def test_every_file_is_the_hierarchy_of_a_column() -> None:
    files = {each.removesuffix(".csv") for each in list_names(f"hierarchies/{NAME}")}
    assert len(files) == 22
    assert files <= {column.name for column in INFO.columns}


def test_missing_cells_are_few_but_for_the_injuries(certificates: pl.DataFrame) -> None:
    missing = {name: n for name, n in certificates.null_count().row(0, named=True).items() if n}
    few = {"census_tract", "city_of_birth", "date_of_birth", "education", "time_of_death"}
    assert set(missing) == few | set(INJURY)
    assert all(missing[name] < 0.04 * certificates.height for name in few)
    assert all(missing[name] > 0.9 * certificates.height for name in INJURY)


def test_outliers_are_rare_values_and_impossible_numbers(certificates: pl.DataFrame) -> None:
    unknown = certificates.filter(pl.col("age_in_days") == 99_999)
    assert 20 < unknown.height < 150
    assert unknown["date_of_birth"].null_count() == unknown.height
    assert 0.01 < share(certificates, pl.col("education") == 99) < 0.05
    assert certificates.filter(years() > 108, pl.col("age_in_days") < 99_999).height > 0
    for column, below in (
        ("race", 100),
        ("cause_of_death", 50),
        ("motor_vehicle_accident", 60),
        ("place_of_death_state", 30),
        ("city_of_birth", 60),
        ("zipcode", 100),
    ):
        smallest = certificates[column].drop_nulls().value_counts()["count"].min()
        assert 0 < int(str(smallest)) < below, column


def test_frequent_values_dominate(certificates: pl.DataFrame) -> None:
    for column, value, low, high in (
        ("race", "White", 0.65, 0.85),
        ("manner_of_death", "Natural", 0.88, 0.96),
        ("citizenship", "United States", 0.97, 0.995),
        ("place_of_death_city", "Marlow", 0.8, 0.95),
        ("disposition_method", "Burial", 0.6, 0.8),
    ):
        assert low < share(certificates, pl.col(column) == value) < high, column


@pytest.mark.parametrize(
    ("what", "impossible"),
    [
        ("pregnant man", ~pl.col("pregnant").eq("Not applicable") & (pl.col("sex") == "Male")),
        (
            "husband of a man",
            (pl.col("informant_relationship") == "Husband") & pl.col("sex").eq("Male"),
        ),
        ("wed child", (pl.col("marital_status") != "Never married") & (years() < 15.9)),
        ("veteran as a child", (pl.col("us_veteran") == "Yes") & (years() < 16)),
        ("college without school", (pl.col("college") > 0) & (pl.col("education") < 12)),
        ("working child", (pl.col("occupation_code") != "915") & (years() < 15.9)),
        (
            "cancer of male organs of a woman",
            pl.col("cause_of_death").is_in(["C61", "C62"]) & pl.col("sex").eq("Female"),
        ),
        ("injury after the death", pl.col("injury_date") > pl.col("date_of_death")),
        ("injury before the birth", pl.col("injury_date") < pl.col("date_of_birth")),
        ("natural death with an injury", ~EXTERNAL & pl.col("injury_date").is_not_null()),
        (
            "half of the day that the time is not in",
            (pl.col("injury_time") >= 1200) & (pl.col("injury_am_pm") != "PM"),
        ),
        ("time that no clock shows", pl.col("time_of_death") % 100 >= 60),
        (
            "death at home in a state that is not",
            (pl.col("place_of_death_city") == "Out of state")
            == pl.col("place_of_death_state").eq("Wabaska"),
        ),
        (
            "traffic without a vehicle by illness",
            (pl.col("motor_vehicle_accident") == "Yes") & ~EXTERNAL,
        ),
        (
            "tract inside for a county outside",
            (pl.col("injury_county_code") != "049") & (pl.col("injury_census") != "9999"),
        ),
    ],
)
def test_nobody_is(certificates: pl.DataFrame, what: str, impossible: pl.Expr) -> None:
    known = certificates.filter(pl.col("age_in_days") < 99_999)
    assert known.filter(impossible).is_empty(), what


def test_age_is_the_days_from_birth_to_death(certificates: pl.DataFrame) -> None:
    known = certificates.drop_nulls("date_of_birth")
    days = (known["date_of_death"] - known["date_of_birth"]).dt.total_days()
    assert days.equals(known["age_in_days"], check_names=False)
    assert certificates["date_of_death"].dt.year().unique().sort().to_list() == list(
        range(1987, 2011)
    )


def test_attributes_hang_together(certificates: pl.DataFrame) -> None:
    black = certificates.filter(pl.col("race") == "Black")
    white = certificates.filter(pl.col("race") == "White")
    assert float(str(black["age_in_days"].mean())) < float(str(white["age_in_days"].mean())) - 1500
    homicide = pl.col("manner_of_death") == "Homicide"
    young = certificates.filter(years().is_between(16, 30))
    assert share(young, homicide) > 8 * share(certificates, homicide)
    assert share(certificates.filter(homicide), pl.col("autopsy") == "Yes") > 0.7
    assert share(certificates, pl.col("autopsy") == "Yes") < 0.2
    men = certificates.filter(pl.col("sex") == "Male")
    women = certificates.filter(pl.col("sex") == "Female")
    assert share(men, pl.col("us_veteran") == "Yes") > 15 * share(
        women, pl.col("us_veteran") == "Yes"
    )
    dementia = pl.col("cause_of_death").is_in(["F03", "G30"])
    nursing = pl.col("place_of_death_code") == "Nursing home"
    assert share(certificates.filter(nursing), dementia) > 1.3 * share(certificates, dementia)


def test_categories_of_occupations_are_those_of_the_codes_but_for_a_few(
    certificates: pl.DataFrame,
) -> None:
    category = {row["code"]: row["category"] for row in rows_of("occupations")}
    expected = certificates["occupation_code"].replace_strict(category)
    differ = certificates.filter(pl.col("occupation_category") != expected)
    assert set(differ["occupation_category"]) == {"Not classifiable"}
    assert 0.01 < differ.height / certificates.height < 0.05


def test_hierarchies_agree_with_the_tables() -> None:
    descent = {row["race"]: row["origin"] for row in rows_of("origins")}
    assert {race: labels[0] for race, labels in column_of("race").items()} == descent
    assert set(column_of("city_of_birth")) == {row["city"] for row in rows_of("cities")}
    assert column_of("census_tract") == column_of("injury_census")
    assert set(column_of("pregnant")) == set(choice("pregnant").values)
