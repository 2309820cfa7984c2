"""Releases of patients with several rows: the rows of the source, each with its patient's labels.

Invariant: all rows of a patient show the same labels, those of its group, so that no two labels of
one pseudonym can be intersected. Pseudonyms are the numbers from 1 on, given to the published
patients in an order drawn from secret randomness: they tell nothing but which rows are of one
patient. Rows are sorted by what they show, the pseudonym first.
"""

from __future__ import annotations

import numpy as np

from incrowd._runtime import randomness
from incrowd.engines.preparation import Prepared
from incrowd.methods.base import Outcome
from incrowd.publish.rows import (
    ShownRows,
    generalized_column,
    numbers_shown,
    rows_shown,
    shown_as_is,
)
from incrowd.table import MemoryTable
from incrowd.table.profiles import FLAT, PATIENT, Histories


def published_histories(
    prepared: Prepared, histories: Histories, outcome: Outcome
) -> dict[str, ShownRows]:
    """The published table of the rows of all patients, none of whom is suppressed any more."""
    table = prepared.table
    assert isinstance(table, MemoryTable)
    group = np.asarray(outcome.group_of_record)
    events = histories.tables[FLAT]
    number = randomness.permutation(table.records) + 1
    columns = [numbers_shown(PATIENT, number[events.patient], table.records)]
    for name in histories.names:
        if name in events:
            columns.append(shown_as_is(events[name], events[name].codes))
        elif table[name].role == "quasi":
            columns.append(generalized_column(name, outcome.labels[name], group[events.patient]))
        else:
            columns.append(shown_as_is(table[name], table[name].codes[events.patient]))
    return {FLAT: rows_shown(columns, events.rows)}
