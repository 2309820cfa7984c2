"""The tables from which the cancer registry is drawn, read from data/cancer-registry/*.csv.

    zips.csv              zip codes, the area each lies in, and how many people live there
    races.csv             races, their group, and how common each is in an area
    topographies.csv      places of tumors, the site each belongs to, weights by gender
    sites.csv             sites: age, stage, years to live by stage, size
    histologies.csv       kinds of tumors, with an age of their own where it differs
    profiles.csv          which kinds of tumors grow where
    recurrence.csv        kinds of recurrence
    recurrence_kinds.csv  how common each group of them is, by stage and survival
    factors.csv           what is more or less common given an area, a race or a site
    years.csv             how many diagnoses the registry took in, by year

All numbers are invented.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from incrowd.datasets.draws import CsvRows, Floats, Indices
from incrowd.datasets.resources import read_rows

STAGES = ("local", "regional", "distant")
GENDERS = ("Female", "Male")
KINDS = ("none", "never", "unknown", "local", "regional", "distant")


@dataclass(frozen=True)
class Population:
    """Who the patients are: zips, areas and races."""

    zips: list[str]
    population: Floats
    area_of_zip: Indices
    races: list[str]
    race_in_area: Floats  # area x race
    origins: list[str]
    origin_of_race: Indices
    areas: list[str]


@dataclass(frozen=True)
class Tumors:
    """What they have: topographies, sites and histologies."""

    topographies: list[str]
    weights: Floats  # (gender x area x origin) x topography
    site_of_topography: Indices
    sites: list[str]
    histologies: list[str]
    histology_given: Floats  # topography x histology
    age_mean: Floats  # site x histology
    age_sd: Floats  # site x histology


@dataclass(frozen=True)
class Course:
    """How it went: stage, survival, size, recurrence, years."""

    stage: Floats  # site x stage
    years: Floats  # site x stage
    size: Floats  # site; NaN where there is nothing to measure
    survival_from: list[int]  # first years of the survival classes
    kind: Floats  # (stage x survival class) x kind
    statuses: list[str]
    status: Floats  # (site x kind) x status
    first_year: int
    year: Floats


@cache
def people() -> Population:
    """Return the tables about people."""
    zips, races = _rows("zips"), _rows("races")
    areas = sorted({row["area"] for row in zips})
    origins = sorted({row["origin"] for row in races})
    return Population(
        zips=[row["zip"] for row in zips],
        population=_numbers(zips, "population"),
        area_of_zip=_positions(zips, "area", areas),
        races=[row["race"] for row in races],
        race_in_area=np.stack([_numbers(races, area) for area in areas]),
        origins=origins,
        origin_of_race=_positions(races, "origin", origins),
        areas=areas,
    )


@cache
def tumors() -> Tumors:
    """Return the tables about tumors."""
    topographies, sites = _rows("topographies"), _rows("sites")
    histologies, profiles = _rows("histologies"), _rows("profiles")
    site_names = [row["site"] for row in sites]
    codes = [row["code"] for row in histologies]
    site_of_topography = _positions(topographies, "site", site_names)
    grows = np.zeros((len(topographies), len(codes)))
    for place, topography in enumerate(topographies):
        for row in profiles:
            if row["profile"] == topography["profile"]:
                grows[place, codes.index(row["histology"])] = float(row["weight"])
    return Tumors(
        topographies=[row["code"] for row in topographies],
        weights=_topography_weights(topographies, site_names, site_of_topography),
        site_of_topography=site_of_topography,
        sites=site_names,
        histologies=codes,
        histology_given=grows,
        age_mean=_own_or_of_site(histologies, sites, "age_mean"),
        age_sd=_own_or_of_site(histologies, sites, "age_sd"),
    )


@cache
def course() -> Course:
    """Return the tables about the course of the disease."""
    sites, kinds = _rows("sites"), _rows("recurrence_kinds")
    statuses, years = _rows("recurrence"), _rows("years")
    survival_from = sorted({int(row["survival_from"]) for row in kinds})
    place = {(row["stage"], int(row["survival_from"])): row for row in kinds}
    ordered = [place[stage, start] for stage in STAGES for start in survival_from]
    return Course(
        stage=np.stack([_numbers(sites, stage) for stage in STAGES], axis=1),
        years=np.stack([_numbers(sites, f"years_{stage}") for stage in STAGES], axis=1),
        size=_numbers(sites, "size_mm"),
        survival_from=survival_from,
        kind=np.stack([_numbers(ordered, kind) for kind in KINDS], axis=1),
        statuses=[row["status"] for row in statuses],
        status=_status_weights([row["site"] for row in sites], statuses),
        first_year=int(years[0]["year"]),
        year=_numbers(years, "weight"),
    )


def _rows(name: str) -> CsvRows:
    return read_rows(f"data/cancer-registry/{name}.csv")


def _numbers(rows: CsvRows, column: str) -> Floats:
    return np.array([float(row[column]) if row[column] else np.nan for row in rows])


def _positions(rows: CsvRows, column: str, names: list[str]) -> Indices:
    return np.array([names.index(row[column]) for row in rows], dtype=np.int64)


def _own_or_of_site(histologies: CsvRows, sites: CsvRows, column: str) -> Floats:
    own, of_site = _numbers(histologies, column)[None, :], _numbers(sites, column)[:, None]
    return np.where(np.isnan(own), of_site, own)


def _factors(given: str, values: list[str], outcomes: list[str]) -> Floats:
    """Return value x outcome, 1 where factors.csv says nothing."""
    table = np.ones((len(values), len(outcomes)))
    for row in _rows("factors"):
        if row["given"] == given:
            table[values.index(row["value"]), outcomes.index(row["outcome"])] = float(row["factor"])
    return table


def _topography_weights(rows: CsvRows, sites: list[str], site_of_topography: Indices) -> Floats:
    by_gender = np.stack([_numbers(rows, gender.lower()) for gender in GENDERS])
    by_area = _factors("area", people().areas, sites)[:, site_of_topography]
    by_origin = _factors("race", people().origins, sites)[:, site_of_topography]
    weights = by_gender[:, None, None, :] * by_area[None, :, None, :] * by_origin[None, None, :, :]
    return weights.reshape(-1, len(rows))


def _status_weights(sites: list[str], statuses: CsvRows) -> Floats:
    names = [row["status"] for row in statuses]
    of_kind = np.array([[row["kind"] == kind for row in statuses] for kind in KINDS])
    weights = _numbers(statuses, "weight") * _factors("site", sites, names)
    table: Floats = weights[:, None, :] * of_kind[None, :, :]
    return table.reshape(-1, len(names))
