"""Draws when patients come: at random, and where a disease begins or a child is born."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from incrowd._runtime.arrays import IntArray, Ints, Uints
from incrowd.datasets.numbered_draws import NumberedDraws
from incrowd.datasets.patient_histories._people import DAYS_OF_A_YEAR, START, Cohort
from incrowd.datasets.patient_histories._tables import CLASSES, codes, diseases, visits

VISIT_BITS = 14
"""Bits of the number of a visit among those of its patient; those at random are below 2^13."""
_MOST = 2**13
_ONSET, _BIRTH, _PREGNANCY = _MOST, _MOST + 128, _MOST + 256
ABSENT_SHARE = 0.035  # who never come
USUAL, MOST_USE = 0.5, 30.0  # how often people come; the former over the root of a uniform number
PER_DISEASE = 0.02  # visits a year for a disease, times its weight
NEWBORN_FINDING = 0.35
PREGNANT_SHARE, PREGNANCIES, DAYS_APART = 0.24, 3, 1217
YOUNGEST_MOTHER, OLDEST_MOTHER = 3, 5  # bands of ages: from 15, to 44
TERM, CHECK = 275, 320  # days from conception
_CARE = (60, 112, 165, 215)  # days at which a pregnancy is looked at


class Planned(NamedTuple):
    """Visits: of whom, with which number, when, of which class, with which diagnoses if settled."""

    of: IntArray
    number: IntArray
    day: IntArray
    kind: IntArray
    settled: IntArray
    """Visit x 2: a code, or -1."""

    def together(self, others: list[Planned]) -> Planned:
        """Return these visits and others, by patient and day."""
        every = Planned(*map(np.concatenate, zip(self, *others, strict=True)))
        order = np.argsort((every.of << 30) | ((every.day - START) << VISIT_BITS) | every.number)
        return Planned(*(each[order] for each in every))


def draw_visits(draws: NumberedDraws, people: Cohort) -> Planned:
    """Return all visits of these patients, by patient and day."""
    begun = [_onsets(draws, people, place) for place in codes().has_onset.tolist()]
    births = [_births(draws, people), *_pregnancies(draws, people)]
    return _at_random(draws, people).together(begun + births)


def numbered(people: Cohort, of: Ints, number: Ints | int) -> Uints:
    """Return a number for each visit that no other visit of anybody has."""
    own = np.asarray(number).astype(np.uint64)
    return (people.numbers[of] << np.uint64(VISIT_BITS)) | own


def of_disease(people: Cohort, of: Ints, place: Ints | int) -> Uints:
    """Return a number for each patient and disease, or treatment."""
    return (people.numbers[of] << np.uint64(7)) | np.asarray(place).astype(np.uint64)


def _at_random(draws: NumberedDraws, people: Cohort) -> Planned:
    """Return visits spread over the years; few people have a large share of them.

    How often people come falls off as the square (Pareto), so that some come hundreds of times.
    """
    tables, everybody = visits(), np.arange(len(people.numbers))
    span = people.last - people.first + 1
    band = people.bands(everybody, (people.first + people.last) // 2)
    load = (people.onset <= people.last[:, None]) @ diseases().visits
    rate = tables.rate[people.sex, band] + PER_DISEASE * load
    use = 0.2 + 1.6 * draws.uniform("how often", people.numbers)
    use *= USUAL / np.sqrt(draws.uniform("how very often", people.numbers))
    use = np.where(
        draws.chance("never", people.numbers, ABSENT_SHARE), 0.0, np.minimum(use, MOST_USE)
    )
    mean = rate * use * span / DAYS_OF_A_YEAR
    many = np.floor(mean + draws.uniform("once more", people.numbers)).astype(np.int64)
    many = np.minimum(many, _MOST - 1)
    of = np.repeat(everybody, many)
    number = np.arange(len(of)) - np.repeat(np.cumsum(many) - many, many)
    numbers = numbered(people, of, number)
    day = people.first[of] + draws.below("day of the visit", numbers, span[of])
    kind = tables.of_class.drawn(draws.bits("class", numbers), people.bands(of, day))
    return Planned(of, number, day, kind, np.full((len(of), 2), -1))


def _settled(of: Ints, number: int, day: Ints, kind: str, first: Ints, second: Ints) -> Planned:
    return Planned(
        of.astype(np.int64),
        np.full(len(of), number),
        day.astype(np.int64),
        np.full(len(of), CLASSES.index(kind)),
        np.stack([first, second], axis=1),
    )


def _onsets(draws: NumberedDraws, people: Cohort, place: int) -> Planned:
    """Return the stays in hospital with which a disease begins."""
    day = people.onset[:, place]
    of = np.flatnonzero((people.first <= day) & (day <= people.last))
    bits = draws.bits("code of the onset", of_disease(people, of, place))
    code = codes().onset.drawn(bits, np.full(len(of), place))
    return _settled(of, _ONSET + place, day[of], "inpatient", code, np.full(len(of), -1))


def _births(draws: NumberedDraws, people: Cohort) -> Planned:
    """Return the first days of those who were born here."""
    of = np.flatnonzero(people.born >= START)
    numbers = numbered(people, of, _BIRTH)
    group = people.sex[of] * (len(visits().bands) + 1)
    born = codes().pools["b"].drawn(draws.bits("born", numbers), group)
    finding = codes().pools["n"].drawn(draws.bits("finding of a newborn", numbers), group)
    found = draws.chance("newborn with a finding", numbers, NEWBORN_FINDING)
    day = people.born[of]
    return _settled(of, _BIRTH, day, "inpatient", born, np.where(found, finding, -1))


def _pregnancies(draws: NumberedDraws, people: Cohort) -> Iterator[Planned]:
    """Yield the visits of pregnancies, of which a woman of age has up to three in these years."""
    for turn in range(PREGNANCIES):
        numbers = numbered(people, np.arange(len(people.numbers)), _PREGNANCY + 16 * turn)
        begin = START + turn * DAYS_APART + draws.below("conception", numbers, DAYS_APART - CHECK)
        able = (people.sex == 0) & (begin >= people.birthdays[:, YOUNGEST_MOTHER - 1])
        able &= begin + CHECK + 20 < people.birthdays[:, OLDEST_MOTHER - 1]
        able &= (begin >= people.first) & (begin + CHECK + 20 <= people.last)
        of = np.flatnonzero(able & draws.chance("pregnant", numbers, PREGNANT_SHARE))
        for stage, after in enumerate((*_CARE, TERM, CHECK)):
            number = _PREGNANCY + 16 * turn + stage
            each = numbered(people, of, number)
            day = begin[of] + after + draws.below("days later", each, 14)
            group = people.bands(of, day)  # of women, whose groups come first
            pool = {TERM: "d", CHECK: "c"}.get(after, "p")
            code = codes().pools[pool].drawn(draws.bits("pregnancy", each), group)
            second = codes().pools["o"].drawn(draws.bits("outcome", each), group)
            second = second if after == TERM else np.full(len(of), -1)
            kind = "inpatient" if after == TERM else "ambulatory"
            yield _settled(of, number, day, kind, code, second)
