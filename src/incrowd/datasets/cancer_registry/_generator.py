r"""Draws the patients of the cancer registry, column by column, each given the ones before.

    zip -> area -> race            gender
               \     |            /
                topography -> site, histology -> age -> birth date
                     |                            |
                   stage -> size            survival -> recurrence

Stage, area and time to death stay hidden, as they would behind a table with fewer columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from incrowd._runtime.arrays import BoolArray
from incrowd.datasets.blood_transfusions.tables import Drawn
from incrowd.datasets.cancer_registry._tables import GENDERS, KINDS, course, people, tumors
from incrowd.datasets.draws import Days, Draws, Floats, Indices

FEMALE_SHARE = 0.495
LAST_CONTACT = np.datetime64("2015-12-31")
WEEKDAY_SHARE = 0.85  # of diagnoses that fall on a weekend and are dated by a day at work
ILL_DEFINED_SHARE = 0.015  # of tumors whose site was abstracted as "Other and ill-defined"
MISSING_RACE, MISSING_ZIP = 0.008, 0.006
SIZE_BY_STAGE = np.array([0.8, 1.15, 1.4])
UNMEASURED_BY_STAGE = np.array([0.08, 0.14, 0.3])
LARGEST_SIZE = 300
OLDEST = 100.0


@dataclass(frozen=True)
class _PatientIndices:
    """One index into the tables per patient and column."""

    gender: Indices
    zip: Indices
    race: Indices
    topography: Indices
    site: Indices
    histology: Indices
    stage: Indices


def generate(rows: int, seed: int) -> pl.DataFrame:
    """Return `rows` patients; the same seed gives the same patients, and the same first ones.

    Examples
    --------
    >>> generate(3, seed=0).columns[:5]
    ['patient_id', 'birth_date', 'gender', 'race', 'zip']
    """
    draws = Draws(rows, seed)
    patients = _patients(draws)
    diagnosed = _diagnosis_days(draws)
    ages = _ages(draws, patients)
    born = diagnosed - np.floor(ages * 365.2425).astype("timedelta64[D]")
    survival = _survival_years(draws, patients, ages, diagnosed)
    statuses = _recurrences(draws, patients, survival)
    sizes, measured = _sizes(draws, patients)
    seen, kinds = people(), tumors()
    return pl.DataFrame(
        {
            "patient_id": _identifiers(rows),
            "birth_date": born,
            "gender": _labels(list(GENDERS), patients.gender),
            "race": _labels(seen.races, patients.race, draws.chance("no race", MISSING_RACE)),
            "zip": _labels(seen.zips, patients.zip, draws.chance("no zip", MISSING_ZIP)),
            "tumor_topography": _labels(kinds.topographies, patients.topography),
            "histology": _labels(kinds.histologies, patients.histology),
            "survival_years": survival,
            "diagnosis_date": diagnosed,
            "age_at_diagnosis": completed_years(born, diagnosed),
            "tumor_size": pl.Series(np.where(measured, sizes, 0)).replace(0, None),
            "tumor_site": _labels(kinds.sites, _abstracted_sites(draws, patients.site)),
            "recur_status": _labels(course().statuses, statuses),
        }
    )


def completed_years(start: Days, end: Days) -> Indices:
    """Return the whole years from `start` to `end`, as birthdays count them."""

    def parts(days: Days) -> tuple[Indices, Indices]:
        months = days.astype("datetime64[M]")
        day = (days - months.astype("datetime64[D]")).astype(np.int64)
        count = months.astype(np.int64)
        return count // 12, count % 12 * 31 + day

    first_year, first_day = parts(start)
    last_year, last_day = parts(end)
    return last_year - first_year - (last_day < first_day)


def _patients(draws: Draws) -> _PatientIndices:
    seen, kinds = people(), tumors()
    gender = draws.choose("gender", np.array([FEMALE_SHARE, 1 - FEMALE_SHARE]))
    zips = draws.choose("zip", seen.population)
    area = seen.area_of_zip[zips]
    race = draws.choose("race", seen.race_in_area, area)
    given = (gender * len(seen.areas) + area) * len(seen.origins) + seen.origin_of_race[race]
    topography = draws.choose("topography", kinds.weights, given)
    site = kinds.site_of_topography[topography]
    return _PatientIndices(
        gender=gender,
        zip=zips,
        race=race,
        topography=topography,
        site=site,
        histology=draws.choose("histology", kinds.histology_given, topography),
        stage=draws.choose("stage", course().stage, site),
    )


def _ages(draws: Draws, patients: _PatientIndices) -> Floats:
    mean = tumors().age_mean[patients.site, patients.histology]
    deviation = tumors().age_sd[patients.site, patients.histology]
    ages = np.abs(mean + deviation * draws.bell("age"))
    return np.where(ages > OLDEST, 2 * OLDEST - ages, ages)


def _diagnosis_days(draws: Draws) -> Days:
    tables = course()
    firsts = (
        np.arange(tables.first_year - 1970, tables.first_year - 1970 + len(tables.year) + 1)
        .astype("datetime64[Y]")
        .astype("datetime64[D]")
    )
    year = draws.choose("diagnosis year", tables.year)
    length = np.diff(firsts).astype(np.int64)[year]
    days = firsts[year] + (draws.uniform("diagnosis day") * length).astype("timedelta64[D]")
    weekday = (days.astype(np.int64) + 3) % 7  # day 0, 1 January 1970, was a Thursday
    moved = draws.chance("diagnosis on a weekday", WEEKDAY_SHARE)
    shift = np.select([moved & (weekday == 5), moved & (weekday == 6)], [-1, 1], 0)
    last_day = firsts[-1] - np.timedelta64(1, "D")
    dated: Days = np.clip(days + shift.astype("timedelta64[D]"), firsts[0], last_day)
    return dated


def _survival_years(
    draws: Draws, patients: _PatientIndices, ages: Floats, diagnosed: Days
) -> Indices:
    """Return the whole years until the first of: death of the tumor, other death, last contact."""
    mean = course().years[patients.site, patients.stage] * np.exp((65 - ages) / 50)
    of_tumor = mean * (-np.log(draws.uniform("death of the tumor"))) ** 1.25
    hazard, growth = 0.011 * np.exp(0.09 * (ages - 60)), 0.09
    of_other = np.log1p(-np.log(draws.uniform("other death")) * growth / hazard) / growth
    lived = np.floor(np.minimum(of_tumor, of_other)).astype(np.int64)
    return np.minimum(lived, completed_years(diagnosed, np.full_like(diagnosed, LAST_CONTACT)))


def _sizes(draws: Draws, patients: _PatientIndices) -> tuple[Indices, BoolArray]:
    """Return millimetres, often rounded to 5 or 10 as people do, and where they were measured."""
    median = course().size[patients.site]
    exact = np.nan_to_num(median) * SIZE_BY_STAGE[patients.stage] * np.exp(0.6 * draws.bell("size"))
    step = np.array([1, 5, 10])[draws.choose("rounding of the size", np.array([0.4, 0.35, 0.25]))]
    step = np.where(exact < 2 * step, 1, step)
    sizes = np.clip(np.rint(exact / step) * step, 1, LARGEST_SIZE).astype(np.int64)
    unmeasured = draws.chance("no size", UNMEASURED_BY_STAGE[patients.stage])
    return sizes, ~unmeasured & ~np.isnan(median)


def _recurrences(draws: Draws, patients: _PatientIndices, survival: Indices) -> Indices:
    tables = course()
    classes = np.searchsorted(tables.survival_from, survival, side="right") - 1
    given = patients.stage * len(tables.survival_from) + classes
    kind = draws.choose("kind of recurrence", tables.kind, given)
    return draws.choose("recurrence", tables.status, patients.site * len(KINDS) + kind)


def _abstracted_sites(draws: Draws, site: Indices) -> Indices:
    unclear = tumors().sites.index("Other and ill-defined")
    return np.where(draws.chance("site unclear", ILL_DEFINED_SHARE), unclear, site)


def _identifiers(rows: int) -> pl.Series:
    numbers = pl.int_range(1, rows + 1, eager=True).cast(pl.String).str.zfill(7)
    return "P" + numbers


def _labels(values: list[str], index: Indices, missing: BoolArray | None = None) -> pl.Series:
    return Drawn(tuple(values), index).labels(missing)
