"""Draws what the laboratory measured and what the blood bank issued."""

from __future__ import annotations

import numpy as np
import polars as pl

from incrowd._runtime.arrays import BoolArray
from incrowd.datasets.blood_transfusions._care import BLEEDING, Care
from incrowd.datasets.blood_transfusions._people import Patients
from incrowd.datasets.blood_transfusions.tables import Drawn, blanked, facts, skewed, whole, yes_no
from incrowd.datasets.draws import Draws, Floats, Indices

UNMEASURED_FERRITIN, UNMEASURED_CRP = 0.22, 0.08
CROSSMATCHES = ("Electronic", "Immediate spin", "Full antiglobulin")


def draw_laboratory(
    draws: Draws, people: Patients, care: Care, group: Drawn
) -> dict[str, pl.Series | Indices]:
    """Return the columns of the laboratory and of the blood bank."""
    banked = facts("groups")
    before, after = _haemoglobin(draws, people, care)
    positive = draws.chance("antibody screen", 0.02 + 0.008 * np.minimum(care.previous, 10))
    crp = care.diagnosis.lookup(facts("diagnoses")["crp"]) * skewed(draws.uniform("crp"))
    return {
        "haemoglobin_before": before,
        "haemoglobin_after": after,
        "platelets": _platelets(draws, care),
        "inr": _tenths(_inr(draws, care)),
        "ferritin": blanked(
            _rounded(_ferritin(draws, care), 1), draws.chance("no ferritin", UNMEASURED_FERRITIN)
        ),
        "c_reactive_protein": blanked(_rounded(crp, 1), draws.chance("no crp", UNMEASURED_CRP)),
        "creatinine": _creatinine(draws, people, care),
        "albumin": _rounded(39.0 - 0.05 * people.age + 4.0 * draws.bell("albumin"), 15),
        "von_willebrand_factor": _rounded(
            group.lookup(banked["von_willebrand_factor"]) + 22.0 * draws.bell("von willebrand"), 20
        ),
        "alkaline_phosphatase": _rounded(
            group.lookup(banked["alkaline_phosphatase"]) + 20.0 * draws.bell("phosphatase"), 20
        ),
        "crossmatch": _crossmatches(draws, care, group, positive).labels(),
        "antibody_screen": Drawn(("Negative", "Positive"), positive.astype(np.int64)).labels(),
        "unit_age_days": _unit_ages(draws, care, group),
        "phenotype_matched": yes_no(
            draws.chance("matched", np.where(positive, 0.7, group.lookup(banked["matched"])))
        ),
    }


def _tenths(numbers: Floats) -> pl.Series:
    return pl.Series(np.rint(numbers * 10.0) / 10.0)


def _rounded(numbers: Floats, least: int) -> Indices:
    return np.maximum(np.rint(numbers), least).astype(np.int64)


def _haemoglobin(draws: Draws, people: Patients, care: Care) -> tuple[pl.Series, pl.Series]:
    """Return grams per decilitre before and after: a unit of red cells adds nearly one."""
    red = care.component.among("Red cells")
    mean = np.where(red, 7.3, 9.6) + np.where(people.sex.among("Male"), 0.3, 0.0)
    mean = mean + care.diagnosis.lookup(facts("diagnoses")["haemoglobin"])
    before = np.maximum(mean + 1.0 * draws.bell("haemoglobin"), 3.0)
    lost = np.where(care.reason.among(*BLEEDING), 0.5, 0.9)
    gained = np.where(red, np.minimum(care.units * lost, 5.0), 0.0)
    return _tenths(before), _tenths(before + gained + 0.35 * draws.bell("haemoglobin gained"))


def _platelets(draws: Draws, care: Care) -> Indices:
    low = care.reason.among("Low platelets")
    mean = np.where(low, 22.0, 225.0) * (1.0 + 0.32 * draws.bell("platelets"))
    return _rounded(np.where(care.reason.among("Anaemia of treatment"), mean * 0.55, mean), 3)


def _inr(draws: Draws, care: Care) -> Floats:
    raised = np.where(care.reason.among("Clotting disorder"), 1.1, 0.15)
    return 0.9 + raised * skewed(draws.uniform("inr"))


def _ferritin(draws: Draws, care: Care) -> Floats:
    """Return micrograms per litre: iron of former transfusions stays, bleeding takes it."""
    mean = np.where(care.reason.among(*BLEEDING), 70.0, 160.0) + 45.0 * care.previous
    micrograms: Floats = mean * skewed(draws.uniform("ferritin"))
    return micrograms


def _creatinine(draws: Draws, people: Patients, care: Care) -> Indices:
    mean = np.where(people.age < 15, 35.0 + 1.5 * people.age, 62.0 + 0.35 * people.age)
    mean = mean + np.where(people.sex.among("Male"), 12.0, 0.0) * (people.age >= 15)
    mean = np.where(care.diagnosis.among("Diseases of the genitourinary system"), mean * 1.8, mean)
    mean = np.where(care.ward.among("Renal unit"), mean * 3.0, mean)
    return _rounded(mean * (1.0 + 0.2 * draws.bell("creatinine")), 15)


def _crossmatches(draws: Draws, care: Care, group: Drawn, positive: BoolArray) -> Drawn:
    full = np.where(positive, 1.0, group.lookup(facts("groups")["full_crossmatch"]))
    spin = care.urgency.lookup({"Elective": 0.05, "Urgent": 0.15, "Emergency": 0.6})
    quick = draws.chance("immediate spin", spin) & ~positive
    index = np.where(draws.chance("full crossmatch", full), 2, np.where(quick, 1, 0))
    return Drawn(CROSSMATCHES, index)


def _unit_ages(draws: Draws, care: Care, group: Drawn) -> Indices:
    """Return days of storage: platelets keep for five, red cells for 42, plasma frozen for long."""
    uniform = draws.uniform("unit age")
    red = group.lookup(facts("groups")["unit_age_days"]) + 6.0 * draws.bell("red cell age")
    fresh = whole(1.0 + 5.0 * uniform)
    frozen = whole(20.0 + 280.0 * uniform)
    days = np.where(care.component.among("Platelets"), fresh, frozen)
    return np.where(care.component.among("Red cells"), np.clip(_rounded(red, 2), 2, 42), days)
