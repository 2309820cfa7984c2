"""Lossy join: records without sensitive values, sensitive values without records, and their class.

Joined on the class, every record meets every value of its class, so the join tells no more than
the classes do.
"""

from __future__ import annotations

from incrowd.errors import PolicyError
from incrowd.publish._showing import ColumnT, Showing
from incrowd.publish.rows import ShownRows
from incrowd.published.layouts import CLASS
from incrowd.table import Table


def lossy_join_tables(table: Table, showing: Showing[ColumnT]) -> dict[str, ShownRows]:
    """The published tables by name: `nss` without the sensitive attributes, `ss` with them alone.

    References
    ----------
    Wong, Liu, Yin, Huang, Fu, Pei (2007), (alpha, k)-anonymity based privacy preservation by lossy
    join.
    """
    refuse_taken_name(table)
    number = showing.number(CLASS)
    apart = [showing.as_is(column) for column in table.columns if column.role != "sensitive"]
    values = [showing.as_is(column) for column in table.of_role("sensitive")]
    return {"nss": showing.rows([*apart, number]), "ss": showing.rows([number, *values])}


def refuse_taken_name(table: Table) -> None:
    """Refuse a column of the source that would stand twice in a published table."""
    if CLASS in table:
        raise PolicyError(
            f"publish: lossy-join writes a column named {CLASS}, and the source has one. Rename "
            "it, or give it the role identifier."
        )
