"""Types of columns as the values that are left have them, whatever stood beside these.

A single text among numbers makes categories of them. Where it is gone (its patient is suppressed or
lacks a value, its row was cut or names nobody, another value was taken of its patient), a type that
stayed would tell what kind of value that was.
"""

from __future__ import annotations

from incrowd.policy import Policy
from incrowd.policy.events import seen_alone
from incrowd.table import Table
from incrowd.table.coding import seen_again
from incrowd.table.sql_histories import AnyHistories


def table_seen_again(table: Table, policy: Policy) -> Table:
    """The table with the types of columns that no method looks at as its own records have them.

    The types of quasi-identifiers decide how they are generalized: they stay.
    """
    return table.with_columns(
        [
            seen_again(column)
            for column in table.of_role("sensitive", "target")
            if seen_alone(policy, column.name)
        ]
    )


def histories_seen_again(histories: AnyHistories, policy: Policy) -> AnyHistories:
    """The same of columns of events."""
    return histories.with_columns(
        lambda column: (
            seen_again(column)
            if column.role == "sensitive" and seen_alone(policy, column.name)
            else column
        )
    )
