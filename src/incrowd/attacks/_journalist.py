"""The journalist: an attacker who knows that a person is in the population, not in the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import IntArray
from incrowd.attacks.population import expected_risk, population_sizes
from incrowd.sources import SourceLike
from incrowd.table import Column


@dataclass(frozen=True)
class Journalist:
    """Risk of a person known to be in the population only: 1 / (size of the group there)."""

    highest: float
    average: float
    basis: str
    """`population` (counted) or `sampling fraction` (expected under a model)."""
    population: int | None = None
    sampling_fraction: float | None = None


def journalist_risk(
    columns: Sequence[Column],
    rows: Sequence[npt.NDArray[np.integer]],
    sizes: IntArray,
    population: SourceLike,
    sampling_fraction: float | None,
    name: str,
) -> Journalist | None:
    """The journalist risk of groups of these sizes, given a population or the share of one."""
    if population is not None:
        in_population, people = population_sizes(columns, rows, sizes, population, name)
        risks = 1 / in_population
        basis, fraction = "population", None
    elif sampling_fraction is not None:
        risks = expected_risk(sizes, sampling_fraction)
        basis, people, fraction = "sampling fraction", None, float(sampling_fraction)
    else:
        return None
    average = float((risks * sizes).sum() / sizes.sum())
    return Journalist(float(risks.max()), average, basis, people, fraction)
