"""What groups tell of attributes of events, of which a patient has several values.

Each value is judged by itself: a group gives a value away where all of its patients have it, and
the best guess is the value that most of them have. Values cannot be ruled out down to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.arrays import IntArray, Ints
from incrowd._runtime.manifests import Manifest
from incrowd.table.alike import Told
from incrowd.table.packing import distinct_rows_of
from incrowd.table.people import HeldByPatients
from incrowd.table.profiles import Histories

if TYPE_CHECKING:
    from incrowd.engines.preparation import Prepared
    from incrowd.privacy import PrivacyModel


def sensitive_events(prepared: Prepared, models: Sequence[PrivacyModel]) -> list[str]:
    """The attributes of events whose values are a secret, as far as the rows are in memory."""
    if not isinstance(prepared.histories, Histories):
        return []
    protected = {name for model in models for name in model.sensitive_attributes}
    return [
        column.name
        for column in prepared.histories.columns
        if column.role == "sensitive" or column.name in protected
    ]


def told_of_events(
    prepared: Prepared, names: Sequence[str], group: Ints, sizes: IntArray
) -> dict[str, Told]:
    """What groups of these sizes tell of attributes of events, given the group of each patient.

    Notes
    -----
    One sort of the rows for each attribute.
    """
    histories, told = prepared.histories, {}
    for name in names:
        assert isinstance(histories, Histories)
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
    columns, table = prepared.table.of_role("quasi"), prepared.table
    group, first = distinct_rows_of(columns, table.records)
    return told_of_events(prepared, names, group, np.bincount(group, minlength=len(first)))


def most_held(prepared: Prepared, name: str) -> float:
    """The share of the patients who hold the value of an attribute of events that most hold."""
    everyone = np.zeros(prepared.table.records, dtype=np.int64)
    sizes = np.array([prepared.table.records], dtype=np.int64)
    return told_of_events(prepared, [name], everyone, sizes)[name].best / prepared.table.records


def of_events(manifest: Manifest) -> frozenset[str]:
    """The published attributes that vary between the rows of a patient."""
    return frozenset(
        str(each["name"])
        for each in manifest["attributes"]
        if each["published"] and each.get("level") == "event"
    )
