"""Draws the blood group, and what the neighbours know of the patient's family as donors.

The blood group follows from the ancestral region. In the invented city nearly every family is on
the register of donors, which calls families by what it needs: so the centre, the programme, the
years on the register, the months since the last call and the number of donations tell something
about the group of whoever belongs to the family, and so does the diet, since many believe that
each blood group has one. None tells much; together they tell most of it.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from incrowd.datasets.blood_transfusions.tables import Drawn, draw, draw_number
from incrowd.datasets.draws import Draws, Indices

CARDS = ("None", "Bronze", "Silver", "Gold")
CARD_FROM = (5, 10, 25)  # donations of the family that earn the next card


def draw_families(draws: Draws, region: Drawn) -> tuple[Drawn, dict[str, pl.Series | Indices]]:
    """Return the blood group of each patient and the columns about the family."""
    group = draw(draws, "blood_group", region)
    donors = draw_number(draws, "family_donors", group)
    donations = np.maximum(draw_number(draws, "family_donations", group), donors)
    card = Drawn(CARDS, np.searchsorted(CARD_FROM, donations, side="right"))
    columns: dict[str, pl.Series | Indices] = {
        "diet": draw(draws, "diet", group).labels(),
        "family_donor_group": draw(draws, "family_donor_group", group).labels(),
        "family_donors": donors,
        "family_donations": donations,
        "family_donor_card": card.labels(),
        "donor_centre": draw(draws, "donor_centre", group).labels(),
        "donor_programme": draw(draws, "donor_programme", group).labels(),
        "register_years": draw_number(draws, "register_years", group),
        "call_months": draw_number(draws, "call_months", group),
        "blood_group": group.labels(),
    }
    return group, columns
