"""Draws the death certificates: first who died, then how and where."""

from __future__ import annotations

import polars as pl

from incrowd.datasets.death_certificates._circumstances import draw_circumstances
from incrowd.datasets.death_certificates._people import draw_people
from incrowd.datasets.draws import Draws


def generate(rows: int, seed: int) -> pl.DataFrame:
    """Return `rows` certificates; the same seed gives the same ones, and the same first ones.

    Examples
    --------
    >>> generate(3, seed=0).shape
    (3, 36)
    """
    draws = Draws(rows, seed)
    people = draw_people(draws)
    return pl.DataFrame(people.columns | draw_circumstances(draws, people))
