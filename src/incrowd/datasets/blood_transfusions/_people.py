r"""Draws who the patients are.

ancestral region -> ethnicity -> religion        sex -> age -> stage of life
      |       \                                                  |
mother tongue  district -> hospital        employment, education, marital status, housing
                                               |           |
                                           insurance   occupation, children, household
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from incrowd._runtime.arrays import BoolArray
from incrowd.datasets.blood_transfusions.tables import (
    Drawn,
    area_of_district,
    blanked,
    bounds,
    choice,
    draw,
    facts,
    skewed,
    whole,
    yes_no,
)
from incrowd.datasets.draws import Draws, Floats, Indices

FEMALE_SHARE = 0.51
MISSING_RELIGION, MISSING_WEIGHT, MISSING_EDUCATION = 0.012, 0.015, 0.008
SOUTHERN_REGIONS = 8  # ancestral_region.csv lists them first
OLDER = 65
CHILD = 15
NO_CHILD_UNMARRIED = 0.9
HOUSING_INCOME = {  # dollars a month
    "Public rental flat": 17_000.0,
    "Subsidised own flat": 27_000.0,
    "Private rental flat": 31_000.0,
    "Private own flat": 46_000.0,
    "Village house": 28_000.0,
    "Subdivided flat": 12_000.0,
    "Staff quarters": 34_000.0,
    "Care home": 9_000.0,
}
SCHOOLING = {
    "Below primary": 0,
    "Primary": 0,
    "Lower secondary": 0,
    "Upper secondary": 1,
    "Vocational diploma": 1,
    "Associate degree": 2,
    "Bachelor degree": 2,
    "Postgraduate degree": 2,
}
AT_HOME = {  # share of the children who live with the patient
    "18-21": 1.0,
    "22-24": 1.0,
    "25-44": 1.0,
    "45-64": 0.55,
    "65-79": 0.2,
    "80-97": 0.15,
}


@dataclass(frozen=True)
class Patients:
    """Who the patients are, and what others of the drawing need to know of them."""

    sex: Drawn
    age: Indices
    age_band: Drawn
    stage: Drawn  # child, woman, man, older woman, older man
    region: Drawn
    housing: Drawn
    mass_index: Indices
    columns: dict[str, pl.Series | Indices]


def draw_people(draws: Draws) -> Patients:
    """Return the patients and their columns."""
    female = draws.chance("sex", FEMALE_SHARE)
    sex = Drawn(("Female", "Male"), np.where(female, 0, 1))
    age_band = draw(draws, "age", sex)
    low, high = bounds(age_band.values)
    start, end = low[age_band.index], high[age_band.index]
    age = start + whole(draws.uniform("age in its band") * (end - start + 1))
    life = _stage_of_life(age)
    region = draw(draws, "ancestral_region")
    housing = draw(draws, "housing", life)
    height, weight, mass_index = _body(draws, sex, age)
    columns: dict[str, pl.Series | Indices] = {
        "age": age,
        "sex": sex.labels(),
        "height_cm": height,
        "weight_kg": blanked(weight, draws.chance("no weight", MISSING_WEIGHT)),
        "smoker": yes_no(draws.chance("smoker", _smoking(female, age))),
    }
    columns |= _origin(draws, region)
    columns |= _life(draws, life, housing)
    columns["housing"] = housing.labels()
    stage = np.where(age < CHILD, 0, np.where(female, 1, 2) + np.where(age >= OLDER, 2, 0))
    return Patients(
        sex=sex,
        age=age,
        age_band=age_band,
        stage=Drawn(("child", "woman", "man", "older woman", "older man"), stage),
        region=region,
        housing=housing,
        mass_index=mass_index,
        columns=columns,
    )


def _stage_of_life(age: Indices) -> Drawn:
    stages = choice("employment").given
    low, _ = bounds(stages)
    return Drawn(stages, np.searchsorted(low, age, side="right") - 1)


def _body(draws: Draws, sex: Drawn, age: Indices) -> tuple[Indices, Indices, Indices]:
    """Return height in centimetres, weight in kilograms and the rounded body mass index."""
    growth = facts("growth")
    by_sex = np.array([list(growth[each].values()) for each in sex.values])
    grown = np.minimum(age, by_sex.shape[1] - 1)
    spread = np.minimum(2.0 + 0.3 * age, 6.0)
    shrunk = np.maximum(age - 60, 0) * 0.12
    height = np.rint(by_sex[sex.index, grown] + spread * draws.bell("height") - shrunk)
    index = np.array(list(growth["mass_index"].values()))[grown]
    index = index + np.clip(age - 18, 0, 40) * 0.06
    index = index * (1.0 + 0.14 * draws.bell("mass index"))
    weight = np.maximum(np.rint(index * height * height / 10_000.0), 3.0)
    return height.astype(np.int64), weight.astype(np.int64), np.rint(index).astype(np.int64)


def _smoking(female: BoolArray, age: Indices) -> Floats:
    adult = np.where(female, 0.05, 0.24)
    return np.where(age < 15, 0.0, np.where(age < 18, adult * 0.3, adult))


def _origin(draws: Draws, region: Drawn) -> dict[str, pl.Series | Indices]:
    ethnicity = draw(draws, "ethnicity", region)
    northern = (region.index >= SOUTHERN_REGIONS).astype(np.int64)
    district = draw(draws, "district", Drawn(("southern", "northern"), northern))
    areas = choice("hospital").given
    area = np.array([areas.index(area_of_district()[each]) for each in district.values])
    return {
        "ancestral_region": region.labels(),
        "ethnicity": ethnicity.labels(),
        "mother_tongue": draw(draws, "mother_tongue", region).labels(),
        "religion": draw(draws, "religion", ethnicity).labels(
            draws.chance("no religion told", MISSING_RELIGION)
        ),
        "district": district.labels(),
        "hospital": draw(draws, "hospital", Drawn(areas, area[district.index])).labels(),
    }


def _life(draws: Draws, life: Drawn, housing: Drawn) -> dict[str, pl.Series | Indices]:
    employment = draw(draws, "employment", life)
    education = draw(draws, "education", life)
    marital = draw(draws, "marital_status", life)
    children = _children(draws, life, marital)
    return {
        "marital_status": marital.labels(),
        "children": children,
        "household_size": _household_sizes(draws, life, marital, children, housing),
        "household_income": _incomes(draws, housing, employment),
        "education": education.labels(draws.chance("no education told", MISSING_EDUCATION)),
        "employment": employment.labels(),
        "occupation": _occupations(draws, life, education, employment).labels(),
        "insurance": draw(draws, "insurance", employment).labels(),
    }


def _occupations(draws: Draws, life: Drawn, education: Drawn, employment: Drawn) -> Drawn:
    """Return the present or last occupation, which fits age, schooling and employment."""
    classes = ("low", "middle", "high", "starting", "student", "home", "child")
    index = np.array([SCHOOLING[each] for each in education.values])[education.index]
    index = np.where(life.among("15-17", "18-21", "22-24"), classes.index("starting"), index)
    for status, name in (
        ("Student", "student"),
        ("Home-maker", "home"),
        ("Below school age", "child"),
    ):
        index = np.where(employment.among(status), classes.index(name), index)
    return draw(draws, "occupation", Drawn(classes, index))


def _children(draws: Draws, life: Drawn, marital: Drawn) -> Indices:
    children = draw(draws, "children", life).index
    none = marital.among("Never married") & draws.chance("no child", NO_CHILD_UNMARRIED)
    return np.where(none, 0, children)


def _household_sizes(
    draws: Draws, life: Drawn, marital: Drawn, children: Indices, housing: Drawn
) -> Indices:
    others = draws.choose("others in the household", np.array([66.0, 20.0, 9.0, 5.0]))
    partner = marital.among("Married", "Cohabiting").astype(np.int64)
    share = life.lookup({stage: AT_HOME.get(stage, 0.0) for stage in life.values})
    at_home = whole(children * share + draws.uniform("children at home") * 0.999)
    at_home = np.minimum(at_home, children)
    minor = life.among("0-5", "6-11", "12-14", "15-17")
    parents = 1 + draws.chance("second parent", 0.85).astype(np.int64)
    siblings = draws.choose("siblings", np.array([40.0, 45.0, 15.0]))
    sizes = 1 + others + np.where(minor, parents + siblings, partner + at_home)
    return np.where(housing.among("Care home"), 1, sizes)


def _incomes(draws: Draws, housing: Drawn, employment: Drawn) -> Indices:
    """Return dollars a month in steps of 500."""
    working = employment.among("Full time", "Self-employed", "Student", "Below school age")
    idle = employment.among("Retired", "Out of work")
    factor = np.where(working, 1.15, np.where(idle, 0.6, 0.9))
    middle = housing.lookup(HOUSING_INCOME) * factor
    dollars = middle * (0.45 + 0.5 * skewed(draws.uniform("household income")))
    return 500 * np.rint(dollars / 500.0).astype(np.int64)
