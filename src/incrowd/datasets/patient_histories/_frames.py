"""Histories as tables: the texts and dates of what was drawn, several tables or one flat one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from incrowd._runtime.arrays import BoolArray, IntArray, Ints, Uints
from incrowd.datasets.numbered_draws import NAME_BITS, NumberedDraws
from incrowd.datasets.patient_histories._diagnoses import Visited, ends_of
from incrowd.datasets.patient_histories._dirt import (
    EMPTY,
    LEFT_OUT,
    OF_PATIENTS,
    OTHER_BIRTH,
    OTHER_SHOWN,
    OTHER_STATUS,
    OTHER_ZIP,
    SHOWN_OTHER,
    STRANGER,
    Dirt,
    WrongRows,
)
from incrowd.datasets.patient_histories._people import NEVER, Cohort
from incrowd.datasets.patient_histories._planned import Planned
from incrowd.datasets.patient_histories._tables import CLASSES, SEXES, codes, demography, drugs

OF_A_PERSON = ("birth_date", "sex", "zip", "race", "marital_status", "death_date")
_DIGITS = pl.Series([f"{number:03x}" for number in range(16**3)])
_PAIRS = pl.Series([f"{number:02x}" for number in range(16**2)])
RowMarks = dict[str, BoolArray]
"""Rows that are wrong in a way that nothing else of the table shows."""
MadeTable = tuple[pl.DataFrame, WrongRows]


@dataclass(frozen=True)
class HistoryTables:
    """Writes down patients and their visits; each table comes with the rows that are wrong."""

    draws: NumberedDraws
    dirt: Dirt
    people: Cohort
    visited: Visited

    def several(self) -> dict[str, MadeTable]:
        """Return the tables that hang on that of the patients."""
        return {
            "patients": self._patients(),
            "encounters": self._encounters(),
            "conditions": self._of_conditions("conditions", self._conditions(), {}),
            "prescriptions": self._prescriptions(),
        }

    def flat(self) -> dict[str, MadeTable]:
        """Return one table with a row for each condition at a visit."""
        visit = self._condition_places[0]
        shown, differing = self._shown_persons(self._visited.of[visit])
        encounters = self._encounter_frame.select("class", "department")[visit]
        conditions = self._conditions()
        frame = pl.concat(
            [
                conditions.select("patient"),
                shown,
                conditions.select("encounter"),
                encounters,
                conditions.drop("patient", "encounter"),
            ],
            how="horizontal",
        )
        return {"visits": self._of_conditions("visits", frame, differing)}

    @property
    def _visited(self) -> Planned:
        return self.visited.planned

    @cached_property
    def _keys(self) -> pl.Series:
        return _named("p", self.draws.names("patient", self.people.numbers))

    @cached_property
    def _wrong(self) -> IntArray:
        """In which way the row of each patient is wrong."""
        kind = self.dirt.kinds("patients", self.people.numbers, OF_PATIENTS)
        known = np.bincount(self._visited.of, minlength=len(kind)) > 0
        left_out = (kind == OF_PATIENTS.index(LEFT_OUT)) & ~known
        return np.where(left_out, OF_PATIENTS.index(EMPTY), kind)

    @cached_property
    def _stranger(self) -> BoolArray:
        return self._is(LEFT_OUT)

    @cached_property
    def _persons(self) -> pl.DataFrame:
        people, tables = self.people, demography()
        return pl.DataFrame(
            {
                "birth_date": _dates(people.born),
                "sex": _texts(SEXES, people.sex),
                "zip": _texts(tables.zips, people.zip),
                "race": _texts(tables.races, people.race),
                "marital_status": _texts(tables.statuses, people.status),
                "death_date": _dates(people.died),
            }
        )

    @cached_property
    def _other_persons(self) -> pl.DataFrame:
        """The patients as the second of two rows has them, where there are two."""
        people, tables, draws = self.people, demography(), self.draws
        numbers = people.numbers
        zips = 1 + draws.below("another zip", numbers, len(tables.zips) - 1)
        status = 1 + draws.below("another status", numbers, len(tables.statuses) - 1)
        days = 1 + draws.below("another birth date", numbers, 300)
        return self._persons.with_columns(
            zip=_chosen(
                self._is(OTHER_ZIP),
                _texts(tables.zips, (people.zip + zips) % len(tables.zips)),
                "zip",
            ),
            marital_status=_chosen(
                self._is(OTHER_STATUS),
                _texts(tables.statuses, (people.status + status) % len(tables.statuses)),
                "marital_status",
            ),
            birth_date=_chosen(self._is(OTHER_BIRTH), _dates(people.born - days), "birth_date"),
        )

    def _is(self, way: str) -> BoolArray:
        return np.asarray(self._wrong == OF_PATIENTS.index(way))

    def _twofold(self) -> BoolArray:
        return self._is(OTHER_ZIP) | self._is(OTHER_STATUS) | self._is(OTHER_BIRTH)

    def _patients(self) -> MadeTable:
        persons = self._persons.select(self._keys.alias("patient"), pl.all())
        if not self.dirt.share:
            return persons, {}
        empty = pl.Series(self._is(EMPTY))
        persons = self.dirt.emptied("patients", persons, self.people.numbers, empty)
        others = self._other_persons.select(self._keys.alias("patient"), pl.all())
        again = np.flatnonzero(self._twofold())
        order = np.concatenate([2 * np.arange(persons.height), 2 * again + 1])
        kept = np.argsort(order)
        kept = kept[~np.append(self._stranger, np.zeros(len(again), dtype=np.bool_))[kept]]
        counts = {way: int(self._is(way).sum()) for way in OF_PATIENTS}
        return pl.concat([persons, others[again]])[kept], counts

    def _shown_persons(self, mine: IntArray) -> tuple[pl.DataFrame, dict[str, BoolArray]]:
        """Return the patient's columns for rows of a flat table, and where they differ."""
        shown = self._persons[mine]
        if not self.dirt.share:
            return shown, {}
        chance = self.draws.chance("another value", self._condition_numbers, OTHER_SHOWN)
        other = chance & self._twofold()[mine]
        rows = np.where(other, mine + len(self._wrong), mine)
        shown = pl.concat([self._persons, self._other_persons])[rows]
        unknown = self._stranger[mine]
        shown = shown.with_columns(
            pl.when(pl.Series(~unknown)).then(pl.col(name)).alias(name) for name in OF_A_PERSON
        )
        ways = (OTHER_ZIP, OTHER_STATUS, OTHER_BIRTH)
        return shown, {
            told: other & self._is(way)[mine] for way, told in zip(ways, SHOWN_OTHER, strict=True)
        }

    @cached_property
    def _encounter_frame(self) -> pl.DataFrame:
        visited, planned = self.visited, self.visited.planned
        return pl.DataFrame(
            {
                "encounter": _named("e", self.draws.names("encounter", visited.numbers)),
                "patient": self._keys.gather(planned.of),
                "start": _dates(planned.day),
                "end": _dates(visited.end),
                "class": _texts(CLASSES, planned.kind),
                "department": _texts(codes().departments, visited.department),
            }
        )

    def _encounters(self) -> MadeTable:
        frame, visited = self._encounter_frame, self.visited
        return self._events("encounters", frame, visited.numbers, self._visited.of, {})

    @cached_property
    def _condition_places(self) -> tuple[IntArray, IntArray]:
        visit, place = np.nonzero(self.visited.codes >= 0)
        return visit, place

    @cached_property
    def _condition_numbers(self) -> Uints:
        visit, place = self._condition_places
        return (self.visited.numbers[visit] << np.uint64(2)) | place.astype(np.uint64)

    def _conditions(self) -> pl.DataFrame:
        visit, place = self._condition_places
        code, planned = self.visited.codes[visit, place], self._visited
        start, last = planned.day[visit], self.people.last[planned.of[visit]]
        encounters = self._encounter_frame
        return pl.DataFrame(
            {
                "patient": encounters["patient"].gather(visit),
                "encounter": encounters["encounter"].gather(visit),
                "start": _dates(start),
                "end": _dates(ends_of(self.draws, self._condition_numbers, code, start, last)),
                "code": _texts(codes().codes, code),
                "description": _texts(codes().descriptions, code),
            }
        )

    def _of_conditions(
        self, table: str, frame: pl.DataFrame, differing: dict[str, BoolArray]
    ) -> MadeTable:
        mine = self._visited.of[self._condition_places[0]]
        return self._events(table, frame, self._condition_numbers, mine, differing)

    def _prescriptions(self) -> MadeTable:
        visit, place = np.nonzero(self.visited.lines >= 0)
        line, mine = self.visited.lines[visit, place], self._visited.of[visit]
        tables, encounters = drugs(), self._encounter_frame
        drug = tables.atc_of_line[line]
        frame = pl.DataFrame(
            {
                "patient": encounters["patient"].gather(visit),
                "encounter": encounters["encounter"].gather(visit),
                "start": encounters["start"].gather(visit),
                "days": tables.days_of_line[line],
                "atc": _texts(tables.atc, drug),
                "description": _texts(tables.descriptions, drug),
            }
        )
        own = (self.visited.numbers[visit] << np.uint64(2)) | place.astype(np.uint64)
        return self._events("prescriptions", frame, own, mine, {})

    def _events(
        self, table: str, frame: pl.DataFrame, own: Uints, mine: IntArray, marked: RowMarks
    ) -> MadeTable:
        """The rows of a table of events, those of patients who are left out marked too."""
        marked = {STRANGER: self._stranger[mine], **marked}
        return self.dirt.events(table, frame, own, self.people.born[mine], marked)


def _texts(values: list[str] | tuple[str, ...], index: Ints) -> pl.Series:
    return pl.Series(values, dtype=pl.String).gather(index)


def _dates(days: Ints) -> pl.Series:
    """Return days as dates, and none for NEVER."""
    numbers = pl.Series(days.astype(np.int32))
    return pl.select(pl.when(numbers != NEVER).then(numbers).cast(pl.Date)).to_series()


def _chosen(where: BoolArray, other: pl.Series, column: str) -> pl.Expr:
    return pl.when(pl.Series(where)).then(other).otherwise(pl.col(column))


def _named(prefix: str, numbers: Uints) -> pl.Series:
    """Return names of twelve characters: a letter and eleven digits to the base 16."""
    parts = [
        digits.gather((numbers >> np.uint64(shift)) & np.uint64(len(digits) - 1))
        for digits, shift in ((_PAIRS, NAME_BITS - 8), (_DIGITS, 24), (_DIGITS, 12), (_DIGITS, 0))
    ]
    return pl.select(pl.concat_str([pl.lit(prefix), *map(pl.lit, parts)])).to_series()
