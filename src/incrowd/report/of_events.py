"""What groups tell of attributes of events, of which a patient has several values.

Each value is judged by itself: a group gives a value away where all of its patients have it, and
the best guess is the value that most of them have. Values cannot be ruled out down to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.manifests import Manifest
from incrowd.counts.placement import GroupOfRecord
from incrowd.counts.sql.groups import GROUP, published_profiles
from incrowd.table.alike import Told
from incrowd.table.packing import distinct_rows_of
from incrowd.table.people import HeldByPatients
from incrowd.table.sql_histories import PROFILE, SqlHistories
from incrowd.table.sql_table import SqlTable

if TYPE_CHECKING:
    from incrowd.engines.preparation import Prepared
    from incrowd.privacy import PrivacyModel


def sensitive_events(prepared: Prepared, models: Sequence[PrivacyModel]) -> list[str]:
    """The attributes of events whose values are a secret, and not known as well."""
    if prepared.histories is None:
        return []
    protected = {name for model in models for name in model.sensitive_attributes}
    return [
        column.name
        for column in prepared.histories.columns
        if column.role == "sensitive" or (column.role != "quasi" and column.name in protected)
    ]


def told_of_events(
    prepared: Prepared, names: Sequence[str], group: GroupOfRecord, sizes: IntArray
) -> dict[str, Told]:
    """What groups of these sizes tell of attributes of events, given the group of each record.

    Notes
    -----
    One sort of the rows for each attribute, or one aggregation where they stay in an engine.
    """
    histories, told = prepared.histories, {}
    if isinstance(histories, SqlHistories):
        with published_profiles(histories, group) as profiles:
            return {name: _guessed(histories, name, profiles, [GROUP]) for name in names}
    for name in names:
        assert histories is not None
        assert isinstance(group, np.ndarray)
        rows = histories.holding(name)
        held = HeldByPatients.of(rows[name], rows.patient)
        found, _, counts = held.in_groups(group, len(sizes))
        most = np.zeros(len(sizes), dtype=np.int64)
        np.maximum.at(most, found, counts)
        told[name] = Told(int(sizes[most == sizes].sum()), None, int(most.sum()))
    return told


def told_of_source(prepared: Prepared, names: Sequence[str]) -> dict[str, Told]:
    """The same of patients who agree on all quasi-identifiers as they are."""
    if not names:
        return {}
    columns, table, histories = prepared.table.of_role("quasi"), prepared.table, prepared.histories
    if isinstance(table, SqlTable):
        assert isinstance(histories, SqlHistories)
        by = [table.sql_rows.sql_name(column.name) for column in columns]
        return {name: _guessed(histories, name, table.sql_rows.table, by) for name in names}
    whole = table.in_memory()
    group, first = distinct_rows_of(columns, whole.rows)
    return told_of_events(prepared, names, group, whole.tally.count(group, len(first)))


def most_held(prepared: Prepared, name: str) -> float:
    """The share of the patients who hold the value of an attribute of events that most hold."""
    table, histories = prepared.table, prepared.histories
    if isinstance(table, SqlTable):
        assert isinstance(histories, SqlHistories)
        everyone = f"(SELECT {PROFILE}, 0 AS {GROUP} FROM {table.sql_rows.table})"
        return _guessed(histories, name, everyone, [GROUP]).best / table.records
    group = np.zeros(table.in_memory().rows, dtype=np.int32)
    sizes = np.array([table.records], dtype=np.int64)
    return told_of_events(prepared, [name], group, sizes)[name].best / table.records


def _guessed(histories: SqlHistories, name: str, profiles: str, by: Sequence[str]) -> Told:
    alone, best = histories.guessed(name, profiles, by)
    return Told(alone, None, best)


def of_events(manifest: Manifest) -> frozenset[str]:
    """The published attributes that vary between the rows of a patient."""
    return frozenset(
        str(each["name"])
        for each in manifest["attributes"]
        if each["published"] and each.get("level") == "event"
    )
