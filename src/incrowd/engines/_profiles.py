"""Patients with several rows, as a policy describes them: profiles, and models over events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime import randomness
from incrowd.engines._engine_profiles import histories_cut_short, profiles_in_engine, told_cut
from incrowd.errors import PolicyError
from incrowd.policy import Policy
from incrowd.policy.events import time_of
from incrowd.privacy import PrivacyModel
from incrowd.table import Column, MemoryTable, Table
from incrowd.table.profiles import (
    PATIENT,
    Events,
    Histories,
    SetColumn,
    gathered,
    name_of_sets,
    sets_of,
)
from incrowd.table.sql_histories import AnyHistories, SqlHistories
from incrowd.table.sql_profiles import TakenBy, with_sets
from incrowd.table.sql_table import SqlTable

if TYPE_CHECKING:
    from incrowd.engines.preparation import Gathered


def profiles(table: Table, found: Gathered, policy: Policy) -> tuple[Table, AnyHistories | None]:
    """The table of the source; where patients may have several rows, of patients and their rows.

    Parameters
    ----------
    table
        The rows of the source.
    found
        Whose rows they are, and what stands for each patient where a key says so.
    policy
        Which columns vary within a patient, and which value to take of the others.
    """
    if not found.several:
        return table, None
    if PATIENT in table:
        raise PolicyError(
            f"'{PATIENT}' is the column of pseudonyms in a release of patients with several rows, "
            "and one of the columns that would be published. Call that one otherwise, or leave it "
            "out: give it the role identifier."
        )
    of_events = {name for name, asked in policy.attributes.items() if asked.level == "event"}
    take = {name: asked.take for name, asked in policy.attributes.items() if asked.take is not None}
    if isinstance(table, SqlTable):
        return profiles_in_engine(table, of_events, TakenBy(take, time_of(policy)))
    assert isinstance(table, MemoryTable)
    assert found.patient is not None
    whole, histories = gathered(table, found.patient, of_events, take, time_of(policy))
    return whole, replace(histories, pseudonyms=found.pseudonyms)


def cut_short(
    histories: AnyHistories | None, policy: Policy
) -> tuple[AnyHistories | None, tuple[str, ...]]:
    """The rows of patients, at most so many of each as the policy says, and what was left out."""
    most = policy.most_events
    if histories is None or most is None:
        return histories, ()
    if isinstance(histories, SqlHistories):
        return histories_cut_short(histories, most)
    kept: dict[str, Events] = {}
    told: list[str] = []
    for name, rows in histories.tables.items():
        kept[name], cut = rows.at_most(most, randomness.permutation(rows.rows))
        where = "" if histories.flat else f" in {name}"
        told += told_cut(cut, most, where)
    return replace(histories, tables=kept), tuple(told)


def complete(histories: AnyHistories, whole: Table, kept: Table) -> AnyHistories:
    """The histories of the patients of whom no quasi-identifier is missing."""
    if isinstance(histories, Histories):
        assert isinstance(whole, MemoryTable)
        return histories.of_patients(whole.has_all())
    assert isinstance(kept, SqlTable)
    return histories.of_patients(kept.sql_rows.table)


def over_events(
    models: Sequence[PrivacyModel],
    histories: AnyHistories,
    table: Table,
    counted: dict[str, Column],
) -> tuple[Table, list[PrivacyModel]]:
    """The bound models over the values that patients hold, where their attribute is one of events.

    Also the table, whose rows can be counted by what is added to `counted` for them. Only the
    values that a model lists are told apart.
    """
    made = []
    for model in models:
        of_events = [name for name in model.sensitive_attributes if name in histories]
        # Who holds what is counted for every support where events are known, not for groups.
        if not of_events or model.attacker is not None:
            made.append(model)
            continue
        (name,) = of_events
        column = histories[name]
        listed_values = column.named(model.listed_values)
        codes = sorted(column.values.index(each) for each in listed_values if each is not None)
        within = np.array(codes, dtype=np.int64) if model.listed_values else None
        known = counted.get(name_of_sets(name, within))
        if isinstance(known, SetColumn):
            sets = known
        elif isinstance(histories, Histories):
            sets = sets_of(histories.holding(name), name, table.records, within)
        else:
            assert isinstance(table, SqlTable)
            table, sets = with_sets(table, histories.holding(name), name, within)
        counted[sets.name] = sets
        made.append(model.over(sets))
    return table, made


def refuse_groupless(policy: Policy, records: int) -> None:
    """Refuse sizes of groups that a table of so many records, or patients, cannot have."""
    for model in policy.privacy:
        name, least = model.size, model.least_records
        if least > records:
            raise PolicyError(
                f"{model.name}: {name} is {least:,}, but the table has only {records:,} "
                f"records. Choose a {name} of at most {records:,}; half of that leaves room "
                "for two groups."
            )
