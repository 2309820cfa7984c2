"""Hierarchies over columns of events that attackers may know, or that hold what is protected."""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.hierarchies import Hierarchy, build, flat, intervals
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
        if asked is not None and asked.time is not None and asked.time.widths:
            column, hierarchies[column.name] = _ranges(column, asked.time.widths)
        else:
            column, hierarchies[column.name] = build(column, wanted, policy.base)
        return column

    return histories.with_columns(ordered), hierarchies


def _ranges(column: Column, widths: Sequence[int]) -> tuple[Column, Hierarchy]:
    """Times since an event in ranges of each width, which begin at its multiples."""
    numbers = column.numbers
    if numbers is None or not len(numbers):
        return flat(column)
    last = widths[-1]
    start, stop = int(numbers[0]) // last * last, (int(numbers[-1]) // last + 1) * last
    return intervals(column, start=start, stop=stop, widths=widths)
