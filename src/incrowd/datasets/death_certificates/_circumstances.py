r"""Draws how and where the people died.

    stage, sex -> cause -> kind -> manner, motor vehicle accident, pregnant
                            |  \
                            |   injury: date, time, county, tract   (where the cause is external)
                            |
       place of death (kind, stage) -> city, zip, state; certifier; autopsy; disposition

A death without an injury has no cell in the columns of the injury, but for `injury_am_pm`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.arrays import BoolArray
from incrowd.datasets.blood_transfusions.tables import Drawn, blanked
from incrowd.datasets.death_certificates._tables import (
    both,
    choice,
    draw,
    draw_clock,
    group,
    parts,
    rows_of,
)

if TYPE_CHECKING:
    from incrowd.datasets.death_certificates._people import Deceased, DrawnColumns
    from incrowd.datasets.draws import Draws, Indices

HOME_STATE = "Wabaska"
VIOLENT = ("traffic", "accident", "self-harm", "assault", "unclear")
INJURY_DATED = 0.96  # of the injuries; of the others only that there was one is known
UNKNOWN_HOUR, MISSING_TIME = 0.14, 0.03
HURT_AT_HOME = 0.45
SAME_DAY, SAME_MONTH, SAME_YEAR = 0.62, 0.94, 0.99  # of deaths after an injury; the rest: later
LONGEST_DELAY = 9000  # days
HOSPITAL = ("Inpatient", "Outpatient or emergency", "Dead on arrival")
OLD = 75
ASKED_FROM, ASKED_TO = 10, 54  # ages at which a certificate asks for a pregnancy


def draw_circumstances(draws: Draws, people: Deceased) -> DrawnColumns:
    """Return the columns about the death itself."""
    cause, kind = _causes(draws, people)
    violent = kind.among(*VIOLENT)
    manner = draw(draws, "manner_of_death", kind)
    life = np.select([people.years < 16, people.years < OLD], [0, 1], 2)
    course = both(
        Drawn(("illness", "violence"), violent.astype(np.int64)),
        Drawn(("minor", "grown", "old"), life),
    )
    place = draw(draws, "place_of_death_code", course)
    columns: DrawnColumns = {
        "cause_of_death": cause.labels(),
        "manner_of_death": manner.labels(),
        "motor_vehicle_accident": draw(draws, "motor_vehicle_accident", kind).labels(),
        "pregnant": draw(draws, "pregnant", _asked(people, kind)).labels(),
        "autopsy": draw(draws, "autopsy", course).labels(),
        "place_of_death_code": place.labels(),
        "certifier_type": _certifiers(draws, manner, place).labels(),
        "disposition_method": draw(draws, "disposition_method", _era(people)).labels(),
        "time_of_death": blanked(
            draw_clock(draws, "time of death", draw(draws, "death_hour")),
            draws.chance("no time of death", MISSING_TIME),
        ),
    }
    columns |= _places(draws, people, place)
    columns |= _injuries(draws, people, kind, violent)
    return columns


def _causes(draws: Draws, people: Deceased) -> tuple[Drawn, Drawn]:
    rows = rows_of("causes")
    by_stage = np.array([[float(row[stage]) for row in rows] for stage in people.stage.values])
    by_sex = np.array([[float(row[sex]) for row in rows] for sex in people.sex.values])
    weights = (by_stage[:, None, :] * by_sex[None, :, :]).reshape(-1, len(rows))
    place = both(people.stage, people.sex).index
    cause = Drawn(tuple(row["code"] for row in rows), draws.choose("cause", weights, place))
    return cause, group(cause, {row["code"]: row["kind"] for row in rows})


def _asked(people: Deceased, kind: Drawn) -> Drawn:
    able = people.sex.among("Female") & (people.years >= ASKED_FROM) & (people.years <= ASKED_TO)
    names = ("no question", "asked, otherwise", "asked, pregnancy")
    return Drawn(names, np.where(able, np.where(kind.among("pregnancy"), 2, 1), 0))


def _certifiers(draws: Draws, manner: Drawn, place: Drawn) -> Drawn:
    natural, inpatient = manner.among("Natural"), place.among("Inpatient")
    names = ("Inpatient", "Outside, illness", "Not natural")
    who = np.where(natural, np.where(inpatient, 0, 1), 2)
    return draw(draws, "certifier_type", Drawn(names, who))


def _era(people: Deceased) -> Drawn:
    year = people.died.astype("datetime64[Y]").astype(np.int64) + 1970
    era = Drawn(
        ("before 1995", "before 2003", "later"), np.searchsorted((1995, 2003), year, side="right")
    )
    return both(era, Drawn(("minor", "grown"), (people.years >= 1).astype(np.int64)))


def _places(draws: Draws, people: Deceased, place: Drawn) -> DrawnColumns:
    """Return city, zip and state: hospitals lie in few zips, and who dies at home does so there."""
    city = draw(draws, "place_of_death_city", people.side)
    at_home = place.among("Home")
    resident = at_home & ~people.side.among("Elsewhere")
    city = Drawn(city.values, np.where(resident, city.values.index("Marlow"), city.index))
    away = city.among("Out of state")
    home, hospital, outside = (
        people.zip,
        draw(draws, "hospital_zip"),
        draw(draws, "outside_zip"),
    )
    names = (*home.values, *outside.values)
    first_outside = len(home.values)
    in_hospital = np.array([names.index(value) for value in hospital.values], dtype=np.int64)
    in_county = city.among("Marlow", "Beechwood", "Speedwell", "Lawton", "Southmills")
    code = np.select(
        [resident, ~in_county, place.among(*HOSPITAL)],
        [home.index, first_outside + outside.index, in_hospital[hospital.index]],
        home.index,
    )
    states = (HOME_STATE, *choice("place_of_death_state").values)
    state = np.where(away, 1 + draw(draws, "place_of_death_state").index, 0)
    return {
        "place_of_death_city": city.labels(),
        "place_of_death_zip": Drawn(names, code).labels(),
        "place_of_death_state": Drawn(states, state).labels(),
    }


def _injuries(draws: Draws, people: Deceased, kind: Drawn, violent: BoolArray) -> DrawnColumns:
    dated = violent & draws.chance("injury dated", INJURY_DATED)
    traffic_assault_other = np.select([kind.among("traffic"), kind.among("assault")], [0, 1], 2)
    hour = draw(draws, "injury_hour", Drawn(("traffic", "assault", "other"), traffic_assault_other))
    timed = dated & ~draws.chance("no hour of injury", UNKNOWN_HOUR)
    half = np.select([timed & (hour.index < 12), timed, violent], [1, 2, 3], 0)
    days = people.died - _delays(draws, people).astype("timedelta64[D]")
    county = draw(draws, "injury_county_code")
    return {
        "injury_date": blanked(days.astype("datetime64[D]"), ~dated),
        "injury_time": blanked(draw_clock(draws, "time of injury", hour), ~timed),
        "injury_am_pm": Drawn(("No injury", "AM", "PM", "Unknown"), half).labels(),
        "injury_county_code": county.labels(~dated),
        "injury_census": _tracts(draws, people, county).labels(~dated),
    }


def _delays(draws: Draws, people: Deceased) -> Indices:
    """Return the days from an injury to the death, never more than the life had."""
    uniform, course = draws.uniform("delay"), draws.uniform("course of the injury")
    longest = np.select(
        [course < SAME_DAY, course < SAME_MONTH, course < SAME_YEAR], [1, 31, 366], LONGEST_DELAY
    )
    days: Indices = np.floor(uniform * uniform * longest).astype(np.int64)
    return np.minimum(days, people.years * 365)


def _tracts(draws: Draws, people: Deceased, county: Drawn) -> Drawn:
    """Return the tract of an injury: often that of the home, and 9999 outside the county."""
    table = parts("tracts", "tract", "zip")
    anywhere = draws.choose("injury_census", table.weights.sum(axis=0))
    home = draws.chance("hurt at home", HURT_AT_HOME)
    outside = table.values.index("9999")
    inside = np.where(home, people.tract.index, anywhere)
    return Drawn(table.values, np.where(county.among("049"), inside, outside))
