import csv
import hashlib
from typing import Any

import polars as pl
import pytest
import yaml

from incrowd import datasets
from incrowd.datasets.blood_transfusions.tables import area_of_district, bounds, choice, facts
from incrowd.datasets.resources import list_names, read_text

NAME = "blood-transfusions"
GROUPS = {"O+", "A+", "B+", "AB+", "O-", "A-", "B-", "AB-"}
OPERATIONS = {
    "Bowel resection",
    "Tumour removal",
    "Heart operation",
    "Vascular operation",
    "Kidney operation",
    "Joint replacement",
    "Fracture fixation",
    "Skin graft",
    "Hysterectomy",
    "Caesarean section",
}
HIERARCHIES = [each.removesuffix(".csv") for each in list_names(f"hierarchies/{NAME}")]


@pytest.fixture(scope="module")
def incidents() -> pl.DataFrame:
    return datasets.load(NAME)


@pytest.fixture(scope="module")
def many() -> pl.DataFrame:
    return datasets.load(NAME, rows=60_000, seed=3)


def share(frame: pl.DataFrame, condition: pl.Expr) -> float:
    return frame.filter(condition).height / frame.height


def mean(frame: pl.DataFrame, column: str) -> float:
    return float(str(frame[column].mean()))


def attributes() -> dict[str, Any]:
    return dict(yaml.safe_load(datasets.policy(NAME))["attributes"])


def role(value: Any) -> str:
    return value if isinstance(value, str) else value["role"]


def quasi() -> list[str]:
    return [name for name, value in attributes().items() if role(value) == "quasi"]


def hierarchy(column: str) -> dict[str, list[str]]:
    lines = csv.reader(read_text(f"hierarchies/{NAME}/{column}.csv").splitlines())
    return {line[0]: line[1:] for line in lines}


def top(column: str, values: pl.Series) -> pl.Series:
    """The label below * of each value, empty where the value is missing."""
    labels = {value: line[-2] for value, line in hierarchy(column).items()}
    return values.replace_strict(labels, default=None)


def has(antigen: str) -> pl.Expr:
    return pl.col("blood_group").str.contains(antigen)


def test_shape(incidents: pl.DataFrame) -> None:
    assert incidents.shape == (10_000, 62)
    assert set(incidents["blood_group"]) == GROUPS
    assert incidents["diagnosis"].n_unique() == 15


def test_roles_are_those_of_the_paper() -> None:
    roles = [role(value) for value in attributes().values()]
    assert {each: roles.count(each) for each in roles} == {
        "quasi": 41,
        "sensitive": 1,
        "keep": 19,
        "target": 1,
    }
    assert role(attributes()["diagnosis"]) == "sensitive"
    assert role(attributes()["blood_group"]) == "target"


def test_policy_asks_for_the_privacy_of_the_paper() -> None:
    policy = yaml.safe_load(datasets.policy(NAME))
    assert policy["privacy"] == [{"lkc": {"L": 4, "K": 20, "C": 0.2, "sensitive": "diagnosis"}}]
    assert policy["method"] == "top-down-specialization"
    assert policy["goal"] == "classification"


def test_numeric_quasi_identifiers_are_told_and_have_no_hierarchy(incidents: pl.DataFrame) -> None:
    numeric = {name for name in quasi() if incidents[name].dtype != pl.String}
    assert len(numeric) == 14
    for name in quasi():
        value = attributes()[name]
        told = isinstance(value, dict) and value.get("type") == "numeric"
        assert told == (name in numeric)
        assert not (told and "hierarchy" in value)


def test_same_bytes_on_every_machine() -> None:
    text = datasets.load(NAME, rows=200).write_csv()
    assert (
        hashlib.sha256(text.encode()).hexdigest()
        == "1a1cdd40d257ce3f669ffcc154fde89537e1211d1221cecee2789ec52418c353"
    )


@pytest.mark.parametrize("rows", [1, 2, 777, 12_000])
def test_first_rows_do_not_depend_on_their_number(incidents: pl.DataFrame, rows: int) -> None:
    some = datasets.load(NAME, rows=rows)
    assert some.height == rows
    both = min(rows, incidents.height)
    assert some.head(both).equals(incidents.head(both))


def test_another_seed_gives_other_incidents() -> None:
    one, other = (datasets.load(NAME, rows=1000, seed=seed) for seed in (4, 5))
    assert one.equals(datasets.load(NAME, rows=1000, seed=4))
    for column in one.columns:
        assert not one[column].equals(other[column]), column


def test_missing_cells_are_few_and_only_where_described(incidents: pl.DataFrame) -> None:
    missing = {name: n for name, n in incidents.null_count().row(0, named=True).items() if n}
    assert set(missing) == {"weight_kg", "education", "religion", "ferritin", "c_reactive_protein"}
    assert all(50 < missing[name] < 250 for name in ("weight_kg", "education", "religion"))
    assert 0.1 < missing["ferritin"] / incidents.height < 0.3
    assert 0.03 < missing["c_reactive_protein"] / incidents.height < 0.15


def test_categories_of_more_than_four_values_have_a_hierarchy(incidents: pl.DataFrame) -> None:
    large = {
        name
        for name in quasi()
        if incidents[name].dtype == pl.String and incidents[name].drop_nulls().n_unique() > 4
    }
    assert large | {"family_donor_card"} == set(HIERARCHIES)
    assert len(large) == 21


@pytest.mark.parametrize("column", HIERARCHIES)
def test_every_value_is_in_its_hierarchy_and_comes_down_from_two_branches(
    many: pl.DataFrame, column: str
) -> None:
    lines = hierarchy(column)
    assert set(many[column].drop_nulls()) <= set(lines)
    assert len({labels[-2] for labels in lines.values()}) == 2


def test_hierarchies_have_two_to_four_levels_above_the_values() -> None:
    levels = {column: len(next(iter(hierarchy(column).values()))) for column in HIERARCHIES}
    assert set(levels.values()) == {2, 3, 4}
    assert levels["occupation"] == 4


def test_districts_lie_in_the_areas_of_the_table() -> None:
    assert {name: labels[0] for name, labels in hierarchy("district").items()} == area_of_district()


@pytest.mark.parametrize("table", ["family_donations", "register_years", "call_months", "age"])
def test_ranges_of_the_tables_follow_each_other(table: str) -> None:
    low, high = bounds(choice(table).values)
    assert low[0] == 0
    assert (low[1:] == high[:-1] + 1).all()


def test_tables_of_the_blood_group_name_all_groups() -> None:
    for table in ("diet", "donor_centre", "donor_programme", "register_years", "call_months"):
        assert set(choice(table).given) == GROUPS
    assert all(set(column) == GROUPS for column in facts("groups").values())


@pytest.mark.parametrize(
    ("what", "impossible"),
    [
        ("pregnant man", (pl.col("pregnant") == "Yes") & (pl.col("sex") == "Male")),
        ("pregnant child", (pl.col("pregnant") == "Yes") & (pl.col("age") < 15)),
        ("pregnant at an old age", (pl.col("pregnant") == "Yes") & (pl.col("age") > 44)),
        (
            "man giving birth",
            (pl.col("diagnosis") == "Pregnancy and childbirth") & (pl.col("sex") == "Male"),
        ),
        (
            "man in a ward for women",
            pl.col("ward").is_in(["Obstetrics", "Gynaecology"]) & (pl.col("sex") == "Male"),
        ),
        (
            "operation of women on a man",
            pl.col("procedure").is_in(["Hysterectomy", "Caesarean section"])
            & (pl.col("sex") == "Male"),
        ),
        (
            "birth without a pregnancy",
            (pl.col("procedure") == "Caesarean section")
            & (pl.col("diagnosis") != "Pregnancy and childbirth"),
        ),
        ("grown-up among children", (pl.col("ward") == "Paediatrics") & (pl.col("age") >= 15)),
        ("young among the old", (pl.col("ward") == "Geriatrics") & (pl.col("age") < 65)),
        (
            "working child",
            pl.col("employment").is_in(["Full time", "Part time", "Self-employed", "Retired"])
            & (pl.col("age") < 15),
        ),
        (
            "profession before its age",
            pl.col("occupation").is_in(["Doctor", "Nurse", "Teacher", "Engineer", "Manager"])
            & (pl.col("age") < 25),
        ),
        (
            "doctor without a degree",
            (pl.col("occupation") == "Doctor")
            & ~pl.col("education").is_in(
                ["Associate degree", "Bachelor degree", "Postgraduate degree"]
            ),
        ),
        ("married child", (pl.col("marital_status") != "Never married") & (pl.col("age") < 18)),
        ("child with children", (pl.col("children") > 0) & (pl.col("age") < 18)),
        ("child alone at home", (pl.col("household_size") < 2) & (pl.col("age") < 18)),
        ("smoking child", (pl.col("smoker") == "Yes") & (pl.col("age") < 15)),
        (
            "degree before its age",
            pl.col("education").str.contains("degree") & (pl.col("age") < 18),
        ),
        (
            "reaction to a transfusion that never was",
            (pl.col("previous_reaction") == "Yes") & (pl.col("previous_transfusions") == 0),
        ),
        (
            "blood loss in an operation that never was",
            (pl.col("reason") == "Blood loss in an operation")
            & ~pl.col("procedure").is_in(OPERATIONS),
        ),
        (
            "sent by a care home without living in one",
            (pl.col("admission_source") == "Care home") & (pl.col("housing") != "Care home"),
        ),
        ("old red cells", (pl.col("component") == "Red cells") & (pl.col("unit_age_days") > 42)),
        ("old platelets", (pl.col("component") == "Platelets") & (pl.col("unit_age_days") > 5)),
        ("more donors than donations", pl.col("family_donors") > pl.col("family_donations")),
        (
            "card that was not earned",
            (pl.col("family_donor_card") == "Gold") != (pl.col("family_donations") >= 25),
        ),
        ("no unit", pl.col("units") < 1),
    ],
)
def test_nobody_is(many: pl.DataFrame, what: str, impossible: pl.Expr) -> None:
    known = many.filter(pl.col("education").is_not_null())
    assert known.filter(impossible).is_empty(), what


def test_numbers_stay_in_plausible_ranges(many: pl.DataFrame) -> None:
    for column, low, high in (
        ("age", 0, 97),
        ("height_cm", 45, 200),
        ("weight_kg", 3, 130),
        ("household_size", 1, 12),
        ("length_of_stay", 0, 80),
        ("waiting_days", 0, 40),
        ("systolic_pressure", 50, 200),
        ("units", 1, 20),
        ("haemoglobin_before", 3, 14),
        ("inr", 0.9, 5),
        ("unit_age_days", 1, 300),
    ):
        assert low <= float(str(many[column].min())) < float(str(many[column].max())) <= high


def test_the_most_frequent_group_is_two_fifths(incidents: pl.DataFrame) -> None:
    shares = incidents["blood_group"].value_counts(sort=True, normalize=True)
    assert shares.row(0)[0] == "O+"
    assert shares.row(0)[1] == pytest.approx(0.4, abs=0.02)
    assert incidents.filter(pl.col("blood_group") == "AB-").height > 20


@pytest.mark.parametrize(
    ("condition", "antigen"),
    [
        (pl.col("diet").is_in(["Vegan", "Vegetarian", "Rice and greens", "Fish and greens"]), "A"),
        (pl.col("donor_centre").str.contains("Clock|Ferry|Jade|Lantern|Mill|Market C"), "A"),
        (pl.col("register_years") < 9, "A"),
        (pl.col("family_donor_group").is_in(["A", "AB"]), "A"),
        (pl.col("call_months") >= 15, "B"),
        (pl.col("donor_programme").str.contains("line|Standby"), "B"),
        (pl.col("mother_tongue").is_in(["Mandarin", "Shanghainese", "Northern dialect"]), "B"),
        (pl.col("ancestral_region").str.contains("Plain|Wheat|Lake|Gorges|Basin|Passes"), "B"),
        (pl.col("family_donations") >= 10, "O"),
        (pl.col("family_donors") >= 2, "O"),
    ],
)
def test_coarse_halves_of_ten_quasi_identifiers_tell_of_the_group(
    incidents: pl.DataFrame, condition: pl.Expr, antigen: str
) -> None:
    yes, no = incidents.filter(condition), incidents.filter(~condition)
    assert min(yes.height, no.height) > 0.25 * incidents.height
    assert share(yes, has(antigen)) > 1.5 * share(no, has(antigen))


def test_votes_of_coarse_halves_tell_most_of_the_group(incidents: pl.DataFrame) -> None:
    """A vote of three on each antigen, as a tree could learn it, names most ABO groups."""
    antigen_a = [
        top("diet", incidents["diet"]) == "Plant-based",
        top("donor_centre", incidents["donor_centre"]) == "Western ring",
        incidents["register_years"] < 9,
    ]
    antigen_b = [
        top("ancestral_region", incidents["ancestral_region"]) == "Northern descent",
        top("donor_programme", incidents["donor_programme"]) == "Special lines",
        incidents["call_months"] >= 15,
    ]
    right = [
        (pl.sum_horizontal(votes) >= 2) == has(antigen)
        for votes, antigen in ((antigen_a, "A"), (antigen_b, "B"))
    ]
    assert share(incidents, right[0] & right[1]) > 0.65


def test_laboratory_tells_less_of_the_group(incidents: pl.DataFrame) -> None:
    group_o, others = incidents.filter(has("O")), incidents.filter(~has("O"))
    assert mean(group_o, "von_willebrand_factor") < mean(others, "von_willebrand_factor") - 30
    phosphatase = [
        mean(incidents.filter(pl.col("blood_group") == group), "alkaline_phosphatase")
        for group in ("A+", "O+", "B+")
    ]
    assert phosphatase == sorted(phosphatase)


def test_rare_blood_takes_longer_and_comes_from_the_panel(incidents: pl.DataFrame) -> None:
    rare, common = incidents.filter(has("-")), incidents.filter(~has("-"))
    assert mean(rare, "waiting_days") > mean(common, "waiting_days") + 0.8
    panel = pl.col("donor_programme") == "Standby panel"
    assert share(rare, panel) > 1.5 * share(common, panel)
    europe = incidents.filter(pl.col("ancestral_region") == "Europe")
    assert share(europe, has("-")) > 3 * share(incidents, has("-"))


def test_no_diagnosis_is_frequent_and_none_is_absent(incidents: pl.DataFrame) -> None:
    shares = incidents["diagnosis"].value_counts(sort=True, normalize=True)["proportion"]
    assert len(shares) == 15
    assert shares[0] < 0.11
    assert shares[-1] > 0.015


def halves(frame: pl.DataFrame, column: str) -> list[pl.DataFrame]:
    """The records below and above the median, under each top label, or of each value."""
    values = frame[column]
    if values.dtype != pl.String:
        half = pl.Series("half", values <= values.median()).cast(pl.String)
    elif column in HIERARCHIES:
        half = top(column, values).alias("half")
    else:
        half = values.alias("half")
    return frame.with_columns(half).drop_nulls("half").partition_by("half")


def test_coarse_splits_leave_every_diagnosis_below_a_fifth(incidents: pl.DataFrame) -> None:
    worst = {
        column: max(
            float(str(part["diagnosis"].value_counts(normalize=True)["proportion"].max()))
            for part in halves(incidents, column)
        )
        for column in quasi()
    }
    assert {column for column in worst if worst[column] > 0.2} == {"pregnant", "previous_reaction"}
    assert sum(value > 0.14 for value in worst.values()) <= 4


def test_diagnosis_hangs_on_age_sex_and_ward(incidents: pl.DataFrame) -> None:
    circulatory = pl.col("diagnosis") == "Diseases of the circulatory system"
    old, young = incidents.filter(pl.col("age") >= 60), incidents.filter(pl.col("age") < 30)
    assert share(old, circulatory) > 1.5 * share(young, circulatory)
    congenital = pl.col("diagnosis") == "Congenital anomalies"
    assert share(incidents.filter(pl.col("age") < 15), congenital) > 2 * share(old, congenital)
    injury = pl.col("diagnosis") == "Injury and poisoning"
    bones = incidents.filter(pl.col("ward") == "Orthopaedics")
    assert share(bones, injury) > 2 * share(incidents, injury)


def test_diagnosis_has_nothing_to_do_with_the_group(many: pl.DataFrame) -> None:
    by_group = many.group_by(has("O")).agg(
        (pl.col("diagnosis") == "Neoplasms").mean().alias("share")
    )["share"]
    assert by_group[0] == pytest.approx(by_group[1], abs=0.01)


def test_transfusion_fits_its_reason(incidents: pl.DataFrame) -> None:
    low = incidents.filter(pl.col("reason") == "Low platelets")
    assert mean(low, "platelets") < 50
    assert share(low, pl.col("component") == "Platelets") > 0.9
    clotting = incidents.filter(pl.col("reason") == "Clotting disorder")
    assert mean(clotting, "inr") > mean(incidents, "inr") + 0.5
    injury = incidents.filter(pl.col("reason") == "Injury")
    anaemia = incidents.filter(pl.col("reason") == "Chronic anaemia")
    assert mean(injury, "units") > mean(anaemia, "units") + 0.5
    assert mean(injury, "waiting_days") < mean(anaemia, "waiting_days") - 2
    red = incidents.filter(pl.col("component") == "Red cells")
    assert mean(red, "haemoglobin_after") > mean(red, "haemoglobin_before") + 0.8
    assert mean(red, "haemoglobin_before") < 8.5


def test_people_hang_together(incidents: pl.DataFrame) -> None:
    grown = incidents.filter(pl.col("age") >= 18)
    men, women = grown.filter(pl.col("sex") == "Male"), grown.filter(pl.col("sex") == "Female")
    assert mean(men, "height_cm") > mean(women, "height_cm") + 8
    assert share(men, pl.col("smoker") == "Yes") > 3 * share(women, pl.col("smoker") == "Yes")
    poor = incidents.filter(pl.col("housing") == "Subdivided flat")
    rich = incidents.filter(pl.col("housing") == "Private own flat")
    assert mean(rich, "household_income") > 2 * mean(poor, "household_income")
    filipino = incidents.filter(pl.col("ethnicity") == "Filipino")
    assert share(filipino, pl.col("religion") == "Catholic") > 0.6
    island = incidents.filter(pl.col("district") == "Lighthouse Island")
    harbour = pl.col("hospital") == "Harbour General"
    assert share(incidents.filter(pl.col("district") == "Harbour Gate"), harbour) > 2 * share(
        island, harbour
    )
