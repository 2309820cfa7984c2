"""The tables from which histories are drawn, read from data/patient-histories/*.csv.

    ages.csv, mortality.csv, marital_status.csv    who the patients are
    rates.csv              visits a year of the healthy, by age and sex
    visits.csv             classes of visits by age, and how many diagnoses each has
    diseases.csv           lasting diseases: the share who ever have one, the ages at which the
                           first have it and the last, how often it is seen, how deadly it is
    links.csv              what makes a disease more likely, and how many days it comes before
    codes_of_diseases.csv  ICD-10-CM codes of a disease, at its onset or in its course
    codes_of_visits.csv    other ICD-10-CM codes: weight, who has them (profiles.csv), and at which
                           visits: a(mbulatory), e(mergency), i(npatient), w(ellness), b(irth) and
                           n(ewborn), p(regnancy), d(elivery), o(utcome) and c(heck after it),
                           x (cause of an injury)
    treatments.csv         drugs of a treatment: how often it is given, for how long
    drugs.csv              ATC codes of drugs

All numbers are invented; zip codes and races are those of the cancer registry.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd.datasets.draws import CsvRows
from incrowd.datasets.numbered_draws import Urns
from incrowd.datasets.resources import read_rows

SEXES = ("Female", "Male")
_SEX_KEYS = ("F", "M")
CLASSES = ("wellness", "ambulatory", "emergency", "inpatient")
_OLDEST = 110
_SHARE = 10_000  # weights of whole numbers for shares with four decimals


@dataclass(frozen=True)
class Demography:
    """Who the patients are."""

    zips: list[str]
    zip: Urns
    area_of_zip: IntArray
    races: list[str]
    race: Urns  # area
    age_from: IntArray
    age_to: IntArray
    age: Urns
    statuses: list[str]
    status_from: IntArray
    status: Urns  # status_from x sex
    death: FloatArray  # sex x age: the share who die within a year


@dataclass(frozen=True)
class DiseaseTables:
    """Lasting diseases; those that make one more likely come before it."""

    names: list[str]
    share: FloatArray  # sex x disease
    start: FloatArray
    full: FloatArray
    visits: IntArray
    deadly: FloatArray
    links: list[list[tuple[int, float, int]]]  # of a disease: the given one, factor, days


@dataclass(frozen=True)
class CodeTables:
    """Codes of diagnoses, those of diseases first."""

    codes: list[str]
    descriptions: list[str]
    departments: list[str]
    department: IntArray
    days: IntArray  # -1 for no end
    treatment: IntArray  # -1 for none
    injury: BoolArray
    course: Urns  # disease
    onset: Urns  # disease
    has_onset: IntArray
    of_class: Urns  # class x sex x band
    pools: dict[str, Urns]  # sex x band


@dataclass(frozen=True)
class VisitTables:
    """Visits: how many, of which class, with how many diagnoses."""

    bands: IntArray  # ages at which the next band begins
    rate: FloatArray  # sex x band
    of_class: Urns  # band
    chronic: FloatArray  # class
    further: FloatArray  # place of a diagnosis x class
    longest: IntArray  # class: most days


@dataclass(frozen=True)
class DrugTables:
    """Drugs, by treatment."""

    atc: list[str]
    descriptions: list[str]
    share: FloatArray  # treatment
    line: Urns  # treatment -> line of treatments.csv
    atc_of_line: IntArray
    days_of_line: IntArray


@cache
def demography() -> Demography:
    """Return the tables about people."""
    zips, races = (read_rows(f"data/cancer-registry/{name}.csv") for name in ("zips", "races"))
    areas = sorted({row["area"] for row in zips})
    ages, statuses, dying = _rows("ages"), _rows("marital_status"), _rows("mortality")
    names = [name for name in statuses[0] if name not in ("from", "sex")]
    years = np.arange(_OLDEST + 1)
    per_100_000 = [np.interp(years, _whole(dying, "age"), _whole(dying, x)) for x in _BY_SEX]
    return Demography(
        zips=[row["zip"] for row in zips],
        zip=Urns(_whole(zips, "population")),
        area_of_zip=np.array([areas.index(row["area"]) for row in zips]),
        races=[row["race"] for row in races],
        race=Urns(_parts(np.stack([_numbers(races, area) for area in areas]) / 1000)),
        age_from=_whole(ages, "from"),
        age_to=_whole(ages, "to"),
        age=Urns(_whole(ages, "weight")),
        statuses=names,
        status_from=_whole(statuses[::2], "from"),
        status=Urns(np.stack([_whole(statuses, name) for name in names], axis=1)),
        death=np.stack(per_100_000) / 100_000,
    )


@cache
def diseases() -> DiseaseTables:
    """Return the tables about lasting diseases."""
    rows = _rows("diseases")
    names = [row["disease"] for row in rows]
    links: list[list[tuple[int, float, int]]] = [[] for _ in names]
    for row in _rows("links"):
        link = (names.index(row["given"]), float(row["factor"]), int(row["after"] or -1))
        links[names.index(row["disease"])].append(link)
    return DiseaseTables(
        names=names,
        share=np.stack([_numbers(rows, each) for each in _BY_SEX]),
        start=_numbers(rows, "from"),
        full=_numbers(rows, "full"),
        visits=_whole(rows, "visits"),
        deadly=_numbers(rows, "deadly"),
        links=links,
    )


@cache
def codes() -> CodeTables:
    """Return the tables of ICD-10-CM codes."""
    lasting, others = _rows("codes_of_diseases"), _rows("codes_of_visits")
    rows = [*lasting, *others]
    departments = sorted({row["department"] for row in rows})
    treatments = [*dict.fromkeys(row["treatment"] for row in _rows("treatments"))]
    of_disease = {moment: _of_disease(lasting, len(rows), moment) for moment in ("course", "onset")}
    return CodeTables(
        codes=[row["code"] for row in rows],
        descriptions=[row["description"] for row in rows],
        departments=departments,
        department=np.array([departments.index(row["department"]) for row in rows]),
        days=np.array([int(row["days"] or -1) for row in rows]),
        treatment=np.array(
            [treatments.index(row["treatment"]) if row["treatment"] else -1 for row in rows]
        ),
        injury=np.array([row["code"][0] in "ST" for row in rows]),
        course=Urns(of_disease["course"]),
        onset=Urns(of_disease["onset"]),
        has_onset=np.flatnonzero(of_disease["onset"].sum(axis=1)),
        of_class=Urns(np.concatenate([_pool(others, len(lasting), each) for each in "waei"])),
        pools={each: Urns(_pool(others, len(lasting), each)) for each in "bnpdocx"},
    )


@cache
def visits() -> VisitTables:
    """Return the tables about visits."""
    rows, rates = _rows("visits"), _rows("rates")
    bands = [row["from"] for row in rates]
    places = ("second", "third", "fourth")
    return VisitTables(
        bands=_whole(rates, "from")[1:],
        rate=np.stack([_numbers(rates, each) for each in _BY_SEX]),
        of_class=Urns(np.stack([_whole(rows, band) for band in bands])),
        chronic=_numbers(rows, "chronic"),
        further=np.stack([_numbers(rows, place) for place in places]),
        longest=_whole(rows, "length"),
    )


@cache
def drugs() -> DrugTables:
    """Return the tables of drugs."""
    lines, named = _rows("treatments"), _rows("drugs")
    atc = [row["atc"] for row in named]
    treatments = [*dict.fromkeys(row["treatment"] for row in lines)]
    of = np.array([treatments.index(row["treatment"]) for row in lines])
    weights = np.where(of == np.arange(len(treatments))[:, None], _whole(lines, "weight"), 0)
    first = [int(np.flatnonzero(of == each)[0]) for each in range(len(treatments))]
    return DrugTables(
        atc=atc,
        descriptions=[row["description"] for row in named],
        share=_numbers(lines, "share")[first],
        line=Urns(weights),
        atc_of_line=np.array([atc.index(row["atc"]) for row in lines]),
        days_of_line=_whole(lines, "days"),
    )


_BY_SEX = ("women", "men")


def _rows(name: str) -> CsvRows:
    return read_rows(f"data/patient-histories/{name}.csv")


def _numbers(rows: CsvRows, column: str) -> FloatArray:
    return np.array([float(row[column]) for row in rows])


def _whole(rows: CsvRows, column: str) -> IntArray:
    return np.array([int(row[column]) for row in rows], dtype=np.int64)


def _parts(shares: FloatArray) -> IntArray:
    return np.rint(shares * _SHARE).astype(np.int64)


def _of_disease(rows: CsvRows, many: int, moment: str) -> IntArray:
    """Return disease x code: weights of the codes of a disease at a moment."""
    names = [row["disease"] for row in _rows("diseases")]
    table = np.zeros((len(names), many), dtype=np.int64)
    for place, row in enumerate(rows):
        if row["moment"] == moment:
            table[names.index(row["disease"]), place] = int(row["weight"])
    return table


def _pool(rows: CsvRows, before: int, pool: str) -> IntArray:
    """Return (sex x band) x code: the weights of the codes of a pool."""
    of_profile = {row.pop("profile"): [*map(int, row.values())] for row in _rows("profiles")}
    bands = len(next(iter(of_profile.values())))
    table = np.zeros((len(SEXES), bands, before + len(rows)), dtype=np.int64)
    for place, row in enumerate(rows, start=before):
        if pool in row["settings"]:
            weights = np.array(of_profile[row["profile"]]) * int(row["weight"])
            for sex, key in enumerate(_SEX_KEYS):
                if row["sex"] in ("", key):
                    table[sex, :, place] = weights
    return table.reshape(-1, table.shape[2])
