"""Death certificates: generated certificates of the deaths of a county over 24 years.

The shape is that of a register that was studied but may not be published: 216,000 records of 36
attributes, each with one to six levels of generalization (the values themselves counted, `*` not).
All attributes count as quasi-identifiers in that study, so `attributes` gives any of them, or a
subset of the study by its name, with that role and its hierarchy, ready for a policy.
"""

from __future__ import annotations

import csv
import zlib
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from incrowd.datasets.info import ColumnInfo, made_up
from incrowd.datasets.resources import list_names, read_text
from incrowd.errors import ParameterError, nearest

if TYPE_CHECKING:
    import polars as pl

NAME = "death-certificates"

INFO = made_up(
    name=NAME,
    title="Death certificates (generated)",
    rows=216_000,
    columns=(
        ColumnInfo("race", "one of sixteen, some of them rare"),
        ColumnInfo("sex", "Female or Male"),
        ColumnInfo("age_in_days", "age in days; 99999 where nobody knew it"),
        ColumnInfo("college", "years at college, 0 to 5"),
        ColumnInfo("industry", "where the person worked, one of 32 industries"),
        ColumnInfo("autopsy", "No, Yes or Unknown"),
        ColumnInfo("census_tract", "four digits, 9999 outside the county; a few are missing"),
        ColumnInfo("cause_of_death", "ICD-10 code of three characters, one of 157"),
        ColumnInfo("certifier_type", "who certified the cause, one of eight"),
        ColumnInfo("citizenship", "one of seventeen"),
        ColumnInfo("city_of_birth", "one of 124 invented places; a few are missing"),
        ColumnInfo("date_of_birth", "day of birth; missing where nobody knew the age"),
        ColumnInfo("date_of_death", "day of death, 1987 to 2010"),
        ColumnInfo("disposition_method", "burial, cremation, …, one of seven"),
        ColumnInfo("education", "years at school, 0 to 12, or 99 for unknown; a few are missing"),
        ColumnInfo("farm", "whether the person lived on a farm: Yes or No"),
        ColumnInfo("informant_relationship", "who reported the death, one of eighteen"),
        ColumnInfo("injury_am_pm", "AM, PM, Unknown or No injury"),
        ColumnInfo("injury_census", "census tract of the injury, if any"),
        ColumnInfo("injury_county_code", "county of the injury, if any: three digits"),
        ColumnInfo("injury_date", "day of the injury, if any"),
        ColumnInfo("manner_of_death", "natural, accident, …, one of six"),
        ColumnInfo("marital_status", "one of seven"),
        ColumnInfo("motor_vehicle_accident", "No, Yes, Military vehicle or Unknown"),
        ColumnInfo("occupation_category", "one of fifteen"),
        ColumnInfo("occupation_code", "three digits, one of 104"),
        ColumnInfo("place_of_death_city", "one of sixteen"),
        ColumnInfo("place_of_death_code", "hospital, nursing home, home, …, one of eight"),
        ColumnInfo("place_of_death_state", "one of twenty invented states"),
        ColumnInfo("place_of_death_zip", "five-digit code of an invented area, as text"),
        ColumnInfo("pregnant", "whether the person was, or had been of late, one of six"),
        ColumnInfo("state_of_birth", "one of twenty invented states or fifteen countries"),
        ColumnInfo("us_veteran", "No, Yes or Unknown"),
        ColumnInfo("zipcode", "five-digit code of the home, as text"),
        ColumnInfo("injury_time", "hour and minute of the injury, if known: 1435 for 14:35"),
        ColumnInfo("time_of_death", "hour and minute of the death; a few are missing"),
    ),
)

COMPUTED: dict[str, dict[str, Any]] = {
    "age_in_days": {
        "type": "numeric",
        "hierarchy": {
            "intervals": {"start": 0, "stop": 102_200, "widths": [365, 1825, 3650, 7300, 14_600]}
        },
    },
    "date_of_birth": {
        "type": "date",
        "hierarchy": {"dates": ["month", "quarter", "year", "decade"]},
    },
    "date_of_death": {"type": "date", "hierarchy": {"dates": ["month", "year", "decade"]}},
    "injury_date": {"type": "date", "hierarchy": {"dates": ["month", "quarter", "year"]}},
    "injury_time": {
        "type": "numeric",
        "hierarchy": {"intervals": {"start": 0, "stop": 2400, "widths": [100, 300, 600, 1200]}},
    },
    "time_of_death": {
        "type": "numeric",
        "hierarchy": {"intervals": {"start": 0, "stop": 2400, "widths": [100, 600, 1200]}},
    },
    "place_of_death_zip": {"type": "category", "hierarchy": {"mask": {"length": 5}}},
    "zipcode": {"type": "category", "hierarchy": {"mask": {"length": 5}}},
}
"""The attributes whose hierarchies are computed; those of the others are files, or the value."""

SIZES = (3, 8, 12, 24)


def read(rows: int | None, seed: int) -> pl.DataFrame:
    """Return `rows` generated certificates, 216,000 unless told otherwise."""
    from incrowd.datasets.death_certificates._generator import generate

    certificates = generate(INFO.rows if rows is None else rows, seed)
    return certificates.select(column.name for column in INFO.columns)


@cache
def levels() -> dict[str, int]:
    """Return how many levels each attribute has, its values counted and `*` not."""
    files = {each.removesuffix(".csv") for each in list_names(f"hierarchies/{NAME}")}
    found = dict.fromkeys((column.name for column in INFO.columns), 1)
    for name in found:
        if name in files:
            text = read_text(f"hierarchies/{NAME}/{name}.csv")
            found[name] = len(next(csv.reader(text.splitlines()))) - 1
        elif name in COMPUTED:
            found[name] = 1 + _above(COMPUTED[name]["hierarchy"])
    return found


def _above(hierarchy: dict[str, Any]) -> int:
    """Return the number of levels between the values and `*` of a computed hierarchy."""
    if "dates" in hierarchy:
        return len(hierarchy["dates"])
    if "intervals" in hierarchy:
        return len(hierarchy["intervals"]["widths"])
    return int(hierarchy["mask"]["length"]) - 1


@cache
def subsets() -> dict[str, tuple[str, ...]]:
    """Return the named subsets: m03, m08, m12, m24 and r03, r08, r12, r24.

    The m subsets hold the attributes with the most levels, ties broken at random; each r subset
    holds attributes chosen at random. Chance is a checksum of the names, the same everywhere.

    References
    ----------
    Morton (2012), section on data preparation: it tells how the subsets were chosen, not which
    attributes are in them.

    Example
    -------
    >>> subsets()["m03"]
    ('age_in_days', 'cause_of_death', 'injury_time')
    """
    depth, names = levels(), tuple(column.name for column in INFO.columns)

    def luck(subset: str, name: str) -> int:
        return zlib.crc32(f"{subset} {name}".encode())

    deepest = sorted(names, key=lambda name: (-depth[name], luck("m", name)))
    chosen = {f"m{size:02}": set(deepest[:size]) for size in SIZES}
    for subset in (f"r{size:02}" for size in SIZES):
        by_chance = sorted(names, key=lambda name: luck(subset, name))
        chosen[subset] = set(by_chance[: int(subset[1:])])
    return {subset: tuple(each for each in names if each in chosen[subset]) for subset in chosen}


def attributes(names: str | Iterable[str] = "all") -> dict[str, dict[str, Any]]:
    """Return attributes as a policy has them: quasi-identifiers with their hierarchies.

    Parameters
    ----------
    names
        Names of columns, the name of a subset such as `r12`, or `all` 36.

    Notes
    -----
    Hierarchies in files are named as `export_hierarchies` writes them, relative to the policy.

    Example
    -------
    >>> attributes(["sex", "zipcode"])["zipcode"]["hierarchy"]
    {'mask': {'length': 5}}
    """
    every, files = levels(), set(list_names(f"hierarchies/{NAME}"))
    if isinstance(names, str):
        legal = {"all": tuple(every), **subsets()}
        if names not in legal:
            raise ParameterError(
                f"No subset '{names}'.{nearest(names, legal)} There are: {', '.join(legal)}."
            )
        names = legal[names]
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        if name not in every:
            raise ParameterError(f"No column '{name}' in {NAME}.{nearest(name, every)}")
        found[name] = {"role": "quasi", **COMPUTED.get(name, {})}
        if f"{name}.csv" in files:
            found[name] |= {"type": "category", "hierarchy": f"{NAME}-hierarchies/{name}.csv"}
    return found
