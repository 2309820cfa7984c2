"""Draws patients: born when, of which sex, living where, ill with what since when, dead or not.

Days are whole numbers, counted from the first of January 1970.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from incrowd._runtime.arrays import FloatArray, IntArray, Ints, Uints
from incrowd.datasets.numbered_draws import NumberedDraws
from incrowd.datasets.patient_histories._tables import demography, diseases, visits

FIRST_YEAR, YEARS = 2015, 10
START, END = 16_436, 20_088  # the first of January 2015 and the last of December 2024
NEVER = 1_000_000
"""A day that does not come."""
DAYS_OF_A_YEAR = 365.2425
FEMALE_SHARE = 0.512
MOST_LIKELY = 0.85  # a disease, however much makes it more likely
LATE_SHARE, EARLY_SHARE = 0.25, 0.12  # who come to the hospital late, who leave early
_YEAR_STARTS = np.arange(FIRST_YEAR - 1970, FIRST_YEAR - 1970 + YEARS).astype("datetime64[Y]")


@dataclass(frozen=True)
class Cohort:
    """Patients; each array has one entry, or one row, for each of them."""

    numbers: Uints
    sex: IntArray
    born: IntArray
    birthdays: IntArray
    """The days on which the next band of ages begins."""
    zip: IntArray
    race: IntArray
    status: IntArray
    onset: Ints
    """Patient x disease: the day since when, or NEVER."""
    died: IntArray
    """The day, or NEVER."""
    first: IntArray
    last: IntArray
    """The days between which this hospital sees the patient."""

    def bands(self, of: Ints, days: Ints) -> IntArray:
        """Return the band of ages in which patients are on a day."""
        found = np.zeros(len(of), dtype=np.int64)
        for birthday in self.birthdays.T:
            found += days >= birthday[of]
        return found


def draw_people(draws: NumberedDraws, numbers: Uints) -> Cohort:
    """Return the patients with these numbers."""
    tables = demography()
    sex = (~draws.chance("sex", numbers, FEMALE_SHARE)).astype(np.int64)
    none = np.zeros(len(numbers), dtype=np.int64)
    zips = tables.zip.drawn(draws.bits("zip", numbers), none)
    born = END - np.floor(_ages(draws, numbers) * DAYS_OF_A_YEAR).astype(np.int64)
    years = (END - born) // DAYS_OF_A_YEAR
    band = np.searchsorted(tables.status_from, years, side="right") - 1
    onset = _onsets(draws, numbers, sex, born)
    died = _deaths(draws, numbers, sex, born, onset)
    first, last = _seen(draws, numbers, np.maximum(born, START), np.minimum(died, END))
    return Cohort(
        numbers=numbers,
        sex=sex,
        born=born,
        birthdays=np.stack([_birthday(born, int(age)) for age in visits().bands], axis=1),
        zip=zips,
        race=tables.race.drawn(draws.bits("race", numbers), tables.area_of_zip[zips]),
        status=tables.status.drawn(draws.bits("marital status", numbers), 2 * band + sex),
        onset=onset,
        died=died,
        first=first,
        last=last,
    )


def _ages(draws: NumberedDraws, numbers: Uints) -> FloatArray:
    """Return ages in years on the last day, as if nobody had died."""
    tables = demography()
    band = tables.age.drawn(draws.bits("age", numbers), np.zeros(len(numbers), dtype=np.int64))
    width = (tables.age_to - tables.age_from)[band]
    ages = draws.uniform("age in its band", numbers)
    ages *= width
    ages += tables.age_from[band]
    return ages


def _birthday(born: IntArray, age: int) -> IntArray:
    """Return the day on which people are so old; who is born on a leap day, on the day after."""
    months = born.astype("datetime64[D]").astype("datetime64[M]")
    day = born - months.astype("datetime64[D]").astype(np.int64)
    month: IntArray = (months + 12 * age).astype("datetime64[D]").astype(np.int64)
    return month + day


def _onsets(draws: NumberedDraws, numbers: Uints, sex: IntArray, born: IntArray) -> Ints:
    """Return since when people have each disease.

    A uniform number is below the share of those who ever have it, or not; how far below says when:
    so as many have it at an age as the line between its two ages says.
    """
    tables = diseases()
    onset = np.full((len(tables.names), len(numbers)), NEVER, dtype=np.int32)
    for place, name in enumerate(tables.names):
        share = tables.share[sex, place]
        earliest = born
        for given, factor, days in tables.links[place]:
            ill = onset[given] < NEVER
            share = np.where(ill, share * factor, share)
            if days >= 0:
                earliest = np.where(ill, np.maximum(earliest, onset[given] + days), earliest)
        share = np.minimum(share, MOST_LIKELY)
        drawn = draws.uniform(f"ill with {name}", numbers)
        ever = drawn < share
        part = drawn / np.where(ever, share, 1.0)
        age = tables.start[place] + part * (tables.full[place] - tables.start[place])
        day = np.maximum(born + np.floor(age * DAYS_OF_A_YEAR).astype(np.int64), earliest)
        onset[place] = np.where(ever & (day <= END), day, NEVER)
    return np.ascontiguousarray(onset.T)


def _deaths(
    draws: NumberedDraws, numbers: Uints, sex: IntArray, born: IntArray, onset: Ints
) -> IntArray:
    """Return the day of death, drawn year by year: likelier with age and with deadly diseases."""
    table, deadly = demography().death, diseases().deadly
    died = np.full(len(numbers), NEVER)
    starts = _YEAR_STARTS.astype("datetime64[D]").astype(np.int64)
    for year, start in enumerate(starts.tolist()):
        length = 365 + (year % 4 == 1)  # 2016, 2020, 2024
        risk = np.ones(len(numbers))
        for place in np.flatnonzero(deadly):
            risk += np.where(onset[:, place] < start, deadly[place], 0.0)
        age = np.clip((start - born) // DAYS_OF_A_YEAR, 0, table.shape[1] - 1).astype(np.int64)
        share = np.minimum(table[sex, age] * risk * 0.8, 0.95)
        dies = draws.chance(f"death in year {year}", numbers, share)
        day = start + draws.below(f"day of death in year {year}", numbers, length)
        died = np.where(dies & (died == NEVER) & (day > born), day, died)
    return died


def _seen(
    draws: NumberedDraws, numbers: Uints, first: IntArray, last: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the days between which the hospital sees people: some come late, some leave early."""
    late = draws.chance("comes late", numbers, LATE_SHARE) & (first == START)
    skipped = draws.below("first seen", numbers, last - first + 1)
    first = np.where(late, first + skipped, first)
    early = draws.chance("leaves early", numbers, EARLY_SHARE) & (last == END)
    last = np.where(early, last - draws.below("last seen", numbers, last - first + 1), last)
    return first, last
