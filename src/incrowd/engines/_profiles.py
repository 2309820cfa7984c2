"""Patients with several rows, as a policy describes them: profiles, and models over events."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from incrowd._runtime import randomness
from incrowd._runtime.arrays import IntArray
from incrowd.errors import PolicyError
from incrowd.policy import Policy
from incrowd.policy.events import time_of
from incrowd.privacy import PrivacyModel
from incrowd.table import Column, MemoryTable, Table
from incrowd.table.profiles import FLAT, PATIENT, Events, Histories, gathered, sets_of


def profiles(
    table: Table, patient: IntArray | None, policy: Policy
) -> tuple[Table, Histories | None, tuple[str, ...]]:
    """The table of the source; where patients may have several rows, of patients and their rows.

    Also what a person should know of rows that were left out.

    Parameters
    ----------
    table
        The rows of the source.
    patient
        The number of each row's patient, or None where each row is another's.
    policy
        Which columns vary within a patient, and which value to take of the others.
    """
    if patient is None:
        return table, None, ()
    if PATIENT in table:
        raise PolicyError(
            f"'{PATIENT}' is the column of pseudonyms in a release of patients with several rows, "
            "and one of the columns that would be published. Call that one otherwise, or leave it "
            "out: give it the role identifier."
        )
    assert isinstance(table, MemoryTable)
    of_events = {name for name, asked in policy.attributes.items() if asked.level == "event"}
    take = {name: asked.take for name, asked in policy.attributes.items() if asked.take is not None}
    found, histories = gathered(table, patient, of_events, take, time_of(policy))
    if policy.most_events is None:
        return found, histories, ()
    events, told = cut_to(policy.most_events, histories.tables[FLAT])
    return found, replace(histories, tables={FLAT: events}), told


def cut_to(most: int, rows: Events, where: str = "") -> tuple[Events, tuple[str, ...]]:
    """So many rows of each patient at most, drawn at random, and what a person should know."""
    events, cut = rows.at_most(most, randomness.permutation(rows.rows))
    told = (
        f"most-events: of {cut:,} patients with more than {most:,} rows{where}, so many were drawn "
        "at random; the others are not published."
    )
    return events, (told,) if cut else ()


def over_events(
    model: PrivacyModel, histories: Histories, patients: int, counted: dict[str, Column]
) -> PrivacyModel:
    """The bound model over the values that patients hold, where its attribute is one of events.

    Adds what homes count for it to `counted`. Only the values that it lists are told apart.
    """
    named = [name for name in model.sensitive_attributes if name in histories]
    if not named:
        return model
    (name,) = named
    events = histories.holding(name)
    listed_values = events[name].named(model.listed_values)
    codes = sorted(events[name].values.index(each) for each in listed_values if each is not None)
    within = np.array(codes, dtype=np.int64) if model.listed_values else None
    sets = sets_of(events, name, patients, within)
    counted.setdefault(sets.name, sets)
    return model.over(sets)
