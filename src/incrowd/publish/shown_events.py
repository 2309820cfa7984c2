"""The rows of events that a release shows where attackers may know some, in the place of all rows.

From here on nothing of what is left out is there: columns hold the values of the rows that are
published, hierarchies are built over these, and all that is said of the release follows from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from incrowd.engines.event_hierarchies import events_in_tree_order
from incrowd.engines.preparation import Prepared, with_hierarchies
from incrowd.engines.seen_types import histories_seen_again, table_seen_again
from incrowd.errors import PrivacyError
from incrowd.methods.base import Outcome, ShownEvents
from incrowd.policy import Policy
from incrowd.table import MemoryTable
from incrowd.table.profiles import Events, Histories


def with_shown_events(
    prepared: Prepared, policy: Policy, outcome: Outcome
) -> tuple[Prepared, Outcome]:
    """The published patients and rows alone, labelled as the method decided."""
    table, histories = prepared.table, prepared.histories
    assert isinstance(table, MemoryTable)
    assert isinstance(histories, Histories)
    group = np.asarray(outcome.group_of_record)
    kept = group >= 0
    left = {
        name: _chosen(name, events, outcome.events) for name, events in histories.tables.items()
    }
    shown = replace(histories, tables=left).of_patients(kept)
    # A table without columns, of patients of whom events alone are known, has no rows to take.
    published = table.take(kept) if table.columns else replace(table, records=int(kept.sum()))
    table, hierarchies = with_hierarchies(table_seen_again(published, policy), policy)
    seen = histories_seen_again(shown, policy)
    assert isinstance(seen, Histories)
    seen, of_events = events_in_tree_order(seen, policy)
    return (
        replace(prepared, table=table, hierarchies=hierarchies | of_events, histories=seen),
        replace(outcome, group_of_record=group[kept]),
    )


def _chosen(name: str, events: Events, shown: Mapping[str, ShownEvents]) -> Events:
    if name not in shown:
        return events
    if not len(shown[name].rows):
        raise PrivacyError(
            f"No row of {name} is left: too few patients share what any of them shows. Give its "
            "columns coarser hierarchies, ask for less, allow the search more `seconds:` where it "
            "has a limit, or leave the table out."
        )
    rows = np.zeros(events.rows, dtype=np.bool_)
    rows[shown[name].rows] = True
    return events.chosen(rows)


def rounded(shown: ShownEvents, least: int) -> int:
    """How many rows are left out, to the next multiple of a size that tells of nobody."""
    return round(shown.left_out / least) * least
