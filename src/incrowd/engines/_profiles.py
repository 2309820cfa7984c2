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
from incrowd.table.profiles import PATIENT, Histories, gathered, sets_of
from incrowd.table.pseudonyms import Pseudonyms


def profiles(
    table: Table, patient: IntArray | None, policy: Policy, pseudonyms: Pseudonyms | None = None
) -> tuple[Table, Histories | None]:
    """The table of the source; where patients may have several rows, of patients and their rows.

    Parameters
    ----------
    table
        The rows of the source.
    patient
        The number of each row's patient, or None where each row is another's.
    policy
        Which columns vary within a patient, and which value to take of the others.
    pseudonyms
        What stands for each patient, where a key says so.
    """
    if patient is None:
        return table, None
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
    return found, replace(histories, pseudonyms=pseudonyms)


def cut_short(
    histories: Histories | None, policy: Policy
) -> tuple[Histories | None, tuple[str, ...]]:
    """The rows of patients, at most so many of each as the policy says, and what was left out."""
    most = policy.most_events
    if histories is None or most is None:
        return histories, ()
    kept, told = {}, []
    for name, rows in histories.tables.items():
        kept[name], cut = rows.at_most(most, randomness.permutation(rows.rows))
        where = "" if histories.flat else f" in {name}"
        if cut:
            told.append(
                f"most-events: of {cut:,} patients with more than {most:,} rows{where}, so many "
                "were drawn at random; the others are not published."
            )
    return replace(histories, tables=kept), tuple(told)


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
