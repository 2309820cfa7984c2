"""Draws why the patients are in hospital, and how they are cared for.

Diagnosis follows from sex and age; ward and procedure from the diagnosis; specialty and admission
from the ward; the reason from diagnosis and procedure; component and urgency from the reason; units
and waiting days from these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from incrowd._runtime.arrays import BoolArray
from incrowd.datasets.blood_transfusions._people import Patients
from incrowd.datasets.blood_transfusions.tables import (
    Drawn,
    draw,
    draw_both,
    facts,
    skewed,
    whole,
    yes_no,
)
from incrowd.datasets.draws import Draws, Floats, Indices

OPERATIONS = (
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
)
BLEEDING = ("Blood loss in an operation", "Bleeding", "Childbirth bleeding", "Injury")
EMERGENCY = "Emergency department"
LOST_IN_OPERATION = 0.65  # of transfusions to patients who had one
PREGNANT_WITH_DIAGNOSIS, PREGNANT_OTHERWISE = 0.85, 0.015
MOST_UNITS = 20


@dataclass(frozen=True)
class Care:
    """What the patients have and get, and their columns."""

    diagnosis: Drawn
    ward: Drawn
    reason: Drawn
    component: Drawn
    urgency: Drawn
    units: Indices
    previous: Indices
    columns: dict[str, pl.Series | Indices]


def draw_care(draws: Draws, people: Patients, group: Drawn) -> Care:
    """Return the care of each patient and its columns."""
    diagnosis = _diagnoses(draws, people)
    ward = draw_both(draws, "ward", diagnosis, "ward_stages", people.stage)
    procedure = draw_both(draws, "procedure", diagnosis, "procedure_stages", people.stage)
    reason = _reasons(draws, diagnosis, procedure)
    component = draw(draws, "component", reason)
    urgency = draw(draws, "urgency", reason)
    units = _units(draws, reason, component)
    previous = _previous(draws, diagnosis, people.age)
    reacted = draws.chance("previous reaction", np.minimum(previous * 0.02, 0.3))
    columns: dict[str, pl.Series | Indices] = {
        "diagnosis": diagnosis.labels(),
        "ward": ward.labels(),
        "specialty": draw(draws, "specialty", ward).labels(),
        "procedure": procedure.labels(),
        "admission_source": _admissions(draws, ward, people.housing).labels(),
        "transfusion_month": draw(draws, "transfusion_month").labels(),
        "length_of_stay": _stays(draws, diagnosis, ward, procedure),
        "waiting_days": _waiting(draws, urgency, group),
        "systolic_pressure": _pressures(draws, people, reason),
        "diabetic": yes_no(draws.chance("diabetic", _diabetic(people, diagnosis))),
        "pregnant": yes_no(_pregnant(draws, people, diagnosis)),
        "previous_transfusions": previous,
        "previous_reaction": yes_no(reacted),
        "component": component.labels(),
        "units": units,
        "reason": reason.labels(),
        "urgency": urgency.labels(),
        "reaction": draw(draws, "reaction", urgency).labels(),
    }
    return Care(diagnosis, ward, reason, component, urgency, units, previous, columns)


def _diagnoses(draws: Draws, people: Patients) -> Drawn:
    table = facts("diagnoses")
    names = tuple(table["weight"])

    def rows(columns: tuple[str, ...]) -> Floats:
        return np.array([[table[column][name] for name in names] for column in columns])

    by_sex, by_band = rows(people.sex.values), rows(people.age_band.values)
    weights = rows(("weight",)) * (by_sex[:, None, :] * by_band[None, :, :]).reshape(-1, len(names))
    place = people.sex.index * len(people.age_band.values) + people.age_band.index
    return Drawn(names, draws.choose("diagnosis", weights, place))


def _reasons(draws: Draws, diagnosis: Drawn, procedure: Drawn) -> Drawn:
    reason = draw(draws, "reason", diagnosis)
    lost = procedure.among(*OPERATIONS) & draws.chance("lost in operation", LOST_IN_OPERATION)
    in_operation = reason.values.index("Blood loss in an operation")
    return Drawn(reason.values, np.where(lost, in_operation, reason.index))


def _units(draws: Draws, reason: Drawn, component: Drawn) -> Indices:
    """Return at least one unit: many where blood is lost, one dose of platelets."""
    mean = np.where(reason.among(*BLEEDING), 2.6, 1.4)
    mean = np.where(component.among("Platelets"), 0.8, mean)
    mean = np.where(component.among("Plasma", "Cryoprecipitate"), 3.0, mean)
    massive = draws.chance("massive transfusion", np.where(reason.among(*BLEEDING), 0.03, 0.0))
    units = whole(1 + mean * 0.6 * skewed(draws.uniform("units")) * np.where(massive, 4.0, 1.0))
    return np.minimum(units, MOST_UNITS)


def _previous(draws: Draws, diagnosis: Drawn, age: Indices) -> Indices:
    mean = diagnosis.lookup(facts("diagnoses")["previous"]) * np.minimum((age + 1) / 6.0, 1.0)
    some = draws.chance("transfused before", 0.62)
    return np.where(some, whole(0.4 + mean * skewed(draws.uniform("previous transfusions"))), 0)


def _admissions(draws: Draws, ward: Drawn, housing: Drawn) -> Drawn:
    """Return where patients came from; from a care home only those who live in one."""
    source = draw(draws, "admission_source", ward)
    emergency, care_home = (source.values.index(each) for each in (EMERGENCY, "Care home"))
    lives_there = housing.among("Care home")
    sent = lives_there & source.among(EMERGENCY) & draws.chance("sent by the care home", 0.5)
    wrong = ~lives_there & source.among("Care home")
    return Drawn(source.values, np.select([sent, wrong], [care_home, emergency], source.index))


def _stays(draws: Draws, diagnosis: Drawn, ward: Drawn, procedure: Drawn) -> Indices:
    mean = diagnosis.lookup(facts("diagnoses")["stay"])
    mean = mean * np.where(procedure.among(*OPERATIONS), 1.3, 0.9)
    mean = mean * np.where(ward.among("Intensive care"), 1.5, 1.0)
    days = whole(1 + mean * skewed(draws.uniform("length of stay")))
    short = whole(draws.uniform("hours") * 1.4)
    return np.where(ward.among("Oncology day ward", "Emergency observation"), short, days)


def _waiting(draws: Draws, urgency: Drawn, group: Drawn) -> Indices:
    """Return the days from the request to the transfusion; rare blood takes longer."""
    uniform = draws.uniform("waiting")
    days = urgency.lookup({"Elective": 14.0, "Urgent": 4.0, "Emergency": 1.0}) * uniform
    rare = group.lookup(facts("groups")["wait"]) * (0.6 + draws.uniform("waiting for rare blood"))
    share = urgency.lookup({"Elective": 1.0, "Urgent": 0.8, "Emergency": 0.0})
    return whole(days + rare * share)


def _pressures(draws: Draws, people: Patients, reason: Drawn) -> Indices:
    mean = np.where(people.age < 15, 88.0 + 1.8 * people.age, 104.0 + 0.42 * people.age)
    mean = mean - np.where(reason.among(*BLEEDING), 10.0, 0.0)
    return np.rint(mean + 11.0 * draws.bell("systolic pressure")).astype(np.int64)


def _diabetic(people: Patients, diagnosis: Drawn) -> Floats:
    by_age = np.clip((people.age - 25) * 0.005, 0.004, 0.25)
    heavy = np.where(people.mass_index >= 26, 1.6, 1.0)
    endocrine = np.where(diagnosis.among("Endocrine and metabolic diseases"), 1.6, 1.0)
    share: Floats = by_age * heavy * endocrine
    return share


def _pregnant(draws: Draws, people: Patients, diagnosis: Drawn) -> BoolArray:
    able = people.sex.among("Female") & (people.age >= 18) & (people.age < 45)
    expecting = diagnosis.among("Pregnancy and childbirth")
    share = np.where(able, PREGNANT_OTHERWISE, 0.0)
    return draws.chance("pregnant", np.where(expecting, PREGNANT_WITH_DIAGNOSIS, share))
