r"""Draws who died: origin, age, home, schooling and work.

race -> descent -> state of birth -> city of birth, citizenship
            \
             zip -> census tract
sex, descent -> age, date of birth -> stage of life -> marital status -> informant
                        \
                         cohort -> education, college -> occupation -> industry, farm
                            \
                             veteran
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from incrowd._runtime.arrays import BoolArray
from incrowd.datasets.blood_transfusions.tables import Drawn, blanked, bounds, yes_no
from incrowd.datasets.death_certificates._tables import (
    both,
    choice,
    draw,
    draw_part,
    group,
    parts,
    rows_of,
)
from incrowd.datasets.draws import Days, Draws, Indices

DrawnColumns = dict[str, pl.Series | Indices | Days]

DAYS_OF_A_YEAR = 365.2425
FEMALE_SHARE = 0.505
UNKNOWN_AGE = 99_999  # written where nobody knew the age; the date of birth is then missing
UNKNOWN_AGE_SHARE = 0.0003
MISSING_TRACT, MISSING_CITY, MISSING_EDUCATION = 0.015, 0.02, 0.004
MISCODED_CATEGORY = 0.03  # of the occupations whose category is "Not classifiable"
COHORTS = ("before 1900", "1900 to 1919", "1920 to 1939", "1940 to 1959", "after 1959")
COHORT_STARTS = (1900, 1920, 1940, 1960)
GROWN, DIPLOMA = 16, 12
FARM_SHARE, FARM_SHARE_OF_FARMERS, FARM_SHARE_ELSEWHERE = 0.004, 0.4, 0.12


@dataclass(frozen=True)
class Deceased:
    """Who died, and what the circumstances hang on."""

    sex: Drawn
    stage: Drawn
    years: Indices
    died: Days
    zip: Drawn
    side: Drawn
    tract: Drawn
    columns: DrawnColumns


def draw_people(draws: Draws) -> Deceased:
    """Return who died and the columns about them."""
    race = draw(draws, "race")
    origin = group(race, {row["race"]: row["origin"] for row in rows_of("origins")})
    sex = Drawn(("Female", "Male"), np.where(draws.chance("sex", FEMALE_SHARE), 0, 1))
    died = _days_of_death(draws)
    age = _ages(draws, both(origin, sex))
    born = died - age.astype("timedelta64[D]")
    years = np.floor((age + 0.5) / DAYS_OF_A_YEAR).astype(np.int64)
    stage = _stages(years)
    cohort = _cohorts(born)
    unknown = draws.chance("age unknown", UNKNOWN_AGE_SHARE)
    zips, side, tract = _homes(draws, origin)
    columns: DrawnColumns = {
        "race": race.labels(),
        "sex": sex.labels(),
        "age_in_days": np.where(unknown, UNKNOWN_AGE, age),
        "date_of_birth": blanked(born.astype("datetime64[D]"), unknown),
        "date_of_death": died,
        "zipcode": zips.labels(),
        "census_tract": tract.labels(draws.chance("no tract", MISSING_TRACT)),
    }
    columns |= _origins(draws, origin)
    columns |= _work(draws, sex, years, cohort, side)
    columns |= _family(draws, sex, stage, cohort, years)
    return Deceased(sex, stage, years, died, zips, side, tract, columns)


def _days_of_death(draws: Draws) -> Days:
    year, month = draw(draws, "death_year"), draw(draws, "death_month")
    first = np.array([int(value) for value in year.values], dtype=np.int64)[year.index]
    months = ((first - 1970) * 12 + month.index).astype("datetime64[M]")
    start = months.astype("datetime64[D]")
    length = ((months + 1).astype("datetime64[D]") - start).astype(np.int64)
    day: Days = start + (draws.uniform("death day") * length).astype("timedelta64[D]")
    return day


def _ages(draws: Draws, who: Drawn) -> Indices:
    """Return ages in days; of those who die as infants most do in the first weeks."""
    band = draw(draws, "age", who)
    low, high = bounds(band.values)
    start, length = low[band.index], (high - low + 1)[band.index]
    part = draws.uniform("age in its band")
    part = np.where(band.index == 0, part * part * part * part, part)
    days: Indices = np.floor((start + part * length) * DAYS_OF_A_YEAR).astype(np.int64)
    return days


def _stages(years: Indices) -> Drawn:
    rows = rows_of("stages")
    starts = [int(row["from"]) for row in rows]
    names = tuple(row["stage"] for row in rows)
    return Drawn(names, np.searchsorted(starts, years, side="right") - 1)


def _cohorts(born: Days) -> Drawn:
    year = born.astype("datetime64[Y]").astype(np.int64) + 1970
    return Drawn(COHORTS, np.searchsorted(COHORT_STARTS, year, side="right"))


def _homes(draws: Draws, origin: Drawn) -> tuple[Drawn, Drawn, Drawn]:
    """Return where people lived: the area, on which side of the county, and the census tract."""
    rows = rows_of("zips")
    weights = np.array([[float(row[name]) for row in rows] for name in origin.values])
    zips = Drawn(tuple(row["zip"] for row in rows), draws.choose("zipcode", weights, origin.index))
    side = group(zips, {row["zip"]: row["side"] for row in rows})
    table = parts("tracts", "tract", "zip")
    inside = group(
        zips, {each: each if each in table.wholes else "Elsewhere" for each in zips.values}
    )
    return zips, side, draw_part(draws, "census_tract", table, inside)


def _origins(draws: Draws, origin: Drawn) -> DrawnColumns:
    state = draw(draws, "state_of_birth", origin)
    city = draw_part(draws, "city_of_birth", parts("cities", "city", "state"), state)
    countries = choice("citizenship").given
    born = group(state, {each: each if each in countries else "born here" for each in state.values})
    return {
        "state_of_birth": state.labels(),
        "city_of_birth": city.labels(draws.chance("no city of birth", MISSING_CITY)),
        "citizenship": draw(draws, "citizenship", born).labels(),
    }


def _work(draws: Draws, sex: Drawn, years: Indices, cohort: Drawn, side: Drawn) -> DrawnColumns:
    """Return schooling and work; children have as many years at school as their age allows."""
    school = draw(draws, "education", cohort)
    grade = np.array([int(value) for value in school.values], dtype=np.int64)[school.index]
    grade = np.where(years < GROWN, np.clip(years - 6, 0, DIPLOMA - 3), grade)
    able = (grade == DIPLOMA) & (years > GROWN + 2)
    college = np.where(able, draw(draws, "college", cohort).index, 0)
    college = np.where(years < GROWN + 8, np.minimum(college, 2), college)
    level = np.where(grade < DIPLOMA, 0, np.where(college >= 2, 2, 1))
    who = both(Drawn(("No diploma", "Diploma", "College"), level), sex)
    drawn = draw(draws, "occupation_category", who)
    table = parts("occupations", "code", "category")
    code = draw_part(draws, "occupation_code", table, drawn)
    child = years < GROWN
    never = drawn.values.index("Never worked")
    category = Drawn(drawn.values, np.where(child, never, drawn.index))
    code = Drawn(code.values, np.where(child, code.values.index("915"), code.index))
    unclear = draws.chance("category unclear", MISCODED_CATEGORY) & ~child
    unclear_place = category.values.index("Not classifiable")
    shown = Drawn(category.values, np.where(unclear, unclear_place, category.index))
    farm = np.where(category.among("Farm and forest"), FARM_SHARE_OF_FARMERS, FARM_SHARE)
    farm = np.where(side.among("Elsewhere"), np.maximum(farm, FARM_SHARE_ELSEWHERE), farm)
    return {
        "education": blanked(grade, draws.chance("no education", MISSING_EDUCATION)),
        "college": college,
        "occupation_category": shown.labels(),
        "occupation_code": code.labels(),
        "industry": draw(draws, "industry", category).labels(),
        "farm": yes_no(draws.chance("farm", farm)),
    }


def _family(draws: Draws, sex: Drawn, stage: Drawn, cohort: Drawn, years: Indices) -> DrawnColumns:
    marital = draw(draws, "marital_status", both(stage, sex))
    wed = marital.among("Married", "Common law")
    minor: BoolArray = years < GROWN
    who = np.select([minor, wed & (sex.index == 0), wed, years < 45], [0, 1, 2, 3], 4)
    names = ("minor", "wed woman", "wed man", "single, young", "single, older")
    veteran = draw(draws, "us_veteran", both(cohort, sex))
    served = Drawn(veteran.values, np.where(years < GROWN + 2, 0, veteran.index))
    return {
        "marital_status": marital.labels(),
        "informant_relationship": draw(draws, "informant_relationship", Drawn(names, who)).labels(),
        "us_veteran": served.labels(),
    }
