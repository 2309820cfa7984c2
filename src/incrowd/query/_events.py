"""Conditions on what varies between the rows of a patient: whose rows fit them, and how many do.

A row fits when it satisfies all conditions on its table together: a patient with a flu in one row
and a fever in another has no row with both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd._runtime.sentences import listed
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd.published.events import EventRows
    from incrowd.published.parts import Parts
    from incrowd.query.cells import LabelLimits


@dataclass(frozen=True)
class Worth:
    """What a patient adds to a count by the rows, provided that all else is as asked.

    `expected` is the chance of at least one row that fits, or how many rows do, and `variance` that
    of it. `by_row` has the part of each row, table by table.
    """

    expected: FloatArray
    variance: FloatArray
    by_row: tuple[tuple[EventRows, FloatArray], ...]


def asked_rows(parts: Parts, names: Collection[str], *, events: bool) -> tuple[EventRows, ...]:
    """The tables of events with conditions; where events are counted, the one that has them."""
    asked = tuple(each for each in parts.events if not each.entries.keys().isdisjoint(names))
    for each in asked or (parts.events if events else ()):
        _refuse_known(each)
    if not events or len(asked) == 1:
        return asked
    if not parts.events:
        raise InputError(
            "The release has nothing that varies between the rows of a patient, so there are no "
            "events to count. Count the patients or records instead: leave --events out (in Python "
            "events=False)."
        )
    if not asked and len(parts.events) == 1:
        return parts.events
    tables = listed([each.table for each in asked or parts.events])
    raise InputError(
        f"Rows of several tables ({tables}) are not counted together. Ask about the events of one "
        "of them, or leave --events out (in Python events=False) to count patients."
    )


def _refuse_known(rows: EventRows) -> None:
    """Refuse counts of rows of which some are left out and the others stand once for each patient.

    Raises
    ------
    InputError
        With what can be counted all the same.
    """
    known = [name for name, entry in rows.entries.items() if entry.get("role") == "quasi"]
    if known:
        raise InputError(
            f"Counts of the rows of '{rows.table}' are not estimated: attackers may know "
            f"{listed(known)}, so some rows are left out, others show coarser labels, and each "
            "that differs stands once for a patient. Ask about attributes of patients; or count "
            "who shows a label in the table itself: at least so many had what it says."
        )


def worth(parts: Parts, shares: Mapping[str, FloatArray], *, events: bool = False) -> Worth | None:
    """What each patient adds, given the chance of each label to satisfy the conditions on it.

    None where nothing is asked of events, so that each patient adds one.

    Notes
    -----
    Rows are independent: with chances s of the rows of a patient in a table, at least one fits with
    chance 1 - the product of 1 - s, and of several tables with the product of these. The number of
    rows that fit has the mean sum s and the variance sum s (1 - s). O(rows).
    """
    found = asked_rows(parts, shares, events=events)
    if not found:
        return None
    if events:
        (rows,) = found
        chance = _chances(rows, shares)
        expected = _summed(rows, chance, parts.records)
        return Worth(
            expected, _summed(rows, chance * (1 - chance), parts.records), ((rows, chance),)
        )
    some = np.ones(parts.records)
    by_table = []
    for rows in found:
        chance = _chances(rows, shares)
        none = np.ones(parts.records)
        np.multiply.at(none, rows.patient, 1 - chance)
        some *= 1 - none
        by_table.append((rows, chance, _summed(rows, chance, parts.records)))
    by_row = tuple(
        (rows, chance * (some / np.maximum(whole, 1e-300))[rows.patient])
        for rows, chance, whole in by_table
    )
    return Worth(some, some * (1 - some), by_row)


def worth_limits(
    parts: Parts, limits: Mapping[str, LabelLimits], *, events: bool = False
) -> tuple[IntArray, IntArray] | None:
    """The least and the most that each patient may add; None where each adds one."""
    found = asked_rows(parts, limits, events=events)
    if not found:
        return None
    least = most = np.ones(parts.records, dtype=np.int64)
    for rows in found:
        certain, possible = (
            np.bincount(rows.patient[fits], minlength=parts.records)
            for fits in _fitting(rows, limits)
        )
        if events:
            return certain, possible
        least, most = least * (certain > 0), most * (possible > 0)
    return least, most


def _chances(rows: EventRows, shares: Mapping[str, FloatArray]) -> FloatArray:
    """The chance of each row to fit."""
    chance = np.ones(rows.rows)
    for name in _asked(rows, shares):
        chance *= shares[name][rows.column(name).codes]
    return chance


def _fitting(rows: EventRows, limits: Mapping[str, LabelLimits]) -> tuple[BoolArray, BoolArray]:
    """Which rows surely fit, and which may."""
    certain = np.ones(rows.rows, dtype=np.bool_)
    possible = np.ones(rows.rows, dtype=np.bool_)
    for name in _asked(rows, limits):
        codes = rows.column(name).codes
        certain &= limits[name].certain[codes]
        possible &= limits[name].possible[codes]
    return certain, possible


def _asked(rows: EventRows, names: Collection[str]) -> Iterator[str]:
    return (name for name in rows.entries if name in names)


def _summed(rows: EventRows, weights: FloatArray, patients: int) -> FloatArray:
    return np.bincount(rows.patient, weights=weights, minlength=patients).astype(np.float64)
