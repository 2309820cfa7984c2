"""The tables from which the blood transfusions are drawn, read from data/blood-transfusions/*.csv.

Nearly every table is a choice: the first column holds what is given (a diagnosis, a stage of life,
a blood group), the header the values to choose from, and each cell how often the value occurs,
among its row. Values like `5-9` are ranges of whole numbers. The other tables are

    areas.csv        the part of the city in which a district lies
    diagnoses.csv    weight of a diagnosis by sex and age, and what goes with it
    growth.csv       height and body mass index by sex and age, up to 18
    groups.csv       what goes with a blood group in the laboratory and the blood bank

All numbers and all places are invented.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import polars as pl

from incrowd._runtime.arrays import BoolArray
from incrowd.datasets.draws import Days, Draws, Floats, Indices
from incrowd.datasets.resources import read_rows


@dataclass(frozen=True)
class Choice:
    """How often each of `values` occurs, for every row of `given`."""

    given: tuple[str, ...]
    values: tuple[str, ...]
    weights: Floats  # given x value

    def ordered(self, given: tuple[str, ...]) -> Floats:
        """Return the weights with one row for each name of `given`."""
        return self.weights[[self.given.index(name) for name in given]]

    def drawn(self, draws: Draws, purpose: str, given: Drawn | None) -> Drawn:
        """Return a value for each record, given another one of its values."""
        if given is None:
            return Drawn(self.values, draws.choose(purpose, self.weights[0]))
        return Drawn(self.values, draws.choose(purpose, self.ordered(given.values), given.index))


@dataclass(frozen=True)
class Drawn:
    """One value per record, as its place in `values`."""

    values: tuple[str, ...]
    index: Indices

    def labels(self, missing: BoolArray | None = None) -> pl.Series:
        """Return the values as text, empty where `missing`."""
        names: list[str | None] = [*self.values, None]
        index = self.index if missing is None else np.where(missing, len(self.values), self.index)
        return pl.Series(names, dtype=pl.String).gather(index)

    def among(self, *names: str) -> BoolArray:
        """Return where the value is one of `names`."""
        places = [self.values.index(name) for name in names]
        return np.isin(self.index, places)

    def lookup(self, table: dict[str, float]) -> Floats:
        """Return the number that `table` gives for each record's value."""
        return np.array([table[name] for name in self.values], dtype=np.float64)[self.index]


def choice_in(rows: Sequence[Mapping[str, str]]) -> Choice:
    """Return the choice in a table: the first column is given, each other one a value."""
    first, *values = rows[0]
    return Choice(
        given=tuple(row[first] for row in rows),
        values=tuple(values),
        weights=np.array([[float(row[value]) for value in values] for row in rows]),
    )


@cache
def choice(name: str) -> Choice:
    """Return the choice in data/blood-transfusions/`name`.csv."""
    return choice_in(read_rows(f"data/blood-transfusions/{name}.csv"))


@cache
def facts(name: str) -> dict[str, dict[str, float]]:
    """Return the columns of a table of numbers, each by the first column."""
    rows = read_rows(f"data/blood-transfusions/{name}.csv")
    first, *columns = rows[0]
    return {column: {row[first]: float(row[column]) for row in rows} for column in columns}


@cache
def area_of_district() -> dict[str, str]:
    """Return the part of the city in which each district lies."""
    return {row["district"]: row["area"] for row in read_rows("data/blood-transfusions/areas.csv")}


def draw(draws: Draws, name: str, given: Drawn | None = None) -> Drawn:
    """Return a value of the choice `name` for each record, given another one of its values."""
    return choice(name).drawn(draws, name, given)


def draw_both(draws: Draws, name: str, given: Drawn, limits: str, stage: Drawn) -> Drawn:
    """Return a value of `name`, its weights multiplied by those of the choice `limits`."""
    table, factors = choice(name), choice(limits).ordered(stage.values)
    weights = table.ordered(given.values)[:, None, :] * factors[None, :, :]
    place = given.index * len(stage.values) + stage.index
    return Drawn(table.values, draws.choose(name, weights.reshape(-1, len(table.values)), place))


def draw_number(draws: Draws, name: str, given: Drawn) -> Indices:
    """Return a whole number for each record: a range of the choice `name`, then evenly in it."""
    ranges = draw(draws, name, given)
    low, high = bounds(ranges.values)
    start, end = low[ranges.index], high[ranges.index]
    return start + whole(draws.uniform(f"{name} in its range") * (end - start + 1))


def bounds(ranges: tuple[str, ...]) -> tuple[Indices, Indices]:
    """Return the first and the last numbers of ranges such as `5-9`."""
    pairs = np.array([each.split("-") for each in ranges]).astype(np.int64)
    return pairs[:, 0], pairs[:, 1]


def whole(numbers: Floats) -> Indices:
    """Return numbers rounded down."""
    return np.floor(numbers).astype(np.int64)


def yes_no(flags: BoolArray) -> pl.Series:
    """Return Yes where the flag is set, No elsewhere."""
    return Drawn(("No", "Yes"), flags.astype(np.int64)).labels()


def blanked(cells: Indices | Days, missing: BoolArray) -> pl.Series:
    """Return whole numbers or days, empty where `missing`."""
    return pl.select(pl.when(pl.Series(~missing)).then(pl.Series(cells))).to_series()


def skewed(uniform: Floats) -> Floats:
    """Return numbers of mean 1 from 0.1 to 2.8, most of them small.

    Only products and sums, no logarithm: so every machine gets the same digits.
    """
    return 0.1 + 2.7 * uniform * uniform
