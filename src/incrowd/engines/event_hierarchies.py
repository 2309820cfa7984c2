"""Hierarchies over columns of events that attackers may know, or that hold what is protected."""

from __future__ import annotations

from incrowd.hierarchies import Hierarchy, build
from incrowd.policy import Policy
from incrowd.table import Column
from incrowd.table.profiles import Histories


def events_in_tree_order(
    histories: Histories, policy: Policy
) -> tuple[Histories, dict[str, Hierarchy]]:
    """The rows with such columns in the order of their trees, and the hierarchies by column.

    Parameters
    ----------
    histories
        The rows of patients.
    policy
        The hierarchies, and the promises: of a sensitive column they are asked only where a promise
        about attackers who know events names it, whose values may be labels.
    """
    named = {
        name
        for model in policy.privacy
        if model.attacker is not None
        for name in model.sensitive_attributes
    }
    hierarchies: dict[str, Hierarchy] = {}

    def ordered(column: Column) -> Column:
        asked = policy.attributes.get(column.name)
        wanted = None if asked is None else asked.hierarchy
        if column.role != "quasi" and (wanted is None or column.name not in named):
            return column
        column, hierarchies[column.name] = build(column, wanted, policy.base)
        return column

    return histories.with_columns(ordered), hierarchies
