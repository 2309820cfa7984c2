"""The tables from which the death certificates are drawn, read from data/death-certificates/*.csv.

Most tables are choices: the first column holds what is given (a stage of life, a kind of cause),
the header the values to choose from, and each cell how often the value occurs, among its row. The
other tables are

    origins.csv      the descent of each race
    stages.csv       stages of life and the age at which each begins
    zips.csv         zip codes, where each lies, and how many of each descent live there
    tracts.csv       census tracts, the zip code each lies in, and how many live there
    cities.csv       places of birth, the state or country of each, and how many are born there
    occupations.csv  codes of occupations, the category of each, and how common it is
    causes.csv       codes of causes, their kind, and weights by stage of life and sex

All numbers and all places are invented.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from incrowd.datasets.blood_transfusions.tables import Choice, Drawn, choice_in
from incrowd.datasets.draws import CsvRows, Draws, Floats, Indices
from incrowd.datasets.resources import read_rows


@dataclass(frozen=True)
class NestedValues:
    """Values that each belong to one larger whole, and how common each is within it."""

    values: tuple[str, ...]
    whole_of: Indices
    wholes: tuple[str, ...]
    weights: Floats  # whole x value, 0 where the value belongs elsewhere


@cache
def rows_of(name: str) -> CsvRows:
    """Return the rows of data/death-certificates/`name`.csv."""
    return read_rows(f"data/death-certificates/{name}.csv")


@cache
def choice(name: str) -> Choice:
    """Return the choice in data/death-certificates/`name`.csv."""
    return choice_in(rows_of(name))


@cache
def parts(name: str, value: str, whole: str) -> NestedValues:
    """Return the column `value` of a table as parts of its column `whole`."""
    rows = rows_of(name)
    wholes = tuple(dict.fromkeys(row[whole] for row in rows))
    whole_of = np.array([wholes.index(row[whole]) for row in rows], dtype=np.int64)
    weights = np.zeros((len(wholes), len(rows)))
    weights[whole_of, np.arange(len(rows))] = [float(row["weight"]) for row in rows]
    return NestedValues(tuple(row[value] for row in rows), whole_of, wholes, weights)


def draw(draws: Draws, name: str, given: Drawn | None = None) -> Drawn:
    """Return a value of the choice `name` for each record, given another one of its values."""
    return choice(name).drawn(draws, name, given)


def draw_part(draws: Draws, purpose: str, table: NestedValues, whole: Drawn) -> Drawn:
    """Return one of the parts of each record's `whole`."""
    order = [table.wholes.index(name) for name in whole.values]
    return Drawn(table.values, draws.choose(purpose, table.weights[order], whole.index))


def group(drawn: Drawn, labels: dict[str, str]) -> Drawn:
    """Return the label of each record's value."""
    names = tuple(dict.fromkeys(labels[value] for value in drawn.values))
    place = np.array([names.index(labels[value]) for value in drawn.values], dtype=np.int64)
    return Drawn(names, place[drawn.index])


def both(first: Drawn, second: Drawn) -> Drawn:
    """Return the pair of two values, written `first, second`."""
    values = tuple(f"{one}, {other}" for one in first.values for other in second.values)
    return Drawn(values, first.index * len(second.values) + second.index)


def draw_clock(draws: Draws, purpose: str, hour: Drawn) -> Indices:
    """Return times of the day as numbers, 1435 for 14:35; half of them end in a full 5 minutes."""
    minute = np.floor(draws.uniform(f"{purpose} minute") * 60).astype(np.int64)
    rough = draws.chance(f"{purpose} rounded", 0.5)
    hours = np.array([int(value) for value in hour.values], dtype=np.int64)[hour.index]
    return hours * 100 + np.where(rough, minute - minute % 5, minute)
