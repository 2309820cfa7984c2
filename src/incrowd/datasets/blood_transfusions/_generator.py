r"""Draws the blood transfusions, each incident given the parts drawn before.

    people -> families (blood group, donors) -> care -> laboratory

The blood group hangs on the ancestral region and shows in what is known of the family and, less,
in the laboratory; the diagnosis hangs on sex and age and shows in ward, procedure and reason. The
two have nothing to do with each other.
"""

from __future__ import annotations

import polars as pl

from incrowd.datasets.blood_transfusions._care import draw_care
from incrowd.datasets.blood_transfusions._families import draw_families
from incrowd.datasets.blood_transfusions._laboratory import draw_laboratory
from incrowd.datasets.blood_transfusions._people import draw_people
from incrowd.datasets.draws import Draws


def generate(rows: int, seed: int) -> pl.DataFrame:
    """Return `rows` incidents; the same seed gives the same ones, and the same first ones.

    Examples
    --------
    >>> generate(3, seed=0).shape
    (3, 62)
    """
    draws = Draws(rows, seed)
    people = draw_people(draws)
    group, families = draw_families(draws, people.region)
    care = draw_care(draws, people, group)
    laboratory = draw_laboratory(draws, people, care, group)
    return pl.DataFrame(people.columns | families | care.columns | laboratory)
