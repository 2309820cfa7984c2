"""Draws what visits are for: diagnoses, the department, how long they take, and drugs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from incrowd._runtime.arrays import BoolArray, IntArray, Ints, Uints
from incrowd.datasets.numbered_draws import NumberedDraws, scaled
from incrowd.datasets.patient_histories._people import NEVER, Cohort
from incrowd.datasets.patient_histories._planned import Planned, numbered, of_disease
from incrowd.datasets.patient_histories._tables import (
    CLASSES,
    SEXES,
    codes,
    diseases,
    drugs,
    visits,
)

PLACES = 4
"""Diagnoses of a visit, at most."""
NOTHING_CODED = 0.05  # of visits at random
OTHER_CODE, OTHER_DRUG = 0.25, 0.2  # than the usual one of this patient
CAUSE_SHARE = 0.6  # of injuries whose cause is known
SPECIALIST_SHARE = 0.5  # of ambulatory visits
_PLACE_BITS = np.uint64(2)
_WELLNESS, _AMBULATORY, _EMERGENCY, _INPATIENT = range(len(CLASSES))


@dataclass(frozen=True)
class Visited:
    """Visits and what came of them; each array has one entry, or one row, for each."""

    planned: Planned
    numbers: Uints
    end: IntArray
    department: IntArray
    codes: IntArray
    """Visit x place: a code, or -1."""
    lines: IntArray
    """Visit x place: a line of the table of treatments, or -1."""


def draw_diagnoses(draws: NumberedDraws, people: Cohort, planned: Planned) -> Visited:
    """Return what these visits are for."""
    numbers = numbered(people, planned.of, planned.number)
    diagnoses = _Diagnoses(draws, people, planned, numbers)
    found = diagnoses.all()
    longest = visits().longest[planned.kind]
    part = draws.uniform("length", numbers)
    part *= part
    length = np.floor((longest + 1) * part * part).astype(np.int64)
    return Visited(
        planned,
        numbers,
        np.minimum(planned.day + length, people.last[planned.of]),
        diagnoses.departments(found[:, 0]),
        found,
        diagnoses.treatments(found),
    )


class _Diagnoses:
    """The diagnoses of visits, place by place; no disease and no code twice at one visit."""

    def __init__(
        self, draws: NumberedDraws, people: Cohort, planned: Planned, numbers: Uints
    ) -> None:
        self._draws, self._people, self._planned, self._numbers = draws, people, planned, numbers
        band = people.bands(planned.of, planned.day)
        bands = len(visits().bands) + 1
        self._group = people.sex[planned.of] * bands + band
        self._groups = len(SEXES) * bands
        patient, self._disease = np.nonzero(people.onset <= people.last[:, None])
        weights = diseases().visits[self._disease]
        self._sums = np.cumsum(weights)
        starts = np.searchsorted(patient, np.arange(len(people.numbers) + 1))
        sums = np.append(0, self._sums)[starts]
        self._before, self._total = sums[:-1], np.diff(sums)

    def all(self) -> IntArray:
        """Return visit x place: a code, or -1."""
        draws, numbers, kind = self._draws, self._numbers, self._planned.kind
        found = np.full((len(numbers), PLACES), -1)
        ill = np.full((len(numbers), PLACES), -1)
        settled = self._planned.settled
        found[:, :2] = settled
        open_ = settled[:, 0] < 0
        open_ &= ~draws.chance("nothing coded", numbers, NOTHING_CODED)
        coded = open_ | (settled[:, 0] >= 0)
        for place in range(PLACES):
            likely = visits().further[place - 1] if place else visits().chronic
            own = (numbers << _PLACE_BITS) | np.uint64(place)
            asked = draws.uniform("diagnosis", own) < likely[kind]
            free = open_ if place == 0 else coded & (found[:, place] < 0)
            if place == PLACES - 1:
                self._more_care(free & asked & (kind == _WELLNESS), own, found)
                asked &= kind != _WELLNESS
            at = np.flatnonzero(free & asked & (self._total[self._planned.of] > 0))
            ill[at, place] = self._ill_with(at, own[at], ill[at])
            has = ill[:, place] >= 0
            found[has, place] = self._codes(np.flatnonzero(has), own[has], ill[has, place])
            if place == 0:
                rest = np.flatnonzero(open_ & ~has)
                bits = draws.bits("reason", own[rest])
                group = kind[rest] * self._groups + self._group[rest]
                found[rest, 0] = codes().of_class.drawn(bits, group)
                self._causes(own, found)
        return found

    def _ill_with(self, at: IntArray, own: Uints, known: IntArray) -> IntArray:
        """Return a disease that the patient has by then and the visit has not yet, or -1."""
        of, day = self._planned.of[at], self._planned.day[at]
        drawn = scaled(self._draws.bits("disease", own), self._total[of])
        disease = self._disease[np.searchsorted(self._sums, self._before[of] + drawn, "right")]
        fits = (self._people.onset[of, disease] <= day) & (known != disease[:, None]).all(axis=1)
        return np.where(fits, disease, -1)

    def _codes(self, at: IntArray, own: Uints, disease: IntArray) -> IntArray:
        """Return the code that the patient usually has for a disease, or another."""
        draws = self._draws
        usual = draws.bits("usual code", of_disease(self._people, self._planned.of[at], disease))
        other = draws.chance("other code", own, OTHER_CODE)
        bits = np.where(other, draws.bits("code", own), usual)
        return codes().course.drawn(bits, disease)

    def _causes(self, own: Uints, found: IntArray) -> None:
        """Put the cause beside an injury."""
        injured = (found[:, 0] >= 0) & codes().injury[found[:, 0]] & (found[:, 1] < 0)
        at = np.flatnonzero(injured & self._draws.chance("cause", own, CAUSE_SHARE))
        bits = self._draws.bits("which cause", own[at])
        found[at, 1] = codes().pools["x"].drawn(bits, self._group[at])

    def _more_care(self, where: BoolArray, own: Uints, found: IntArray) -> None:
        """Put a second thing that was looked at, or done, beside a check-up."""
        at = np.flatnonzero(where)
        code = codes().of_class.drawn(self._draws.bits("more care", own[at]), self._group[at])
        found[at, -1] = np.where((found[at] == code[:, None]).any(axis=1), -1, code)

    def departments(self, code: IntArray) -> IntArray:
        """Return who saw the patients: emergencies one department, many others general practice."""
        planned, names = self._planned, codes().departments
        general, children = names.index("General practice"), names.index("Paediatrics")
        special = np.where(code >= 0, codes().department[code], general)
        child = self._people.bands(planned.of, planned.day) < 3  # below 15
        usual = np.where(child, children, general)
        sent = self._draws.chance("specialist", self._numbers, SPECIALIST_SHARE)
        birth = special == names.index("Obstetrics")
        stay = (planned.kind == _INPATIENT) | (planned.kind == _WELLNESS)
        found = np.where(sent | stay | birth, special, usual)
        inside = np.where(found == general, names.index("Internal medicine"), found)
        found = np.where(planned.kind == _INPATIENT, inside, found)
        return np.where(planned.kind == _EMERGENCY, names.index("Emergency"), found)

    def treatments(self, found: IntArray) -> IntArray:
        """Return visit x place: the drug for a diagnosis, mostly the one the patient is used to."""
        draws, tables = self._draws, drugs()
        lines = np.full(found.shape, -1)
        atc = np.full(found.shape, -1)
        for place in range(PLACES):
            at = np.flatnonzero(found[:, place] >= 0)
            treatment = codes().treatment[found[at, place]]
            at, treatment = at[treatment >= 0], treatment[treatment >= 0]
            own = (self._numbers[at] << _PLACE_BITS) | np.uint64(place)
            given = draws.chance("treated", own, tables.share[treatment])
            at, treatment, own = at[given], treatment[given], own[given]
            known = of_disease(self._people, self._planned.of[at], treatment)
            usual = draws.bits("usual drug", known)
            other = draws.chance("other drug", own, OTHER_DRUG)
            line = tables.line.drawn(np.where(other, draws.bits("drug", own), usual), treatment)
            new = (atc[at] != tables.atc_of_line[line][:, None]).all(axis=1)
            at, line = at[new], line[new]
            lines[at, place], atc[at, place] = line, tables.atc_of_line[line]
        return lines


def ends_of(draws: NumberedDraws, own: Uints, code: Ints, start: Ints, last: Ints) -> IntArray:
    """Return the day on which a condition was over; NEVER where it lasts, or nobody saw it."""
    usual = codes().days[code]
    end = start + usual + draws.below("over", own, np.maximum(usual, 0) // 2 + 1)
    return np.where((usual < 0) | (end > last), NEVER, end)
